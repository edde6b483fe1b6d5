"""ALFWorld: find things in a house, clean, heat or cool them, and put them in their place.

The rules and the wording are those of the original's text game, the tasks AgentGym's. Only where
things lie at the start is drawn here, from the task's number, since the original's games are not
among what can be shipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from agentgym_envs.actions import ActionParser, ActionVerb
from agentgym_envs.actions.compat import RestParser, StrippedTextParser
from agentgym_envs.alfworld import compat as original
from agentgym_envs.alfworld.expert import Expert, Sweep, moves
from agentgym_envs.alfworld.games import Games, read_games
from agentgym_envs.alfworld.house import House, Wording
from agentgym_envs.alfworld.layout import build
from agentgym_envs.alfworld.reasons import reason
from agentgym_envs.alfworld.rules import rules
from agentgym_envs.alfworld.tasks import alfworld_tasks
from agentgym_envs.core import ExpertMove, Outcome, TextEnv
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.errors import InvalidAction

_WELCOME = "-= Welcome to TextWorld, ALFRED! =-"
_VERBS: tuple[ActionVerb, ...] = (
    ActionVerb("go_to", "go to {place}", "Walk to a place, such as 'cabinet 2'."),
    ActionVerb("open", "open {place}", "Open the place where you are."),
    ActionVerb("close", "close {place}", "Close the place where you are."),
    ActionVerb("take", "take {thing} from {place}", "Take a thing; you hold one at most."),
    ActionVerb("move", "move {thing} to {place}", "Put what you hold in or on a place."),
    ActionVerb("examine", "examine {what}", "Look at the place where you are, or what you hold."),
    ActionVerb("use", "use {thing}", "Turn on a lamp."),
    ActionVerb("heat", "heat {thing} with {place}", "Heat what you hold with a microwave."),
    ActionVerb("clean", "clean {thing} with {place}", "Clean what you hold with a sinkbasin."),
    ActionVerb("cool", "cool {thing} with {place}", "Cool what you hold with a fridge."),
    ActionVerb("slice", "slice {thing} with {knife}", "Slice a thing with the knife you hold."),
    ActionVerb("inventory", "inventory", "List what you hold."),
    ActionVerb("look", "look", "Look around where you are."),
    ActionVerb("help", "help", "List the commands."),
)


class ALFWorldEnv(TextEnv):
    """Household tasks in 120 scenes, or in the original's own games.

    Args:
        games_dir: a folder of the original's games, `json_2.1.1`, or the one that holds it; None
            plays the houses that are drawn here. Games need the extra `alfworld`.
        compat: None, or `"agentgym"` for the wording of ALFWorld 0.3.3 as AgentGym shows it.
        list_actions: every observation lists the commands that do something; they are in
            `info["available_actions"]` either way.
        **kwargs: as `TextEnv`; `tasks` may name subtasks and rooms.

    Attributes:
        house: the current episode's.

    Raises:
        ValueError: an argument has a value that is not allowed.
        ImportError: `games_dir` is given, and the extra `alfworld` is not installed.
    """

    verbs = _VERBS
    default_max_turns = 30
    original_parsers: ClassVar[Mapping[str, ActionParser]] = {
        "plain": StrippedTextParser(),
        "react": RestParser(),
    }
    baselines: ClassVar[Mapping[str, Callable[[Any], Iterator[ExpertMove]]]] = {
        "listed_order": lambda env: moves(Sweep(env.house)),
        "reverse_order": lambda env: moves(Sweep(env.house, backwards=True)),
    }
    house: House

    def __init__(
        self,
        *,
        games_dir: str | Path | None = None,
        compat: str | None = None,
        list_actions: bool = False,
        **kwargs: Any,
    ) -> None:
        self._wording = Wording()
        if compat == "agentgym":
            if list_actions:
                raise ValueError(
                    "compat='agentgym' lists the commands where the original does, got "
                    "list_actions=True; leave one of them out"
                )
            self._wording = original.WORDING
            self.verbs = original.compat_verbs(_VERBS)
        self._list_actions = list_actions
        self.instructions = _instructions(self.verbs, says_why=compat is None)
        self._tasks, self.source = alfworld_tasks(), rules().source
        self._games: Games | None = None
        if games_dir is not None:
            from agentgym_envs.alfworld.engine import Engine  # of an extra

            self._engine, self._games = Engine(), read_games(games_dir)
            self._tasks, self.source = self._games.tasks, self._games.source
        super().__init__(self._tasks, compat=compat, **kwargs)

    def begin(self, task: TaskSpec) -> str:
        """Build the house, or start its game, and show its places and the task."""
        self._game = self._tasks.games[task.number]
        if self._games is None:
            self.house, self.goal = build(task.number, self._game, self._wording)
        else:
            path = self._games.paths[task.number]
            self.house, self.goal = self._engine.start(path, self._game, self._wording)
        self._last_answer = self.house.first_observation(self.goal)
        if self.is_agentgym_compat:
            self._last_answer = self._last_answer.replace("\n\n", "\n")
            if self.action_format == "plain":  # what the server shows; its client adds the list
                return self._last_answer
            return original.with_commands(self._last_answer, self.house.commands)
        return self._with_list(f"{_WELCOME}\n\n{self._last_answer}")

    def apply(self, action: str) -> Outcome:
        """Play one command.

        Reaching the goal is rewarded with 1 and ends the episode.
        """
        command = action if self.is_agentgym_compat else " ".join(action.lower().split())
        self._last_answer, is_valid = self.house.act(command)
        if not is_valid and not self.is_agentgym_compat:
            self._last_answer = f"{self._last_answer} {reason(self.house, command)}"
        success = is_valid and self.house.is_won
        answer = self._with_list(self._last_answer)
        return Outcome(answer, float(success), success, success=success, is_valid=is_valid)

    def reject(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion that holds no action."""
        if not self.is_agentgym_compat:
            return super().reject(completion, error)
        again = original.with_commands(self._last_answer, self.house.commands)
        return Outcome.invalid(f"Invalid Action.\n\n{again}")

    def available_actions(self) -> list[str] | None:
        """List the commands that do something now."""
        _ = self.task
        return list(self.house.commands)

    def extra_info(self) -> Mapping[str, Any]:
        """Return the original's name of the game."""
        return {"game": self._game.game}

    @property
    def thing_names(self) -> re.Pattern[str]:
        """Matches the kinds of places and things, with their numbers."""
        return rules().names

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves that solve the task from the current state, by the observations so far."""
        return moves(Expert(self.house))

    def privileged_expert_moves(self) -> Iterator[ExpertMove]:
        """Yield the plan that the engine's planner makes of a game from the current state.

        Raises:
            NoExpert: the house is none of the original's games.
        """
        plan = self.house.plan()
        if plan is None:
            yield from super().privileged_expert_moves()
        for command in plan or ():
            yield ExpertMove(command, "It is the next step of the plan.")

    def _with_list(self, observation: str) -> str:
        if not self._list_actions:
            return observation
        return f"{observation}\nAvailable actions: {json.dumps(self.house.commands)}"


def _instructions(verbs: Sequence[ActionVerb], *, says_why: bool) -> str:
    why = " It says why, too." if says_why else ""
    lines = "\n".join(f"{verb.form}: {verb.description}" for verb in verbs)
    return (
        "You do a household task in a room. Places and things have a kind and a number, such as "
        "cabinet 2 and mug 1. What is in a closed place is seen when it is open. Each turn you do "
        f"one of:\n{lines}\n"
        f"A command that is not possible is answered with: Nothing happens.{why}"
    )
