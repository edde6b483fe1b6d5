"""Reads the sites' databases and tasks, checked by their hashes.

A folder holds `about.json`, `content.zip` and `moves.zip`. The first names the hash of each file in
the others. `content.zip` has a database for each of the sites, and for each template its tasks, one
in each line as WebArena writes a task; `moves.zip` has, line by line, the moves that solve them.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from threading import Lock
from typing import Any

VERSION = 8
"""The content's version. A world of another version is refused.

It rises when tables or the meaning of tasks change.
"""

SHIPPED = Path(__file__).with_name("embedded")
ABOUT_FILE = "about.json"
CONTENT_FILE = "content.zip"
MOVES_FILE = "moves.zip"

_REMEDY = "make it with `python -m worlds sites --seed 7 --out FOLDER` in a checkout of the sources"


@dataclass(frozen=True)
class TemplateTasks:
    """The tasks of one template.

    Attributes:
        template: its number.
        split: that they belong to.
        sites: that they play on.
        task_ids: their numbers.
    """

    template: int
    split: str
    sites: tuple[str, ...]
    task_ids: range

    @property
    def file(self) -> str:
        """The file that holds them."""
        return f"tasks/{self.template}.jsonl"

    @property
    def moves_file(self) -> str:
        """The file that holds their moves."""
        return f"moves/{self.template}.jsonl"


class SiteContent:
    """The content of one world.

    Args:
        folder: made by `python -m worlds sites`.

    Attributes:
        name: what it is, with a hash that differs wherever a database or a task does.
        templates: which tasks it has.
        paper_test: the numbers of the tasks of the panel `paper_test`.

    Raises:
        ValueError: the folder holds no world, or one of another version.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._databases: dict[str, bytes] = {}
        self._archives: dict[str, zipfile.ZipFile] = {}
        self._reading = Lock()
        try:
            about = json.loads((folder / ABOUT_FILE).read_text(encoding="utf-8"))
            self._digests: dict[str, str] = about["sha256"]
            self._moves_digests: dict[str, str] = about.get("moves_sha256", {})
            self.name = f"{about['name']} ({_digest_of_all(self._digests)[:12]})"
            self.templates = [_template(row) for row in about["templates"]]
            self.paper_test: list[int] = about["paper_test"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{folder} is no world of the sites: {error!r}; {_REMEDY}") from error
        if about["version"] != VERSION:
            raise ValueError(
                f"{folder} is a world of version {about['version']}, and these sites play version "
                f"{VERSION}; {_REMEDY}"
            )

    def database(self, name: str) -> bytes:
        """Return a database, read once.

        Raises:
            ValueError: as `read`.
        """
        with self._reading:
            if name not in self._databases:
                self._databases[name] = self.read(f"{name}.sqlite")
            return self._databases[name]

    def digest(self, file: str) -> str:
        """Return the SHA-256 of a file, as `about.json` names it."""
        return self._digests[file]

    def read(self, file: str) -> bytes:
        """Return a file's content.

        Raises:
            ValueError: it is missing, or not what it was made as.
        """
        return self._read(CONTENT_FILE, file, self._digests)

    def read_moves(self, template: TemplateTasks) -> list[bytes]:
        """Return the record of each task of a template, a JSON list of its starts and its moves.

        Raises:
            ValueError: as `read`.
        """
        return self._read(MOVES_FILE, template.moves_file, self._moves_digests).splitlines()

    def _read(self, archive: str, file: str, digests: dict[str, str]) -> bytes:
        path = self.folder / archive
        remedy = "install agentgym-envs again" if self.folder == SHIPPED else _REMEDY
        try:
            if archive not in self._archives:
                # In memory: processes that are forked would move each other's place in a file.
                self._archives[archive] = zipfile.ZipFile(BytesIO(path.read_bytes()))
            content = self._archives[archive].read(file)
        except (OSError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            raise ValueError(f"{path} cannot be read: {error!r}; {remedy}") from error
        if sha256(content).hexdigest() != digests.get(file):
            raise ValueError(f"{path} was changed: {file} is not what it was made as; {remedy}")
        return content


def _digest_of_all(digests: dict[str, str]) -> str:
    lines = "".join(f"{file} {digest}\n" for file, digest in sorted(digests.items()))
    return sha256(lines.encode()).hexdigest()


def _template(row: dict[str, Any]) -> TemplateTasks:
    first, count = row["first"], row["count"]
    return TemplateTasks(
        row["template"], row["split"], tuple(row["sites"]), range(first, first + count)
    )


@cache
def open_content(folder: Path = SHIPPED) -> SiteContent:
    """Return the content of a folder, one object for each in a process."""
    return SiteContent(folder)
