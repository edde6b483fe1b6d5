"""Which tasks evaluations during training play."""

from __future__ import annotations

import signal
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file

from agentgym_envs import Trajectory, read_jsonl
from agentgym_envs.errors import UnknownTask
from tests.trainers.toys import ENV_ID, episode, make_model, make_tokenizer
from trainers.credit.pairs import Pair
from trainers.dpo import AgentDPOConfig, AgentDPOTrainer
from trainers.grpo import AgentGRPOTrainer
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.offline import AgentSFTConfig
from trainers.rollout.environments import Environments
from trainers.rollout.rollout import Rollout
from trainers.runs.folder import read_json, read_metrics
from trainers.runs.stopping import Interrupted
from trainers.runs.success import measured_success
from trainers.sft import AgentSFTTrainer
from trainers.trl_bridge import task_dataset

CHOSEN = task_dataset(["letters_3", "letters_5", "letters_1"])


def evaluated(trainer: Any, name: str = "eval") -> list[str]:
    path = Path(trainer.args.output_dir) / f"trajectories/{name}_000000.jsonl"
    return [trajectory.task_id for trajectory in read_jsonl(path)]


@pytest.mark.parametrize("eval_strategy", ["steps", "no"])
def test_online_evaluations_play_the_prompts_of_a_given_dataset(
    eval_strategy: str, trainer_in: Callable[..., AgentGRPOTrainer]
) -> None:
    trainer = trainer_in(trainer={"eval_dataset": CHOSEN}, eval_strategy=eval_strategy)
    assert "eval_success" in trainer.evaluate()
    assert evaluated(trainer) == [name for name in CHOSEN["prompt"] for _ in range(2)]


def test_evaluate_plays_the_split_where_training_evaluates_never(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(eval_strategy="no")
    assert "eval_success" in trainer.evaluate()
    assert evaluated(trainer) == ["letters_8", "letters_8", "letters_9", "letters_9"]


@pytest.mark.parametrize("step", [0, 1])
def test_broken_machinery_is_waited_for_by_evaluations_once_something_is_trained(
    step: int, trainer_in: Callable[..., AgentGRPOTrainer], monkeypatch: pytest.MonkeyPatch
) -> None:
    proven: list[bool] = []
    run = Rollout.run

    def watch(self: Rollout, *args: Any, **kwargs: Any) -> Any:
        proven.append(self.machinery.has_worked)
        return run(self, *args, **kwargs)

    monkeypatch.setattr(Rollout, "run", watch)
    trainer = trainer_in(eval_strategy="no")
    trainer.state.global_step = step
    trainer.evaluate()
    assert proven == [step > 0]


def test_evaluations_play_the_chosen_tasks_of_the_split(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(env={"eval_tasks": [9]}, eval_strategy="steps")
    trainer.evaluate()
    assert evaluated(trainer) == ["letters_9"] * 2
    with pytest.raises(UnknownTask, match="validation"):
        trainer_in(env={"eval_tasks": [3]}, eval_strategy="steps")


def test_a_dataset_given_to_evaluate_takes_the_place_of_the_validation_tasks(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(eval_strategy="steps")
    assert "eval_success" in trainer.evaluate(task_dataset(["letters_7"]))
    assert evaluated(trainer, "eval_train") == ["letters_7"] * 2


def imitating(tmp_path: Path, **options: Any) -> AgentSFTTrainer:
    args = AgentSFTConfig(str(tmp_path), report_to="none", save_strategy="no")
    return AgentSFTTrainer(
        make_model(), [episode(1.0)], args=args, rollout=RolloutArguments(max_tokens_per_turn=4),
        eval_dataset=CHOSEN, processing_class=make_tokenizer(), **options,
    )  # fmt: skip


def preferring(tmp_path: Path, **options: Any) -> AgentDPOTrainer:
    args = AgentDPOConfig(str(tmp_path), report_to="none", save_strategy="no")
    better, worse = episode(1.0), episode(0.0)
    worse.turns[0].completion = "b"
    return AgentDPOTrainer(
        make_model(), [Pair(better, worse, 0)], args=args, eval_dataset=CHOSEN,
        rollout=RolloutArguments(max_tokens_per_turn=4), processing_class=make_tokenizer(),
        **options,
    )  # fmt: skip


@pytest.mark.parametrize("make", [imitating, preferring])
def test_trainers_on_saved_episodes_play_the_prompts_of_a_given_dataset(
    make: Callable[..., Any], tmp_path: Path
) -> None:
    environments = Environments(EnvArguments(env=[ENV_ID], action_format="plain"))
    trainer = make(tmp_path, env=environments)
    trainer.evaluate()
    assert evaluated(trainer) == CHOSEN["prompt"]


@pytest.mark.parametrize("make", [imitating, preferring])
def test_an_environments_name_is_enough(
    make: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = make(tmp_path, env=EnvArguments(env=[ENV_ID], action_format="plain"))
    assert trainer.task_environments.env_ids == (ENV_ID,)
    trainer.evaluate()
    assert evaluated(trainer) == CHOSEN["prompt"]
    trainer.task_environments.close()


def test_evaluate_without_an_environment_names_the_remedy(tmp_path: Path) -> None:
    args = AgentSFTConfig(str(tmp_path), report_to="none", save_strategy="no")
    trainer = AgentSFTTrainer(
        make_model(), [episode(1.0)], args=args, processing_class=make_tokenizer()
    )
    with pytest.raises(ValueError, match="make the AgentSFTTrainer with env="):
        trainer.evaluate()


@pytest.mark.parametrize("make", [imitating, preferring])
def test_tasks_without_an_environment_are_refused(make: Callable[..., Any], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there is no environment; pass env as well"):
        make(tmp_path)


@pytest.mark.parametrize("given", [{"easy": CHOSEN}, [{"text": "letters_0"}], []])
def test_a_dataset_without_prompts_is_refused_with_the_remedy(
    given: Any, trainer_in: Callable[..., AgentGRPOTrainer]
) -> None:
    with pytest.raises(ValueError, match="make it by trainers.task_dataset"):
        trainer_in(eval_strategy="steps", trainer={"eval_dataset": given})


def wins_at(*steps: int) -> Callable[..., list[Trajectory]]:
    """Return what plays as though the policy succeeded with the weights of some steps alone."""

    def play(task_ids: list[str], step: int, _share: Any) -> list[Trajectory]:
        return [
            Trajectory(ENV_ID, one, status="terminated", success=step in steps) for one in task_ids
        ]

    return play


def test_an_evaluation_after_training_is_of_the_weights_that_were_loaded(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(
        max_steps=2, eval_strategy="steps", eval_steps=1, save_strategy="steps", save_steps=1,
        load_best_model_at_end=True, metric_for_best_model="eval_success",
    )  # fmt: skip
    validation: Any = trainer.validation
    validation.play = wins_at(1)
    trainer.train()
    assert trainer.evaluate()["eval_success"] == 1.0
    folder = Path(trainer.args.output_dir)
    logged = [entry for entry in read_metrics(folder) if "eval_success" in entry]
    told = [(entry["global_step"], entry["eval_success"]) for entry in logged]
    assert told == [(1, 1.0), (2, 0.0), (1, 1.0)]
    episodes = list(read_jsonl(folder / "trajectories/eval_000001.jsonl"))
    assert len(episodes) == 4  # as at the validation: what is measured again counts once
    measured = [(one.global_step, one.success, one.is_fresh) for one in measured_success(folder)]
    assert measured == [(1, 1, False), (1, 1, True), (2, 0, False)]


SELECTION: dict[str, Any] = {
    "max_steps": 3, "eval_strategy": "steps", "eval_steps": 1, "save_strategy": "steps",
    "save_steps": 1, "load_best_model_at_end": True, "metric_for_best_model": "eval_success",
}  # fmt: skip


def watched(trainer: Any, *, on_fresh: Callable[[], None] = lambda: None) -> list[Any]:
    """Note what is played, which is real, but that step 2 is the best until it is played again."""
    calls: list[Any] = []
    play = trainer.validation.play

    def watch(task_ids: list[str], step: int, stream: Any) -> list[Trajectory]:
        is_fresh = any(one[2] != stream for one in calls)
        calls.append((task_ids, step, stream))
        if is_fresh:
            on_fresh()
            return list(play(task_ids, step, stream))
        return wins_at(2)(task_ids, step, stream)

    trainer.validation.play = watch
    return calls


def fresh_entries(trainer: Any) -> list[dict[str, Any]]:
    entries = read_metrics(Path(trainer.args.output_dir))
    return [
        {name: value for name, value in entry.items() if not name.endswith("runtime")}
        for entry in entries
        if "eval_fresh_success" in entry
    ]


def test_weights_that_evaluations_chose_are_measured_again(
    trainer_in: Callable[..., AgentGRPOTrainer], capsys: pytest.CaptureFixture[str]
) -> None:
    trainer = trainer_in(**SELECTION)
    calls = watched(trainer)
    trainer.train()
    *evaluations, fresh = calls
    assert [step for _, step, _ in evaluations] == [1, 2, 3]
    assert {tuple(stream) for _, _, stream in evaluations} == {(1,)}
    assert fresh == (evaluations[0][0], 2, (6,))
    (entry,) = fresh_entries(trainer)
    assert entry["global_step"] == 2
    folder = Path(trainer.args.output_dir)
    episodes = list(read_jsonl(folder / "trajectories/eval_fresh_000002.jsonl"))
    success = sum(one.success for one in episodes) / len(episodes)
    assert entry["eval_fresh_success"] == success
    _, measured, plateau, best, _ = capsys.readouterr().out.splitlines()[-5:]
    assert measured.startswith(f"  measured         success {success:.1%} (")
    assert measured.endswith("), fresh episodes of these weights")
    assert plateau == "  plateau          33.3%, the mean of the last 3 evaluations (steps 1 to 3)"
    assert best.startswith("  best             100.0% (34.2% to 100.0%) at step 2; the evaluation")
    summary = read_json(folder / "summary.json")
    assert (summary["success"], summary["is_fresh"]) == (success, True)
    assert summary["success_plateau"] == pytest.approx(1 / 3)
    assert (summary["success_best"], summary["best_step"]) == (1.0, 2)
    trainer.save_model()
    card = (folder / "README.md").read_text()
    rows = [line for line in card.splitlines() if "| Letters, validation |" in line]
    assert rows[0].startswith(f"| step 2, fresh episodes | Letters, validation | {success:.1%} |")
    assert rows[1] == "| plateau: mean of 3, steps 1 to 3 | Letters, validation | 33.3% |  |"
    assert rows[3].startswith("| step 2, the best | Letters, validation | 100.0% |")
    assert f"value: {round(success, 4)}" in card


def test_a_run_that_is_stopped_while_it_is_measured_again_ends_alike(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    whole = trainer_in("whole", **SELECTION)
    watched(whole)
    whole.train()
    parts = trainer_in("parts", **SELECTION)
    watched(parts, on_fresh=partial(signal.raise_signal, signal.SIGINT))
    with pytest.raises(Interrupted) as stopped:
        parts.train()
    assert stopped.value.global_step == 3
    last = [load_file(Path(t.args.output_dir) / "checkpoint-3/model.safetensors")
            for t in (whole, parts)]  # fmt: skip
    assert all((last[0][name] == last[1][name]).all() for name in last[0])
    assert not fresh_entries(parts)
    for _ in range(2):  # a run at its end is measured once more, and has one entry
        resumed = trainer_in("parts", **SELECTION)
        resumed.train(resume_from_checkpoint=True)
        assert fresh_entries(resumed) == fresh_entries(whole) != []


@pytest.mark.parametrize(
    ("options", "evaluation"),
    [
        ({"load_best_model_at_end": False}, {}),
        ({"max_steps": 1}, {}),  # one evaluation chooses nothing
        ({}, {"eval_temperature": 0.0}),  # greedy episodes would be the same again
    ],
)
def test_weights_that_noise_did_not_choose_are_not_measured_again(
    options: dict[str, Any], evaluation: dict[str, Any], tmp_path: Path
) -> None:
    args = AgentSFTConfig(str(tmp_path), report_to="none", use_cpu=True, disable_tqdm=True,
                          **{**SELECTION, **options})  # fmt: skip
    trainer = AgentSFTTrainer(
        make_model(), [episode(1.0)] * 4, args=args, processing_class=make_tokenizer(),
        env=EnvArguments(env=[ENV_ID], action_format="plain"),
        evaluation=EvaluationArguments(**evaluation),
        rollout=RolloutArguments(max_tokens_per_turn=4),
    )  # fmt: skip
    trainer.train()
    assert not fresh_entries(trainer)
    summary = read_json(tmp_path / "summary.json")
    is_greedy = "eval_temperature" in evaluation
    assert ("success" in summary, "success_best" in summary) == (not is_greedy, is_greedy)
    trainer.task_environments.close()


def test_fresh_episodes_of_a_policy_that_noise_chose_have_no_bias(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    tasks = task_dataset([f"letters_{number}" for number in range(12)])
    trainer = trainer_in(eval_strategy="steps", trainer={"eval_dataset": tasks})
    validation: Any = trainer.validation
    validation.samples = 5
    coins = np.random.default_rng(0)
    validation.play = lambda ids, *_: [
        Trajectory(ENV_ID, one, status="terminated", success=bool(coins.integers(2))) for one in ids
    ]
    best = []
    for _ in range(20):
        success = []
        for step in range(1, 11):
            trainer.state.global_step = step
            success.append(trainer.evaluate()["eval_success"])
        best.append(max(success))
        trainer.state.best_global_step = 1 + success.index(max(success))
        validation.measure_again(trainer)
    fresh = [entry["eval_fresh_success"] for entry in fresh_entries(trainer)]
    assert len(fresh) == 20
    assert np.mean(fresh) == pytest.approx(0.5, abs=0.03)  # two standard errors
    # The expected maximum of ten normal numbers: 1.54 deviations (Harter 1961, Biometrika 48:151).
    assert np.mean(best) == pytest.approx(0.5 + 1.54 * (0.25 / 60) ** 0.5, abs=0.03)


def test_tasks_of_another_split_are_no_validation(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(eval_strategy="no")
    trainer.evaluate()
    for tasks in (["letters_9"], ["letters_10"], ["letters_9", "letters_10"]):
        assert "eval_success" in trainer.evaluate(task_dataset(tasks))
    trainer.evaluate(task_dataset(["letters_10"]), metric_key_prefix="mine/last")
    folder = Path(trainer.args.output_dir)
    prefixes = [key[: -len("_success")] for entry in read_metrics(folder) for key in entry
                if key.endswith("_success")]  # fmt: skip
    assert prefixes == ["eval", "eval", "test", "chosen", "mine/last"]
    names = sorted(path.name for path in (folder / "trajectories").iterdir())
    labels = ("eval", "eval_chosen", "eval_mine_last", "eval_test")
    assert names == [f"{label}_000000.jsonl" for label in labels]
