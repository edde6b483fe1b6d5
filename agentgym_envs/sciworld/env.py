"""SciWorld: experiments of primary-school science in ScienceWorld's simulator.

The scenario of AgentGym, with all 30 tasks of the simulator; `episode.py` plays them, `compat.py`
plays them as the original does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from agentgym_envs.actions import ActionParser
from agentgym_envs.actions.compat import RestParser, WholeTextParser
from agentgym_envs.arguments import positive_seconds
from agentgym_envs.core.game import GameEnv
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.sciworld.baselines import goal_steps
from agentgym_envs.sciworld.compat import AgentGymEpisode
from agentgym_envs.sciworld.episode import DefaultEpisode, Episode
from agentgym_envs.sciworld.jvm import installation
from agentgym_envs.sciworld.simulator import CALL_SECONDS, Simulator
from agentgym_envs.sciworld.tasks import SciWorldTasks
from agentgym_envs.sciworld.verbs import CALLABLE, action_list


class SciWorldEnv(GameEnv[Episode]):
    """Science experiments in text.

    Up to 24 environments of a process share a Java process. `info["task_name"]` and
    `info["variation"]` say what the simulator plays.

    Args:
        available_actions: list the valid actions in `info["available_actions"]`; there are up to
            thousands, and listing them takes longer than a step.
        call_timeout: seconds that the simulator may take to answer, before it counts as hung.
        **kwargs: as `TextEnv`.

    Raises:
        ValueError: an argument has a value that is not allowed.
        ImportError: the science extra is not installed.
    """

    task_set = SciWorldTasks()
    instructions = (
        "You do experiments in a house with a kitchen, a workshop, a greenhouse and other rooms. "
        "Each turn you do one of:\n"
        f"{action_list()}\n"
        "Things are named as you see them, where need be with their place: 'apple in fridge'. "
        "Focus only on what the task asks for: focusing on anything else fails the task for good."
    )
    verbs = CALLABLE
    baselines = {
        "first_alternative": lambda env: goal_steps(env.game),
        "second_alternative": lambda env: goal_steps(env.game, alternative=1),
    }
    default_max_turns = DefaultEpisode.default_max_turns
    reward_range = (-1.0, 1.0)
    original_parsers: ClassVar[Mapping[str, ActionParser]] = {
        "plain": WholeTextParser(),
        "react": RestParser(),
    }

    def __init__(
        self,
        *,
        available_actions: bool = False,
        call_timeout: float = CALL_SECONDS,
        **kwargs: Any,
    ) -> None:
        call_timeout = positive_seconds("call_timeout", call_timeout)
        is_compat = kwargs.get("compat") == "agentgym"
        self._rules: type[Episode] = AgentGymEpisode if is_compat else DefaultEpisode
        self.default_max_turns = self._rules.default_max_turns
        super().__init__(**kwargs)
        self.source = f"scienceworld/{installation().version}"
        self._lists_actions = available_actions
        self._call_timeout = call_timeout
        self._simulator: Simulator | None = None

    def make_game(self, task: TaskSpec) -> Episode:
        """Load the task into the simulator and look around."""
        if self._simulator is None or not self._simulator.alive:
            self._simulator = Simulator(self._call_timeout)
        return self._rules(
            self._simulator,
            self.task_set.game(task.number),
            max_turns=self.max_turns,
            action_format=self.action_format,
            lists_actions=self._lists_actions,
        )

    def available_actions(self) -> list[str] | None:
        """List the actions that are possible now, where they were asked for."""
        _ = self.task
        return None if self._simulator is None else super().available_actions()

    def close(self) -> None:
        """Give the simulator back, while the Java process stays for the next one."""
        if self._simulator is not None:
            self._simulator.close()
            self._simulator = None

    @property
    def simulator(self) -> Simulator:
        """The simulator of the current episode."""
        assert self._simulator is not None
        return self._simulator
