"""Plays one episode of the default mode: text actions, views in words, rewards and ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from agentgym_envs.actions import ActionVerb
from agentgym_envs.actions.verbs import unknown_action
from agentgym_envs.babyai import skills
from agentgym_envs.babyai.describe import Names, View, described
from agentgym_envs.babyai.expert import Expert, SingleMoveExpert
from agentgym_envs.babyai.memory import Memory
from agentgym_envs.babyai.repairs import repair
from agentgym_envs.babyai.sight import FORWARD, PICKUP, TOGGLE, GridMap
from agentgym_envs.babyai.skills import SINGLE_MOVES, SKILLS, ActionSet
from agentgym_envs.core import ExpertMove, Outcome
from agentgym_envs.core.game import Game
from agentgym_envs.errors import InvalidAction

_LAST_AGENT_MOVE = FORWARD
"""Later low-level moves change the grid, earlier ones only the agent's pose."""

_RULES = """\
You are an agent in a world of rooms made of square cells. You are given a goal; reach it in few
turns. You see up to 6 cells ahead and 3 to each side; walls and closed doors block your sight.
Positions are counted in cells from where you stand and look, such as "2 ahead, 1 left".
You can carry one thing at a time. A locked door opens while you carry a key of its colour. A box
may hold something. Where the goal gives an order ("then", "after you"), keep to it.
"""


def instructions_for(verbs: Iterable[ActionVerb], *, list_actions: bool) -> str:
    """Return the rules of the game as the policy reads them.

    Args:
        verbs: the actions it has.
        list_actions: whether observations list those that are possible.
    """
    takes_things = any(verb.parameters for verb in verbs)
    if list_actions:
        names = "; use a thing's name as listed" if takes_things else ""
        return f"{_RULES}Each observation lists the actions that are possible{names}."
    names = " Use a thing's name as the observation gives it." if takes_things else ""
    return f"{_RULES}Your actions: {', '.join(verb.form for verb in verbs)}.{names}"


class DefaultGame(Game):
    """An episode of the default mode.

    Args:
        level: the minigrid level.
        observation: what its reset returned.
        actions: the actions that the policy has.
        list_actions: observations list the actions that are possible.

    Attributes:
        level: the minigrid level.
        actions: the plain actions that are possible now.
        view: what the agent sees now.
        memory: what its views have shown.
        is_over: the goal is reached or missed, or the level's time is up.
    """

    is_over = False

    def __init__(
        self,
        level: Any,
        observation: Any,
        *,
        actions: ActionSet = SKILLS,
        list_actions: bool = True,
    ) -> None:
        repair(level)
        self._action_set = actions
        self._list_actions = list_actions
        # The text layer makes its own view, once per turn; the simulator's image is not needed.
        level.gen_obs = dict
        self.level = level
        self.goal: str = level.mission
        self._names = Names()
        self._grid_map = GridMap(level)
        self.memory = Memory(self._grid_map)
        self._news = ""
        self._look()
        self.first_observation = f"Your goal: {self.goal}\n{self.view}{self._action_line()}"

    def act(self, action: str) -> Outcome:
        """Play one plain action, which may be several low-level moves."""
        action = skills.normalise(action)
        if action == skills.CHECK and self._list_actions:
            return Outcome(f"You can do this now.{self._action_line()}")
        try:
            moves = self._action_set.moves(self.view, action)
        except skills.UnknownAction as error:
            if self._list_actions:
                return self._refused(str(error))
            return Outcome.invalid(unknown_action(action, self._action_set.verbs[:-1]))
        except InvalidAction as error:
            return self._refused(str(error))
        self._news = ""
        terminated, truncated, reward = self._carry_out(moves)
        if skills.passes_door(action) and not (terminated or truncated):
            x, y = (int(value) for value in self.level.front_pos)
            if self.view.is_walkable(self._grid_map.cell(x, y)):
                terminated, truncated, reward = self._carry_out([FORWARD])
        self._look()
        self.is_over = terminated or truncated
        if terminated:
            success = reward > 0
            end = (
                "The goal is reached." if success else "The goal is missed: this cannot be undone."
            )
            text = f"{self._news}{self.view}\n{end}"
            return Outcome(text, float(success), terminated=True, success=success)
        if truncated:
            text = f"{self._news}{self.view}\nThe time for this task is up."
            return Outcome(text, truncated=True)
        return Outcome(f"{self._news}{self.view}{self._action_line()}")

    def refuse(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion that holds no action."""
        return self._refused(str(error))

    def available_actions(self) -> list[str] | None:
        """List the plain actions that are possible now, if the policy may know them."""
        return list(self.actions) if self._list_actions else None

    def possible_actions(self) -> list[str]:
        """List the possible actions, or those with the things in view where none are listed."""
        if self._list_actions:
            return list(self.actions)
        names = [sighting.name for sighting in self.view.things]
        return [
            verb.build(dict.fromkeys(verb.parameters, name))
            for verb in self._action_set.verbs[:-1]  # but the one that lists actions
            for name in (names if verb.parameters else [""])
        ]

    def expert_moves(self, *, privileged: bool = False) -> Iterator[ExpertMove]:
        """Yield moves that solve the level.

        Args:
            privileged: know the whole level, seen or not.
        """
        expert = SingleMoveExpert if self._action_set is SINGLE_MOVES else Expert
        return expert(self, privileged=privileged).moves()

    def name_of(self, thing: Any) -> str:
        """Return an action's name for one of minigrid's objects."""
        return self._names.name(thing)

    def _refused(self, reason: str) -> Outcome:
        return Outcome.invalid(f"{reason}{self._action_line()}")

    def _carry_out(self, moves: list[int]) -> tuple[bool, bool, float]:
        terminated = truncated = False
        reward = 0.0
        for move in moves:
            if move == TOGGLE:
                self._note_box(self.level.grid.get(*self.level.front_pos))
            _, reward, terminated, truncated, _ = self.level.step(move)
            if move in (PICKUP, TOGGLE):
                # What is in the hand, or was a box, is not where it stood; minigrid updates
                # places at a drop alone, and pays `go to` in front of the empty cell.
                self.level.update_objs_poss()
            if move > _LAST_AGENT_MOVE:
                self._grid_map.refresh(self.level)
            if terminated or truncated:
                break
        return terminated, truncated, reward

    def _note_box(self, thing: Any) -> None:
        """Remember the content of a box that is opened, for the simulator deletes the box."""
        if thing is not None and thing.type == "box":
            held = "nothing" if thing.contains is None else f"a {described(thing.contains)}"
            self._news = f"You opened {self.name_of(thing)}: it held {held}, and it is gone. "

    def _look(self) -> None:
        self.view = View(self.level, self._grid_map, self._names)
        self.memory.see(self.view)
        self.actions = self._action_set.available(self.view)

    def _action_line(self) -> str:
        if not self._list_actions:
            return ""
        return "\nAvailable actions: [" + ", ".join(f'"{a}"' for a in self.actions) + "]"
