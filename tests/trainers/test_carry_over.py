"""Training on groups that were carried over from one step into the next."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import TrainerCallback

from agentgym_envs import (
    EnvFailure,
    ExpertMove,
    ListedTasks,
    Outcome,
    TaskSpec,
    TextEnv,
    Trajectory,
    register_env,
)
from tests.trainers.test_ahead import AtStep, Snapshots, batches_of, logged, one_server
from tests.trainers.toys import LARGEST_GAP, LettersEnv, make_model, make_tokenizer
from trainers.grpo import AgentGRPOConfig, AgentGRPOTrainer
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.rollout.carried import CarriedGroups

SIZE, GROUPS = 2, 2
"""Episodes of a group, and groups of a batch; an epoch has four batches."""

LENGTHS = (1, 6, 2, 1, 4, 2, 1, 3)
"""Turns of each task's episodes."""

TASKS = ListedTasks(
    "lengths",
    {
        "train": {"all": range(8)},
        "validation": {"all": range(8, 10)},
        "test": {"all": range(10, 12)},
    },
)


class LengthsEnv(TextEnv):
    """Some tasks take long; pays for actions that begin with an even character.

    Attributes:
        fails_at: so many turns are played, by all environments together; None does not fail.
    """

    instructions = "Say anything."
    verbs = LettersEnv.verbs
    default_max_turns = 12
    source = "lengths-1"
    fails_at: int | None = None
    num_turns = 0

    def __init__(self, *, broken: tuple[int, ...] = (), **kwargs: Any) -> None:
        super().__init__(TASKS, **{"turns_left": False, **kwargs})
        self._broken = broken

    def begin(self, task: TaskSpec) -> str:
        self._left = LENGTHS[task.number % len(LENGTHS)]
        self.goal = "anything"
        return f"Say it {self._left} times."

    def apply(self, action: str) -> Outcome:
        LengthsEnv.num_turns += 1
        is_over = self.fails_at is not None and LengthsEnv.num_turns > self.fails_at
        if is_over or self.task.number in self._broken:
            raise EnvFailure("the toy broke")
        self._left -= 1
        is_even = action != "" and ord(action[0]) % 2 == 0
        if self._left:
            return Outcome(f"{self._left} to go.", float(is_even))
        return Outcome("Over.", float(is_even), terminated=True, info={"success": is_even})

    def expert_moves(self) -> Iterator[ExpertMove]:
        while True:
            yield ExpertMove("b", "Anything will do.")


ENV_ID = "toy/Lengths-v0"
register_env(ENV_ID, LengthsEnv)


@pytest.fixture(autouse=True)
def sound_toys() -> Iterator[None]:
    yield
    LengthsEnv.fails_at, LengthsEnv.num_turns = None, 0


def make_trainer(
    folder: Path,
    staleness: int,
    *callbacks: TrainerCallback,
    env: dict[str, Any] | None = None,
    rollout: dict[str, Any] | None = None,
    **options: Any,
) -> AgentGRPOTrainer:
    return AgentGRPOTrainer(
        make_model(),
        EnvArguments(env=[ENV_ID], action_format="plain", **(env or {})),
        args=AgentGRPOConfig(
            **{
                **{"output_dir": str(folder), "max_steps": 8, "num_generations": SIZE},
                **{"per_device_train_batch_size": SIZE * GROUPS},
                **{"gradient_accumulation_steps": 1, "learning_rate": 1e-2},
                **{"max_staleness": staleness, "carry_over": True},
                **{"eval_strategy": "no", "save_strategy": "no", "disable_tqdm": True},
                **{"report_to": "none", **options},
            }
        ),
        rollout=RolloutArguments(max_tokens_per_turn=2, **{"max_outage": "0", **(rollout or {})}),
        evaluation=EvaluationArguments(num_eval_tasks=2),
        processing_class=make_tokenizer(),
        callbacks=list(callbacks),
    )


def versions(episode: Trajectory) -> list[int]:
    """The optimizer step whose weights sampled each turn."""
    steps = [turn.weights_step for turn in episode.turns]
    assert all(step is not None for step in steps)
    return steps  # type: ignore[return-value]


def gaps(episode: Trajectory, weights: dict[str, torch.Tensor]) -> list[float]:
    """The largest distance of each turn's logprobs from those of a model, in nats."""
    model = make_model()
    model.load_state_dict(weights)
    trace = episode.trace
    with torch.no_grad():
        logits = model(torch.tensor([trace.ids])).logits[0, len(trace.prompt_ids) - 1 : -1]
    own = logits.log_softmax(-1)[range(len(trace.completion_ids)), trace.completion_ids]
    gap = (own - torch.tensor(trace.logprobs)).abs() * torch.tensor(trace.action_mask)
    ends = trace.turn_ends()
    return [float(gap[a:b].max()) for a, b in zip([0, *ends[:-1]], ends, strict=True)]


def check_records(batches: list[list[Trajectory]], staleness: int) -> None:
    """Every task of two epochs is trained on once, on turns that are not too old."""
    assert [len(batch) for batch in batches] == [SIZE * GROUPS] * 8
    for epoch in (batches[:4], batches[4:]):
        tasks = Counter(one.task_id for batch in epoch for one in batch)
        assert tasks == {f"lengths_{number}": SIZE for number in range(8)}
    assert len({str(one.traces) for batch in batches for one in batch}) == 8 * SIZE * GROUPS
    for step, batch in enumerate(batches):
        for first, second in zip(batch[::2], batch[1::2], strict=True):
            assert first.task_id == second.task_id
        for one in batch:
            assert len(one.turns) == LENGTHS[int(one.task_id.removeprefix("lengths_"))]
            assert versions(one) == sorted(versions(one))
            assert step - staleness <= versions(one)[0] <= versions(one)[-1] <= step


@pytest.mark.full
@pytest.mark.parametrize("staleness", [1, 2, 3])
def test_every_task_is_trained_on_once_and_no_turn_is_older_than_allowed(
    tmp_path: Path, staleness: int
) -> None:
    trainer = make_trainer(tmp_path, staleness)
    trainer.train()
    batches = batches_of(tmp_path)
    check_records(batches, staleness)
    ages = logged(trainer, "async/staleness_max")
    assert ages == [step - min(min(map(versions, b))) for step, b in enumerate(batches)]
    assert max(ages) == min(staleness, 2)
    carried = logged(trainer, "async/carried")
    assert carried[3] == carried[7] == 0
    assert max(carried) > 0
    # With a bound of 1, what is carried has just begun; else one of two began a step before.
    assert max(logged(trainer, "async/carried_staleness")) == (0.5 if staleness > 1 else 0)


@pytest.mark.full
def test_short_episodes_come_first_and_long_ones_go_on_with_later_weights(tmp_path: Path) -> None:
    snapshots = Snapshots()
    make_trainer(tmp_path, 3, snapshots).train()
    batches = batches_of(tmp_path)
    several = [one for batch in batches for one in batch if len(set(versions(one))) > 1]
    assert {one.task_id for one in several} >= {"lengths_1"}
    for one in (one for batch in batches for one in batch):
        for turn, step in enumerate(versions(one)):
            assert gaps(one, snapshots.weights[step])[turn] < 1e-4
    at_once = [
        len(one.turns)
        for step, batch in enumerate(batches)
        for one in batch
        if versions(one)[0] == step
    ]
    later = [
        len(one.turns)
        for step, batch in enumerate(batches)
        for one in batch
        if versions(one)[0] < step
    ]
    assert sum(at_once) / len(at_once) < sum(later) / len(later)


def test_the_loss_is_corrected_by_the_recorded_logprobs(tmp_path: Path) -> None:
    snapshots = Snapshots()
    trainer = make_trainer(tmp_path, 3, snapshots)
    trainer.train()
    logs = {entry["step"]: entry for entry in trainer.state.log_history if LARGEST_GAP in entry}
    assert len(logs) > 4  # a batch without advantages computes no loss
    largest = {}
    for number in logs:
        batch, weights = batches_of(tmp_path)[number - 1], snapshots.weights[number - 1]
        # Rows without an advantage are in no loss, and in no metric of it.
        learned = [one for one in batch if any(any(trace.advantages) for trace in one.traces)]
        largest[number] = max(gap for one in learned for gap in gaps(one, weights))
    assert {number: entry[LARGEST_GAP] for number, entry in logs.items()} == pytest.approx(
        largest, abs=1e-5
    )
    assert max(largest.values()) > 1e-2


@pytest.mark.full
def test_lockstep_repeats(tmp_path: Path) -> None:
    for name in "ab":
        make_trainer(tmp_path / name, 2).train()
    first, second = (
        [[one.traces for one in batch] for batch in batches_of(tmp_path / name)] for name in "ab"
    )
    assert first == second


def test_without_it_nothing_is_carried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(CarriedGroups, "__init__", refuse)
    trainer = make_trainer(tmp_path, 0, carry_over=False, max_steps=2)
    trainer.train()
    for step, batch in enumerate(batches_of(tmp_path)):
        assert {one.global_step for one in batch} == {step + 1}
        assert all("weights_step" not in turn.to_json() for one in batch for turn in one.turns)
    assert not logged(trainer, "async/carried")
    assert trainer.task_environments.vectors["lengths"].num_envs == SIZE * GROUPS


@pytest.mark.full
@pytest.mark.parametrize("goes_on", [True, False])
def test_a_resumed_run_plays_what_was_carried_again(tmp_path: Path, goes_on: bool) -> None:
    def stop() -> None:
        raise RuntimeError("the machine stops")

    saving = {"save_strategy": "steps", "save_steps": 1}
    with pytest.raises(RuntimeError, match="the machine stops"):
        make_trainer(tmp_path, 3, AtStep(2, stop), **saving).train()
    before = batches_of(tmp_path)
    assert len(before[2]) == SIZE * GROUPS  # was taken, and not trained on
    rest = {} if goes_on else {"carry_over": False, "max_staleness": 0}
    make_trainer(tmp_path, 3, **saving, **rest).train(resume_from_checkpoint=True)
    after = batches_of(tmp_path)
    assert [one.traces for one in after[1]] == [one.traces for one in before[1]]
    if goes_on:
        check_records(after, 3)
        assert {step for one in after[2] for step in versions(one)} == {2}
    tasks = Counter(one.task_id for batch in after[:4] for one in batch)
    assert tasks == {f"lengths_{number}": SIZE for number in range(8)}


def test_machinery_that_breaks_amid_a_step_leaves_a_checkpoint_with_all_its_tasks(
    tmp_path: Path,
) -> None:
    LengthsEnv.fails_at = 25
    trainer = make_trainer(tmp_path, 3)
    with pytest.raises(EnvFailure, match="the toy broke"):
        trainer.train()
    step = trainer.state.global_step
    assert 0 < step < 4
    assert (tmp_path / f"checkpoint-{step}" / "carried.pt").is_file()
    LengthsEnv.fails_at, LengthsEnv.num_turns = 0, 0
    plain = {"carry_over": False, "max_staleness": 0}
    with pytest.raises(EnvFailure, match="the toy broke"):  # before it has trained on them
        make_trainer(tmp_path, 3, **plain).train(resume_from_checkpoint=True)
    LengthsEnv.fails_at = None
    make_trainer(tmp_path, 3).train(resume_from_checkpoint=True)
    check_records(batches_of(tmp_path), 3)


@pytest.mark.full
def test_episodes_carried_at_an_evaluation_are_played_to_their_end(tmp_path: Path) -> None:
    trainer = make_trainer(
        *(tmp_path, 3), eval_strategy="steps", eval_steps=1, load_best_model_at_end=False
    )
    trainer.train()
    assert len(logged(trainer, "eval_success")) == 8
    check_records(batches_of(tmp_path), 3)


@pytest.mark.full
@pytest.mark.parametrize("carry_over", [True, False])
def test_predictions_play_their_own_tasks_before_and_after_the_training(
    tmp_path: Path, carry_over: bool
) -> None:
    trainer = make_trainer(tmp_path, int(carry_over), carry_over=carry_over, max_steps=1)
    tasks = trainer.train_dataset.select(range(4))
    for _ in range(2):
        assert "test_loss" in trainer.predict(tasks).metrics
        assert sorted(one.task_id for one in trainer.trajectories) == sorted(tasks["prompt"])
        trainer.train()
    assert trainer.state.global_step == 1


def test_failed_episodes_are_counted_and_their_group_is_complete(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, 3, env={"env_kwargs": json.dumps({"broken": [4]})})
    trainer.train()
    batches = batches_of(tmp_path)
    failed = [one.task_id for batch in batches for one in batch if one.status == "failed"]
    assert failed == ["lengths_4"] * (2 * SIZE)
    assert sum(logged(trainer, "episodes/failed")) == 2 * SIZE
    assert [len(batch) for batch in batches] == [SIZE * GROUPS] * 8


@pytest.mark.full
def test_a_group_keeps_the_horizon_of_the_step_at_which_it_was_asked_for(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, 3, rollout={"horizon": "scaling:2,4@3"}, env={"num_envs": 2})
    trainer.train()
    for one in (one for batch in batches_of(tmp_path) for one in batch):
        begun_at = one.turns[0].weights_step
        assert begun_at is not None
        assert len(one.turns) <= (2 if begun_at < 3 else 4)
    assert max(len(one.turns) for batch in batches_of(tmp_path) for one in batch) == 4


@pytest.mark.full
def test_environments_may_step_while_others_are_answered(tmp_path: Path) -> None:
    make_trainer(tmp_path, 2, env={"env_backend": "thread", "overlap": True, "num_envs": 5}).train()
    check_records(batches_of(tmp_path), 2)


@pytest.mark.full
def test_a_batch_that_serves_several_steps_counts_them(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path, 3, num_iterations=2)
    trainer.train()
    tasks = Counter(one.task_id for batch in batches_of(tmp_path) for one in batch)
    assert tasks == {f"lengths_{number}": SIZE for number in range(8)}
    assert max(logged(trainer, "async/staleness_max")) == 2


@pytest.mark.full
def test_a_server_is_sent_the_weights_of_each_step(tmp_path: Path) -> None:
    snapshots = Snapshots()
    with one_server() as (served, urls):
        kwargs = json.dumps({"weights_dir": str(tmp_path / "weights"), "retries": 0})
        server = {"backend": "vllm_server", "server_url": urls, "backend_kwargs": kwargs}
        make_trainer(tmp_path, 2, snapshots, rollout=server).train()
        assert served.num_loads == 8
    check_records(batches_of(tmp_path), 2)
    for one in (one for batch in batches_of(tmp_path) for one in batch):
        for turn, step in enumerate(versions(one)):
            assert gaps(one, snapshots.weights[step])[turn] < 1e-4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_staleness": 0}, "pass `max_staleness=1` or more"),
        ({"max_staleness": 1, "num_iterations": 2}, "pass `max_staleness=2`"),
        ({"max_staleness": 1, "branch_roots": 2}, "leave out one of the two"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AgentGRPOConfig(**{"carry_over": True, "gradient_accumulation_steps": 1, **options})
