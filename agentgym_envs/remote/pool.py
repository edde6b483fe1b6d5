"""Several servers of one environment: which of them the next session is with.

A process has one pool for each set of addresses, so that all its environments know which server is
down. One that is down is asked last, and like the others again after a while.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextlib import closing
from typing import Any, Protocol, TypeVar

from agentgym_envs.errors import AccessDenied, EnvFailure

REST_SECONDS = 30.0
"""Seconds for which a failed server is tried only after the others."""


class _Closes(Protocol):
    def close(self) -> None: ...


Asked = TypeVar("Asked", bound=_Closes)
Opened = TypeVar("Opened")
Description = TypeVar("Description")


class Pool:
    """The servers of one environment.

    Args:
        urls: their addresses.
        clock: the time in seconds.
    """

    def __init__(
        self, urls: tuple[str, ...], *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        # Worker processes begin with different servers.
        first = os.getpid() % len(urls)
        self.urls = (*urls[first:], *urls[:first])
        self._clock = clock
        self._sessions = dict.fromkeys(self.urls, 0)
        self._rests_until = dict.fromkeys(self.urls, 0.0)
        self._lock = threading.Lock()
        self._descriptions: dict[Any, Any] = {}
        self._describing = threading.Lock()

    def order(self) -> list[str]:
        """Return the addresses: those with the fewest sessions first, those that rest last."""
        now = self._clock()
        with self._lock:
            return sorted(
                self.urls, key=lambda url: (self._rests_until[url] > now, self._sessions[url])
            )

    def open(self, connect: Callable[[str], Opened]) -> tuple[str, Opened]:
        """Open a session with the first server that has a connection, for `release` later.

        Args:
            connect: opens one with the server at an address.

        Raises:
            EnvFailure: none of them has; the message names each one's cause. `AccessDenied`, where
                each asks for another token.
        """
        causes: list[EnvFailure] = []
        for url in self.order():
            with self._lock:
                self._sessions[url] += 1
            try:
                return url, connect(url)
            except BaseException as error:
                self.release(url, is_down=isinstance(error, EnvFailure))
                if not isinstance(error, EnvFailure):
                    raise
                causes.append(error)
        is_denied = all(isinstance(cause, AccessDenied) for cause in causes)
        raise (AccessDenied if is_denied else EnvFailure)("; ".join(map(str, causes)))

    def release(self, url: str, *, is_down: bool = False) -> None:
        """Note that a session is over.

        Args:
            url: the server's address.
            is_down: the server, or the way to it, is broken.
        """
        with self._lock:
            self._sessions[url] -= 1
            if is_down:
                self._rests_until[url] = self._clock() + REST_SECONDS

    def describe(
        self,
        key: Any,
        connect: Callable[[str], Asked],
        read: Callable[[str, Asked], Description],
    ) -> Description:
        """Return the value that was read of the servers under a key, or read it now.

        Args:
            key: what is read.
            connect: opens what is asked, with the server at an address; it is closed afterwards.
            read: is given the address and the session.

        Raises:
            EnvFailure: no server has a connection; and what `read` raises.
        """
        with self._describing:
            if key not in self._descriptions:
                url, session = self.open(connect)
                is_down = True
                try:
                    with closing(session):
                        self._descriptions[key] = read(url, session)
                    is_down = False
                finally:
                    self.release(url, is_down=is_down)
            description: Description = self._descriptions[key]
        return description

    def forget(self, key: Any) -> None:
        """Have the servers described again, where their descriptions are no longer valid."""
        with self._describing:
            self._descriptions.pop(key, None)


_pools: dict[tuple[str, frozenset[str]], Pool] = {}
_pools_lock = threading.Lock()


def shared_pool(protocol: str, urls: tuple[str, ...]) -> Pool:
    """Return this process's pool for some servers."""
    with _pools_lock:
        return _pools.setdefault((protocol, frozenset(urls)), Pool(urls))


def _forget() -> None:
    """Have a forked process open sessions of its own."""
    global _pools_lock
    _pools_lock = threading.Lock()
    _pools.clear()


os.register_at_fork(after_in_child=_forget)
