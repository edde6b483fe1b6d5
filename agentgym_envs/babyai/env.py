"""The BabyAI levels of minigrid as a text environment.

The default mode (`game.py`) keeps minigrid's goals, closed doors and time limit, and pays 1 for
success, once. `compat="agentgym"` is AgentGym's own game (`compat.py`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, ClassVar

from agentgym_envs.actions import ActionParser
from agentgym_envs.actions.compat import OnlyActionParser, StrippedTextParser
from agentgym_envs.babyai.compat import AgentGymGame
from agentgym_envs.babyai.describe import THING_NAME
from agentgym_envs.babyai.floors import word_overlap
from agentgym_envs.babyai.game import DefaultGame, Game, instructions_for
from agentgym_envs.babyai.levels import SOURCE, make_level
from agentgym_envs.babyai.skills import SINGLE_MOVES, SKILLS
from agentgym_envs.babyai.tasks import BabyAITasks
from agentgym_envs.core import ExpertMove, Outcome, TextEnv
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.errors import InvalidAction

PRIMITIVE_MAX_TURNS = 80
"""Turns of single moves, in place of the 20 of actions that walk."""

_TASKS = BabyAITasks()


class BabyAIEnv(TextEnv):
    """Find, fetch and move things in rooms, by text.

    Args:
        compat: None, or `"agentgym"` for the original's text, actions, rewards and flags. Under
            `"react"` completions are then read as the original's client reads them, and
            `info["agentgym_score"]` is the running sum that its server reports.
        list_actions: observations and `info` list the actions that are possible.
        primitive: the actions are single moves: turn left, turn right, move forward, pick up, drop
            and toggle.
        **kwargs: as `TextEnv`; `max_turns=None` is 20, with `primitive` 80, `tasks` may name
            levels, and `render_mode` may be `"rgb_array"` (minigrid's picture of the whole grid).

    Attributes:
        level: the current minigrid level.
        game: the current episode.

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}
    instructions = instructions_for(SKILLS.verbs, list_actions=True)
    verbs = SKILLS.verbs
    default_max_turns = 20
    source = SOURCE
    floors = {"word_overlap": word_overlap}
    original_parsers: ClassVar[Mapping[str, ActionParser]] = {
        "plain": StrippedTextParser(),
        "react": OnlyActionParser(),
    }

    def __init__(
        self,
        *,
        compat: str | None = None,
        list_actions: bool = True,
        primitive: bool = False,
        **kwargs: Any,
    ) -> None:
        self._list_actions = list_actions
        self._make_game: Callable[[Any, Any], Game]
        if compat == "agentgym":
            if primitive or not list_actions:
                raise ValueError(
                    f"compat='agentgym' lists its own actions, got primitive={primitive!r} and "
                    f"list_actions={list_actions!r}; leave compat out"
                )
            self._make_game = AgentGymGame
            self.instructions, self.verbs = AgentGymGame.instructions, AgentGymGame.verbs
        else:
            action_set = SINGLE_MOVES if primitive else SKILLS
            self._make_game = partial(DefaultGame, actions=action_set, list_actions=list_actions)
            self.verbs = action_set.verbs if list_actions else action_set.verbs[:-1]
            self.instructions = instructions_for(self.verbs, list_actions=list_actions)
            if primitive:
                self.default_max_turns = PRIMITIVE_MAX_TURNS
        super().__init__(_TASKS, compat=compat, **kwargs)

    def begin(self, task: TaskSpec) -> str:
        """Build the level and describe it."""
        name, seed = _TASKS.level(task.number)
        mode = "rgb_array" if self.render_mode == "rgb_array" else None
        self.level, observation = make_level(name, seed, render_mode=mode)
        self.game = self._make_game(self.level, observation)
        self.goal = self.game.goal
        return self.game.first_observation

    def apply(self, action: str) -> Outcome:
        """Play one plain action, which may be several low-level moves."""
        return self.game.act(action)

    def reject(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion that holds no action."""
        return self.game.refuse(str(error))

    def available_actions(self) -> list[str] | None:
        """List the plain actions that are possible now; None where they are not listed."""
        _ = self.task
        return list(self.game.actions) if self._list_actions else None

    @property
    def thing_names(self) -> re.Pattern[str]:
        """Matches a thing's colour and kind, whatever the state of a door."""
        return THING_NAME

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves that solve the task from the current state, by what was seen until then."""
        return self.game.expert(lambda: self._over, privileged=False)

    def privileged_expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves that solve the task from the current state, by the whole level."""
        return self.game.expert(lambda: self._over, privileged=True)

    def render(self) -> Any:
        """Return the last action and observation (`"ansi"`) or a (H, W, 3) uint8 picture."""
        if self.render_mode == "rgb_array":
            _ = self.task
            return self.level.render()
        return super().render()
