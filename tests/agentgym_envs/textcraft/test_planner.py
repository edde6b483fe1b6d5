"""The planner against a search through real inventories, and against the text of its thoughts."""

import random
from collections import deque
from collections.abc import Mapping

import pytest

from agentgym_envs.textcraft.planner import plan
from agentgym_envs.textcraft.recipes import Recipe, RecipeBook
from agentgym_envs.textcraft.source import builtin_book
from agentgym_envs.textcraft.state import CraftingState
from agentgym_envs.textcraft.thoughts import plan_moves


def play(book: RecipeBook, goal: str, inventory: Mapping[str, int] | None = None) -> int:
    """Play the plan's moves by the rules; return its number of actions."""
    shortest = plan(book, goal, inventory)
    state = CraftingState(book, goal)
    state.inventory.update(inventory or {})
    for number, move in enumerate(plan_moves(shortest), 1):
        observation, is_valid = state.act(move.action)
        assert is_valid, (move.action, observation)
        assert state.success == (number == shortest.num_actions), move.action
    return shortest.num_actions


def fewest_actions(book: RecipeBook, goal: str, inventory: dict[str, int], limit: int) -> int:
    """Search breadth first; fetched items count as endless, which one `get` can make them."""
    start = (frozenset(inventory.items()), frozenset[str]())
    queue = deque([(0, start)])
    seen = {start}
    bases = sorted(
        {n for r in book.closure(goal) for _, g in r.ingredients for n in book.members(g)}
        - {r.output for r in book.recipes}
    )
    while queue:
        cost, (held, endless) = queue.popleft()
        for successor in _successors(book, goal, dict(held), endless, bases):
            if successor is None:
                return cost + 1
            if successor not in seen and cost + 1 < limit:
                seen.add(successor)
                queue.append((cost + 1, successor))
    return limit


def _successors(book, goal, held, endless, bases):
    for base in bases:
        if base not in endless:
            yield frozenset(held.items()), endless | {base}
    for recipe in book.closure(goal):
        for amounts in _fillings(book, recipe.ingredients):
            if any(i not in endless and held.get(i, 0) < n for i, n in amounts.items()):
                continue
            if recipe.output == goal:
                yield None
            left = {i: n - (0 if i in endless else amounts.get(i, 0)) for i, n in held.items()}
            left[recipe.output] = min(left.get(recipe.output, 0) + recipe.count, 40)
            yield frozenset((i, n) for i, n in left.items() if n), endless


def _fillings(book, ingredients):
    if not ingredients:
        yield {}
        return
    (count, name), *rest = ingredients
    for others in _fillings(book, rest):
        for member in book.members(name):
            if member not in others:
                yield {member: count, **others}


def made_up_book(rng: random.Random) -> RecipeBook:
    bases = [f"base {k}" for k in range(3)]
    made = [f"thing {k}" for k in range(4)]
    recipes = []
    for k, name in enumerate(made):
        below = [*bases, *made[:k], *(["kind"] if k > 1 else [])]
        for _ in range(rng.choice([1, 1, 2])):
            chosen = rng.sample(below, rng.choice([1, 2]))
            if "kind" in chosen:
                chosen = [n for n in chosen if n not in made[:2]]
            recipes.append(
                Recipe(name, rng.randint(1, 3), tuple((rng.randint(1, 2), n) for n in chosen))
            )
    return RecipeBook(recipes, {"kind": made[:2]})


@pytest.mark.parametrize("seed", range(40))
def test_no_plan_is_shorter_by_brute_force(seed: int) -> None:
    rng = random.Random(seed)
    book = made_up_book(rng)
    for goal in book.goals:
        length = play(book, goal)
        assert plan(book, goal).is_proven
        if length <= 8:
            assert fewest_actions(book, goal, {}, length) == length, goal


def test_every_goal_is_planned_and_proven() -> None:
    book = builtin_book()
    lengths = {goal: play(book, goal) for goal in book.goals}
    assert all(plan(book, goal).is_proven for goal in book.goals)
    too_long = {goal: length for goal, length in lengths.items() if length > 30}
    assert too_long == {"anvil": 36, "netherite block": 48}


def test_plan_uses_what_is_held_and_mixes_special_types_over_uses() -> None:
    book = builtin_book()
    held = {"oak planks": 2, "birch planks": 2, "warped planks": 4}
    assert play(book, "armor stand", {**held, "smooth stone slab": 1}) == 3
    assert play(book, "stick", {"oak planks": 2}) == 1
    assert play(book, "stick", {"stick": 9}) == 2


def test_plan_is_the_same_each_time() -> None:
    book = builtin_book()
    assert plan(book, "painting") == plan(book, "painting")


def test_plan_refuses_what_nothing_makes() -> None:
    with pytest.raises(ValueError, match="bamboo"):
        plan(builtin_book(), "bamboo")
    narrow = RecipeBook([Recipe.parse("1 a using 1 kind, 1 b")], {"kind": ["b"]})
    with pytest.raises(ValueError, match="two ingredients"):
        plan(narrow, "a")


def test_plans_from_any_inventory_can_be_played() -> None:
    book = builtin_book()
    rng = random.Random(0)
    for goal in book.goals:
        pool = sorted(
            {m for r in book.closure(goal) for _, n in r.ingredients for m in book.members(n)}
        )
        held = rng.sample(pool, min(len(pool), rng.randint(1, 6)))
        with_held = play(book, goal, {item: rng.randint(1, 4) for item in held})
        assert with_held <= plan(book, goal).num_actions


def test_first_thought_holds_each_command_of_the_plan() -> None:
    book = builtin_book()
    for goal in book.goals:
        shortest = plan(book, goal)
        moves = list(plan_moves(shortest))
        assert all(job.command in moves[0].thought for job in shortest.jobs)
        assert all(move.thought and "\n" not in move.thought for move in moves[1:])
