from agentgym_envs.textcraft.commands import MAX_DISTRACTORS, command_list, first_observation
from agentgym_envs.textcraft.source import builtin_book

BOOK = builtin_book()


def test_commands_are_the_closure_and_distractors_that_share_ingredients() -> None:
    for number, goal in enumerate(BOOK.goals):
        commands = command_list(BOOK, goal, number)
        closure = {recipe.text for recipe in BOOK.closure(goal)}
        distractors = set(commands) - closure
        assert closure <= set(commands)
        assert len(commands) == len(set(commands))
        assert len(distractors) <= MAX_DISTRACTORS
        shared = {name for recipe in BOOK.closure(goal) for _, name in recipe.ingredients}
        uses = {recipe.text for name in shared for recipe in BOOK.uses[name]}
        assert distractors <= uses


def test_seed_alone_chooses_distractors_and_order() -> None:
    assert command_list(BOOK, "torch", 1) == command_list(BOOK, "torch", 1)
    assert command_list(BOOK, "torch", 1) != command_list(BOOK, "torch", 2)


def test_first_observation_has_the_originals_form() -> None:
    assert first_observation(["craft 1 a using 1 b", "craft 1 c using 1 d"], "a") == (
        "Crafting commands:\ncraft 1 a using 1 b\ncraft 1 c using 1 d\n\nGoal: craft a."
    )
