"""One shared object per Python process, made on first use and again when it has died."""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar


class Living(Protocol):
    """Something that runs beside the program."""

    @property
    def alive(self) -> bool:
        """It can be used, as far as is known, and by this Python process."""

    def close(self) -> None:
        """End it in good order."""


_Thing = TypeVar("_Thing", bound=Living)


class OnePerProcess(Generic[_Thing]):
    """Makes and keeps one thing, and ends it with the process.

    Args:
        make: makes another.
        bury: called with a dead one that is replaced; None drops it.
    """

    def __init__(
        self, make: Callable[[], _Thing], *, bury: Callable[[_Thing], None] | None = None
    ) -> None:
        self._make = make
        self._bury = bury
        self._making = threading.Lock()
        self._current: list[_Thing] = []  # at most one
        # The parent's, in a forked child: kept, since their collection would touch what is shared.
        self._forsaken: list[_Thing] = []
        os.register_at_fork(after_in_child=self._forsake)
        atexit.register(self.close)

    def get(self) -> _Thing:
        """Return the live object, made if necessary. Errors of `make` pass through."""
        with self._making:
            if not self._current or not self._current[0].alive:
                while self._current:
                    dead = self._current.pop()
                    if self._bury is not None:
                        self._bury(dead)
                self._current.append(self._make())
            return self._current[0]

    def close(self) -> None:
        """End the object, if there is one. The next `get` makes another."""
        with self._making:
            while self._current:
                self._current.pop().close()

    def _forsake(self) -> None:
        self._making = threading.Lock()
        self._forsaken.extend(self._current)
        self._current.clear()
