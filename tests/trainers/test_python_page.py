"""The scripts of `docs/howto/python.md` train for a step, unchanged but for their `max_steps`."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import read_jsonl
from trainers import Environments, installed_trainers, rollout

PAGE = (Path(__file__).parents[2] / "docs" / "howto" / "python.md").read_text("utf-8")
BLOCKS = re.findall(r"<!-- trains -->\n```python\n(.*?)^```$", PAGE, flags=re.M | re.S)
SCRIPTS = {
    match[1]: code
    for code in BLOCKS
    if (match := re.search(r'output_dir="runs/python/(\w+)"', code))
}
(RESUMES, SAVES) = [code for code in BLOCKS if code not in SCRIPTS.values()]
STEPS = "max_steps=100"


@pytest.fixture
def script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs a script of the page for so many steps: its names."""
    monkeypatch.chdir(tmp_path)
    opened: list[Environments] = []
    make = Environments.__init__

    def noting(self: Environments, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        opened.append(self)

    monkeypatch.setattr(rollout.environments.Environments, "__init__", noting)

    def run(algorithm: str, *further: str, steps: int = 1) -> dict[str, Any]:
        code = SCRIPTS[algorithm]
        assert code.count(STEPS) == 1
        names: dict[str, Any] = {}
        for part in (code.replace(STEPS, f"max_steps={steps}"), *further):
            exec(compile(part, f"docs/howto/python.md, {algorithm}", "exec"), names)
        return names

    yield run
    for environments in opened:
        environments.close()


def test_the_script_on_the_first_page_trains(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
    (code,) = re.findall(r"<!-- trains -->\n```python\n(.*?)^```$", page, flags=re.M | re.S)
    assert code.count(STEPS) == 1
    small = "max_steps=1, per_device_train_batch_size=4, gradient_accumulation_steps=2"
    small += ', eval_strategy="no"'
    exec(compile(code.replace(STEPS, small), "README.md", "exec"), {})
    assert (tmp_path / "runs" / "mine" / "metrics.jsonl").is_file()


def test_there_is_a_script_of_fewer_than_30_lines_for_each_algorithm() -> None:
    assert set(SCRIPTS) == set(installed_trainers())
    assert {name: len(code.splitlines()) for name, code in SCRIPTS.items()} == {
        name: pytest.approx(0, abs=29) for name in SCRIPTS
    }


@pytest.mark.full
@pytest.mark.parametrize(
    "algorithm",
    [
        *("ppo", "sft", "dpo"),
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("grpo", "rloo", "reinforce_pp")),
    ],
)
def test_a_script_trains_a_step_and_saves_the_model(
    algorithm: str, script: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    trainer = script(algorithm)["trainer"]
    assert trainer.state.global_step == 1
    folder = Path("runs/python") / algorithm
    assert {path.name for path in folder.iterdir()} >= {
        *("run.json", "metrics.jsonl", "config.json", "model.safetensors", "tokenizer.json"),
    }
    record = json.loads((folder / "run.json").read_text())
    assert record["EnvArguments"]["env"] == ["agentgym/TextCraft-v0"]
    assert "1 optimizer step, written to runs/python" in capsys.readouterr().out


@pytest.mark.full
def test_agentevols_script_does_a_round(script: Any) -> None:
    names = script("agentevol")
    assert names["done"].number == 1 and names["done"].global_step == 1
    assert Path("runs/python/agentevol/model.safetensors").is_file()
    assert Path("runs/python/agentevol/run.lock").exists() is False


@pytest.mark.full
def test_what_the_page_says_of_stopping_resuming_and_saving(
    script: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    names = script("sft")
    trainer = names["trainer"]
    trainer.args.max_steps = 2
    exec(RESUMES, names)
    assert trainer.state.global_step == 2
    capsys.readouterr()
    trainer.args.max_steps = 3
    exec(SAVES, names)
    assert trainer.state.global_step == 3
    assert "resuming from runs/python/sft/checkpoint-2" in capsys.readouterr().out
    assert not list(Path("runs/python/sft").glob("previous-*"))


@pytest.mark.full
def test_the_horizon_of_the_page_grows(script: Any) -> None:
    trainer = script("grpo")["trainer"]
    assert [trainer.rollout.schedule(step) for step in (0, 30, 60)] == [4, 6, 8]
    played = list(read_jsonl("runs/python/grpo/trajectories/train_000001.jsonl"))
    assert len(played) == 8 and max(len(episode.turns) for episode in played) <= 4
