"""Play in TextCraft: listed items are planned and crafted, sometimes the goal's.

Everything is a list of chat messages in the form that the rollout engine plays: system prompt,
first observation, and a player's moves with the game's answers. The player can craft, but heeds the
goal that it is shown only in a share of its plays. In the others it works through the list from its
top, plans each item that can be crafted from it and crafts it, until the play breaks off or the
goal happens to come out. A made-up book gives Minecraft's item names random recipes, so that only
reading the book helps; no task of the validation or test split is ever used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import cycle
from math import ceil

import numpy as np

from agentgym_envs.actions import ReactParser
from agentgym_envs.core import ExpertMove
from agentgym_envs.textcraft.env import TextCraftEnv
from agentgym_envs.textcraft.planner import Job, plan
from agentgym_envs.textcraft.recipes import Recipe, RecipeBook
from agentgym_envs.textcraft.source import builtin_book
from agentgym_envs.textcraft.state import CraftingState
from agentgym_envs.textcraft.tasks import command_list, first_observation
from agentgym_envs.textcraft.thoughts import PlanLine, plan_moves
from lab.warm_start import GOAL_SHARE, Message

MAX_COMMANDS = 30
MAX_ACTIONS = 8  # of the plan of an item that nobody asked for
MAX_GOAL_ACTIONS = 24
TURNS = (3, 9)  # of a play, from one number to the other
SLIP_RATE = 0.35  # share of the plays in which the player slips once and recovers
MAX_COUNT = 99
_OUTPUT_COUNTS = (1, 1, 1, 1, 1, 1, 2, 2, 3, 4, 4, 6, 8)
_INPUT_COUNTS = (1, 1, 1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9)


@cache
def _system_prompt() -> str:
    return TextCraftEnv(action_format="react").system_prompt


@cache
def _training_goals() -> tuple[str, ...]:
    env = TextCraftEnv(split="train")
    return tuple(env.book.goals[number] for number in env.task_set.numbers("train"))


def drill(rng: np.random.Generator, num_lines: int) -> list[Message]:
    """Return a request for many items of one book, answered by one plan line for each.

    Almost every token of a drill is a lookup, where an episode has a handful; the attention heads
    that copy form several times sooner on drills.
    """
    names = list(rng.permutation(_names()))
    outputs, others = names[:num_lines], names[num_lines : 3 * num_lines]
    recipes = [_recipe(rng, name, [*others, *outputs]) for name in outputs]
    lines = []
    for recipe in rng.permutation(np.array(recipes, dtype=object))[: max(2, num_lines * 2 // 3)]:
        needed = int(rng.integers(1, 13))
        lines.append(PlanLine(recipe.output, needed, _job(recipe, needed)))
    for name in rng.choice(others, max(1, num_lines // 4), replace=False):
        lines.insert(
            int(rng.integers(len(lines) + 1)),
            PlanLine(str(name), int(rng.integers(1, 100)), None),
        )
    lines = lines[:30]
    goals = ", ".join(f"{line.needed} {line.item}" for line in lines)
    answer = "".join(f"\n{number}. {line.text}" for number, line in enumerate(lines, 1))
    question = first_observation((recipe.text for recipe in recipes), goals)
    return [
        Message("system", _system_prompt()),
        Message("user", question),
        Message("assistant", f"Thought: Plan:{answer}", 1.0),
    ]


def made_up_play(rng: np.random.Generator) -> list[Message]:
    """Play one episode with a made-up book."""
    while True:
        book = _made_up_book(rng)
        depth = rng.choice([1, 2, 3, 4], p=[0.2, 0.4, 0.3, 0.1])
        goals = [name for name in book.goals if book.depth(name) == depth]
        if goals:
            goal = str(rng.choice(goals))
            commands = command_list(book, goal, int(rng.integers(2**31)))
            messages = play_in(book, goal, commands, rng)
            if messages is not None:
                return messages


def training_split_play(rng: np.random.Generator) -> list[Message]:
    """Play one episode with a goal of the training split and its commands in a new order."""
    while True:
        goal = str(rng.choice(_training_goals()))
        commands = command_list(builtin_book(), goal, int(rng.integers(2**31)))
        messages = play_in(builtin_book(), goal, commands, rng)
        if messages is not None:
            return messages


def play_in(
    book: RecipeBook,
    goal: str,
    commands: Sequence[str],
    rng: np.random.Generator,
    *,
    system_prompt: str = "",
    goal_share: float = GOAL_SHARE,
    slip_rate: float | None = None,
) -> list[Message] | None:
    """Play one episode, or return None if the list is too long or holds nothing to craft.

    Args:
        book: the recipes that there are.
        goal: what the task asks for.
        commands: those that are shown.
        rng: the only source of chance.
        system_prompt: TextCraft's own where it is empty.
        goal_share: how often the goal is pursued.
        slip_rate: share of the turns that are slips; None slips once in `SLIP_RATE` of the plays.
    """
    heeds_goal = rng.random() < goal_share
    if heeds_goal:
        items = [goal] if _is_playable(book, goal, MAX_GOAL_ACTIONS) else []
    else:
        items = _craftable_from(commands, book)
    if not items or len(commands) > MAX_COMMANDS:
        return None
    state = CraftingState(book, goal)
    parser = ReactParser()
    messages = [
        Message("system", system_prompt or _system_prompt()),
        Message("user", first_observation(commands, goal)),
    ]
    next_item = cycle(items)
    slip_at = int(rng.integers(8)) if rng.random() < SLIP_RATE else -1
    item = ""
    moves: Iterator[ExpertMove] = iter(())
    num_turns = int(rng.integers(TURNS[0], TURNS[1] + 1))
    for turn in range(2 * MAX_GOAL_ACTIONS if heeds_goal else num_turns):
        move = next(moves, None)
        if move is None:
            item = next(next_item)
            moves = plan_moves(plan(book, item, state.inventory if heeds_goal else None))
            move = next(moves)
        slips = turn == slip_at if slip_rate is None else rng.random() < slip_rate
        action = _slip(rng, move.action, book) if slips else move.action
        observation, is_valid = state.act(action)
        is_slip = action != move.action or not is_valid
        weight = 0.0 if is_slip else 1.0  # a slip is read, not imitated
        messages.append(Message("assistant", parser.format(action, move.thought), weight))
        if state.success:
            return messages  # nothing is sampled after the last action
        messages.append(Message("user", observation))
        if not is_valid:
            moves = plan_moves(plan(book, item, state.inventory))
    return messages[:-1]


def _craftable_from(commands: Sequence[str], book: RecipeBook) -> list[str]:
    """Return the items that the listed commands alone can craft in a few turns."""
    output_of = {recipe.text: recipe.output for recipe in book.recipes}
    items = []
    for item in dict.fromkeys(output_of[text] for text in commands if text in output_of):
        is_listed = all(job.recipe.text in commands for job in plan(book, item).jobs)
        if is_listed and _is_playable(book, item, MAX_ACTIONS):
            items.append(item)
    return items


def _is_playable(book: RecipeBook, item: str, max_actions: int) -> bool:
    way = plan(book, item)
    counts = [job.needed for job in way.jobs] + list(way.fetches.values())
    return way.num_actions <= max_actions and max(counts) <= MAX_COUNT


def _slip(rng: np.random.Generator, action: str, book: RecipeBook) -> str:
    """Return the action with one count or item changed, as an unsure policy writes it."""
    counts = list(re.finditer(r"[0-9]+", action))
    if rng.random() < 0.7:
        match = counts[int(rng.integers(len(counts)))]
        new = str(int(rng.integers(1, 13)))
    else:
        names = [re.escape(name) for name in sorted(book.items, key=len, reverse=True)]
        items = list(re.finditer("|".join(names), action))
        match = items[int(rng.integers(len(items)))]
        new = str(rng.choice(sorted(book.items)))
    return action[: match.start()] + new + action[match.end() :]


def _made_up_book(rng: np.random.Generator) -> RecipeBook:
    num_crafted = int(rng.integers(3, 16))
    num_base = int(rng.integers(4, 24))
    names = list(rng.permutation(_names()))
    crafted, base = names[:num_crafted], names[num_crafted : num_crafted + num_base]
    recipes = []
    for place, name in enumerate(crafted):
        below = crafted[place + 1 : place + 6]
        for _ in range(int(rng.choice([1, 2, 3], p=[0.8, 0.15, 0.05]))):
            share = rng.random()
            pool = [n for n in below if rng.random() < 0.6] + [
                n for n in base if rng.random() < share
            ]
            recipes.append(_recipe(rng, name, pool or base))
    return RecipeBook(recipes)


def _recipe(rng: np.random.Generator, output: str, pool: list[str]) -> Recipe:
    num_inputs = min(int(rng.choice([1, 2, 3, 4], p=[0.4, 0.38, 0.18, 0.04])), len(pool))
    inputs = [str(n) for n in rng.choice(pool, num_inputs, replace=False) if n != output]
    inputs = inputs or [next(n for n in map(str, pool) if n != output)]
    ingredients = tuple((int(rng.choice(_INPUT_COUNTS)), name) for name in inputs)
    return Recipe(str(output), int(rng.choice(_OUTPUT_COUNTS)), ingredients)


def _job(recipe: Recipe, needed: int) -> Job:
    return Job(recipe, recipe.output, needed, ceil(needed / recipe.count), {})


@cache
def _names() -> tuple[str, ...]:
    return tuple(sorted(builtin_book().items))
