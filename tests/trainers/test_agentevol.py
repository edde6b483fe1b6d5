from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import torch
from transformers import AutoModelForCausalLM

from agentgym_envs import Trajectory, read_jsonl, write_jsonl
from tests.trainers.toys import ENV_ID, make_folder, make_model
from trainers import agentevol
from trainers.agentevol import AgentEvol, AgentEvolConfig, main
from trainers.collect import expert_episodes
from trainers.credit.pairs import distinct
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.configs import ModelArguments
from trainers.options.errors import UsageError
from trainers.options.offline import AgentEvolArguments
from trainers.rollout.environments import Environments
from trainers.rollout.rollout import Rollout
from trainers.runs.folder import read_run, write_json
from trainers.runs.progress_bar import Watch
from trainers.runs.rounds import Round, RoundFiles


class NeverSucceeds(gym.Wrapper):  # type: ignore[misc]
    """A game that cannot be won."""

    def step(self, action: Any) -> Any:
        observation, _, terminated, truncated, info = self.env.step(action)
        return observation, 0.0, terminated, truncated, {**info, "success": False}


@pytest.fixture
def evolve(tmp_path: Path) -> Callable[..., list[Round]]:
    """Return a function that evolves a random model on the toy game."""
    make_folder(tmp_path / "model")

    def run(
        folder: str = "run",
        *,
        resume: bool = False,
        wrapper: list[str] | None = None,
        **options: Any,
    ) -> list[Round]:
        chosen: dict[str, Any] = {"num_samples": 2, "num_rounds": 2}
        chosen |= {
            k: options.pop(k) for k in list(options) if k in AgentEvolArguments.__annotations__
        }
        training: dict[str, Any] = {
            "per_device_train_batch_size": 4,
            "learning_rate": 1e-2,
            "logging_steps": 1,
            "disable_tqdm": True,
            "eval_strategy": "no",
            "save_strategy": "no",
        }
        environments = Environments(
            EnvArguments(env=[ENV_ID], action_format="plain", wrapper=wrapper or []), episodes=8
        )
        evolution = AgentEvol(
            ModelArguments(model_name_or_path=str(tmp_path / "model")),
            environments,
            args=AgentEvolConfig(output_dir=str(tmp_path / folder), **{**training, **options}),
            options=AgentEvolArguments(**chosen),
            rollout=RolloutArguments(max_tokens_per_turn=4),
            evaluation=EvaluationArguments(),
        )
        return list(evolution.run(resume=resume))

    return run


def weights(folder: Path) -> torch.Tensor:
    model = AutoModelForCausalLM.from_pretrained(folder)
    return torch.cat([parameter.flatten() for parameter in model.parameters()])


def explored(folder: Path, number: int) -> list[Trajectory]:
    paths = sorted((folder / "trajectories").glob("explored_*.jsonl"))
    return list(read_jsonl(paths[number - 1]))


def test_a_round_learns_the_successes_of_its_exploration(
    evolve: Callable[..., list[Round]], tmp_path: Path
) -> None:
    first, second = evolve()
    for done in (first, second):
        played = explored(tmp_path / "run", done.number)
        assert done.explored == len(played) == 16
        assert done.success == pytest.approx(sum(t.success for t in played) / 16)
        assert done.kept == done.trained_on == len([t for t in distinct(played) if t.success])
    assert 0 < first.kept < 16
    assert [t.completion for e in explored(tmp_path / "run", 1) for t in e.turns] != [
        t.completion for e in explored(tmp_path / "run", 2) for t in e.turns
    ]


@pytest.mark.full
def test_rounds_explore_other_tasks_and_learn_nothing_twice(
    evolve: Callable[..., list[Round]], tmp_path: Path
) -> None:
    rounds = evolve(num_rounds=3, num_explored_tasks=2, num_samples=8, merge="all")
    played = [explored(tmp_path / "run", done.number) for done in rounds]
    tasks = [{episode.task_id for episode in episodes} for episodes in played]
    assert [len(chosen) for chosen in tasks] == [2, 2, 2]
    assert len(set.union(*tasks)) > 4
    learned = [t for t in distinct([t for each in played for t in each]) if t.success]
    assert rounds[-1].trained_on == len(learned)


@pytest.mark.full
def test_every_round_leaves_its_model_and_the_last_one_is_the_result(
    evolve: Callable[..., list[Round]], tmp_path: Path
) -> None:
    rounds = evolve()
    models = [weights(tmp_path / "run" / f"round_{number}") for number in (1, 2)]
    assert not torch.equal(*models)
    assert torch.equal(weights(tmp_path / "run"), models[1])
    lines = (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()
    logged = [json.loads(line) for line in lines]
    assert [entry["round"] for entry in logged] == [1, 1, 2, 2]
    first, second = (done.global_step for done in rounds)
    assert [entry["global_step"] for entry in logged] == [0, first, first, second]
    assert (tmp_path / "run" / "round_1" / "metrics.jsonl").is_file()


@pytest.mark.full
@pytest.mark.parametrize(
    ("start_from", "names"),
    [("initial", ["model", "model", "round_2"]), ("current", ["model", "round_1", "round_2"])],
)
def test_fine_tuning_starts_from_the_initial_model_unless_told_otherwise(
    start_from: str,
    names: list[str],
    evolve: Callable[..., list[Round]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    loaded: list[str] = []
    load = agentevol.load_policy

    def watch(args: ModelArguments, *template: Any) -> Any:
        loaded.append(Path(str(args.model_name_or_path)).name)
        return load(args, *template)

    monkeypatch.setattr(agentevol, "load_policy", watch)
    evolve(start_from=start_from, max_steps=1)
    assert loaded == names  # a round each, then the last one's for the result


@pytest.mark.full
def test_rounds_are_merged_with_the_base_set_alone_unless_told_otherwise(
    evolve: Callable[..., list[Round]],
) -> None:
    first, second = evolve(expert_episodes=-1, max_steps=1)
    assert (first.trained_on, second.trained_on) == (8 + first.kept, 8 + second.kept)
    first, second = evolve("all", expert_episodes=3, merge="all", max_steps=1)
    assert second.trained_on == 3 + first.kept + second.kept


def test_the_base_set_is_what_succeeded_in_files(
    evolve: Callable[..., list[Round]], tmp_path: Path
) -> None:
    letters = Environments(EnvArguments(env=[ENV_ID], action_format="plain"))
    experts = expert_episodes(letters, letters.task_ids("train"))
    experts[0].success = False
    write_jsonl(tmp_path / "base.jsonl", experts)
    (done,) = evolve(data=[str(tmp_path / "base.jsonl")], num_rounds=1, max_steps=1)
    assert done.trained_on == done.kept + 7


def test_a_base_set_of_another_environment_is_refused(
    evolve: Callable[..., list[Round]], tmp_path: Path
) -> None:
    write_jsonl(tmp_path / "base.jsonl", [Trajectory("agentgym/BabyAI-v0", "babyai_1")])
    with pytest.raises(UsageError, match="holds episodes of babyai, and `env` is Letters; pass"):
        evolve(data=[str(tmp_path / "base.jsonl")], num_rounds=1, max_steps=1)


@pytest.mark.full
def test_a_resumed_run_ends_as_the_uninterrupted_one(
    evolve: Callable[..., list[Round]], tmp_path: Path
) -> None:
    """It is cut between its rounds, then, in a copy, in the middle of its second one."""
    options = {"save_strategy": "steps", "save_steps": 4, "per_device_train_batch_size": 2}
    whole = evolve("whole", **options)
    assert whole[1].global_step - whole[0].global_step > 4
    evolve("parts", num_rounds=1, **options)
    assert evolve("parts", resume=True, **options) == whole
    assert torch.equal(weights(tmp_path / "parts"), weights(tmp_path / "whole"))
    assert explored(tmp_path / "parts", 2) == [
        # The policy is named after the folder that holds it.
        Trajectory.from_json({**t.to_json(), "policy": t.policy.replace("whole", "parts")})
        for t in explored(tmp_path / "whole", 2)
    ]
    broken = tmp_path / "parts" / "round_2"
    for name in ("round.json", "model.safetensors"):
        (broken / name).unlink()
    for checkpoint in broken.glob("checkpoint-*"):
        if checkpoint.name != "checkpoint-4":
            shutil.rmtree(checkpoint)
    assert evolve("parts", resume=True, **options) == whole
    assert torch.equal(weights(tmp_path / "parts"), weights(tmp_path / "whole"))


@pytest.mark.full
def test_a_run_that_begins_anew_sets_the_rounds_aside_that_it_finds(
    evolve: Callable[..., list[Round]], tmp_path: Path
) -> None:
    evolve(max_steps=1)
    evolve(max_steps=1, num_rounds=1)
    assert not (tmp_path / "run" / "round_2").exists()
    assert (tmp_path / "run" / "previous-1" / "round_2").is_dir()
    assert len((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()) == 2


@pytest.mark.full
def test_a_resumed_run_keeps_a_record_of_what_has_changed(
    evolve: Callable[..., list[Round]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (done,) = evolve(max_steps=1, num_rounds=1)
    before = read_run(tmp_path / "run")
    evolve(resume=True, max_steps=1, num_rounds=2)
    assert "num_rounds: 1 -> 2" in capsys.readouterr().out
    after = read_run(tmp_path / "run")
    assert after["started"] == before["started"]
    (resumed,) = after["resumed"]
    assert resumed["at_step"] == done.global_step
    assert resumed["changed"] == {"AgentEvolArguments.num_rounds": [1, 2]}


def test_a_run_of_another_algorithm_is_not_resumed(
    evolve: Callable[..., list[Round]], tmp_path: Path
) -> None:
    write_json(tmp_path / "run" / "run.json", {"command": "train grpo"})
    with pytest.raises(UsageError, match="a run of 'train grpo', which 'train agentevol' cannot"):
        evolve(resume=True)
    assert read_run(tmp_path / "run") == {"command": "train grpo"}


def test_a_round_without_anything_to_learn_names_the_remedy(
    evolve: Callable[..., list[Round]],
) -> None:
    with pytest.raises(ValueError, match="none of 16 episodes succeeded.*`num_samples`"):
        evolve(wrapper=[f"{__name__}:NeverSucceeds"])


def test_an_adaptive_horizon_is_refused_with_the_remedy() -> None:
    with pytest.raises(ValueError, match="use fixed: or scaling:"):
        main(["--env", ENV_ID, "--horizon", "adaptive:1,2@5", "--model", "nowhere"])


def test_a_record_is_replaced_together_with_what_follows(tmp_path: Path) -> None:
    files = RoundFiles(tmp_path)
    for number in (1, 2, 1):
        files.log(Round(number, 3 * number - 3, 0.5, 4, 2, 2, 3 * number, None))
    lines = (tmp_path / "metrics.jsonl").read_text().splitlines()
    assert [json.loads(line)["round"] for line in lines] == [1, 1]
    assert files.read(1) is None


@pytest.mark.parametrize(
    ("num_rounds", "max_steps", "expected"), [(None, -1, 4), (None, 10, 1), (3, 10, 3), (2, -1, 2)]
)
def test_one_round_where_the_steps_are_bounded(
    num_rounds: int | None, max_steps: int, expected: int
) -> None:
    assert AgentEvolArguments(num_rounds=num_rounds).rounds(max_steps) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [("num_rounds", 0), ("num_samples", 0), ("num_explored_tasks", -1), ("expert_episodes", -2)],
)
def test_senseless_options_are_refused(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name} must be >= .*, got {value}"):
        AgentEvolArguments(**{name: value})


def test_the_command_evolves_and_evaluates(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    options = (
        f"--env {ENV_ID} --model {make_folder(tmp_path / 'model')} --output_dir {out} "
        "--max-steps 2 --learning-rate 1e-2 --max_tokens_per_turn 4 --disable-tqdm --num-samples 2 "
        "--action_format plain --use-peft --lora_target_modules q_proj"
    ).split()
    assert main(options) == 0
    assert "round 1: " in capsys.readouterr().out
    assert not torch.equal(weights(out), weights(tmp_path / "model"))
    assert weights(out).shape == torch.cat([p.flatten() for p in make_model().parameters()]).shape
    run = json.loads((out / "run.json").read_text())
    assert run["command"] == "train agentevol"
    assert '"eval_success"' in (out / "metrics.jsonl").read_text()
    assert (out / "round_1" / "adapter").is_dir()


@pytest.mark.full
def test_an_interrupted_exploration_goes_on_where_it_was(
    evolve: Callable[..., list[Round]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = {"num_rounds": 1, "max_steps": 1}
    whole = evolve("whole", **options)
    count, run = Watch.__call__, Rollout.run

    def stop_at_fifth(watch: Watch, *args: Any, **kwargs: Any) -> None:
        count(watch, *args, **kwargs)
        if watch._name == "round 1 explores" and len(watch.finished or ()) == 5:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(Watch, "__call__", stop_at_fifth)
        evolve("parts", **options)
    (kept,) = (tmp_path / "parts/trajectories").glob("*.unfinished.jsonl")
    finished = len(kept.read_text().splitlines())
    assert 5 <= finished < len(explored(tmp_path / "whole", 1))
    taken_in = []

    def noted(*args: Any, finished: Any = None, **kwargs: Any) -> list[Trajectory]:
        taken_in.append(len(finished or ()))
        return run(*args, finished=finished, **kwargs)

    monkeypatch.setattr(Rollout, "run", noted)
    assert evolve("parts", resume=True, **options) == whole
    assert finished in taken_in and not kept.exists()
    assert torch.equal(weights(tmp_path / "parts"), weights(tmp_path / "whole"))


def test_ctrl_c_while_playing_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*args: Any, **kwargs: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Rollout, "run", interrupted)
    model = make_folder(tmp_path / "model")
    folder = str(tmp_path / "run")
    options = ["--env", ENV_ID, "--action_format", "plain", "--model", model]
    assert main([*options, "--output_dir", folder, "--expert_episodes", "0"]) == 130
    told = capsys.readouterr().out
    assert folder in told and told.rstrip().endswith("--resume")
