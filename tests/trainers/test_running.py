from __future__ import annotations

import json
import logging
import os
import runpy
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from tqdm.auto import tqdm
from transformers import TrainerCallback

from agentgym_envs import read_jsonl
from tests.trainers.command import EPISODES, start, wait_for
from tests.trainers.toys import make_folder
from trainers import command as commands
from trainers.command import command_to_resume, train_and_save
from trainers.grpo import main
from trainers.models.loading import load_policy
from trainers.options.configs import ModelArguments
from trainers.options.errors import UsageError
from trainers.runs.checkpoints import last_checkpoint
from trainers.runs.folder import read_run, set_aside
from trainers.runs.provenance import changed_options
from trainers.runs.stopping import TOGETHER, Interrupted, SaveOnSignal

Command = Callable[..., list[str]]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_folder(tmp_path_factory.mktemp("model"))


@pytest.fixture
def command(model: str, tmp_path: Path) -> Command:
    """Return a function that makes the options of a short run."""

    def options(*further: str, steps: int = 2) -> list[str]:
        return [
            *("--model", model, "--output_dir", str(tmp_path / "run"), "--save_strategy", "steps"),
            *("--save_steps", "1", "--max_steps", str(steps), *EPISODES, *further),
        ]

    return options


def names_in(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def steps_of(folder: Path) -> list[int]:
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [entry["global_step"] for entry in map(json.loads, lines) if "loss" in entry]


# Signals ----------------------------------------------------------------------------------------


@pytest.mark.full
def test_ctrl_c_saves_says_how_to_go_on_and_the_run_goes_on(
    command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    process = start("grpo", command("--save_steps", "10000", steps=10000))
    wait_for((folder / "trajectories/train_000003.jsonl").exists, process)
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=120)
    assert process.returncode == 130, complained
    assert "SIGINT: the present step ends with a checkpoint" in complained
    checkpoint = last_checkpoint(folder)
    assert checkpoint is not None
    step = int(checkpoint.name.rpartition("-")[2])
    assert f"stopped after step {step}" in said
    assert said.rstrip().endswith("--resume")
    assert "\n  agentgym train grpo --model " in said
    assert steps_of(folder) == list(range(1, step + 1))
    assert not (folder / "model.safetensors").exists()
    assert (folder / "learning_curve.png").read_bytes().startswith(b"\x89PNG")

    assert main(command("--resume", steps=step + 1)) == 0
    assert f"resuming from {checkpoint}" in capsys.readouterr().out
    assert steps_of(folder) == list(range(1, step + 2))
    assert (folder / "model.safetensors").exists()


@pytest.mark.slow
def test_a_second_ctrl_c_ends_at_once(command: Command, tmp_path: Path) -> None:
    slow = ["--wrapper", "tests.trainers.toys:Slow"]
    process = start("grpo", command(*slow, steps=10000))
    wait_for((tmp_path / "run/trajectories/train_000001.jsonl").exists, process)
    wait_for((tmp_path / "run/checkpoint-1/trainer_state.json").exists, process)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    told: list[str] = []
    while "SIGINT: " not in "".join(told):
        told.append(process.stderr.readline())
    time.sleep(TOGETHER)
    process.send_signal(signal.SIGINT)
    said, complained = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert complained.rstrip().endswith("KeyboardInterrupt")
    assert "stopped after step" not in said


class SendsSignal(TrainerCallback):
    """Sends this process a signal while a step is being taken."""

    def __init__(self, number: int, step: int) -> None:
        self.number, self.step = number, step

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        if state.global_step == self.step:
            os.kill(os.getpid(), self.number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_training_with_a_checkpoint_of_the_present_step(
    number: int, trainer_in: Callable[..., Any]
) -> None:
    before = signal.getsignal(number)
    trainer = trainer_in(
        max_steps=50, save_strategy="steps", save_steps=100, save_total_limit=1,
        trainer={"callbacks": [SendsSignal(number, step=1)]},
    )  # fmt: skip
    with pytest.raises(SystemExit) as stopped:
        with commands.running(trainer, "train grpo"):
            train_and_save(trainer, command="train grpo", configs=[trainer.args])
    assert stopped.value.code == 130
    assert trainer.state.global_step == 2
    assert last_checkpoint(Path(trainer.args.output_dir)) is not None
    assert signal.getsignal(number) is before


def test_a_warning_beside_a_progress_bar_has_a_line_of_its_own(
    trainer_in: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    with commands.running(trainer_in(), "train grpo"), tqdm(total=2):
        logging.getLogger("trainers").warning("all turns were cut off")
    assert "\rall turns were cut off\n" in capsys.readouterr().err


def test_a_signal_that_comes_after_training_is_the_callers(tmp_path: Path) -> None:
    with SaveOnSignal():
        pass
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_in_a_script_saves_and_names_the_way_on(trainer_in: Callable[..., Any]) -> None:
    options: dict[str, Any] = {"max_steps": 3, "save_strategy": "steps", "save_steps": 100}
    trainer = trainer_in(trainer={"callbacks": [SendsSignal(signal.SIGINT, step=1)]}, **options)
    with pytest.raises(KeyboardInterrupt) as stopped:
        trainer.train()
    assert isinstance(stopped.value, Interrupted) and stopped.value.global_step == 2
    checkpoint = Path(trainer.args.output_dir) / "checkpoint-2"
    assert stopped.value.checkpoint == checkpoint and last_checkpoint(checkpoint.parent)
    told = f"stopped after step 2; {checkpoint} is saved. To go on, make the trainer anew and call "
    assert str(stopped.value) == f"{told}trainer.train(resume_from_checkpoint=True)"
    again = trainer_in(**options)
    again.train(resume_from_checkpoint=True)
    assert again.state.global_step == 3
    assert steps_of(checkpoint.parent) == [1, 2, 3]


def test_a_notebook_that_trains_twice_keeps_what_it_trained_last(
    trainer_in: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    options: dict[str, Any] = {"save_strategy": "steps", "save_steps": 1}
    trainer_in(max_steps=1, **options).train()
    folder = trainer_in().args.output_dir
    begun = read_run(folder)["started"]
    trainer_in(max_steps=2, learning_rate=0.5, **options).train(resume_from_checkpoint=True)
    assert "AgentGRPOConfig.learning_rate: 0.01 -> 0.5" in capsys.readouterr().out
    record = read_run(folder)
    assert record["AgentGRPOConfig"]["learning_rate"] == 0.5 and record["started"] == begun
    (part,) = record["resumed"]
    assert part["at_step"] == 1 and part["changed"]["AgentGRPOConfig.max_steps"] == [1, 2]
    trainer_in(max_steps=1, learning_rate=0.25, **options).train()
    record = read_run(folder)
    assert record["AgentGRPOConfig"]["learning_rate"] == 0.25 and "resumed" not in record


def test_resuming_in_a_script_passes_over_a_damaged_checkpoint(
    trainer_in: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    options: dict[str, Any] = {"save_strategy": "steps", "save_steps": 1}
    trainer = trainer_in(max_steps=2, **options)
    trainer.train()
    damaged = Path(trainer.args.output_dir) / "checkpoint-2/model.safetensors"
    damaged.write_bytes(damaged.read_bytes()[:-1])
    again = trainer_in(max_steps=2, **options)
    again.train(resume_from_checkpoint=True)
    assert "checkpoint-2 has a damaged model.safetensors and is passed" in capsys.readouterr().out
    assert steps_of(damaged.parents[1]) == [1, 2]


def test_a_checkpoint_that_cannot_be_loaded_is_named_with_its_file(
    trainer_in: Callable[..., Any], tmp_path: Path
) -> None:
    options: dict[str, Any] = {"save_strategy": "steps", "save_steps": 1, "max_steps": 1}
    trainer_in(**options).train()
    checkpoint = tmp_path / "run/checkpoint-1"
    other = trainer_in(**options, model=load_policy(ModelArguments(model_name_or_path="tiny"))[0])
    with pytest.raises(UsageError, match="cannot load the checkpoint .*checkpoint-1: .*; resume"):
        other.train(resume_from_checkpoint=str(checkpoint))
    for name in ("optimizer.pt", "model.safetensors"):
        whole = (checkpoint / name).read_bytes()
        (checkpoint / name).write_bytes(whole[: len(whole) // 2])
        with pytest.raises(UsageError, match=f"checkpoint-1 has a damaged {name}, so .*True for"):
            trainer_in(**options).train(resume_from_checkpoint=str(checkpoint))
        (checkpoint / name).write_bytes(whole)


def test_a_script_with_nothing_to_resume_is_told_so(trainer_in: Callable[..., Any]) -> None:
    with pytest.raises(ValueError, match="no whole checkpoint in .*run; leave the argument out"):
        trainer_in().train(resume_from_checkpoint=True)


def test_train_and_save_does_in_a_script_what_the_command_does(
    trainer_in: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    options: dict[str, Any] = {"save_strategy": "steps", "save_steps": 1}
    trainer = trainer_in(max_steps=1, **options)
    folder = Path(trainer.args.output_dir)
    train_and_save(trainer)
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= names_in(folder)
    assert {"EnvArguments", "RolloutArguments", "EvaluationArguments", "AgentGRPOConfig"} <= set(
        json.loads((folder / "run.json").read_text())
    )
    train_and_save(trainer_in(max_steps=2, learning_rate=1e-3, **options), resume=True)
    said = capsys.readouterr().out
    assert f"resuming from {folder}/checkpoint-1" in said
    assert "AgentGRPOConfig.learning_rate: 0.01 -> 0.001" in said
    assert steps_of(folder) == [1, 2]
    train_and_save(trainer_in(max_steps=1, **options))
    assert f"is now in {folder}/previous-1" in capsys.readouterr().out
    assert steps_of(folder) == [1] and steps_of(folder / "previous-1") == [1, 2]
    assert "run.lock" not in names_in(folder)


# Gradients --------------------------------------------------------------------------------------


class Spoils(TrainerCallback):
    """Makes the loss of some steps infinite, by an infinite weight of one tiny gradient."""

    def __init__(self, steps: set[int]) -> None:
        self.steps = steps
        self.weights: dict[int, list[torch.Tensor]] = {}

    def on_step_begin(self, args: Any, state: Any, control: Any, model: Any, **_kw: Any) -> None:
        self.weights[state.global_step] = [p.detach().clone() for p in model.parameters()]
        self._handle = None
        if state.global_step in self.steps:
            parameter = next(model.parameters())
            self._handle = parameter.register_hook(lambda grad: grad * float("inf"))

    def on_step_end(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        if self._handle is not None:
            self._handle.remove()


def test_steps_whose_gradient_is_not_finite_are_skipped_and_counted(
    trainer_in: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    spoils = Spoils({1, 2})
    trainer = trainer_in(max_steps=5, trainer={"callbacks": [spoils]}, env={"max_turns": 1})
    trainer.train()
    unchanged = {
        step: all(map(torch.equal, spoils.weights[step], spoils.weights[step + 1]))
        for step in range(4)
    }
    assert unchanged == {0: False, 1: True, 2: True, 3: False}
    lines = (Path(trainer.args.output_dir) / "metrics.jsonl").read_text().splitlines()
    logged = [entry for entry in map(json.loads, lines) if "loss" in entry]
    assert [entry["skipped_steps"] for entry in logged] == [0, 1, 1, 0, 0]
    assert logged[1]["grad_norm"] is None
    assert "step 1 is skipped" in caplog.text
    assert "--learning_rate" in caplog.text


@pytest.mark.full
def test_a_run_of_skipped_steps_stops_with_an_explanation(
    trainer_in: Callable[..., Any],
) -> None:
    trainer = trainer_in(max_steps=20, trainer={"callbacks": [Spoils(set(range(2, 20)))]})
    with pytest.raises(FloatingPointError, match=r"5 steps in a row .* has diverged"):
        trainer.train()
    assert trainer.state.global_step == 6


# Folders ----------------------------------------------------------------------------------------


def checkpoint(folder: Path, step: int, state: str | None) -> None:
    (folder / f"checkpoint-{step}").mkdir()
    if state is not None:
        (folder / f"checkpoint-{step}/trainer_state.json").write_text(state)


def test_a_checkpoint_that_a_kill_left_unfinished_is_passed_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert last_checkpoint(tmp_path) is None
    checkpoint(tmp_path, 9, '{"global_step": 9}')
    checkpoint(tmp_path, 10, '{"global_step": 10}')
    checkpoint(tmp_path, 11, '{"global_step": 1')
    checkpoint(tmp_path, 12, None)
    (tmp_path / "checkpoint-best").mkdir()
    assert last_checkpoint(tmp_path) == tmp_path / "checkpoint-10"
    said = capsys.readouterr().out
    assert "checkpoint-12 was not written to its end" in said
    assert "checkpoint-11 was not written to its end" in said


def test_a_new_run_sets_the_folders_earlier_one_aside_and_says_so(
    command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert main(command(steps=2)) == 0
    assert "previous" not in capsys.readouterr().out
    (folder / "notes.txt").write_text("mine")
    assert main(command("--seed", "5", steps=1)) == 0
    assert f"is now in {folder}/previous-1" in capsys.readouterr().out
    assert steps_of(folder) == [1]
    assert steps_of(folder / "previous-1") == [1, 2]
    assert json.loads((folder / "previous-1/run.json").read_text())["seed"] == 42
    assert json.loads((folder / "run.json").read_text())["seed"] == 5
    assert sorted(path.name for path in folder.glob("checkpoint-*")) == ["checkpoint-1"]
    assert sorted(path.name for path in (folder / "trajectories").iterdir()) == [
        "train_000001.jsonl"
    ]
    assert (folder / "notes.txt").exists()
    assert {"config.json", "model.safetensors"} <= names_in(folder / "previous-1")
    assert {"config.json", "model.safetensors"} <= names_in(folder)
    assert list(read_jsonl(folder / "previous-1/trajectories/train_000002.jsonl"))


def test_a_run_that_is_cut_short_leaves_no_earlier_ones_model(tmp_path: Path) -> None:
    make_folder(tmp_path)
    (tmp_path / "run.json").write_text("{}")
    set_aside(tmp_path)
    assert names_in(tmp_path) == {"previous-1"}


def test_a_model_that_the_run_starts_from_stays_where_it_is(tmp_path: Path) -> None:
    before = names_in(Path(make_folder(tmp_path)))
    (tmp_path / "run.json").write_text("{}")
    set_aside(tmp_path, start=str(tmp_path / ".." / tmp_path.name))
    assert names_in(tmp_path) == before | {"previous-1"}
    assert names_in(tmp_path / "previous-1") == before | {"run.json"}  # the run will replace them
    make_folder(tmp_path / "checkpoint-5")
    (tmp_path / "run.json").write_text("{}")
    set_aside(tmp_path, start=str(tmp_path / "checkpoint-5"))
    assert names_in(tmp_path) == {"checkpoint-5", "previous-1", "previous-2"}


def test_the_model_of_a_run_that_has_not_ended_is_its_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    with pytest.raises(UsageError, match="has not ended, so there is no model yet; go on with"):
        load_policy(ModelArguments(model_name_or_path=str(tmp_path)))
    (tmp_path / "checkpoint-5").mkdir()
    (tmp_path / "checkpoint-5/trainer_state.json").write_text('{"global_step": 5}')
    with pytest.raises(UsageError, match="name its last checkpoint, .*checkpoint-5, or go on"):
        load_policy(ModelArguments(model_name_or_path=str(tmp_path)))
    make_folder(tmp_path / "model")
    with pytest.raises(UsageError, match="whose model is in .*model: name that"):
        load_policy(ModelArguments(model_name_or_path=str(tmp_path)))


def test_a_launcher_has_its_part_in_the_command_that_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("sys.argv", ["agentgym", "train", "grpo", "--seed", "1"])
    assert command_to_resume("train grpo") == "agentgym train grpo --seed 1 --resume"
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert "launcher" in command_to_resume("train grpo")


def test_a_command_that_goes_on_shows_no_secret_and_asks_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = ["--hub_token", "hf_x", "--server_url", "http://ada:s3cret@host"]
    monkeypatch.setattr("sys.argv", ["agentgym", "train", "grpo", *words])
    shown = "agentgym train grpo --hub_token '***' --server_url 'http://***@host' --resume"
    told = "\n(with your secret in place of each ***)"
    assert command_to_resume("train grpo") == shown + told


def test_a_trainer_of_ones_own_goes_on_by_its_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["mine/batch_baseline.py", "--seed", "1"])
    resume = command_to_resume("train batch_baseline")
    assert resume == "python mine/batch_baseline.py --seed 1 --resume"
    assert command_to_resume("train grpo") == "agentgym train grpo --seed 1 --resume"


@pytest.mark.parametrize("module", ["trainers.sft", "trainers.dpo", "trainers.grpo"])
def test_a_mistake_is_a_sentence_under_a_launcher_too(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {
        "trainers.sft": ["--data", "nowhere.jsonl", "--model", "tiny"],
        "trainers.dpo": ["--data", "nowhere.jsonl", "--model", "tiny"],
        "trainers.grpo": ["--env", "TextCraft", "--tasks", "depth 99", "--model", "tiny"],
    }
    monkeypatch.setattr("sys.argv", [module, *options[module]])
    monkeypatch.delitem(sys.modules, module, raising=False)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert told.startswith("agentgym: ") and ("nowhere.jsonl" in told or "depth 99" in told)


def test_each_earlier_run_gets_a_folder_of_its_own(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / "run.json").write_text(str(number))
        set_aside(tmp_path)
    assert (tmp_path / "previous-2/run.json").read_text() == "2"


def test_resuming_says_what_differs_and_keeps_it_on_record(
    command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(steps=1)) == 0
    shutil.rmtree(tmp_path / "run/trajectories")
    capsys.readouterr()
    assert main(command("--resume", "--horizon", "fixed:2", "--learning_rate", "0.5")) == 0
    said = capsys.readouterr().out
    assert "not as in the run that is resumed:" in said
    assert "AgentGRPOConfig.learning_rate: 0.01 -> 0.5" in said
    assert "RolloutArguments.horizon: None -> fixed:2" in said
    assert "output_dir" not in said.split("resuming from")[0]
    (resumed,) = json.loads((tmp_path / "run/run.json").read_text())["resumed"]
    assert resumed["at_step"] == 1
    assert resumed["changed"]["AgentGRPOConfig.max_steps"] == [1, 2]
    assert main(command("--resume", steps=3)) == 0
    record = json.loads((tmp_path / "run/run.json").read_text())
    assert [part["at_step"] for part in record["resumed"]] == [1, 2]


def test_another_algorithms_run_is_not_resumed(command: Command, tmp_path: Path) -> None:
    assert main(command(steps=1)) == 0
    record = tmp_path / "run/run.json"
    record.write_text(record.read_text().replace('"train grpo"', '"train sft"'))
    with pytest.raises(UsageError, match="holds a run of 'train sft', which 'train grpo' cannot"):
        main(command("--resume"))


def test_resuming_where_there_is_nothing_starts_at_the_beginning(
    command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command("--resume", steps=1)) == 0
    assert "has no checkpoint: training starts at the beginning" in capsys.readouterr().out


def test_changes_are_told_by_option() -> None:
    before = {"seed": 1, "argv": ["a"], "A": {"x": 1, "y": [2], "output_dir": "p"}, "git": "c"}
    now = {"seed": 2, "argv": ["b"], "A": {"x": 1, "y": [3], "output_dir": "q"}, "B": {"z": 0}}
    assert changed_options(before, now) == {
        "A.y": [[2], [3]],
        "B": [None, {"z": 0}],
        "git": ["c", None],
    }
    assert changed_options(before, before) == {}


def test_processes_wait_for_the_one_that_saves(
    trainer_in: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A launcher ends the others where one breaks at its end, as gloo's threads make it do."""
    trainer = trainer_in(max_steps=1)
    order: list[str] = []
    save, wait = commands.save_policy, trainer.accelerator.wait_for_everyone
    monkeypatch.setattr(commands, "save_policy", lambda *a: [order.append("save"), save(*a)])
    trainer.accelerator.wait_for_everyone = lambda: [order.append("wait"), wait()]
    train_and_save(trainer)
    assert order[-2:] == ["save", "wait"]
