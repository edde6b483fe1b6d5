"""Errors of the commands: options out of bounds, a missing extra, the exit status of each."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

from agentgym_envs import EnvFailure, NoExpert, UnknownTask
from agentgym_envs.errors import MissingExtra, did_you_mean
from agentgym_envs.files import is_storage_failure
from agentgym_envs.secrets import masked

EXTRA_PACKAGES = {
    "train": (
        "a trainer or a language model",
        "torch transformers trl peft accelerate datasets tokenizers safetensors",
    ),
    "eval": ("an evaluation", "httpx markdown_it matplotlib rich yaml"),
}
"""By extra: what needs it, and what it installs, by the names that are imported."""


@contextmanager
def explain_missing_extra() -> Iterator[None]:
    """Turn the want of a package of the train or the eval extra into a `MissingExtra`."""
    try:
        yield
    except ImportError as error:
        wanted = (error.name or "").partition(".")[0]
        for extra, (what, packages) in EXTRA_PACKAGES.items():
            if wanted in packages.split():
                raise MissingExtra(extra, what, error) from error
        raise


BROKEN_OFF = 75
"""The exit status where machinery broke or a budget is spent and nothing else is wrong, as
`sysexits.h` has it: the command can go on later."""


class BudgetSpent(Exception):
    """What `--max_cost` allows is spent; what is finished is kept, and `--resume` goes on."""


class UsageError(ValueError):
    """A command's options cannot be followed; `agentgym` shows the message without a traceback."""


@contextmanager
def explain_load_errors(policy: str, *, names: Iterable[str], otherwise: str) -> Iterator[None]:
    """Turn what transformers and the servers' clients raise into a usage error.

    Args:
        policy: what is loaded.
        names: words that are allowed in its place.
        otherwise: what is allowed, for the message where `policy` is none of them misspelt.

    Raises:
        UsageError: it cannot be loaded.
    """
    try:
        yield
    except UsageError:
        raise
    except (OSError, ValueError) as error:
        hint = did_you_mean(policy, names, otherwise=f"allowed: {otherwise}")
        cause = masked(" ".join(str(error).split()))
        raise UsageError(f"cannot open the policy {policy!r}{hint} ({cause})") from error


BOUNDS = ("min", "above", "max")
"""Keys of a field's metadata that `check_bounds` reads."""


def check_bounds(args: Any) -> None:
    """Check a dataclass's fields against the bounds that their metadata names; None has none.

    Raises:
        ValueError: a value is out of its bounds.
    """
    for entry in fields(args):
        least, above, most = map(entry.metadata.get, BOUNDS)
        given = getattr(args, entry.name)
        # A dict has a value for each environment.
        for value in given.values() if isinstance(given, dict) else [given]:
            if value is None:
                continue
            # Written so that NaN is out of all bounds.
            if least is not None and most is not None and not least <= value <= most:
                raise ValueError(f"{entry.name} must be in {least}..{most}, got {value}")
            if least is not None and not value >= least:
                raise ValueError(f"{entry.name} must be >= {least}, got {value}")
            if above is not None and not value > above:
                raise ValueError(f"{entry.name} must be > {above}, got {value}")


def check_kind(name: str, value: Any, kind: type, *, remedy: str) -> None:
    """Check what a Python caller has given.

    Args:
        name: the argument's.
        value: what was given.
        kind: what it must be.
        remedy: how to make one.

    Raises:
        TypeError: it is something else.
    """
    if not isinstance(value, kind):
        expected = f"{kind.__module__.partition('.')[0]}.{kind.__name__}"
        raise TypeError(f"{name} must be {expected}, got {value!r:.60}; {remedy}")


def check_output(name: str, path: str | None) -> None:
    """Check that a file can be written, before there is anything to lose.

    Args:
        name: the option's, for the message.
        path: the file; None where none is asked for.

    Raises:
        ValueError: it cannot be written.
    """
    if path is None:
        return
    if os.path.isdir(path):
        raise ValueError(f"{name} must name a file, got the folder {path}")
    file = Path(path).absolute()
    nearest = next(place for place in (file, *file.parents) if os.path.exists(place))
    if nearest != file and not nearest.is_dir():
        raise ValueError(f"{name}: cannot write {path}, for {nearest} is not a folder")
    if not os.access(nearest, os.W_OK):
        raise ValueError(f"{name}: cannot write {path}, for {nearest} is write-protected")


def run_command(command: Callable[[], int | None]) -> int:
    """Run a command; errors that a user can mend are printed without a traceback.

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
        print(f"agentgym: {error}", file=sys.stderr)
        return BROKEN_OFF
    except EnvFailure as error:
        cause = masked(str(error))
        print(f"agentgym: the machinery broke, not the policy: {cause}", file=sys.stderr)
        return BROKEN_OFF
    except OSError as error:
        if not is_storage_failure(error):
            raise
        return refuse(str(error))
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130


def refuse(message: str) -> int:
    """Print what is wrong with the command line; return the exit status for it."""
    print(f"agentgym: {masked(message)}\nTry: agentgym --help", file=sys.stderr)
    return 2
