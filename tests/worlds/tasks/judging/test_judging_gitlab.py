"""The code host's tasks: any other way is as good as the expert's, and any damage spoils it."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.evaluators.typed_answer import is_answer
from agentgym_envs.webarena.sites.names import fill_placeholders
from agentgym_envs.webarena.tasks.experts import EXPERTS
from agentgym_envs.webarena.tasks.files import WebTask
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.solution import Case, Solution
from tests.worlds.tasks.judging.gitlab_damage import DAMAGE, SITE, UNDONE, by_the_agent
from tests.worlds.tasks.judging.gitlab_ways import WAYS
from tests.worlds.tasks.judging.verdicts import (
    after,
    answering,
    changing,
    each_with_every,
    in_turn_with,
    reading,
    some,
    verdict,
)

CHANGING, READING = changing(SITE), reading(SITE)
WORDINGS = tomllib.loads(Path(__file__).with_name("gitlab_answers.toml").read_text("utf-8"))


@pytest.mark.parametrize(("number", "name"), each_with_every(CHANGING, DAMAGE))
def test_any_damage_spoils_what_was_done(number: int, name: str) -> None:
    assert verdict(some(number), after(by_the_agent(DAMAGE[name]), number)).score == 0.0


@pytest.mark.parametrize(("number", "name"), in_turn_with(READING, DAMAGE))
def test_who_was_to_look_may_change_nothing(number: int, name: str) -> None:
    assert verdict(some(number)).score == 1.0
    assert verdict(some(number), after(by_the_agent(DAMAGE[name]), number)).score == 0.0


@pytest.mark.parametrize("name", UNDONE)
@pytest.mark.parametrize("number", [111, 119])
def test_what_leaves_all_as_it_was_is_no_damage(name: str, number: int) -> None:
    assert verdict(some(number), after(UNDONE[name], number)).score == 1.0


@pytest.mark.parametrize(
    ("number", "way"), [(number, way) for number, ways in WAYS.items() for way in ways]
)
@pytest.mark.parametrize("instance", [0, 1])
def test_any_honest_way_does_it(number: int, way: Solution, instance: int) -> None:
    result = verdict(some(number, instance), way)
    assert result.score == 1.0, result.reasons


def expert_of(task: WebTask, screen: Screen) -> Iterator[ExpertMove]:
    """Play a task's expert, but do not stop."""
    case = Case(task.instantiation_dict or {}, task.notes or {})
    for move in EXPERTS[task.intent_template_id](case, screen):
        if not move.action.startswith("stop"):
            yield move


def nearest(task: WebTask) -> WebTask:
    """The instance that shares the most words with a task."""
    others = [some(task.intent_template_id, instance) for instance in range(1, 12)]
    values = dict(task.instantiation_dict or {})
    return max(
        others, key=lambda other: len(values.items() & (other.instantiation_dict or {}).items())
    )


def other_of(task: WebTask, screen: Screen) -> Iterator[ExpertMove]:
    """Play the expert of another task, from where that one begins."""
    yield screen.go(fill_placeholders(task.start_url))
    yield from expert_of(task, screen)


@pytest.mark.parametrize("number", CHANGING)
def test_the_next_best_thing_is_not_enough(number: int) -> None:
    other = nearest(some(number))
    assert verdict(some(number), lambda case, screen: other_of(other, screen)).score == 0.0


@pytest.mark.parametrize("number", CHANGING)
def test_all_but_the_last_button_is_not_enough(number: int) -> None:
    moves: list[ExpertMove] = []
    pressed = 0

    def noting(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        nonlocal pressed
        for move in expert_of(some(number), screen):
            buttons = [f"click [{b.element}]" for b in screen.all("button") if b.name != "Apply"]
            pressed = len(moves) if move.action in buttons else pressed
            moves.append(move)
            yield move

    assert verdict(some(number), noting).score == 1.0
    assert verdict(some(number), lambda case, screen: iter(moves[:pressed])).score == 0.0


@pytest.mark.parametrize("number", CHANGING)
def test_one_more_of_the_kind_is_too_much(number: int) -> None:
    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        yield from expert_of(some(number), screen)
        if some(number).storage_state is None:
            yield screen.click("button", "Sign out")
        yield from other_of(some(number, 1), screen)

    assert verdict(some(number), solution).score == 0.0


def written(task: WebTask) -> list[str]:
    """What a typed answer consists of, as text."""
    expected = task.eval["typed_answer"]
    return [str(part["value"]) for part in expected.get("of", [expected])]


@pytest.mark.parametrize("number", sorted(WORDINGS["answers"]))
@pytest.mark.parametrize("instance", [0, 1])
def test_the_wording_of_an_answer_is_free_and_its_value_is_not(number: str, instance: int) -> None:
    task = some(int(number), instance)
    for kind, score in (("right", 1.0), ("wrong", 0.0)):
        for wording in WORDINGS["answers"][number][kind]:
            parts = written(task)
            answer = wording.format(
                *parts,
                all=", ".join(parts),
                backwards=" and ".join(reversed(parts)),
                all_but_one=", ".join(parts[:-1]),
            )
            assert verdict(task, answering(answer, int(number))).score == score, answer


@pytest.mark.parametrize("number", sorted(WORDINGS["reasons"]))
def test_giving_up_takes_the_right_reason(number: str) -> None:
    task = some(int(number))
    for kind, is_right in (("right", True), ("wrong", False)):
        for reason in WORDINGS["reasons"][number][kind]:
            answer = f"N/A: {reason.format_map(task.instantiation_dict or {})}."
            result = is_answer(task.eval["typed_answer"], answer, task=task.intent)
            assert result == is_right, answer
    assert verdict(task, answering("N/A", int(number))).score == 0.0
