"""Other people's parts in our commands, and ours in their scripts: the page's examples for real."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.cli import main as cli
from tests.trainers.toys import ENV_ID, make_folder

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "howto" / "plugging_in.md").read_text("utf-8")
TRAINER, STOCK_SCRIPT, _TOOLS_SCRIPT = re.findall(
    r"<!-- trains -->\n```python\n(.*?)^```$", PAGE, flags=re.M | re.S
)
(BACKEND,) = re.findall(r'```python\n("""A backend .*?)^```$', PAGE, flags=re.M | re.S)
ENTRY_POINTS = re.findall(
    r'```toml\n\[project.entry-points."([\w.]+)"\]\n(\w+) = "((\w+):\w+)"\n```', PAGE
)
"""Group, name, target and module."""
MODULES = {"plain_backend": BACKEND, "batch_baseline": TRAINER}


@pytest.fixture
def distribution(tmp_path: Path) -> Path:
    """Install the page's parts as a distribution each: a module and its metadata."""
    site = tmp_path / "site"
    for group, name, target, module in ENTRY_POINTS:
        info = site / f"{module}-1.0.dist-info"
        info.mkdir(parents=True)
        (site / f"{module}.py").write_text(MODULES[module])
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")
    return site


def test_a_trainer_of_another_package_is_an_algorithm_of_train(
    distribution: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.syspath_prepend(str(distribution))
    assert cli.main(["train"]) == 0
    assert re.search(r"algorithms: .*\bbatch_baseline\b.*\bgrpo\b", capsys.readouterr().out)

    out = tmp_path / "out"
    options = (
        f"--env {ENV_ID} --action_format plain --model {make_folder(tmp_path / 'model')} "
        f"--output_dir {out} --max_steps 1 --max_tokens_per_turn 4 --num_generations 4 "
        "--per_device_train_batch_size 8 --gradient_accumulation_steps 1 --eval_strategy no "
        "--disable_tqdm --use_cpu"
    ).split()
    assert cli.main(["train", "batch_baseline", *options]) == 0
    assert json.loads((out / "run.json").read_text())["command"] == "train batch_baseline"
    assert (out / "model.safetensors").is_file()
    (first, *_) = map(json.loads, (out / "metrics.jsonl").read_text().splitlines())
    assert first["batch_baseline"] == pytest.approx(first["reward"])


@pytest.mark.full
def test_an_installed_trainer_is_found_by_a_new_process(distribution: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-m", "benchmarks", "train", "batch_basline"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(distribution), str(ROOT)])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 2
    assert "batch_baseline" in result.stderr


def test_without_the_package_the_trainer_is_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["train", "batch_baseline"]) == 2
    assert "unknown algorithm 'batch_baseline'" in capsys.readouterr().err


# TRL warns that `rollout_func` is experimental.
@pytest.mark.full
@pytest.mark.filterwarnings("ignore:You are using 'rollout_func'")
def test_the_pages_script_trains_a_stock_trainer_with_our_rollouts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    exec(compile(STOCK_SCRIPT, "plugging_in.md", "exec"), names)
    logged = names["trainer"].state.log_history[0]  # type: ignore[attr-defined]
    assert logged["episodes/failed"] == 0
    assert 0 <= logged["episodes/success"] <= 1
    assert logged["step"] == 1
    assert capsys.readouterr().out.splitlines()[-1] == str(logged["episodes/success"])
