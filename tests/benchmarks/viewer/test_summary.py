"""The numbers above the list, by the page's own modules in Node.js; no browser is needed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from benchmarks.viewer.index import Index
from tests.benchmarks.viewer.modules import needs_node, run_script
from tests.benchmarks.viewer.samples import sweep

pytestmark = needs_node

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
    return list(run_script(folder, SCRIPT.replace("ANSWER", json.dumps(answer))))


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
