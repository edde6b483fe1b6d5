"""Writes the viewer as one HTML file with everything in it: no server, no network.

The data are gzip in base64, a part for the lists and one for every few episodes, so that opening
the file unpacks little.
"""

from __future__ import annotations

import base64
import gzip
import html
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentgym_envs.content.files import write_atomically
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.viewer.gains import all_gains
from benchmarks.viewer.index import Index
from benchmarks.viewer.logged import metric_curve, run_options
from benchmarks.viewer.pages import one_page, strict_json
from benchmarks.viewer.runs import read_folder
from benchmarks.viewer.scenes import episode_credits, scene, tokens

EPISODES_A_PART = 50
ENDINGS = (".html", ".htm")


def export(
    index: Index, path: str | Path, *, with_scenes: bool = False, with_tokens: bool = False
) -> int:
    """Write an index's runs and episodes to a file, and return the number of episodes.

    Args:
        index: is brought up to date first.
        path: the HTML file.
        with_scenes: replay every episode for the pictures beside its turns.
        with_tokens: every token, with its probability.

    Raises:
        ValueError: there are no episodes and no training run, or the file cannot be written.
    """
    _check_target(index, path)
    index.update()
    if not index.entries and not any(run.kind == "training" for run in index.runs):
        causes = "".join(f" ({problem})" for problem in index.problems[:1])
        raise ValueError(f"{index.root} holds no episodes and no training run{causes}")
    title = html.escape(f"{index.root.resolve().name} · agentgym view")
    data = _parts(index, with_scenes=with_scenes, with_tokens=with_tokens)
    page = "".join(one_page(data, title=title))
    try:
        write_atomically(path, page)
    except OSError as error:
        raise ValueError(f"cannot write {path}: {error}") from error
    return len(index.entries)


def _check_target(index: Index, path: str | Path) -> None:
    """Refuse a file that is read, or whose name has another ending than a page's."""
    if not str(path).lower().endswith(ENDINGS):
        allowed = " or ".join(ENDINGS)
        raise ValueError(f"--export must end in {allowed}, got {path}; pass {path}.html")
    if not os.path.exists(path):
        return
    if any(os.path.samefile(path, file.path) for file in read_folder(index.root).files):
        raise ValueError(
            f"--export must not name a file that is read, got {path}; pass another name"
        )


def _parts(index: Index, *, with_scenes: bool, with_tokens: bool) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of the parts."""
    values = {
        **index.to_json(),
        "complete": True,
        "curves": [metric_curve(run) for run in index.runs],
        "options": [run_options(run) for run in index.runs],
        "gains": dict(all_gains(index)),
        "episodes_a_part": EPISODES_A_PART,
        "with_scenes": with_scenes,
        "with_tokens": with_tokens,
    }
    yield "data-index", _packed(values)
    views: dict[str, Callable[[Trajectory, Path], Any]] = {}
    if with_scenes:
        views["scenes"] = scene
    if with_tokens:
        views |= {"tokens": tokens, "credits": lambda trajectory, _: episode_credits(trajectory)}
    total = len(index.entries)
    for part, start in enumerate(range(0, total, EPISODES_A_PART)):
        numbers = range(start, min(start + EPISODES_A_PART, total))
        yield f"data-episodes-{part}", _packed([index.record(n) for n in numbers])
        for name, view in views.items():
            yield f"data-{name}-{part}", _packed([index.view(n, view) for n in numbers])


def _packed(values: Any) -> str:
    body = strict_json(values).encode()
    # Without the time of day, equal data make equal files.
    return base64.b64encode(gzip.compress(body, mtime=0)).decode()
