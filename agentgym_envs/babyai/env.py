"""BabyAIEnv: the BabyAI levels of minigrid as a text environment.

The default mode says what is true: goals as minigrid words them, doors and boxes that open and
close, paths that closed doors block, the simulator's time limit, and 1 for success, once.
`compat="agentgym"` is AgentGym's own game (`compat.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from agentgym_envs.actions import ActionParser, ActionVerb
from agentgym_envs.actions.compat import OnlyActionParser
from agentgym_envs.babyai import skills
from agentgym_envs.babyai.compat import AgentGymGame
from agentgym_envs.babyai.describe import Names, View
from agentgym_envs.babyai.expert import Expert
from agentgym_envs.babyai.levels import SOURCE, make_level
from agentgym_envs.babyai.repairs import repair
from agentgym_envs.babyai.sight import FORWARD, GridMap
from agentgym_envs.babyai.tasks import BabyAITasks
from agentgym_envs.core import ExpertMove, Outcome, TextEnv
from agentgym_envs.errors import InvalidAction
from agentgym_envs.tasks import TaskSpec

_TASKS = BabyAITasks()

_LAST_AGENT_MOVE = FORWARD
"""Later low-level moves change the grid, earlier ones only the agent's pose."""

_INSTRUCTIONS = """\
You are an agent in a world of rooms made of square cells. You are given a goal; reach it in few
turns. You see up to 6 cells ahead and 3 to each side; walls and closed doors block your sight.
Positions are counted in cells from where you stand and look, such as "2 ahead, 1 left".
You can carry one thing at a time. A locked door opens while you carry a key of its colour. A box
may hold something. Where the goal gives an order ("then", "after you"), keep to it.
Each observation lists the actions that are possible; use a thing's name as listed."""

_COMPAT_INSTRUCTIONS = """\
You are in a world of rooms and are given a goal. Each turn you read an observation and answer with
an action: turn left, turn right, move forward, go to <object> <number>, pickup <object> <number>,
drop, go through <open door> <number>, toggle and go through <closed or locked door> <number> (a
locked one needs the key of its colour), toggle (a closed or locked door right in front of you).
Each observation lists the actions that are possible."""

_COMPAT_VERBS: tuple[ActionVerb, ...] = tuple(
    ActionVerb("pickup", "pickup {object}", verb.description) if verb.name == "pick_up" else verb
    for verb in skills.VERBS
    if verb.name not in ("open", "close")
)


class BabyAIEnv(TextEnv):
    """Find, fetch and move things in rooms, by text.

    Args:
        split: where `reset` draws from when it is given no task.
        action_format: `"plain"`, `"react"`, `"function_call"` or `"code"`.
        max_turns: steps after which an episode is truncated; None is 20.
        compat: None, or `"agentgym"` for the original's text, actions, rewards and flags. Under
            `"react"` completions are then read as the original's client reads them, and
            `info["agentgym_score"]` is the running sum that its server reports.
        tasks: draw only these: subtasks, level names or ids.
        render_mode: None, `"ansi"` or `"rgb_array"` (minigrid's picture of the whole grid).

    Raises:
        ValueError: an argument has a value that is not allowed.
    """

    metadata = {"render_modes": ["ansi", "rgb_array"], "render_fps": 4}
    instructions = _INSTRUCTIONS
    verbs = skills.VERBS
    default_max_turns = 20
    source = SOURCE
    original_parsers: ClassVar[Mapping[str, ActionParser]] = {"react": OnlyActionParser()}

    def __init__(
        self,
        *,
        split: str = "train",
        action_format: str = "plain",
        max_turns: int | None = None,
        compat: str | None = None,
        tasks: Sequence[str | int] | None = None,
        render_mode: str | None = None,
    ) -> None:
        if compat == "agentgym":
            self.instructions = _COMPAT_INSTRUCTIONS
            self.verbs = _COMPAT_VERBS
        super().__init__(
            _TASKS,
            split=split,
            action_format=action_format,
            max_turns=max_turns,
            compat=compat,
            tasks=tasks,
            render_mode=render_mode,
        )
        self._game: AgentGymGame | None = None
        self._wire_score = 0.0

    def begin(self, task: TaskSpec) -> str:
        """Build the level and describe it."""
        name, seed = _TASKS.level(task.number)
        mode = "rgb_array" if self.render_mode == "rgb_array" else None
        self.level, observation = make_level(name, seed, render_mode=mode)
        if self.is_agentgym_compat:
            self._wire_score = 0.0
            self._game = AgentGymGame(self.level, observation)
            self.goal = self._game.goal
            return self._game.first_observation
        repair(self.level)
        # The text layer makes its own view, once per turn; the simulator's image is not needed.
        self.level.gen_obs = dict
        self.goal = self.level.mission
        self._names = Names()
        self._grid_map = GridMap(self.level)
        self._look()
        return f"Your goal: {self.goal}\n{self._view}{self._action_line()}"

    def apply(self, action: str) -> Outcome:
        """Play one plain action, which may be several low-level moves."""
        if self._game is not None:
            return self._apply_compat(self._game, action)
        action = skills.normalise(action)
        if action == skills.CHECK:
            return Outcome(f"You can do this now.{self._action_line()}")
        try:
            moves = skills.moves(self.view, action)
        except InvalidAction as error:
            return self._refuse(str(error))
        terminated, truncated, reward = self._play(moves)
        if skills.passes_door(action) and not (terminated or truncated):
            x, y = (int(value) for value in self.level.front_pos)
            if self.view.is_walkable(self._grid_map.cell(x, y)):
                terminated, truncated, reward = self._play([FORWARD])
        self._look()
        if terminated:
            success = reward > 0
            end = (
                "The goal is reached." if success else "The goal is missed: this cannot be undone."
            )
            return Outcome(
                f"{self._view}\n{end}", float(success), terminated=True, info={"success": success}
            )
        if truncated:
            return Outcome(f"{self._view}\nThe time for this task is up.", truncated=True)
        return Outcome(f"{self._view}{self._action_line()}")

    def reject(self, completion: str, error: InvalidAction) -> Outcome:
        """Answer a completion that holds no action."""
        if self._game is not None:
            return super().reject(completion, error)
        return self._refuse(str(error))

    def available_actions(self) -> list[str]:
        """List the plain actions that are possible now."""
        _ = self.task
        if self._game is not None:
            return list(self._game.actions)
        return list(self._available)

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves that solve the task from the current state; may read the whole grid."""
        return Expert(self).moves()

    def render(self) -> Any:
        """Return the last action and observation (`"ansi"`) or a (H, W, 3) uint8 picture."""
        if self.render_mode == "rgb_array":
            _ = self.task
            return self.level.render()
        return super().render()

    @property
    def view(self) -> View:
        """What the agent sees now."""
        return self._view

    def name_of(self, thing: Any) -> str:
        """Return what actions call one of minigrid's objects; seeing it comes first."""
        return self._names.of(thing)

    def listed_moves(self) -> dict[str, list[int]]:
        """Return the low-level moves of each action that AgentGym lists; none in default mode."""
        return {} if self._game is None else self._game.actions

    @property
    def is_over(self) -> bool:
        """The episode has ended."""
        return self._over

    def _play(self, moves: list[int]) -> tuple[bool, bool, float]:
        terminated = truncated = False
        reward = 0.0
        for move in moves:
            _, reward, terminated, truncated, _ = self.level.step(move)
            if move > _LAST_AGENT_MOVE:
                self._grid_map.refresh(self.level)
            if terminated or truncated:
                break
        return terminated, truncated, reward

    def _look(self) -> None:
        self._view = View(self.level, self._grid_map, self._names)
        self._available = skills.available(self._view)

    def _action_line(self) -> str:
        return "\nAvailable actions: [" + ", ".join(f'"{a}"' for a in self._available) + "]"

    def _refuse(self, reason: str) -> Outcome:
        return Outcome(f"{reason}{self._action_line()}", info={"is_valid_action": False})

    def _apply_compat(self, game: AgentGymGame, action: str) -> Outcome:
        observation, is_valid = game.play(action)
        self._wire_score += game.reward
        return Outcome(
            observation,
            float(game.reward),
            terminated=game.done,
            info={
                "success": game.done,
                "is_valid_action": is_valid,
                "agentgym_score": self._wire_score,
            },
        )
