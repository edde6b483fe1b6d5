"""Makes the content of the sites: four databases, the tasks on them, and how each is solved."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from itertools import groupby, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agentgym_envs.content.files import write_atomically
from agentgym_envs.sites.content import (
    ABOUT_FILE,
    CONTENT_FILE,
    MOVES_FILE,
    SHIPPED,
    VERSION,
    SiteContent,
)
from agentgym_envs.sites.map.drawing import COUNTRY_FILE
from agentgym_envs.webarena.tasks.files import WebTask
from worlds.sites.databases import NAMES, make_database
from worlds.sites.map.country import draw_country
from worlds.sites.setting import Setting
from worlds.sources import sources_digest
from worlds.tasks.drawing import TEMPLATES, draw_tasks
from worlds.tasks.panel import draw_panel
from worlds.tasks.playing import Record, record_moves
from worlds.tasks.template import World

SOURCES = (
    *(
        "agentgym_envs/content/dice.py",
        "worlds/dice.py",
        "worlds/words.py",
        "worlds/sites",
        "worlds/tasks",
    ),
    *(f"agentgym_envs/sites/{name}/schema.sql" for name in NAMES),
    *(
        f"agentgym_envs/sites/{name}.py"
        for name in ("people", "filters", "shopping/delivery", "gitlab/licences")
        + ("map/categories", "map/geography", "map/hours")
    ),
)
"""Files in which nearly every change of content begins."""


def make(out: Path | None, *, seed: int = 0, scale: int = 1, instances: int | None = None) -> None:
    """Make a world and write it.

    Args:
        out: the folder; None writes the one that is shipped.
        seed: another one makes another world.
        scale: how many times the rows.
        instances: at most so many tasks of each template; the shipped world has all.

    Raises:
        ValueError: the scale is out of bounds.
    """
    setting = Setting(seed, scale)
    databases = {f"{name}.sqlite": make_database(name, setting) for name in NAMES}
    with TemporaryDirectory() as draft:
        _write(Path(draft), setting, databases, [], [])
        world = World(SiteContent(Path(draft)), setting.people)
        tasks = _draw(world, setting, instances)
        records = [
            record_moves(task, world.content, TEMPLATES[task.intent_template_id].solve)
            for task in tasks
        ]
    folder = SHIPPED if out is None else out
    if out is None:
        write_atomically(COUNTRY_FILE, draw_country())
    _write(folder, setting, databases, tasks, records)
    print(f"{SiteContent(folder).name} with {len(tasks):,} tasks in {folder}")


def _draw(world: World, setting: Setting, instances: int | None) -> list[WebTask]:
    tasks: list[WebTask] = []
    for number, template in TEMPLATES.items():
        expected = min(template.instances, instances or template.instances)
        drawn = list(islice(draw_tasks(template, world, setting.dice("tasks", number)), expected))
        if len(drawn) < expected:
            print(f"template {number}: {len(drawn)} of {expected} tasks on this world")
        tasks += drawn
    return tasks


def _write(
    folder: Path,
    setting: Setting,
    databases: Mapping[str, bytes],
    tasks: Sequence[WebTask],
    records: Sequence[Record],
) -> None:
    files, moves_files, templates = dict(databases), {}, []
    pairs = zip(tasks, records, strict=True)
    for number, group in groupby(pairs, key=lambda pair: pair[0].intent_template_id):
        drawn, solved = zip(*group, strict=True)
        files[f"tasks/{number}.jsonl"] = _lines(task.to_json() for task in drawn)
        moves_files[f"moves/{number}.jsonl"] = _lines(map(_as_json, solved))
        templates.append(
            {
                "template": number,
                "split": drawn[0].split,
                "sites": drawn[0].sites,
                "first": drawn[0].task_id,
                "count": len(drawn),
            }
        )
    about = {
        "name": f"agentgym-sites v{VERSION}{_drawn_by(setting)}",
        "version": VERSION,
        "sources": sources_digest(SOURCES),
        "sha256": _digests(files),
        "moves_sha256": _digests(moves_files),
        "templates": templates,
        "paper_test": draw_panel(tasks),
    }
    write_atomically(folder / CONTENT_FILE, _archive(files))
    write_atomically(folder / MOVES_FILE, _archive(moves_files))
    write_atomically(folder / ABOUT_FILE, json.dumps(about) + "\n")


def _as_json(record: Record) -> list[Any]:
    """Return a record as JSON values, without the moves' default fields."""
    starts, moves = record
    return [starts, [{k: v for k, v in vars(move).items() if v not in ("", 0)} for move in moves]]


def _lines(rows: Iterable[Any]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _digests(files: Mapping[str, bytes]) -> dict[str, str]:
    return {file: sha256(content).hexdigest() for file, content in files.items()}


def _drawn_by(setting: Setting) -> str:
    seed = f" seed {setting.seed}" if setting.seed else ""
    return seed + (f" scale {setting.scale}" if setting.scale > 1 else "")


def _archive(files: Mapping[str, bytes]) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for file, content in files.items():
            # Without a time of its own, so that equal content makes equal files.
            archive.writestr(zipfile.ZipInfo(file), content, zipfile.ZIP_DEFLATED, 9)
    return buffer.getvalue()
