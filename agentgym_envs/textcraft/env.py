"""TextCraft: craft a goal item from fetched ones, by recipes that the task shows.

The scenario of AgentGym on the recipes of Minecraft 1.16.2, or on made-up books whose goals take 1
to 60 crafts. `compat="agentgym"` gives the original's messages and rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from agentgym_envs.actions import ActionParser, ActionVerb
from agentgym_envs.actions.compat import OnlyActionParser, WholeTextParser
from agentgym_envs.core import ExpertMove, Outcome, TextEnv
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.textcraft.compat import OriginalState
from agentgym_envs.textcraft.drawn import KINDS
from agentgym_envs.textcraft.drawn_tasks import DrawnTasks
from agentgym_envs.textcraft.planner import plan
from agentgym_envs.textcraft.recipes import RecipeBook
from agentgym_envs.textcraft.source import builtin_book, datapack_book
from agentgym_envs.textcraft.state import CraftingState
from agentgym_envs.textcraft.tasks import SPLIT_SIZES, TextCraftTasks
from agentgym_envs.textcraft.thoughts import goal_recipe, plan_moves

BOOKS = ("minecraft", *KINDS)
"""Values of `book`."""

_RULES = (
    "You craft an item by the crafting commands you are shown; some of them are of no use. "
    "Each turn you do one of:\n"
    "get <count> <item>: take items that no command crafts.\n"
    "craft <count> <item> using <count> <item>, <count> <item>, ...: use a command once.\n"
    "inventory: list what you hold."
)
_GENERIC_NAMES = (
    "A generic ingredient such as planks must be filled by a special type of it, such as oak "
    "planks."
)

_VERBS = (
    ActionVerb("get", "get {count} {item}", "Take items that no recipe makes.", ("count",)),
    ActionVerb(
        "craft",
        "craft {output} using {ingredients}",
        "Use a recipe once, e.g. output '4 stick', ingredients '2 oak planks'.",
    ),
    ActionVerb("inventory", "inventory", "List what you hold."),
)


class TextCraftEnv(TextEnv):
    """Crafting with Minecraft's recipes, or with made-up ones.

    `reset(options={"goal": "end stone bricks"})` plays the task of that goal, where all tasks have
    one book. `info["inventory"]` maps the items held to their counts.

    Args:
        recipes_dir: a data-pack folder of recipe JSON files; None takes those of `book`.
        book: `"minecraft"`, or a made-up book for each task: `"shallow"` with goals of 1 to 5
            crafts in 30 turns, `"deep"` with goals of 6 to 60 crafts in 100 turns.
        **kwargs: as `TextEnv`.

    Raises:
        ValueError: there is no such book, or recipes of a folder are to be a made-up book.
    """

    instructions = f"{_RULES}\n{_GENERIC_NAMES}"
    verbs = _VERBS
    default_max_turns = 30
    original_parsers: ClassVar[Mapping[str, ActionParser]] = {
        "plain": WholeTextParser(),
        "react": OnlyActionParser(),
    }
    reset_options: ClassVar[tuple[str, ...]] = (*TextEnv.reset_options, "goal")
    baselines = {"goal_recipe": lambda env: goal_recipe(env.first_observation, env.goal)}

    book: RecipeBook
    """The recipes. Of made-up books they are the current task's, from the first reset on."""

    def __init__(
        self, *, recipes_dir: str | Path | None = None, book: str = "minecraft", **kwargs: Any
    ) -> None:
        self._goals = _tasks_of(book, recipes_dir)
        if isinstance(self._goals, TextCraftTasks):
            self.book = self._goals.book
        else:
            self.default_max_turns = self._goals.kind.max_turns
            self.instructions = _RULES  # its books have no generic names
        super().__init__(self._goals, **kwargs)
        self.source = self._goals.source

    def choose_task(self, options: Mapping[str, Any]) -> TaskSpec:
        """Return the task that `options` name by id or goal, or draw one.

        Raises:
            ValueError: `options` name both a task id and a goal.
        """
        goal = options.get("goal")
        if goal is None:
            return super().choose_task(options)
        if options.get("task_id") is not None:
            raise ValueError(
                f"reset options name both task_id={options['task_id']!r} and goal={goal!r}; "
                "give one of them"
            )
        return super().choose_task({"task_id": self._goals.goal_number(_item_name(goal))})

    def begin(self, task: TaskSpec) -> str:
        """Empty the inventory and show the commands and the goal."""
        self.book = self._goals.task_book(task.number)
        self.goal = self._goals.task_goal(task.number)
        self._state = (OriginalState if self.is_agentgym_compat else CraftingState)(
            self.book, self.goal
        )
        return self.first_observation

    @property
    def first_observation(self) -> str:
        """The current task's commands and its goal."""
        return self._goals.first_observation(self.task.number)

    def apply(self, action: str) -> Outcome:
        """Play one action.

        Crafting the goal gives a reward of 1 and ends the episode.
        """
        observation, is_valid = self._state.act(action)
        success = self._state.success
        return Outcome(observation, float(success), success, success=success, is_valid=is_valid)

    def extra_info(self) -> Mapping[str, Any]:
        """Return the inventory, and the turns that the expert needs from the start."""
        number = self.task.number
        return {
            "inventory": dict(self._state.inventory),
            "expert_turns": self._goals.expert_turns(number),
        }

    @property
    def thing_names(self) -> re.Pattern[str]:
        """Matches the items' names."""
        return self.book.item_names

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield a fewest-actions plan's moves from the current inventory."""
        goal = self._goals.task_goal(self.task.number)
        yield from plan_moves(plan(self.book, goal, self._state.inventory))


def _tasks_of(book: str, recipes_dir: str | Path | None) -> TextCraftTasks | DrawnTasks:
    if book not in BOOKS:
        raise ValueError(f"unknown book {book!r}; allowed: {', '.join(map(repr, BOOKS))}")
    if book in KINDS:
        if recipes_dir is not None:
            raise ValueError(
                f"recipes_dir={str(recipes_dir)!r} and book={book!r} are two sources of recipes; "
                "give one of them"
            )
        return _drawn_tasks(book)
    return _builtin_tasks() if recipes_dir is None else TextCraftTasks(datapack_book(recipes_dir))


@cache
def _drawn_tasks(book: str) -> DrawnTasks:
    return DrawnTasks(book)


@cache
def _builtin_tasks() -> TextCraftTasks:
    return TextCraftTasks(builtin_book(), SPLIT_SIZES)


def _item_name(goal: Any) -> str:
    """Read a goal as players or as Minecraft write it: `"Stick"`, `"minecraft:end_stone"`."""
    if not isinstance(goal, str):
        raise ValueError(f"goal must be an item's name as a str, got {goal!r}")
    return " ".join(goal.lower().removeprefix("minecraft:").replace("_", " ").split())
