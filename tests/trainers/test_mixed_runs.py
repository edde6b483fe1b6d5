"""Several environments in one run: shares, horizons, metrics, order, resuming."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

import pytest
import torch

from agentgym_envs import read_jsonl
from agentgym_envs.trajectories.conversations import UNNAMED
from tests.trainers.test_algorithms import played
from tests.trainers.toys import (
    EASY_ID,
    ENV_ID,
    Given,
    episode,
    make_folder,
    make_model,
    make_tokenizer,
)
from trainers.agentevol import main as evolve
from trainers.credit.pairs import Pair
from trainers.dpo import AgentDPOConfig, AgentDPOTrainer
from trainers.grpo import AgentGRPOTrainer
from trainers.options.arguments import EnvArguments
from trainers.options.configs import AgentGRPOConfig
from trainers.options.errors import UsageError
from trainers.options.offline import AgentSFTConfig
from trainers.ppo import AgentPPOConfig
from trainers.reinforce_pp import AgentReinforcePPConfig
from trainers.rloo import AgentRLOOConfig
from trainers.rollout.environments import Environments, build_mixture
from trainers.runs.folder import read_metrics
from trainers.sft import AgentSFTTrainer
from trainers.trl_bridge import task_dataset

BOTH = [ENV_ID, EASY_ID]
# 8 tasks of Letters and 40 of Easy: drawn from the union five of six were easy ones.
TrainerIn = Callable[..., AgentGRPOTrainer]


def steps_of(trainer: Any) -> list[dict[str, Any]]:
    return [entry for entry in trainer.state.log_history if "loss" in entry]


def episodes_of(trainer: Any, step: int, kind: str = "train") -> list[Any]:
    folder = Path(trainer.args.output_dir) / "trajectories"
    return list(read_jsonl(folder / f"{kind}_{step:06d}.jsonl"))


def groups_by_step(trainer: Any) -> list[Counter[str]]:
    counts = []
    for step in range(1, trainer.args.max_steps + 1):
        tasks = [t.task_id for t in episodes_of(trainer, step)]
        size = trainer.args.num_generations
        assert all(tasks[i : i + size] == [tasks[i]] * size for i in range(0, len(tasks), size))
        counts.append(Counter(task.partition("_")[0] for task in tasks[::size]))
    return counts


def test_a_step_holds_whole_groups_of_each_environment(trainer_in: TrainerIn) -> None:
    trainer = trainer_in(env={"env": BOTH}, max_steps=3)
    trainer.train()
    assert groups_by_step(trainer) == [{"letters": 1, "easy": 1}] * 3
    assert [entry["share/Letters"] for entry in steps_of(trainer)] == [0.5] * 3
    tasks = [t.task_id for step in range(1, 4) for t in episodes_of(trainer, step)[::4]]
    assert len(set(tasks)) == 6


@pytest.mark.full
def test_what_is_left_of_a_share_comes_with_the_next_step(trainer_in: TrainerIn) -> None:
    trainer = trainer_in(env={"env": BOTH, "mix": "3,1"}, max_steps=4)
    trainer.train()
    counts = groups_by_step(trainer)
    assert sum(counts, Counter()) == {"letters": 6, "easy": 2}
    assert max(count["easy"] for count in counts) == 1
    shares = [entry["share/Letters"] for entry in steps_of(trainer)]
    assert sum(shares) / 4 == 0.75


def test_shares_reach_over_epochs_and_a_small_environment_goes_round(trainer_in: TrainerIn) -> None:
    trainer = trainer_in(env={"env": BOTH, "tasks": ["0", "1", "2"]}, max_steps=6)
    trainer.train()  # six tasks in all, three steps an epoch
    tasks = Counter(t.task_id for step in range(1, 7) for t in episodes_of(trainer, step)[::4])
    assert tasks == {f"{name}_{n}": 2 for name in ("letters", "easy") for n in range(3)}


def test_a_resumed_mixed_run_is_the_uninterrupted_one(trainer_in: TrainerIn) -> None:
    options = {
        "max_steps": 8, "save_strategy": "steps", "save_steps": 1, "save_total_limit": 1,
        "env": {"env": BOTH, "mix": "2,1", "tasks": ["0", "1", "2", "3", "4"]},
        "rollout": {"horizon": {"Letters": "adaptive:1,2@2", "Easy": "scaling:1,2@3"}},
    }  # fmt: skip
    whole = trainer_in("whole", **options)
    whole.train()
    for last in (3, 6, 8):  # five steps are an epoch
        parts = trainer_in("parts", **{**options, "max_steps": last})
        parts.train(resume_from_checkpoint=last > 3)
    shown = [
        [{k: v for k, v in entry.items() if "time" not in k} for entry in steps_of(trainer)]
        for trainer in (whole, parts)
    ]
    assert shown[0] == shown[1]
    for step in range(1, 9):
        one, other = (episodes_of(trainer, step) for trainer in (whole, parts))
        assert [t.task_id for t in one] == [t.task_id for t in other]
    same = zip(whole.model.parameters(), parts.model.parameters(), strict=True)
    assert all(torch.equal(one, other) for one, other in same)


def test_each_environment_has_its_own_limits(trainer_in: TrainerIn) -> None:
    trainer = trainer_in(
        env={"env": BOTH, "max_turns": {"Easy": 4, "default": 2}},
        rollout={
            "horizon": {"Easy": "scaling:1,3@1"},
            "max_tokens_per_turn": {"Letters": 2, "default": 4},
        },
    )
    trainer.train()
    one, other = steps_of(trainer)
    assert (one["horizon/Easy"], other["horizon/Easy"]) == (1, 3)
    assert "horizon/Letters" not in one
    played = [t for step in (1, 2) for t in episodes_of(trainer, step)]
    letters = [t for t in played if t.env_id == ENV_ID]
    assert {t.truncated_by for t in letters} == {None, "max_turns"}
    assert max(turn.num_tokens for t in letters for turn in t.turns) == 2
    easy = [t for t in played if t.env_id == EASY_ID]
    assert Counter(t.truncated_by for t in easy) == {"horizon": 4, None: 4}
    assert max(turn.num_tokens for t in easy for turn in t.turns) == 4


def test_metrics_are_of_each_environment_and_the_mean_over_them(trainer_in: TrainerIn) -> None:
    trainer = trainer_in(env={"env": BOTH}, max_steps=1, eval_strategy="steps", eval_steps=1)
    trainer.train()
    (entry,) = steps_of(trainer)
    assert entry["success/Easy"] == 1.0
    assert entry["episodes/success"] == (entry["success/Easy"] + entry["success/Letters"]) / 2
    assert entry["reward"] == (entry["reward/Easy"] + entry["reward/Letters"]) / 2
    assert (entry["turns/Easy"], entry["failed/Easy"], entry["share/Easy"]) == (2.0, 0.0, 0.5)
    logged = read_metrics(Path(trainer.args.output_dir))
    (measured,) = [line for line in logged if "eval_success" in line]
    assert measured["eval_success/Easy"] == 1.0
    own = (measured["eval_success/Easy"], measured["eval_success/Letters"])
    assert measured["eval_success"] == pytest.approx(sum(own) / 2)
    assert measured["eval_success_low/Easy"] < measured["eval_success_high/Easy"] == 1.0
    assert measured["eval_success_low"] < measured["eval_success"] < measured["eval_success_high"]
    tasks = {t.task_id for t in episodes_of(trainer, 1, "eval")}
    assert Counter(task.partition("_")[0] for task in tasks) == {"letters": 2, "easy": 20}


def test_a_dataset_of_ones_own_is_drawn_by_share_too(trainer_in: TrainerIn) -> None:
    ids = [f"easy_{n}" for n in range(7)] + ["letters_3"]
    trainer = trainer_in(env={"env": BOTH}, trainer={"train_dataset": task_dataset(ids)})
    trainer.train()
    assert groups_by_step(trainer) == [{"letters": 1, "easy": 1}] * 2


def test_an_option_of_an_environment_that_is_not_played_is_refused(trainer_in: TrainerIn) -> None:
    with pytest.raises(UsageError, match="`horizon=Esy=.*did you mean Easy"):
        trainer_in(env={"env": BOTH}, rollout={"horizon": {"Esy": "fixed:2"}})


# Saved episodes -----------------------------------------------------------------------------------


def saved(scenario: str, number: int, reward: float = 1.0) -> Any:
    made = episode(reward)
    made.env_id, made.task_id = f"toy/{scenario}-v0", f"{scenario}_{number}"
    made.turns[0].completion = f"{scenario} {number} {reward}"
    return made


def imitating(folder: Path, options: Any = None, **env: Any) -> AgentSFTTrainer:
    given = [saved("letters", n) for n in range(3)] + [saved("easy", n) for n in range(9)]
    args = AgentSFTConfig(
        str(folder), report_to="none", max_steps=1, eval_strategy="no", **(options or {})
    )
    environments = Environments(EnvArguments(env=BOTH, action_format="plain", **env))
    return AgentSFTTrainer(
        make_model(), given, args=args, env=environments, processing_class=make_tokenizer()
    )


def preferring(folder: Path, **env: Any) -> AgentDPOTrainer:
    names = [("letters", n) for n in range(3)] + [("easy", n) for n in range(9)]
    pairs = [Pair(saved(*name), saved(*name, reward=0.0), 0) for name in names]
    args = AgentDPOConfig(str(folder), report_to="none", max_steps=1, eval_strategy="no")
    environments = Environments(EnvArguments(env=BOTH, action_format="plain", **env))
    return AgentDPOTrainer(
        make_model(), pairs, args=args, env=environments, processing_class=make_tokenizer()
    )


@pytest.mark.parametrize("make", [imitating, preferring])
def test_saved_episodes_are_drawn_by_share(make: Callable[..., Any], tmp_path: Path) -> None:
    trainer = make(tmp_path, mix="2,1")
    order = list(trainer._get_train_sampler())
    assert [sum(row < 3 for row in order[n : n + 3]) for n in (0, 3, 6, 9)] == [2] * 4
    assert sorted(Counter(row for row in order if row < 3).values()) == [2, 3, 3]
    trainer.state.epoch = 1.0
    again = list(trainer._get_train_sampler())
    assert {row for row in order + again if row >= 3} > {row for row in order if row >= 3}
    trainer.train()


def test_shares_hold_where_rows_have_moved(tmp_path: Path) -> None:
    trainer = imitating(tmp_path, {"shuffle_dataset": True}, mix="1,1")
    order = list(trainer._get_train_sampler())
    drawn = Counter(trainer.train_dataset[row]["scenario"] for row in order)
    assert drawn["letters"] == drawn["easy"] == len(order) / 2
    trainer.train()


def test_packed_rows_of_several_environments_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="packing joins episodes of easy, letters in one"):
        imitating(tmp_path, {"packing": True, "max_length": 90})


def test_weights_without_an_environment_for_the_data_are_refused(tmp_path: Path) -> None:
    environments = Environments(EnvArguments(env=BOTH, mix="2,1"))
    given = [saved("letters", 0), saved("craft", 0)]
    with pytest.raises(UsageError, match="`mix` weighs letters, easy, and .* episodes of craft"):
        AgentSFTTrainer(
            make_model(), given, args=AgentSFTConfig(str(tmp_path)), env=environments,
            processing_class=make_tokenizer(),
        )  # fmt: skip


def test_conversations_without_a_task_have_no_weight() -> None:
    environments = Environments(EnvArguments(env=BOTH, mix="2,1"))
    with pytest.raises(UsageError, match="conversations that name no task, .* its item_id"):
        build_mixture(["letters", UNNAMED], environments, seed=None)


def test_agentevol_explores_and_learns_by_share(tmp_path: Path) -> None:
    model = make_folder(tmp_path / "model")
    options = (
        f"--env {ENV_ID} --env {EASY_ID} --mix 3,1 --action_format plain --model {model} "
        f"--num_explored_tasks 8 --num_rounds 1 --max_steps 1 --expert_episodes 4 "
        f"--max_tokens_per_turn 4 --disable_tqdm true --output_dir {tmp_path / 'run'}"
    )
    assert evolve(options.split()) == 0
    explored = list(read_jsonl(tmp_path / "run/trajectories/explored_000000.jsonl"))
    assert Counter(t.env_id for t in explored) == {ENV_ID: 6, EASY_ID: 2}
    base = list(read_jsonl(tmp_path / "run/trajectories/base_000000.jsonl"))
    assert Counter(t.env_id for t in base) == {ENV_ID: 3, EASY_ID: 1}
    first, last = read_metrics(tmp_path / "run")
    assert first["episodes/success"] == (first["success/Letters"] + first["success/Easy"]) / 2
    assert {"eval_success/Letters", "eval_success/Easy"} <= set(last)


# Advantages ---------------------------------------------------------------------------------------


def test_grpo_scales_by_the_deviation_of_the_environment(trainer_in: TrainerIn) -> None:
    trainer = trainer_in(env={"env": BOTH}, scale_rewards="environment", max_steps=1)
    paid = {"letters": [1.0, 0.0, 0.0, 0.0], "easy": [0.1, 0.3, 0.1, 0.1]}
    given: list[Any] = []

    def play(tasks: list[str]) -> list[Any]:
        numbers: Counter[str] = Counter()
        for task in tasks:
            scenario, _, number = task.partition("_")
            given.append(saved(scenario, int(number), paid[scenario][numbers[task]]))
            numbers[task] += 1
        return given

    trainer.player.rollout = Given(play)  # type: ignore[assignment]
    trainer.train()
    for scenario, rewards in paid.items():
        mean = sum(rewards) / 4
        deviation = (sum((r - mean) ** 2 for r in rewards) / 3) ** 0.5
        expected = [(r - mean) / (deviation + 1e-4) for r in rewards]
        found = [t.trace.advantages[0] for t in given if t.task_id.startswith(scenario)]
        assert found == pytest.approx(expected, rel=1e-4)


STATES = {
    "letters": [("hall", "door", "key"), ("hall", "door"), ("hall", "wall"), ("hall", "key")],
    "easy": [("one", "two"), ("one", "one", "two"), ("two",), ("one", "two")],
}
PAID = {
    "letters": [(0.0, 0.0, 1.0), (0.0, 0.5), (0.0, 0.0), (0.25, 0.0)],
    "easy": [(0.0, 90.0), (10.0, 0.0, 20.0), (0.0,), (0.0, 40.0)],
}


def expected_gigpo(scale: str, *, discount: float, weight: float) -> dict[str, list[list[float]]]:
    """Equations 3, 6, 7 and 8 of arXiv 2505.10978, turn by turn and with nothing of ours."""
    returns = {
        name: [
            [sum(r * discount**k for k, r in enumerate(paid[t:])) for t in range(len(paid))]
            for paid in episodes
        ]
        for name, episodes in PAID.items()
    }
    sums = {name: [sum(paid) for paid in episodes] for name, episodes in PAID.items()}

    def norm(of_group: list[float], by_environment: dict[str, list[float]], name: str) -> float:
        every = [value for values in by_environment.values() for value in values]
        chosen = {"group": of_group, "environment": by_environment[name], "batch": every}
        return 1.0 if scale == "none" else stdev(chosen[scale])

    turns = {name: [r for own in episodes for r in own] for name, episodes in returns.items()}
    expected: dict[str, list[list[float]]] = {}
    for name, episodes in returns.items():
        expected[name] = []
        for number, own in enumerate(episodes):
            of_episode = sums[name][number] - fmean(sums[name])
            of_episode /= norm(sums[name], sums, name)
            expected[name].append([])
            for turn, value in enumerate(own):
                state = [
                    returns[name][other][place]
                    for other, read in enumerate(STATES[name])
                    for place, observation in enumerate(read)
                    if observation == STATES[name][number][turn]
                ]
                of_turn = 0.0
                if len(state) > 1 and value != fmean(state):
                    of_turn = (value - fmean(state)) / norm(state, turns, name)
                expected[name][-1].append(of_episode + weight * of_turn)
    return expected


@pytest.mark.parametrize("scale", ["group", "environment", "batch", "none"])
def test_gigpos_turns_are_divided_by_the_rule_that_divides_its_episodes(
    scale: str, trainer_in: TrainerIn
) -> None:
    options = {"turn_advantage_weight": 0.5, "turn_discount": 0.8, "scale_rewards": scale}
    trainer = trainer_in(env={"env": BOTH}, max_steps=1, **options)
    given: dict[str, list[Any]] = {name: [] for name in PAID}

    def play(tasks: list[str]) -> list[Any]:
        made = []
        for task in tasks:
            name = task.partition("_")[0]
            number = len(given[name])
            trajectory = played(STATES[name][number], PAID[name][number])
            trajectory.env_id, trajectory.task_id = f"toy/{name.title()}-v0", task
            given[name].append(trajectory)
            made.append(trajectory)
        return made

    trainer.player.rollout = Given(play)  # type: ignore[assignment]
    trainer.train()
    expected = expected_gigpo(scale, discount=0.8, weight=0.5)
    assert expected["easy"] != expected["letters"]
    for name, trajectories in given.items():
        for trajectory, of_turns in zip(trajectories, expected[name], strict=True):
            # Turn n has n + 1 sampled tokens, and one that was not between two turns.
            tokens = [v for n, value in enumerate(of_turns) for v in [0.0, *[value] * (n + 1)]]
            assert trajectory.trace.advantages == pytest.approx(tokens[1:], rel=1e-3, abs=1e-5)


def test_in_one_environment_it_is_trls_batch(trainer_in: TrainerIn) -> None:
    losses = []
    for name in ("batch", "environment"):
        trainer = trainer_in(name, scale_rewards=name)
        trainer.train()
        losses.append([e["grad_norm"] for e in steps_of(trainer)])
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


@pytest.mark.parametrize("config", [AgentRLOOConfig, AgentReinforcePPConfig, AgentPPOConfig])
def test_every_algorithm_that_plays_takes_it(config: Any, tmp_path: Path) -> None:
    assert config(str(tmp_path), scale_rewards="environment").scale_rewards == "environment"
    with pytest.raises(ValueError, match="it takes environment alone"):
        config(str(tmp_path), scale_rewards="batch")


@pytest.mark.parametrize(
    ("config", "options", "message"),
    [
        (
            AgentGRPOConfig,
            {"scale_rewards": "env"},
            "must be one of group, batch, environment, mean, none",
        ),
        (
            AgentGRPOConfig,
            {
                "scale_rewards": "environment",
                "multi_objective_aggregation": "normalize_then_sum",
            },
            "leave out one of the two",
        ),
        (
            AgentPPOConfig,
            {"scale_rewards": "environment", "whiten_advantages": False},
            "leave out one of the two",
        ),
    ],
)
def test_what_does_not_fit_it_is_refused(
    config: Any, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        config(str(tmp_path), **options)
