"""Reads content made by `python -m worlds`: rows in one file, their SHA-256 in another.

A folder holds `NAME.jsonl.xz`, a line of JSON per row, and `NAME.json`, whose `content` is the
SHA-256 of these lines.
"""

from __future__ import annotations

import json
import lzma
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class PackedRows:
    """The location of rows of content.

    Attributes:
        name: of the two files.
        world: the name by which `python -m worlds` makes them.
    """

    name: str
    world: str

    def file_in(self, folder: str | Path) -> Path:
        """Return the file that holds the rows."""
        return Path(folder) / f"{self.name}.jsonl.xz"

    def about_in(self, folder: str | Path) -> Path:
        """Return the file that holds their hash."""
        return Path(folder) / f"{self.name}.json"

    def is_in(self, folder: str | Path) -> bool:
        """Return whether a folder holds such content."""
        return self.about_in(folder).is_file()

    def read(self, folder: str | Path) -> tuple[list[Any], str]:
        """Return the rows of a folder, and the first twelve digits of their hash.

        Raises:
            ValueError: the rows are damaged, or of another version than their hash.
        """
        path = self.file_in(folder)
        expected = json.loads(self.about_in(folder).read_text("utf-8"))["content"]
        try:
            content = lzma.decompress(path.read_bytes())
            actual = sha256(content).hexdigest()
        except (OSError, EOFError, lzma.LZMAError) as error:
            actual = f"{type(error).__name__}: {error}"
        if actual != expected:
            raise ValueError(
                f"{path} is damaged or of another version: expected the SHA-256 {expected[:12]}, "
                f"got {actual[:80]}; install agentgym-envs again, or make it again with "
                f"python -m worlds {self.world}"
            )
        return [json.loads(line) for line in content.split(b"\n")], expected[:12]
