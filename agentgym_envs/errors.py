"""What an environment may raise, everything else is an observation; and the ends of messages."""

from __future__ import annotations

import difflib
import re
import sysconfig
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import gymnasium as gym

_COLOURS = re.compile(r"\x1b\[\d*m")
_HERE = Path(__file__).parent
_OURS = (f"{_HERE}/", f"{_HERE.with_name('wrappers')}/", f"{Path(gym.__file__).parent}/", "<")
_STANDARD_LIBRARY = sysconfig.get_path("stdlib")


class EnvFailure(RuntimeError):
    """The machinery of an environment broke: a simulator died, a browser hung, a worker was lost.

    It says nothing about the policy, so it is never turned into a reward. Whoever runs episodes
    plays the task again or marks the trajectory as failed (`wrappers.failures`).
    """


class EnvCodeError(EnvFailure):
    """The code of an environment raised an exception, the cause; waiting does not mend it."""


class AccessDenied(EnvFailure):
    """A server asks for another token than it was shown: nobody need ask again."""


class InvalidAction(ValueError):
    """A completion that holds no action; its message is written for the policy to read."""


class UnknownTask(ValueError):
    """There is no such task, subtask or split; the message says which there are."""


class NoExpert(NotImplementedError):
    """The environment, or the task at hand, has no expert or no such floor; it says what has."""


def install_command(extra: str) -> str:
    """Return the command that installs an extra."""
    return f'pip install "agentgym-envs[{extra}]"'


class MissingExtra(ImportError):
    """A package of an extra is not installed; the message is the command that installs it.

    Args:
        extra: of `setup.cfg`, such as `"search"`.
        what: the part of the suite that needs it.
        cause: what is missing.
    """

    def __init__(self, extra: str, what: str, cause: object) -> None:
        super().__init__(f"{what} needs the {extra} extra ({cause}): {install_command(extra)}")


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Turn the block's `ImportError` into a `MissingExtra`."""
    try:
        yield
    except MissingExtra:
        raise
    except ImportError as error:
        raise MissingExtra(extra, what, error) from error


def did_you_mean(name: str, allowed: Iterable[str], *, otherwise: str) -> str:
    """Return the end of an error message: the nearest allowed names, or what else to do."""
    spelled = {word.lower(): word for word in allowed}
    near = [spelled[word] for word in difflib.get_close_matches(name.lower(), spelled, n=3)]
    return f"; did you mean {' or '.join(near)}?" if near else f"; {otherwise}"


def described(error: BaseException) -> str:
    """Return an error's type and message, and the last place in code of the caller's own."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if _is_callers(f.filename)]
    place = ""
    if frames:
        path = Path(frames[-1].filename)
        place = f", at {path.parent.name}/{path.name}:{frames[-1].lineno} in {frames[-1].name}"
    return f"{type(error).__name__}: {_COLOURS.sub('', str(error)[:500])}{place}"


def _is_callers(filename: str) -> bool:
    """Return whether a file is neither Python's, Gymnasium's nor of this package."""
    is_installed = "site-packages" in filename  # which lies in the standard library's folder
    is_standard = filename.startswith(_STANDARD_LIBRARY) and not is_installed
    return not (filename.startswith(_OURS) or is_standard)
