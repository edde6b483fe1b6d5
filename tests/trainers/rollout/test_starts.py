"""Episodes that go on from an expert's first turns: tokens, groups, trainers, refusals."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import torch

from agentgym_envs import (
    ExpertMove,
    ListedTasks,
    Outcome,
    TaskSpec,
    TextEnv,
    Trajectory,
    read_jsonl,
    register_env,
)
from tests.helpers import COUNTING_ID, CountingEnv, register_helpers
from tests.trainers.rollout.test_rollout import (
    CHAT,
    CHATS,
    FAMILIES,
    Scripted,
    check_trace,
    rollout_of,
    vector,
)
from tests.trainers.tiny_models import TEMPLATES, tiny_model
from tests.trainers.toys import EASY_ID, ENV_ID, LettersEnv, make_model, make_tokenizer
from trainers.agentevol import main as evolve
from trainers.backends.hf import HFBackend
from trainers.grpo import AgentGRPOTrainer
from trainers.grpo import main as grpo
from trainers.history.notes import Notes
from trainers.history.summary import Summary
from trainers.history.views import History, LastTurns
from trainers.options.arguments import EnvArguments, RolloutArguments
from trainers.options.errors import UsageError
from trainers.ppo import AgentPPOConfig, AgentPPOTrainer
from trainers.rollout.branching import first_turns, play_branched
from trainers.rollout.environments import Environments
from trainers.rollout.rollout import Rollout
from trainers.sft import main as sft
from trainers.tokens.generation import Sampling
from wrappers import FixedHorizon, ScalingInter, TextVectorEnv, parse_start
from wrappers.schedules import TASK_START, MixedStarts, start_at

register_helpers()
TrainerIn = Callable[..., AgentGRPOTrainer]
STEPS_ID = "toy/Steps-v0"
STEPS = ListedTasks(
    "steps",
    {
        "train": {"all": range(8)},
        "validation": {"all": range(8, 10)},
        "test": {"all": range(10, 12)},
    },
)


class StepsEnv(TextEnv):
    """Say five times a text that begins with one of every fourth character, or lose at once."""

    instructions = "Say it."
    verbs = LettersEnv.verbs
    default_max_turns = 5
    source = "steps-1"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(STEPS, **{"turns_left": False, **kwargs})

    def begin(self, task: TaskSpec) -> str:
        self.goal, self.said = "five times", 0
        return "0"

    def apply(self, action: str) -> Outcome:
        if action == "" or ord(action[0]) % 4:
            return Outcome("Wrong.", terminated=True)
        self.said += 1
        won = self.said == 5
        return Outcome(str(self.said), float(won), terminated=won, info={"success": won})

    def expert_moves(self) -> Iterator[ExpertMove]:
        while True:
            yield ExpertMove("d", "It is a fourth one.")


register_env(STEPS_ID, StepsEnv)


# Tokens -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("history", [LastTurns(), LastTurns(1), Summary(), Notes(2)])
@pytest.mark.parametrize("style", sorted(TEMPLATES))
def test_the_expert_s_turns_are_read_and_never_trained_on(style: str, history: History) -> None:
    model, chat = tiny_model(FAMILIES.get(style, "qwen3")), CHATS[style]
    with vector(2, max_turns=9) as env:
        rollout = rollout_of(
            env, HFBackend(model), chat, sampling=Sampling(5), history=history, seed=1
        )
        rollout.starts, rollout.schedule = FixedHorizon(2), FixedHorizon(2)
        episodes = rollout.run(["counting_29", "counting_29", "counting_3"])
    assert [len(episode.prefix) for episode in episodes] == [2, 2, 0]
    for episode in episodes:
        assert [turn.completion for turn in episode.prefix] == ["add 9"] * len(episode.prefix)
        assert episode.turns[0].observation.startswith(
            "The counter is 18." if episode.prefix else ""
        )
        assert len(episode.turns) == 2
        assert episode.truncated_by == "horizon"
        sampled = [len(ids) for trace in episode.traces for ids in trace.sampled_turns()]
        assert sampled == [turn.num_tokens for turn in episode.turns]
        for trace in episode.traces:
            assert check_trace(trace, model, chat) < 1e-4
        # The first view is what SFT would show of the same conversation, all of it given.
        (first, *_) = chat.encode_trajectory(_of_file(episode), history)
        own = episode.traces[0].prompt_ids
        assert first.ids[: len(own)] == own
        assert not any(first.action_mask[: len(own) - len(first.prompt_ids)])
        if episode.prefix and history == LastTurns():
            text = chat.tokenizer.decode(own)
            assert text.index("Goal:") < text.index("add 9") < text.index("The counter is 18.")


def _of_file(episode: Trajectory) -> Trajectory:
    return Trajectory.from_json(json.loads(json.dumps(episode.to_json())))


def test_only_the_policy_s_turns_of_a_saved_episode_are_learned() -> None:
    with vector(1) as env:
        rollout = rollout_of(env, Scripted("add 3"))
        rollout.starts = FixedHorizon(1)
        (episode,) = rollout.run(["counting_29"])
    assert episode.success
    for one in (episode, _of_file(episode)):
        (trace,) = CHAT.tokenize_trajectory(one)
        assert trace.sampled_turns() == [CHAT.action_ids("add 3")]
        assert trace.ids == episode.trace.ids
    assert [message["content"] for message in episode.messages()][2:-2:2] == ["add 9"] * 3


def test_worker_processes_and_overlap_start_late_too() -> None:
    results = []
    for backend, overlap in (("sync", False), ("thread", True), ("process", False)):
        with TextVectorEnv(COUNTING_ID, 2, backend=backend, max_turns=5) as env:  # type: ignore[arg-type]
            backend_of = HFBackend(tiny_model("qwen3"))
            rollout = rollout_of(env, backend_of, sampling=Sampling(4), seed=1, overlap=overlap)
            rollout.starts = FixedHorizon(2)
            results.append(rollout.run(["counting_29"] * 3))
    assert results[0] == results[2]
    assert [[len(episode.prefix) for episode in episodes] for episodes in results] == [[2] * 3] * 3


def test_branches_share_their_root_s_start() -> None:
    with vector(3, max_turns=6) as env:
        backend = HFBackend(tiny_model("qwen3"))
        rollout = rollout_of(env, backend, sampling=Sampling(6), seed=1)
        rollout.starts, rollout.schedule = FixedHorizon(3), FixedHorizon(3)
        base, *branches = play_branched(rollout.run, ["counting_40"] * 4, group_size=4, roots=1)
    assert len(base.prefix) > 0
    for branch in branches:
        shared = sum(a is b for a, b in zip(base.turns, branch.turns, strict=False))
        assert 0 < shared < len(branch.turns) == 3
        assert branch.prefix == base.prefix
        assert first_turns(branch.traces, shared) == first_turns(base.traces, shared)


# Trainers -----------------------------------------------------------------------------------------


def _steps(trainer: Any) -> list[dict[str, Any]]:
    return [entry for entry in trainer.state.log_history if "loss" in entry]


def _episodes(trainer: Any, step: int, kind: str = "train") -> list[Trajectory]:
    folder = Path(trainer.args.output_dir) / "trajectories"
    return list(read_jsonl(folder / f"{kind}_{step:06d}.jsonl"))


def _given(episodes: Sequence[Trajectory]) -> list[int]:
    return [sum(not turn.trained for turn in episode.turns) for episode in episodes]


def test_groups_share_a_start_which_moves_back_by_steps(trainer_in: TrainerIn) -> None:
    trainer = trainer_in(
        env={"env": [STEPS_ID]},
        rollout={"start": "backward:1,3@1", "horizon": "2"},
        max_steps=3,
        eval_strategy="steps",
        eval_steps=1,
    )
    trainer.train()
    assert [_given(_episodes(trainer, step)) for step in (1, 2, 3)] == [[4] * 8, [2] * 8, [0] * 8]
    assert _given(_episodes(trainer, 1, "eval")) == [0] * 4
    entries = _steps(trainer)
    assert [entry.get("start") for entry in entries] == [1, 3, None]
    assert [entry["given_turns"] for entry in entries] == [4, 2, 0]
    assert all(entry["episodes/turns"] <= 2 for entry in entries)
    assert all(entry["truncated/max_turns"] == 0 for entry in entries)


def test_the_groups_of_a_batch_have_mixed_starts(trainer_in: TrainerIn) -> None:
    trainer = trainer_in(
        env={"env": [STEPS_ID]}, rollout={"start": "mixed:1,3"}, max_steps=8, num_generations=4
    )
    trainer.train()
    given = []
    for step in range(1, 9):
        episodes = _episodes(trainer, step)
        drawn = [start_at(MixedStarts((1, 3)), step - 1, episode.task_id) for episode in episodes]
        assert _given(episodes) == [0 if start is None else 5 - start for start in drawn]
        given += _given(episodes)
    assert set(given) == {0, 2, 4}
    assert not any("start" in entry for entry in _steps(trainer))


@pytest.mark.full
def test_a_curriculum_from_the_end_wins_where_the_task_s_start_never_pays(
    trainer_in: TrainerIn,
) -> None:
    success = {}
    for name, start in (("own", None), ("late", "backward:1,2,3@6")):
        trainer = trainer_in(
            name,
            env={"env": [STEPS_ID]},
            rollout={"start": start, "max_tokens_per_turn": 2},
            max_steps=24,
            learning_rate=2e-2,
            num_generations=8,
            per_device_train_batch_size=8,
        )
        trainer.train()
        success[name] = [entry["episodes/success"] for entry in _steps(trainer)]
    assert sum(success["own"]) == 0
    assert sum(success["late"][-6:]) / 6 > 0.5  # of the tasks' own starts


@pytest.mark.full
@pytest.mark.parametrize(
    ("easy", "logged"), [("backward:1@3", [1] * 3 + [None] * 5), ("mixed:1", [None] * 8)]
)
def test_each_environment_has_its_own_start_and_a_resumed_run_goes_on(
    trainer_in: TrainerIn, easy: str, logged: list[int | None]
) -> None:
    options = {
        "max_steps": 8, "save_strategy": "steps", "save_steps": 1, "save_total_limit": 1,
        "env": {"env": [STEPS_ID, EASY_ID], "tasks": ["0", "1", "2", "3", "4"]},
        "rollout": {"start": {"Steps": "adaptive:1,2@2", "Easy": easy}},
    }  # fmt: skip
    whole = trainer_in("whole", **options)
    whole.train()
    for last in (3, 8):
        parts = trainer_in("parts", **{**options, "max_steps": last})
        parts.train(resume_from_checkpoint=last > 3)
    shown = [
        [{k: v for k, v in entry.items() if "time" not in k} for entry in _steps(trainer)]
        for trainer in (whole, parts)
    ]
    assert shown[0] == shown[1]
    starts = [entry.get("start/Steps") for entry in shown[0]]
    assert starts[0] == 1
    assert any(one != other for one, other in pairwise(starts))
    assert [entry.get("start/Easy") for entry in shown[0]] == logged
    same = zip(whole.model.parameters(), parts.model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in same)


@pytest.mark.full
@pytest.mark.parametrize("further", ["max_staleness", "branch_roots", "dynamic_sampling", "gigpo"])
def test_other_ways_to_play_start_late_too(trainer_in: TrainerIn, further: str) -> None:
    options: dict[str, Any] = {
        "max_staleness": {"max_staleness": 1, "carry_over": True},
        "branch_roots": {"branch_roots": 2},
        "dynamic_sampling": {"dynamic_sampling": 2},
        "gigpo": {"turn_credit": "gigpo"},
    }[further]
    env = {"env": [EASY_ID], "max_turns": 6}
    trainer = trainer_in(env=env, rollout={"start": "1", "horizon": "2"}, max_steps=3, **options)
    trainer.train()
    for step in (1, 2, 3):
        assert set(_given(_episodes(trainer, step))) == {1}
    options |= {"num_generations": 4, "per_device_train_batch_size": 16}
    trainer = trainer_in("mixed", env=env, rollout={"start": "mixed:1"}, max_steps=3, **options)
    trainer.train()
    drawn = []
    for step in (1, 2, 3):
        given = _given(_episodes(trainer, step))
        groups = [given[first : first + 4] for first in range(0, len(given), 4)]
        assert all(len(set(group)) == 1 for group in groups)
        drawn += [group[0] for group in groups]
    assert set(drawn) == {0, 1}


@pytest.mark.full
def test_a_critic_values_the_policy_s_turns_and_bootstraps_behind_a_start(tmp_path: Path) -> None:
    trainer = AgentPPOTrainer(
        make_model(),
        EnvArguments(env=[STEPS_ID], action_format="plain"),
        args=AgentPPOConfig(
            output_dir=str(tmp_path),
            per_device_train_batch_size=8,
            gradient_accumulation_steps=1,
            max_steps=2,
            bootstrap_truncated=True,
            eval_strategy="no",
            save_strategy="no",
            disable_tqdm=True,
        ),
        rollout=RolloutArguments(max_tokens_per_turn=2, start="3", horizon="1"),
        processing_class=make_tokenizer(),
    )
    trainer.train()
    assert _given(_episodes(trainer, 1)) == [2] * 8
    chat = trainer.chat
    for episode in trainer.trajectories:
        ids = chat.ids_after(episode)
        assert ids[: len(episode.trace.ids)] == episode.trace.ids


# Refusals -----------------------------------------------------------------------------------------


class Expertless(CountingEnv):
    expert_moves = TextEnv.expert_moves  # type: ignore[assignment]


register_env("toy/Expertless-v0", Expertless)


@pytest.mark.parametrize(
    ("env_id", "options", "problem"),
    [
        ("toy/Expertless-v0", {"start": "2"}, "Expertless has none .*has no expert.* every env"),
        (ENV_ID, {"start": "adaptive:1@2", "horizon": "adaptive:1,2@2"}, "both go by the success"),
        (ENV_ID, {"start": {"Maze": "2"}}, "'Maze' is no environment of this run"),
    ],
)
def test_starts_that_cannot_be_had_are_refused(
    env_id: str, options: dict[str, Any], problem: str
) -> None:
    environments = Environments(EnvArguments(env=[env_id]), episodes=1)
    with pytest.raises(UsageError, match=problem):
        environments.starts(RolloutArguments(**options))
    environments.close()


def test_an_environment_without_copies_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def snapshot(_: Any) -> Any:
        raise ValueError("its pages live on a server")

    monkeypatch.setattr(LettersEnv, "snapshot", snapshot)
    environments = Environments(EnvArguments(env=[ENV_ID]), episodes=1)
    with pytest.raises(UsageError, match="`start` copies environments, and Letters cannot be"):
        environments.starts(RolloutArguments(start="2"))
    environments.close()


@pytest.mark.parametrize("command", [evolve, sft])
def test_what_learns_from_saved_episodes_takes_no_start(
    command: Callable[[list[str]], int],
) -> None:
    with pytest.raises(UsageError, match="start='backward:1@5' would be ignored here"):
        command(["--env", ENV_ID, "--start", "backward:1@5", "--model", "nowhere"])


def test_a_start_that_is_none_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        grpo(["--env", ENV_ID, "--start", "backward:2,4", "--model", "nowhere"])
    assert "cannot read the start 'backward:2,4'" in " ".join(capsys.readouterr().err.split())


def test_a_rollout_takes_a_schedule_of_starts() -> None:
    with vector(1) as env:
        rollout = Rollout(env, rollout_of(env, Scripted("add 3")).policy, starts=parse_start("1"))
        assert rollout.starts == FixedHorizon(1)
        rollout.starts = ScalingInter((TASK_START,), 1)
        assert rollout.run(["counting_29"])[0].prefix == []
