"""Fills templates with words, and writes the files into a folder that is free."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import Template

from agentgym_envs.content.files import write_whole


def filled(
    templates: Path, places: Mapping[str, str | Path], words: Mapping[str, str]
) -> dict[Path, str]:
    """Return the text of each file, by its path in the folder.

    Args:
        templates: the folder of the templates, whose names end in `.template`.
        places: where each goes, by its name without that end.
        words: what their placeholders stand for.
    """
    return {
        Path(place): Template((templates / f"{name}.template").read_text("utf-8")).substitute(words)
        for name, place in places.items()
    }


def check_free(folder: Path) -> None:
    """Check that a folder is empty or not there.

    Raises:
        ValueError: it holds something, or is a file.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(f"{folder} is there already; pass another --out")


def write_files(folder: Path, files: Mapping[Path, str]) -> None:
    """Write files by their paths in a folder, and print each path."""
    for place, text in files.items():
        write_whole(folder / place, text)
        print(folder / place)
