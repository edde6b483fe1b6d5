from __future__ import annotations

import functools
import os
import random
import re
from collections.abc import Iterator
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs import (
    ConformanceError,
    EnvFailure,
    ExpertMove,
    ListedTasks,
    Outcome,
    TaskSpec,
    TextEnv,
    check_text_env,
)
from agentgym_envs.babyai.tasks import BabyAITasks
from agentgym_envs.checking.checks import check_splits
from tests.helpers import COUNTING_ID, CountingEnv, register_helpers

register_helpers()


def test_a_sound_env_passes_by_id_by_short_name_and_by_class() -> None:
    check_text_env(COUNTING_ID)
    check_text_env("counting", num_tasks=1)
    check_text_env(CountingEnv)
    check_text_env(lambda **kwargs: CountingEnv(**kwargs), tasks=["small", "large"])


def test_some_tasks_of_a_split_are_of_all_its_subtasks() -> None:
    """BabyAI's levels stand in turns: of every eighteenth task all are of one."""
    chosen = check_splits(functools.partial(gym.make, "agentgym/BabyAI-v0"), 45)
    tasks = BabyAITasks()
    of_training = [tasks.spec(i) for i in chosen if tasks.spec(i).split == "train"]
    assert len({spec.subtask for spec in of_training}) == 6
    assert len({tasks.level(spec.number)[0] for spec in of_training}) == 18


class Overlapping(CountingEnv):
    def task_ids(self, split: str | None = None) -> list[str]:
        return super().task_ids("train")


class Forgetful(CountingEnv):
    def reset(self, **kwargs: Any) -> tuple[str, dict[str, Any]]:
        observation, info = super().reset(**kwargs)
        del info["goal"]
        return observation, info


class Binary(CountingEnv):
    def apply(self, action: str) -> Outcome:
        return super().apply(action)._replace(info={"picture": b"png"})


class Boasting(CountingEnv):
    def apply(self, action: str) -> Outcome:
        outcome = super().apply(action)
        return outcome._replace(info={**outcome.info, "score": 7.0})


class Generous(CountingEnv):
    def reject(self, *args: Any) -> Outcome:
        return super().reject(*args)._replace(reward=0.5)


class Lenient(CountingEnv):
    def reject(self, *args: Any) -> Outcome:
        return Outcome("fine")


class Raising(CountingEnv):
    def apply(self, action: str) -> Outcome:
        if not action:
            raise RuntimeError("no action")
        return super().apply(action)


class Random(CountingEnv):
    def apply(self, action: str) -> Outcome:
        outcome = super().apply(action)
        return outcome._replace(observation=f"{outcome.observation} {self.np_random.random()}")


class Seeded(CountingEnv):
    def begin(self, task: TaskSpec) -> str:
        return super().begin(task) + str(self.np_random.random())


class Endless(CountingEnv):
    def step(self, action: str) -> Any:
        self._text_env.is_over = False
        return super().step(action)


class Unlimited(CountingEnv):
    def step(self, action: str) -> Any:
        observation, reward, terminated, _, info = super().step(action)
        return observation, reward, terminated, False, info


class Uncopied(CountingEnv):
    """Its copies begin the episode anew."""

    def restore(self, snapshot: Any) -> None:
        self.reset(options=snapshot.options)


class Unsolved(CountingEnv):
    def expert_moves(self) -> Iterator[ExpertMove]:
        for _ in range(3):
            yield ExpertMove("add 1")


class Clairvoyant(CountingEnv):
    def expert_moves(self) -> Iterator[ExpertMove]:
        for move in super().expert_moves():
            yield ExpertMove(move.action, "it is on the way to Jericho")


class Silent(CountingEnv):
    system_prompt = "Play."  # type: ignore[assignment]


class Swallowing(CountingEnv):
    def __init__(self, **kwargs: Any) -> None:
        kwargs.pop("no_such_keyword", None)
        super().__init__(**kwargs)


class Unsplit(CountingEnv):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.task_set.splits = ("train", "test")


class Choosy(CountingEnv):
    def apply(self, action: str) -> Outcome:
        if action.strip() and not action.startswith(("add", "double", "say")):
            int(action)
        return super().apply(action)


class Goalless(CountingEnv):
    def begin(self, task: TaskSpec) -> str:
        observation = super().begin(task)
        del self.goal
        return observation


class Talking(CountingEnv):
    def apply(self, action: str) -> Any:
        return "The counter is 1."


class Verbless(TextEnv):
    instructions = "Play."
    default_max_turns = 3
    source = "none/1"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(ListedTasks("verbless", {"train": {"one": [0]}}), **kwargs)

    def begin(self, task: TaskSpec) -> str:
        return ""

    def apply(self, action: str) -> Outcome:
        return Outcome("")


class Sourceless(CountingEnv):
    source = ""


class Misverbed(CountingEnv):
    verbs = ("add", "double")  # type: ignore[assignment]


class Speechless(CountingEnv):
    def begin(self, task: TaskSpec) -> Any:
        super().begin(task)


class Unmakeable(CountingEnv):
    def __init__(self, **kwargs: Any) -> None:
        raise KeyError("table")


class Hinting(CountingEnv):
    def expert_moves(self) -> Iterator[Any]:
        yield "add 1"


class Unordered(CountingEnv):
    def begin(self, task: TaskSpec) -> str:
        words = {f"word {number}" for number in range(20)}
        return f"{super().begin(task)} You see: {', '.join(words)}."


os.environ.setdefault("TEST_CHECKER_PROCESS", str(os.getpid()))  # the second one inherits it


class Importing(CountingEnv):
    def begin(self, task: TaskSpec) -> str:
        if os.environ["TEST_CHECKER_PROCESS"] != str(os.getpid()):
            raise RuntimeError("there is no second display")
        return super().begin(task)


class Broken(CountingEnv):
    def apply(self, action: str) -> Outcome:
        raise EnvFailure("the server is gone")


class TrainedOnly(CountingEnv):
    empty: tuple[str, ...] = ("validation", "test")

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        table: dict[str, Any] = {"train": {"small": range(5)}, "validation": {}, "test": {}}
        if "train" in self.empty:
            table["train"], table["test"] = table["test"], table["train"]
        self.task_set = ListedTasks("counting", table)
        self._text_env.draws_from = self.task_set.select(self.split, kwargs.get("tasks"))


class Untrained(TrainedOnly):
    empty = ("train", "validation")


class Forked(CountingEnv):
    expert_moves = TextEnv.expert_moves
    made = 0

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        type(self).made += 1
        self.number = self.made

    def apply(self, action: str) -> Outcome:
        if action == "double":
            return Outcome(f"You are player {self.number}.")
        return super().apply(action)

    def available_actions(self) -> list[str]:
        return ["double"]


class SharedByTheClass(CountingEnv):
    added: list[str] = []

    def begin(self, task: TaskSpec) -> str:
        self.added.clear()
        return super().begin(task)

    def apply(self, action: str) -> Outcome:
        if action not in self.added:  # as often as not: two that play in lockstep see the same
            self.added.append(action)
        outcome = super().apply(action)
        return outcome._replace(observation=f"{outcome.observation} {sorted(self.added)}")


class KeptOverTheReset(CountingEnv):
    def begin(self, task: TaskSpec) -> str:
        self.last_target = getattr(self, "target", -1)
        return super().begin(task)

    def apply(self, action: str) -> Outcome:
        outcome = super().apply(action)
        if action == "add 9" and self.last_target not in (-1, self.target):
            return outcome._replace(observation="You again!")
        return outcome


class OddlyAddressed(CountingEnv):
    def apply(self, action: str) -> Outcome:
        if action.startswith("say "):
            {"hello": 1}[action[4:]]
        return super().apply(action)


class Numeral(CountingEnv):
    def apply(self, action: str) -> Outcome:
        if action.startswith("add "):
            int(action[4:])
        return super().apply(action)


class OfferingTheImpossible(CountingEnv):
    def available_actions(self) -> list[str]:
        return ["add 1", "add 11"]


class OfferingTheUnwritable(CountingEnv):
    def apply(self, action: str) -> Outcome:
        return Outcome("Up!") if action == "fly away" else super().apply(action)

    def available_actions(self) -> list[str]:
        return ["add 1", "fly away"]


class OfferingNumbers(CountingEnv):
    def available_actions(self) -> list[Any]:
        return [1, 2]


class ExpertOfNothing(CountingEnv):
    def expert_moves(self) -> Iterator[ExpertMove]:
        yield from ()


class ExpertOfTheBeginning(CountingEnv):
    def begin(self, task: TaskSpec) -> str:
        self.is_new = True
        return super().begin(task)

    def apply(self, action: str) -> Outcome:
        self.is_new = False
        return super().apply(action)

    def expert_moves(self) -> Iterator[ExpertMove]:
        if self.is_new:
            yield from super().expert_moves()


class Reseeding(CountingEnv):
    def begin(self, task: TaskSpec) -> str:
        random.seed(task.number)
        return super().begin(task)


class AnsweredByOne(CountingEnv):
    """Doubling wins, whatever the task."""

    def apply(self, action: str) -> Outcome:
        return Outcome.won("Well done.") if action == "double" else super().apply(action)

    def expert_moves(self) -> Iterator[ExpertMove]:
        yield ExpertMove("double")


class WonInSilence(CountingEnv):
    """The fourth empty answer in a row wins, which a single one does not show."""

    def begin(self, task: TaskSpec) -> str:
        self.silent = 0
        return super().begin(task)

    def apply(self, action: str) -> Outcome:
        self.silent = 0 if action else self.silent + 1
        return Outcome.won("I give up.") if self.silent == 4 else super().apply(action)


class PaidForWaiting(CountingEnv):
    """An unknown action after the first good one raises the score."""

    def apply(self, action: str) -> Outcome:
        outcome = super().apply(action)
        info = dict(outcome.info)
        if self.counter and not info.get("is_valid_action", True):
            info["score"] = 0.75
        return outcome._replace(info=info)


class WithoutKeywords(CountingEnv):
    def __init__(self) -> None:
        super().__init__()


class Named(CountingEnv):
    """Says what its names are, and shows one of them in its last observation."""

    thing_names = re.compile("red (?:small |large )?(ball)")  # type: ignore[assignment]
    shows = "a red ball"

    def begin(self, task: TaskSpec) -> str:
        return f"{super().begin(task)} You see {self.shows}."

    def expert_moves(self) -> Iterator[ExpertMove]:
        for move in super().expert_moves():
            yield ExpertMove(move.action, "the red large ball")


class Unnamed(Named):
    shows = "no red thing"


def test_a_thought_may_name_what_was_shown_as_the_environment_names_it() -> None:
    check_text_env(Named, num_tasks=1)
    with pytest.raises(ConformanceError, match=r"must name only .*found: \['ball'\]"):
        check_text_env(Unnamed, num_tasks=1)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (Overlapping, "splits must not overlap"),
        (Unsplit, "there must be the splits"),
        (Forgetful, "info must hold the keys"),
        (Binary, "info must be JSON values"),
        (Boasting, r"score must be in 0\.\.1"),
        (Generous, "must earn reward 0"),
        (Lenient, "is_valid_action is False"),
        (Random, "the same way twice|check_env must pass"),
        (Seeded, "must not depend on seed"),
        (Endless, "must raise ResetNeeded"),
        (Unlimited, "must truncate after two turns"),
        (Unsolved, "the expert must solve counting_"),
        (Uncopied, r"copy\.deepcopy\(env\) must play on as the original"),
        (Clairvoyant, r"thought 'it is .*' must name only what the goal .*found: \['Jericho'\]"),
        (Silent, "system_prompt must be a str that holds the rules"),
        (Swallowing, "an unknown keyword argument must raise TypeError"),
        (object, "must derive from TextEnv"),
        (
            Raising,
            r"step\(''\) must be answered by an observation; it raised RuntimeError: no action",
        ),
        (
            Choosy,
            r"step\('Ün.*'\) must be answered by an observation; it raised ValueError: invalid",
        ),
        (Goalless, r"reset.* must be answered by an observation; .*begin must set self\.goal"),
        (Talking, r"step\(.* must be answered .*apply must return an Outcome, got str: 'The"),
        (Verbless, r"making it must work; .*must set verbs"),
        (Sourceless, "must set source, a str that is not empty; found: ''"),
        (Misverbed, r"verbs must hold ActionVerb only; found: \['add'"),
        (Speechless, "Speechless.begin must return the first observation, a str, got NoneType"),
        (Unmakeable, "making it must work; it raised KeyError: 'table', at checking/test_check"),
        (Hinting, r"expert\(\) must give actions.*expert_moves must yield ExpertMove, got str"),
        (Unordered, "under every PYTHONHASHSEED, so nothing may follow the order of a set"),
        (Importing, "second process.*must play the same; .* RuntimeError: there is no second dis"),
        (
            SharedByTheClass,
            r"instances must share nothing.*; the observation was .* then .*'add [0-9]'",
        ),
        (KeptOverTheReset, "a reset leave nothing behind: .* then 'You again!'"),
        (
            OddlyAddressed,
            r"step\('say no such thing'\) must be answered .* KeyError: 'no such thing'",
        ),
        (Numeral, r"step\('add no such thing'\) must be answered .* ValueError: invalid literal"),
        (OfferingTheImpossible, "available_actions' 'add 11' must be possible where it is listed"),
        (
            OfferingTheUnwritable,
            "available_actions' 'fly away' must fit a verb's template; .* 'fly",
        ),
        (OfferingNumbers, r"available_actions must be a list of str; found: \[1, 2\]"),
        (ExpertOfNothing, "must give an action, or raise NoExpert"),
        (ExpertOfTheBeginning, "must give an action, or raise NoExpert, after actions"),
        (Reseeding, "must leave the generators of random and numpy.random alone"),
        (AnsweredByOne, r"'double' in every turn must not solve more than 30%.*found: .20 of 20."),
        (WonInSilence, r"'' in every turn must not solve more than 30% .* found: .20 of 20."),
        (PaidForWaiting, r"invalid action in turn 3 of counting_\d+ must not change the score of"),
        (WithoutKeywords, r"making the environment with \(split='train', .*unexpected keyword"),
    ],
)
def test_each_breach_is_found_and_told(broken: Any, message: str) -> None:
    with pytest.raises(ConformanceError, match=message):
        check_text_env(broken)


def test_a_failure_of_the_machinery_is_no_breach() -> None:
    with pytest.raises(EnvFailure, match="the server is gone"):
        check_text_env(Broken)


def test_an_empty_validation_or_test_split_is_allowed_and_an_empty_training_split_is_not() -> None:
    check_text_env(TrainedOnly)
    with pytest.raises(ConformanceError, match="'train' must hold a task"):
        check_text_env(Untrained)


def test_what_cannot_be_made_elsewhere_by_name_is_told(caplog: pytest.LogCaptureFixture) -> None:
    check_text_env(lambda **kwargs: CountingEnv(**kwargs))
    assert "not played under another PYTHONHASHSEED" in caplog.text
    caplog.clear()
    check_text_env(CountingEnv)
    assert not caplog.text


def test_an_env_without_expert_is_compared_too() -> None:
    with pytest.raises(ConformanceError, match="the same way twice"):
        check_text_env(Forked)


def test_an_expert_that_fails_may_be_let_pass() -> None:
    check_text_env(Unsolved, expert_solves=False)


def test_an_env_without_an_expert_passes() -> None:
    class Unaided(CountingEnv):
        expert_moves = TextEnv.expert_moves

    check_text_env(Unaided)


def test_impossible_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="num_tasks must be >= 1, got 0"):
        check_text_env(CountingEnv, num_tasks=0)
    with pytest.raises(ValueError, match="unknown environment 'chess'"):
        check_text_env("chess")
