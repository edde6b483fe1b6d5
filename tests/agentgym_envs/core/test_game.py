from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from gymnasium.error import ResetNeeded

from agentgym_envs import ExpertMove, ListedTasks, NoExpert, Outcome, TaskSpec, check_text_env
from agentgym_envs.actions import ActionVerb
from agentgym_envs.core.game import Game, GameEnv
from agentgym_envs.registration.registry import register_unlisted


class Stairs(Game):
    """So many stairs to climb; the first is climbed already."""

    first_observation = "You stand on stair 1."

    def __init__(self, top: int) -> None:
        self.goal = f"stand on stair {top}"
        self.top, self.stair = top, 1

    @property
    def is_over(self) -> bool:
        return self.stair == self.top

    def act(self, action: str) -> Outcome:
        if action != "climb":
            return Outcome("Write: climb", info={"is_valid_action": False})
        self.stair += 1
        text = f"You stand on stair {self.stair}."
        return Outcome(text, float(self.is_over), self.is_over, info={"success": self.is_over})

    def info(self) -> Mapping[str, Any]:
        return {"stair": self.stair, "score": self.stair / self.top}


class ClimbedStairs(Stairs):
    def available_actions(self) -> list[str]:
        return ["climb"]

    def expert_moves(self) -> Iterator[ExpertMove]:
        while True:
            yield ExpertMove("climb")


class StairsEnv(GameEnv[Stairs]):
    instructions = "You stand on stairs. Write: climb."
    verbs = (ActionVerb("climb", "climb", "Climb a stair."),)
    default_max_turns = 9
    source = "stairs/1"

    def __init__(self, *, has_expert: bool = True, **kwargs: Any) -> None:
        self._rules = ClimbedStairs if has_expert else Stairs
        numbers: dict[str, range] = {"train": range(3, 7), "validation": range(7, 8)}
        table = {split: {"few": few} for split, few in (numbers | {"test": range(8, 10)}).items()}
        super().__init__(ListedTasks("stairs", table), **kwargs)

    def make_game(self, task: TaskSpec) -> Stairs:
        return self._rules(task.number)


register_unlisted("tests/Stairs-v0", StairsEnv)


def test_an_environment_of_games_keeps_the_contract() -> None:
    check_text_env("tests/Stairs-v0")


def test_a_game_gives_text_goal_info_and_the_score_that_it_begins_with() -> None:
    env = StairsEnv()
    observation, info = env.reset(options={"task_id": 4})
    assert observation == "You stand on stair 1."
    assert (info["goal"], info["stair"], info["score"]) == ("stand on stair 4", 1, 0.25)
    assert info["available_actions"] == ["climb"]
    *_, info = env.step("jump")
    assert (info["is_valid_action"], info["score"], info["success"]) == (False, 0.25, False)
    assert env.step("climb")[4]["score"] == 0.5


def test_a_game_without_an_expert_or_a_list_of_actions_says_so() -> None:
    env = StairsEnv(has_expert=False)
    with pytest.raises(ResetNeeded):
        env.available_actions()
    with pytest.raises(ResetNeeded):
        _ = env.game
    assert env.reset(seed=0)[1]["available_actions"] is None
    with pytest.raises(NoExpert, match="Stairs has no expert"):
        next(env.expert())


def test_what_holds_no_action_is_the_games_to_answer() -> None:
    env = StairsEnv(action_format="react")
    env.reset(seed=0)
    observation, *_, info = env.step("What now?")
    assert "no 'Action:'" in observation
    assert info["is_valid_action"] is False


def test_an_expert_that_never_ends_is_asked_until_the_episode_is_over() -> None:
    env = StairsEnv()
    env.reset(options={"task_id": 5})
    assert len([env.step(action) for action in env.expert()]) == 4
    assert (env.is_over, env.game.is_over) == (True, True)
    assert list(env.expert()) == []
    env.reset(options={"task_id": 5, "horizon": 2})
    assert len([env.step(action) for action in env.expert()]) == 2
    assert (env.is_over, env.game.is_over) == (True, False)


@pytest.mark.parametrize(
    ("info", "error", "message"),
    [
        (None, TypeError, "StairsEnv.extra_info must return a mapping, got NoneType"),
        ({"success": True}, ValueError, "must not hold success: of INFO_KEYS it may hold score"),
        ({"turn": 3}, ValueError, "must not hold turn"),
        ({"score": 2}, ValueError, "the score must be in 0..1, got 2"),
        ({"score": "much"}, TypeError, "score must be a number, got str"),
    ],
)
def test_an_extra_info_that_is_none_is_refused(
    info: Any, error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Stairs, "info", lambda self: info)
    with pytest.raises(error, match=message):
        StairsEnv().reset(seed=0)
