"""Errors of the commands, their wording, and the exit status of each."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from traceback import walk_tb
from typing import Any

from agentgym_envs import EnvFailure, NoExpert, UnknownTask
from agentgym_envs.content.files import is_storage_failure
from agentgym_envs.errors import MissingExtra, did_you_mean
from agentgym_envs.machinery.secrets import masked

EXTRA_PACKAGES = {
    "train": (
        "a trainer or a language model",
        "torch transformers trl peft accelerate datasets filelock tokenizers safetensors",
    ),
    "eval": ("an evaluation", "httpx jinja2 markdown_it matplotlib rich yaml"),
}
"""By extra: its use, and the packages that it installs, by their import names."""


@contextmanager
def explain_missing_extra() -> Iterator[None]:
    """Turn the want of a package of the train or the eval extra into a `MissingExtra`.

    Raises:
        MissingExtra: the block raises an `ImportError` about a package of one of these extras.
    """
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        for extra, (what, packages) in EXTRA_PACKAGES.items():
            if package in packages.split():
                raise MissingExtra(extra, what, error) from error
        raise


BROKEN_OFF = 75
"""The exit status where machinery broke or a budget is spent and nothing else is wrong, as
`sysexits.h` has it: the command can go on later."""


class BudgetSpent(Exception):
    """The budget `max_cost` is spent. `--resume` goes on from the finished episodes."""


class UsageError(ValueError):
    """A mistake of the caller's, with its remedy.

    The message names arguments in backticks, as Python has them. A command shows it without a
    traceback and words them as its options (`as_options`).
    """


_ARGUMENT = re.compile(r"`(?:[A-Z]\w*\.)?([a-z]\w*)(?:=([^`]*))?`")


def as_options(message: str) -> str:
    """Return a message with --name and --name value in place of arguments in backticks.

    Arguments are `name`, `name=value` or `Dataclass.name=value`.
    """
    return _ARGUMENT.sub(lambda m: f"--{m[1]}" + f" {m[2]}" * (m[2] is not None), message)


class RefusedForGood(UsageError):
    """Every further request of the command would fail alike: a wrong key, or no credit."""


@contextmanager
def explain_load_errors(policy: str, *, names: Iterable[str], otherwise: str) -> Iterator[None]:
    """Turn errors of transformers and of the servers' clients into a `UsageError`.

    `names` are allowed in place of the `policy`; `otherwise` describes all that is allowed.

    Raises:
        UsageError: the block raises an `OSError` or a `ValueError`.
    """
    try:
        yield
    except UsageError:
        raise
    except (OSError, ValueError) as error:
        cause = masked(" ".join(str(error).split()))
        if policy in {*names}:
            raise UsageError(f"cannot open the policy {policy!r}: {cause}") from error
        hint = did_you_mean(policy, names, otherwise=f"allowed: {otherwise}")
        if "://" not in policy and not Path(policy).exists():
            cause = f"there is no such folder, and of such an id: {cause}"
        raise UsageError(f"cannot open the policy {policy!r}{hint} ({cause})") from error


LIBRARIES = {"accelerate", "datasets", "peft", "safetensors", "torch", "transformers", "trl"}
OUR_PACKAGES = {"agentgym_envs", "benchmarks", "trainers", "wrappers"}


@contextmanager
def explain_refusals(
    *kinds: type[Exception], cannot: str = "follow the options", remedy: str = ""
) -> Iterator[None]:
    """Turn errors about options, of TRL and the libraries below it, into a `UsageError`.

    For the time before a run has begun. An error of our own code, or of another kind, passes: it is
    a bug, and its traceback is needed. `kinds` are by default those of a wrong value or a missing
    package. The message is "LIBRARY cannot `cannot`: CAUSE `remedy`".

    Raises:
        UsageError: TRL or a library below it raises an error of `kinds`.
    """
    kinds = kinds or (ImportError, OSError, RuntimeError, TypeError, ValueError)
    try:
        yield
    except (UsageError, MissingExtra):
        raise
    except kinds as error:
        library = _raised_by(error)
        if library not in LIBRARIES:
            raise
        # Not all that it has in backticks are options.
        message = masked(" ".join(str(error).split())).replace("`", "'")
        raise UsageError(f"{library} cannot {cannot}: {message}{remedy}") from error


def _raised_by(error: BaseException) -> str | None:
    """Return the package whose call led to an error: the last one that is ours or known."""
    names = (
        frame.f_globals.get("__name__", "").partition(".")[0]
        for frame, _ in walk_tb(error.__traceback__)
    )
    return next((name for name in reversed([*names]) if name in LIBRARIES | OUR_PACKAGES), None)


def check_kind(name: str, value: Any, kind: type, *, remedy: str) -> None:
    """Raise `TypeError` with a remedy unless an argument is an instance of a class."""
    if not isinstance(value, kind):
        expected = f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
        raise TypeError(f"{name} must be {expected}, got {value!r:.60}; {remedy}")


def check_output(name: str, path: str | None) -> None:
    """Raise `UsageError` if a file, unless it is None, cannot be written."""
    if path is None:
        return
    file = Path(path).absolute()
    if file.is_dir():
        raise UsageError(f"{name} must name a file, got the folder {path}")
    if not os.path.exists(file):
        _check_place(name, path, file.parent)
    elif not os.access(file, os.W_OK):
        raise UsageError(f"{name}: cannot write {path}, for it is write-protected")


def check_folder(name: str, path: str | Path) -> None:
    """Raise `UsageError` if files cannot be written to a folder, which may not exist yet."""
    folder = Path(path).absolute()
    if os.path.exists(folder) and not folder.is_dir():
        raise UsageError(f"{name} must name a folder, got the file {path}")
    _check_place(name, str(path), folder)


def _check_place(name: str, path: str, folder: Path) -> None:
    """Check that a folder can be made and written to, by a folder in its nearest parent."""
    nearest = next(place for place in (folder, *folder.parents) if os.path.exists(place))
    problem = f"{nearest} is not a folder"
    if nearest.is_dir():
        try:
            return os.rmdir(mkdtemp(prefix=".agentgym-", dir=nearest))
        except OSError as error:
            problem = f"nothing can be written to {nearest} ({error.strerror})"
    raise UsageError(f"{name}: cannot write {path}, for {problem}")


def run_command(command: Callable[[], int | None]) -> int:
    """Run a command, and print errors that a user can mend without a traceback.

    Returns:
        the exit status: the command's own, 1 where an extra is missing, 2 for a mistake on the
        command line or a folder that cannot be written, 75 where the machinery broke or
        `--max_cost` is spent, 130 on Ctrl-C.
    """
    try:
        with explain_missing_extra():
            return int(command() or 0)
    except MissingExtra as error:
        print(f"agentgym: {error}", file=sys.stderr)
        return 1
    except (UsageError, NoExpert, UnknownTask) as error:
        return refuse(str(error))
    except BudgetSpent as error:
        print(f"agentgym: {as_options(str(error))}", file=sys.stderr)
        return BROKEN_OFF
    except EnvFailure as error:
        cause = masked(as_options(str(error)))
        print(f"agentgym: the machinery broke, not the policy: {cause}", file=sys.stderr)
        return BROKEN_OFF
    except OSError as error:
        if not is_storage_failure(error):
            raise
        return refuse(str(error))
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130
    finally:  # that module imports httpx, which not every command needs
        if (client := sys.modules.get("trainers.backends.json_client")) is not None:
            client.end_clients()


def refuse(message: str) -> int:
    """Print a mistake of the command line and return its exit status."""
    print(f"agentgym: {masked(as_options(message))}\nTry: agentgym --help", file=sys.stderr)
    return 2
