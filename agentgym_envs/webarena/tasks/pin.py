"""Pins the embedded sites and tasks: `python -m agentgym_envs.webarena.tasks.pin`.

Makes every site's content, draws every task, and writes the hash of both and the paper's test
panel into `pins.py`.
"""

from __future__ import annotations

import hashlib
import json
import re
import textwrap
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from agentgym_envs.webarena.sites.names import DATABASES
from agentgym_envs.webarena.sites.state import SiteState
from agentgym_envs.webarena.tasks import catalogue, pins
from agentgym_envs.webarena.tasks.task_set import SPLITS, subtask_of

PAPER_SIZES = {"Shopping": 15, "CMS": 15, "Maps": 10, "GitLab": 5, "Reddit": 5}
"""The panel of the paper (arXiv 2509.08755), which counts GitLab and Reddit as one."""


def content_hash() -> str:
    """Return the SHA-256 of all rows and tasks, in a fixed order."""
    digest = hashlib.sha256()
    for line in _lines():
        digest.update(line.encode() + b"\n")
    return digest.hexdigest()


def draw_panel() -> list[int]:
    """Draw the test panel: of each subtask as many as in the paper, its templates in turns."""
    panel: list[int] = []
    for subtask, size in PAPER_SIZES.items():
        mine = [
            [number * catalogue.STRIDE + i for i in range(catalogue.INSTANCES)]
            for number, template in catalogue.templates().items()
            if template.split == "test" and subtask_of(template.sites) == subtask
        ]
        turns = [number for row in zip_longest(*mine) for number in row if number is not None]
        panel += turns[:size]
    return sorted(panel)


def _lines() -> Iterator[str]:
    state = SiteState()
    for name in sorted(set(DATABASES.values())):
        database = state.database(name)
        tables = database.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' "
            "ORDER BY name"
        ).fetchall()
        for (table,) in tables:
            yield f"{name}.{table}"
            width = len(database.execute(f'SELECT * FROM "{table}" LIMIT 0').description)
            order = ", ".join(map(str, range(1, width + 1)))
            for row in database.execute(f'SELECT * FROM "{table}" ORDER BY {order}'):
                yield json.dumps(list(row))
    state.close()
    for split in SPLITS:
        for number in catalogue.numbers(split):
            yield json.dumps([split, catalogue.task_of(number).to_json()], sort_keys=True)


def main() -> None:
    """Write the pins."""
    digest = content_hash()
    numbers = textwrap.fill(
        " ".join(map(str, draw_panel())), 96, initial_indent="    ", subsequent_indent="    "
    )
    source = Path(pins.__file__)
    text = re.sub(
        r'^(CONTENT_HASH = ").*"$',
        rf'\g<1>{digest}"',
        source.read_text("utf-8"),
        flags=re.MULTILINE,
    )
    text = re.sub(
        r'^(    for number in """\n).*(?=^    """\.split)', rf"\g<1>{numbers}\n", text,
        flags=re.MULTILINE | re.DOTALL,
    )  # fmt: skip
    source.write_text(text, "utf-8")
    print(f"version {pins.VERSION}: {digest[:12]}")


if __name__ == "__main__":
    main()
