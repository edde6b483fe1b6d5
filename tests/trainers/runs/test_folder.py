from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import Trajectory, write_jsonl
from trainers.options.arguments import EnvArguments
from trainers.options.errors import UsageError
from trainers.runs.folder import (
    RUN_FILE,
    explain_missing_model,
    model_step,
    read_json,
    write_json,
)
from trainers.runs.provenance import begin_run, resumption
from trainers.runs.reader import find_runs, is_set_aside, nearest_record
from trainers.runs.success import measured_success


def test_a_record_that_is_no_json_object_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.json"
    assert read_json(path) == {}
    write_json(path, {"folder": tmp_path})
    assert read_json(path) == {"folder": str(tmp_path)}
    path.write_text("[1]")
    with pytest.raises(ValueError, match=r"run\.json is not a JSON object"):
        read_json(path)


def test_runs_cells_and_lone_files_are_told_apart(tmp_path: Path) -> None:
    run, cell = tmp_path / "run", tmp_path / "cells" / "one"
    write_json(run / "run.json", {"command": "train"})
    write_json(cell / "cell.json", {"policy": "expert"})
    for path in (
        run / "metrics.jsonl",
        run / "trajectories" / "train_000001_rank0.jsonl.gz",
        run / "previous-1" / "trajectories" / "eval_000000.jsonl",
        run / "checkpoint-1" / "passed_over.jsonl",
        cell / "batch_0000.jsonl",
        tmp_path / "lone.jsonl",
    ):
        write_jsonl(path, [Trajectory("toy/Letters-v0", "a_1")])
    runs = {source.path.relative_to(tmp_path).as_posix(): source for source in find_runs(tmp_path)}
    assert {name: (source.kind, len(source.files)) for name, source in runs.items()} == {
        "lone.jsonl": ("file", 1),
        "cells/one": ("cell", 1),
        "run": ("training", 1),
        "run/previous-1/trajectories/eval_000000.jsonl": ("file", 1),
    }
    assert runs["run"].record == {"command": "train"}
    assert runs["run"].phase(runs["run"].files[0]) == "train_000001"
    assert nearest_record(run / "trajectories") == ("run.json", {"command": "train"})
    aside = [name for name, source in runs.items() if is_set_aside(source.files[0], tmp_path)]
    assert aside == ["run/previous-1/trajectories/eval_000000.jsonl"]
    (lone,) = find_runs(tmp_path / "lone.jsonl")
    assert (lone.kind, lone.record) == ("file", {})


def test_the_reader_of_runs_brings_no_torch() -> None:
    code = "import sys, trainers.runs.reader; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize("seed", range(3))
def test_a_flipped_bit_of_a_run_s_record_is_named_or_harmless(tmp_path: Path, seed: int) -> None:
    configs = [EnvArguments(env=["Maze"])]
    begin_run(tmp_path, command="train grpo", seed=1, configs=configs, at_step=None, start=None)
    path = tmp_path / RUN_FILE
    whole = path.read_bytes()
    readers: tuple[Callable[[], Any], ...] = (
        lambda: model_step(tmp_path),
        lambda: measured_success(tmp_path),
        lambda: resumption(tmp_path, 1, command="train grpo", configs=configs),
        lambda: explain_missing_model(str(tmp_path)),
    )
    draw = random.Random(seed)
    for _ in range(100):
        damaged = bytearray(whole)
        damaged[draw.randrange(len(whole))] ^= 1 << draw.randrange(8)
        path.write_bytes(damaged)
        for read in readers:
            try:
                read()
            except UsageError as error:
                assert str(tmp_path) in str(error)
