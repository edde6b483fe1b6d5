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
from agentgym_envs.babyai.baselines import word_overlap
from agentgym_envs.babyai.compat import AgentGymGame
from agentgym_envs.babyai.describe import THING_NAME
from agentgym_envs.babyai.game import DefaultGame, instructions_for
from agentgym_envs.babyai.levels import SOURCE, make_level
from agentgym_envs.babyai.skills import SINGLE_MOVES, SKILLS
from agentgym_envs.babyai.tasks import BabyAITasks
from agentgym_envs.core import ExpertMove
from agentgym_envs.core.game import GameEnv
from agentgym_envs.core.tasks import TaskSpec

PRIMITIVE_MAX_TURNS = 80
"""Turns of single moves, in place of the 20 of actions that walk."""


class BabyAIEnv(GameEnv[DefaultGame | AgentGymGame]):
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

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}
    task_set = BabyAITasks()
    instructions = instructions_for(SKILLS.verbs, list_actions=True)
    verbs = SKILLS.verbs
    default_max_turns = 20
    shows_state = True
    source = SOURCE
    baselines = {"word_overlap": lambda env: word_overlap(env.game, seed=env.task.number)}
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
        self._rules: Callable[[Any, Any], DefaultGame | AgentGymGame]
        if compat == "agentgym":
            if primitive or not list_actions:
                raise ValueError(
                    f"compat='agentgym' lists its own actions, got primitive={primitive!r} and "
                    f"list_actions={list_actions!r}; leave compat out"
                )
            self._rules = AgentGymGame
            self.instructions, self.verbs = AgentGymGame.instructions, AgentGymGame.verbs
        else:
            action_set = SINGLE_MOVES if primitive else SKILLS
            self._rules = partial(DefaultGame, actions=action_set, list_actions=list_actions)
            self.verbs = action_set.verbs if list_actions else action_set.verbs[:-1]
            self.instructions = instructions_for(self.verbs, list_actions=list_actions)
            if primitive:
                self.default_max_turns = PRIMITIVE_MAX_TURNS
        super().__init__(compat=compat, **kwargs)

    def make_game(self, task: TaskSpec) -> DefaultGame | AgentGymGame:
        """Build the level."""
        name, seed = self.task_set.level(task.number)
        mode = "rgb_array" if self.render_mode == "rgb_array" else None
        return self._rules(*make_level(name, seed, render_mode=mode))

    @property
    def level(self) -> Any:
        """The current minigrid level."""
        return self.game.level

    @property
    def thing_names(self) -> re.Pattern[str]:
        """Matches a thing's colour and kind, whatever the state of a door."""
        return THING_NAME

    def privileged_expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves that solve the task from the current state, by the whole level."""
        return self.game.expert_moves(privileged=True)

    def render(self) -> Any:
        """Return the last action and observation (`"ansi"`) or a (H, W, 3) uint8 picture."""
        if self.render_mode == "rgb_array":
            return self.level.render()
        return super().render()
