"""Training on episodes that were played ahead, against small servers of vLLM's protocol."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import pytest
import torch
from transformers import TrainerCallback

from agentgym_envs import EnvFailure, Trajectory, read_jsonl
from tests.serving import Failure
from tests.trainers.backends.test_vllm_server import COMPLETIONS, Served
from tests.trainers.backends.test_vllm_servers import asked, several
from tests.trainers.toys import ENV_ID, LARGEST_GAP, make_model, make_tokenizer
from trainers.grpo import AgentGRPOConfig, AgentGRPOTrainer
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.rollout import ahead as ahead_module
from trainers.rollout.ahead import BatchesAhead, Stopped
from trainers.rollout.players import Pacing
from trainers.rollout.players import staleness as staleness_metrics
from trainers.runs.stopping import Interrupted
from trainers.trl_bridge.parts import ScheduleState
from wrappers import AdaptiveHorizon

EPISODES = 4
PATIENCE = 30.0
"""Seconds after which what does not come is missing."""


class Gate(gym.Wrapper):  # type: ignore[misc]
    """Environments whose steps wait while it is shut.

    Attributes:
        shut: a step that finds it set clears `open`, once.
    """

    shut, entered, open = threading.Event(), threading.Event(), threading.Event()

    def step(self, action: Any) -> Any:
        if self.shut.is_set():
            self.entered.set()
            assert self.open.wait(PATIENCE), "the steps were not let go on"
        return self.env.step(action)


@pytest.fixture(autouse=True)
def open_gate() -> Iterator[None]:
    """Let steps go on at once."""
    for event in (Gate.shut, Gate.entered, Gate.open):
        event.clear()
    yield
    Gate.open.set()


def make_trainer(
    folder: Path, urls: list[str], staleness: int, *callbacks: TrainerCallback, **options: Any
) -> AgentGRPOTrainer:
    """A trainer on 2 of 8 tasks a step, so that an epoch has 4 steps."""
    kwargs = {"weights_dir": str(folder / "weights"), "retries": 0}
    rollout = {"max_outage": "0", **options.pop("rollout", {})}
    return AgentGRPOTrainer(
        make_model(),
        EnvArguments(
            env=[ENV_ID], action_format="plain", env_backend="thread", wrapper=[f"{__name__}:Gate"]
        ),
        args=AgentGRPOConfig(
            **{
                **{"output_dir": str(folder), "max_steps": 6, "num_generations": 2},
                **{"per_device_train_batch_size": EPISODES, "gradient_accumulation_steps": 1},
                **{"learning_rate": 1e-2, "max_staleness": staleness, "eval_strategy": "no"},
                **{"save_strategy": "no", "disable_tqdm": True, "report_to": "none"},
                **options,
            }
        ),
        rollout=RolloutArguments(
            max_tokens_per_turn=2,
            backend="vllm_server",
            server_url=urls,
            backend_kwargs=json.dumps(kwargs),
            **rollout,
        ),
        evaluation=EvaluationArguments(num_eval_tasks=2),
        processing_class=make_tokenizer(),
        callbacks=list(callbacks),
    )


def batches_of(folder: Path) -> list[list[Trajectory]]:
    """The episodes of each step."""
    return [list(read_jsonl(path)) for path in sorted(folder.glob("trajectories/train_*.jsonl"))]


def logged(trainer: AgentGRPOTrainer, name: str) -> list[float]:
    return [entry[name] for entry in trainer.state.log_history if name in entry]


def players() -> list[threading.Thread]:
    return [one for one in threading.enumerate() if one.name == "prefetch"]


class Snapshots(TrainerCallback):
    """Keeps the weights of every step."""

    def __init__(self) -> None:
        self.weights: list[dict[str, torch.Tensor]] = []

    def on_step_begin(
        self, args: Any, state: Any, control: Any, model: Any = None, **_: Any
    ) -> None:
        self.weights.append({name: w.detach().clone() for name, w in model.state_dict().items()})


def largest_gap(trajectory: Trajectory, weights: dict[str, torch.Tensor]) -> float:
    """The largest distance of an episode's logprobs from those of a model, in nats."""
    model = make_model()
    model.load_state_dict(weights)
    trace = trajectory.trace
    with torch.no_grad():
        logits = model(torch.tensor([trace.ids])).logits[0, len(trace.prompt_ids) - 1 : -1]
    own = logits.log_softmax(-1)[range(len(trace.completion_ids)), trace.completion_ids]
    mask = torch.tensor(trace.action_mask, dtype=torch.bool)
    return float((own - torch.tensor(trace.logprobs))[mask].abs().max())


@pytest.fixture(scope="module")
def tasks_in_lockstep(tmp_path_factory: pytest.TempPathFactory) -> list[list[str]]:
    """The tasks of each step of a run that plays nothing ahead."""
    folder = tmp_path_factory.mktemp("lockstep")
    with one_server() as (_, urls):
        make_trainer(folder, urls, 0).train()
    return [[one.task_id for one in batch] for batch in batches_of(folder)]


@contextmanager
def one_server() -> Iterator[tuple[Served, list[str]]]:
    with several(1) as (served, _, urls):
        yield served[0], urls


class AtStep(TrainerCallback):
    """Does something before the optimizer step of a step."""

    def __init__(self, step: int, work: Callable[[], None]) -> None:
        self.step, self.work = step, work

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == self.step:
            self.work()


def test_without_staleness_nothing_is_played_ahead(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(BatchesAhead, "__init__", refuse)
    snapshots = Snapshots()
    with one_server() as (_, urls):
        trainer = make_trainer(tmp_path, urls, 0, snapshots, max_steps=2)
        trainer.train()
    for step, batch in enumerate(batches_of(tmp_path)):
        assert {one.global_step for one in batch} == {step + 1}
        assert all("weights_step" not in turn.to_json() for one in batch for turn in one.turns)
        assert max(largest_gap(one, snapshots.weights[step]) for one in batch) < 1e-4
    assert not logged(trainer, "async/staleness")


@pytest.mark.full
@pytest.mark.parametrize("staleness", [1, 2])
def test_episodes_are_of_the_weights_that_they_name_and_never_older_than_allowed(
    tmp_path: Path, staleness: int, tasks_in_lockstep: list[list[str]]
) -> None:
    snapshots = Snapshots()
    with one_server() as (_, urls):
        trainer = make_trainer(tmp_path, urls, staleness, snapshots)
        trainer.train()
    batches = batches_of(tmp_path)
    assert [[one.task_id for one in batch] for batch in batches] == tasks_in_lockstep
    for step, batch in enumerate(batches):
        for one in batch:
            weights = {turn.weights_step for turn in one.turns}
            assert all(step - staleness <= number <= step for number in weights)
            if staleness == 1:  # the first batch of each of the two epochs is played at once
                assert weights == {step if step in (0, 4) else step - 1}
            if len(weights) == 1:
                assert largest_gap(one, snapshots.weights[weights.pop()]) < 1e-4
    ages = logged(trainer, "async/staleness_max")
    assert len(ages) == 6
    assert 1 <= max(ages) <= staleness
    assert min(logged(trainer, LARGEST_GAP)) < 1e-4 < max(logged(trainer, LARGEST_GAP))
    shares = logged(trainer, "async/rollout_busy") + logged(trainer, "async/trainer_busy")
    assert all(0 <= share <= 1 for share in shares)
    assert len(shares) == 10
    assert players() == []


def test_the_ages_of_a_batchs_weights_are_their_mean_and_the_greatest() -> None:
    pacing = Pacing(1, 1, 3, lambda: SimpleNamespace(global_step=3))
    turns: Any = [SimpleNamespace(weights_step=step) for step in (1, 3, None)]
    episodes: Any = [SimpleNamespace(turns=turns)]
    means, largest = staleness_metrics(episodes, pacing)
    assert means == {"async/staleness": 1.0}
    assert largest == {"async/staleness_max": 2.0}
    assert staleness_metrics([], pacing) == ({}, {})


def test_of_the_batches_of_a_log_entry_the_greatest_age_is_logged(tmp_path: Path) -> None:
    with one_server() as (_, urls):
        trainer = make_trainer(tmp_path, urls, 1, max_steps=2, logging_steps=2)
        trainer.train()
    assert logged(trainer, "async/staleness_max") == [1.0]
    assert 0 < logged(trainer, "async/staleness")[0] < 1


@pytest.mark.full
def test_the_next_batch_is_played_while_the_policy_is_updated(tmp_path: Path) -> None:
    """The update waits for an environment's step, which in lockstep would never come."""

    def wait() -> None:
        Gate.open.set()
        Gate.shut.set()
        assert Gate.entered.wait(PATIENCE), "nothing is played amid the update"

    with one_server() as (_, urls):
        make_trainer(tmp_path / "1", urls, 1, AtStep(0, wait), max_steps=2).train()
        Gate.entered.clear()
        look = AtStep(0, lambda: Gate.shut.set() or Gate.entered.clear())
        seen = []
        after = AtStep(0, lambda: seen.append(Gate.entered.wait(0.5)))
        make_trainer(tmp_path / "0", urls, 0, look, after, max_steps=2).train()
    assert seen == [False]


def test_from_two_on_weights_travel_amid_an_episode(tmp_path: Path) -> None:
    """The second batch stands still after its first turn until it is to be trained on."""
    with one_server() as (served, urls):
        load = served.answers["/collective_rpc"]

        def load_and_open(body: dict[str, Any]) -> Any:
            answer = load(body)
            if served.num_loads == 2:
                Gate.open.set()
            return answer

        served.answers["/collective_rpc"] = load_and_open
        snapshots = Snapshots()
        trainer = make_trainer(tmp_path, urls, 2, snapshots, max_steps=2)
        trainer.add_callback(AtStep(0, lambda: Gate.entered.wait(PATIENCE)))
        player: Any = trainer.player
        request = player._request_ahead

        def shut_and_request() -> None:  # before the second batch can begin
            if trainer.state.global_step == 0:
                Gate.shut.set()
            request()

        player._request_ahead = shut_and_request
        trainer.train()
    first, second = batches_of(tmp_path)
    assert {turn.weights_step for one in first for turn in one.turns} == {0}
    longer = [one for one in second if len(one.turns) > 1]
    assert longer
    assert all([turn.weights_step for turn in one.turns][:2] == [0, 1] for one in longer)
    assert logged(trainer, "async/staleness_max") == [0, 1]


@pytest.mark.full
def test_what_was_under_way_at_a_checkpoint_is_played_again(
    tmp_path: Path, tasks_in_lockstep: list[list[str]]
) -> None:
    def stop() -> None:
        raise RuntimeError("the machine stops")

    saving = {"save_strategy": "steps", "save_steps": 2, "max_steps": 4}
    with one_server() as (_, urls):
        with pytest.raises(RuntimeError, match="the machine stops"):
            make_trainer(tmp_path, urls, 2, AtStep(2, stop), **saving).train()
        assert players() == []
        before = batches_of(tmp_path)
        make_trainer(tmp_path, urls, 2, **saving).train(resume_from_checkpoint=True)
    after = batches_of(tmp_path)
    assert [[one.task_id for one in batch] for batch in after] == tasks_in_lockstep[:4]
    assert [batch[0].traces for batch in after[:2]] == [batch[0].traces for batch in before[:2]]
    assert {turn.weights_step for one in after[2] for turn in one.turns} == {2}


def test_a_batch_has_the_horizon_of_the_step_at_which_it_was_asked_for(tmp_path: Path) -> None:
    with one_server() as (_, urls):
        rollout = {"horizon": "scaling:1,3@2"}
        trainer = make_trainer(tmp_path, urls, 1, rollout=rollout, max_steps=4)
        trainer.train()
    longest = [max(len(one.turns) for one in batch) for batch in batches_of(tmp_path)]
    assert longest[:3] == [1, 1, 1]  # the third was asked for at the second step
    assert longest[3] > 1
    assert logged(trainer, "horizon") == [1, 1, 1, 3]


def test_success_under_an_earlier_horizon_does_not_count_for_the_present_one() -> None:
    schedule = AdaptiveHorizon((1, 2, 3), window=2)
    callback = ScheduleState(schedule)
    starts = []
    for step in range(9):
        callback.record(step, {"episodes/success": 0.5}, horizon_step=max(step - 1, 0))
        starts.append(schedule.starts)
    assert starts[3] == (0, 4)
    assert starts[7] == (0, 4)  # four batches have been trained on, the first under horizon 1
    assert starts[8] == (0, 4, 9)


@pytest.mark.full
def test_a_batch_that_serves_several_steps_counts_them(tmp_path: Path) -> None:
    with one_server() as (_, urls):
        trainer = make_trainer(tmp_path, urls, 2, num_iterations=2, max_steps=4)
        trainer.train()
        assert [len(batch) for batch in batches_of(tmp_path)] == [EPISODES] * 2
        assert logged(trainer, "async/staleness_max") == [0, 2]


@pytest.mark.full
def test_a_dead_servers_episodes_are_played_elsewhere_and_none_is_trained_twice(
    tmp_path: Path, tasks_in_lockstep: list[list[str]]
) -> None:
    with several(2) as (served, servers, urls):
        dies_at = 12
        complete = served[0].answers[COMPLETIONS]

        def answer(body: dict[str, Any]) -> Any:
            return Failure(500) if served[0].num_answers >= dies_at else complete(body)

        served[0].answers[COMPLETIONS] = answer
        served[0].answers["/weight_info"] = lambda body: (
            Failure(500)
            if served[0].num_answers >= dies_at
            else {"weight_version": served[0].version}
        )
        trainer = make_trainer(tmp_path, urls, 1, max_steps=4)
        trainer.train()
        assert served[0].num_answers == dies_at
        assert len(asked(servers[1])) > len(asked(servers[0]))
    batches = batches_of(tmp_path)
    assert [len(batch) for batch in batches] == [EPISODES] * 4
    for step, batch in enumerate(batches):
        assert all(one.status != "failed" for one in batch)
        assert [one.task_id for one in batch] == tasks_in_lockstep[step]
        assert {one.global_step for one in batch} == {step + 1}
    traces = [str(one.traces) for batch in batches for one in batch]
    assert len(set(traces)) == 4 * EPISODES


@pytest.mark.full
def test_a_server_restarted_amid_what_is_played_ahead_is_given_weights_by_the_trainer(
    tmp_path: Path,
) -> None:
    snapshots = Snapshots()
    with one_server() as (served, urls):
        served.restart_at = 18
        trainer = make_trainer(tmp_path, urls, 1, snapshots, max_steps=4)
        trainer.train()
    batches = batches_of(tmp_path)
    assert served.num_loads == 4  # of each step, one of them early
    assert [len(batch) for batch in batches] == [EPISODES] * 4
    newest = [
        turn
        for step, batch in enumerate(batches[1:], 1)
        for one in batch
        for turn in one.turns
        if turn.weights_step == step
    ]
    assert newest  # what was played ahead has had the weights of the step that waited for it
    for one in (one for batch in batches for one in batch):
        weights = {turn.weights_step for turn in one.turns}
        if len(weights) == 1:
            assert largest_gap(one, snapshots.weights[weights.pop()]) < 1e-4


@pytest.mark.full
def test_evaluations_and_what_is_played_ahead_share_the_environments(tmp_path: Path) -> None:
    with one_server() as (_, urls):
        trainer = make_trainer(
            *(tmp_path, urls, 2),
            **{"eval_strategy": "steps", "eval_steps": 1, "max_steps": 2},
            load_best_model_at_end=False,
        )
        trainer.train()
    assert len(logged(trainer, "eval_success")) == 2
    assert [len(batch) for batch in batches_of(tmp_path)] == [EPISODES] * 2


@pytest.mark.full
def test_what_breaks_the_play_ends_the_training_with_a_checkpoint(tmp_path: Path) -> None:
    with one_server() as (served, urls):
        complete = served.answers[COMPLETIONS]
        served.answers[COMPLETIONS] = lambda body: (
            Failure(500) if served.num_loads >= 3 else complete(body)
        )
        trainer = make_trainer(tmp_path, urls, 1)
        with pytest.raises(EnvFailure, match="the vLLM server failed"):
            trainer.train()
    assert (tmp_path / f"checkpoint-{trainer.state.global_step}").is_dir()
    assert players() == []


def test_a_signal_while_the_trainer_waits_ends_with_a_checkpoint_and_no_thread(
    tmp_path: Path,
) -> None:
    with one_server() as (served, urls):
        complete, sent = served.answers[COMPLETIONS], []

        def answer(body: dict[str, Any]) -> Any:
            if served.num_loads == 2 and not sent:
                sent.append(os.kill(os.getpid(), signal.SIGINT))
            return complete(body)

        served.answers[COMPLETIONS] = answer
        trainer = make_trainer(tmp_path, urls, 1)
        with pytest.raises(Interrupted):
            trainer.train()
    step = trainer.state.global_step
    assert step in (1, 2)
    assert (tmp_path / f"checkpoint-{step}").is_dir()
    assert players() == []


@pytest.mark.full
def test_weights_wait_for_a_server_that_is_away_and_play_goes_on(tmp_path: Path) -> None:
    with one_server() as (served, urls):
        load, refused = served.answers["/collective_rpc"], []

        def answer(body: dict[str, Any]) -> Any:
            if served.num_loads == 2 and len(refused) < 2:
                refused.append(body)
                return Failure(500)
            return load(body)

        served.answers["/collective_rpc"] = answer
        trainer = make_trainer(tmp_path, urls, 2, rollout={"max_outage": "1m"}, max_steps=4)
        trainer.train()
    assert len(refused) == 2
    assert (tmp_path / "checkpoint-2").is_dir()  # one is saved before the second pause
    assert [len(batch) for batch in batches_of(tmp_path)] == [EPISODES] * 4


@pytest.mark.full
def test_a_thread_that_outlives_its_training_touches_nothing_and_a_second_one_waits_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tasks_in_lockstep: list[list[str]]
) -> None:
    """An environment hangs amid what is played ahead while an error ends the training."""
    monkeypatch.setattr(ahead_module, "END_SECONDS", 0.1)

    def hang_and_fail() -> None:
        assert Gate.entered.wait(PATIENCE)
        raise RuntimeError("the machine stops")

    failing = AtStep(0, hang_and_fail)
    with one_server() as (_, urls):
        trainer = make_trainer(tmp_path, urls, 1, failing, max_steps=2)
        player: Any = trainer.player
        request = player._request_ahead
        player._request_ahead = lambda: (Gate.shut.set(), request())
        with pytest.raises(RuntimeError, match="the machine stops"):
            trainer.train()
        (zombie,) = players()
        saved: list[str] = []
        player._save = lambda: saved.append(threading.current_thread().name)
        failing.step = -1
        threading.Timer(0.5, Gate.open.set).start()
        trainer.train()
        zombie.join(PATIENCE)
        assert not zombie.is_alive()
        assert players() == []
    assert saved == []
    second = batches_of(tmp_path)[1]
    assert [one.task_id for one in second] == tasks_in_lockstep[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vllm_importance_sampling_correction": False}, "leave the correction on"),
        ({"num_iterations": 2}, "serves 2 optimizer steps.*pass `max_staleness=2`"),
        ({"steps_per_generation": 3}, "serves 3 optimizer steps"),
        ({"max_staleness": -1}, "max_staleness must be >= 0"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        AgentGRPOConfig(**{"max_staleness": 1, "gradient_accumulation_steps": 1, **options})


def test_what_cannot_play_ahead_is_refused(tmp_path: Path) -> None:
    config = AgentGRPOConfig(output_dir=str(tmp_path), max_staleness=1, num_generations=8)
    server = {"backend": "vllm_server", "server_url": "http://x"}
    for env_backend, backend, message in (
        ("thread", {}, "pass `backend=vllm_server`"),
        ("sync", server, "`env_backend=thread`"),
    ):
        with pytest.raises(ValueError, match=message):
            AgentGRPOTrainer(
                make_model(),
                EnvArguments(env=[ENV_ID], env_backend=env_backend),  # type: ignore[arg-type]
                args=config,
                rollout=RolloutArguments(**backend),  # type: ignore[arg-type]
                processing_class=make_tokenizer(),
            )


def test_an_epoch_of_one_batch_is_refused(tmp_path: Path) -> None:
    with (
        one_server() as (_, urls),
        pytest.raises(ValueError, match="8 tasks has a single batch of 8.*choose more tasks"),
    ):
        make_trainer(tmp_path, urls, 1, per_device_train_batch_size=16)


def test_once_stopped_nothing_is_sampled_or_done_for_the_player() -> None:
    ahead = BatchesAhead(None)  # type: ignore[arg-type]
    ahead.stop()
    with pytest.raises(Stopped), ahead.turn():
        raise AssertionError
    with pytest.raises(Stopped):
        ahead.in_trainer(lambda: None)
    with ahead.paused():
        pass
