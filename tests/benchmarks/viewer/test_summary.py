"""The numbers above the list, by the page's own modules in Node.js; no browser is needed."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from benchmarks.viewer.index import Index
from tests.benchmarks.viewer.samples import sweep

STATIC = Path(__file__).parents[3] / "benchmarks" / "viewer" / "static"
NODE = shutil.which("node")
pytestmark = pytest.mark.skipif(NODE is None, reason="needs Node.js")

SCRIPT = """
import { Entries } from "./entries.js";
import { isAlike } from "./filters.js";
import { rowsOf, summaryOf } from "./summary.js";

const entries = new Entries();
entries.take(ANSWER);
const answers = [false, true].map((isComparing) => ({
  alike: isAlike(entries.all, { isComparing }),
  summary: summaryOf(entries.all, entries.all.length, { isComparing }),
  rows: rowsOf(entries.all, { isComparing }).map(({ name }) => name),
}));
console.log(JSON.stringify(answers));
"""


def told(folder: Path, answer: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what is said of all episodes of an index, and of them as two runs that are compared.

    Args:
        folder: where the page's modules are copied to.
        answer: of the index, as the page gets it.
    """
    assert NODE is not None
    for module in STATIC.glob("*.js"):
        shutil.copy(module, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "test.js").write_text(SCRIPT.replace("ANSWER", json.dumps(answer)))
    done = subprocess.run(
        [NODE, "test.js"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout))


def seen(folder: Path) -> dict[str, Any]:
    """Return what the page is told of a folder."""
    index = Index(folder)
    index.update()
    return {**index.to_json(), "complete": True}


def test_two_runs_of_one_policy_that_are_compared_have_a_row_each_and_no_mean(
    tmp_path: Path,
) -> None:
    sweep(tmp_path / "runs", seeds=2)
    shutil.rmtree(tmp_path / "runs" / "cells" / "random")
    alone, compared = told(tmp_path, seen(tmp_path / "runs"))
    assert (alone["alike"], alone["rows"]) == (True, ["expert"])
    assert "success 100.0%" in alone["summary"]
    assert not compared["alike"]
    assert compared["summary"] == "4 trajectories · 2 runs: not averaged"
    assert compared["rows"] == ["expert · seed 0", "expert · seed 1"]


def test_a_compared_runs_turn_limit_is_named_once(tmp_path: Path) -> None:
    sweep(tmp_path / "runs", limits=(5, 10))
    shutil.rmtree(tmp_path / "runs" / "cells" / "random")
    alone, compared = told(tmp_path, seen(tmp_path / "runs"))
    assert alone["rows"] == ["expert · 5 turns", "expert · 10 turns"]
    assert compared["rows"] == ["expert · 5 turns · seed 0", "expert · 10 turns · seed 0"]


def test_one_run_is_averaged_whatever_it_is_compared_with(tmp_path: Path) -> None:
    sweep(tmp_path / "runs")
    shutil.rmtree(tmp_path / "runs" / "cells" / "random")
    _, compared = told(tmp_path, seen(tmp_path / "runs"))
    assert compared["alike"]
    assert compared["summary"].startswith("2 trajectories · success 100.0%")
