"""Defines the errors that an environment may raise, and the ends of messages."""

from __future__ import annotations

import difflib
import re
import shlex
import shutil
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import gymnasium as gym

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")

_COLOURS = re.compile(r"\x1b\[\d*m")
_HERE = Path(__file__).parent
_OURS = (f"{_HERE}/", f"{_HERE.with_name('wrappers')}/", f"{Path(gym.__file__).parent}/", "<")
_STANDARD_LIBRARY = sysconfig.get_path("stdlib")


class EnvFailure(RuntimeError):
    """The machinery of an environment broke: a dead simulator, a hung browser, a lost worker.

    It says nothing about the policy, so it is never turned into a reward. Whoever runs episodes
    plays the task again or marks the trajectory as failed (`wrappers.failures`).
    """


class EnvCodeError(EnvFailure):
    """An exception of an environment's own code, which no waiting mends."""


class AccessDenied(EnvFailure):
    """A server requires another token, so that a retry is useless."""


class InvalidAction(ValueError):
    """A completion holds no action.

    The message is written for the policy to read.
    """


class UnknownTask(ValueError):
    """There is no such task, subtask or split.

    The message says which there are.
    """


class NoExpert(NotImplementedError):
    """The environment or the current task has no expert, or no baseline of this name."""


def this_python() -> str:
    """Return the path of the running Python, as a word of a command."""
    return shlex.quote(sys.executable)


def activation() -> str:
    """Return the command that puts `agentgym` on PATH, or an empty text."""
    scripts = Path(sys.prefix, "bin")
    script = scripts / "activate"
    if shutil.which("agentgym") == str(scripts / "agentgym") or not script.is_file():
        return ""
    near = script.is_relative_to(Path.cwd())
    return f"source {shlex.quote(str(script.relative_to(Path.cwd()) if near else script))}"


def pip_install(words: str) -> str:
    """Return the command that installs packages for the Python that runs."""
    return f"{this_python()} -m pip install {words}"


def install_command(*extras: str) -> str:
    """Return the command that installs extras for the Python that runs."""
    return pip_install(f'"agentgym-envs[{",".join(extras)}]"')


class MissingExtra(ImportError):
    """A package of an extra is not installed.

    The message is the command that installs it.

    Args:
        extra: of `setup.cfg`, such as `"search"`.
        what: the part of the suite that needs it.
        cause: what is missing.
        others: the wants of other parts, which the message names too.
    """

    def __init__(
        self, extra: str, what: str, cause: object, *, others: Iterable[MissingExtra] = ()
    ) -> None:
        self.extra, self.what, self.cause = extra, what, cause
        every = [self, *others]
        needs = [f"{one.what} needs the {one.extra} extra ({one.cause})" for one in every]
        extras = dict.fromkeys(one.extra for one in every)
        super().__init__(f"{', '.join(dict.fromkeys(needs))}: {install_command(*extras)}")


@contextmanager
def needs_extra(extra: str, what: str) -> Iterator[None]:
    """Turn the block's `ImportError` into a `MissingExtra`.

    Raises:
        MissingExtra: a package that the block imports is not installed.
    """
    try:
        yield
    except MissingExtra:
        raise
    except ImportError as error:
        raise MissingExtra(extra, what, error) from error


def for_each(function: Callable[[_Item], _Result], items: Iterable[_Item]) -> list[_Result]:
    """Return a function's result for each item.

    Raises:
        MissingExtra: items need extras that are not installed; it names all of them.
    """
    results, missing = [], []
    for item in items:
        try:
            results.append(function(item))
        except MissingExtra as error:
            missing.append(error)
    if missing:
        first, *others = missing
        raise MissingExtra(first.extra, first.what, first.cause, others=others) from first
    return results


def did_you_mean(name: str, allowed: Iterable[str], *, otherwise: str) -> str:
    """Return the end of an error message: the nearest allowed names, or another remedy."""
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
