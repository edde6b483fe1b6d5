"""Mistakes of whoever types a command: the error that tells of one, and what finds one early.

Knows no option and imports nothing of ours, so that every command can afford it.
"""

from __future__ import annotations

import os
from pathlib import Path


class CommandError(ValueError):
    """A command cannot do what it was told; the message says why, for the person who told it.

    `agentgym` shows the message alone, without a traceback.
    """


def check_output(name: str, path: str | None) -> None:
    """See that a file can be written, before there is anything to lose.

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
