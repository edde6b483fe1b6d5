"""The rules of the default mode, and what they say."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym_envs.textcraft.compat import OriginalState
from agentgym_envs.textcraft.source import builtin_book
from agentgym_envs.textcraft.state import CraftingState
from tests.quick import examples


@pytest.fixture
def state() -> CraftingState:
    return CraftingState(builtin_book(), "crafting table")


def test_play_to_the_goal(state: CraftingState) -> None:
    assert state.act("inventory") == ("Inventory: empty", True)
    assert state.act("get 2 oak logs") == ("Got 2 oak logs", True)
    assert state.act("craft 4 oak planks using 1 oak logs") == ("Crafted 4 oak planks", True)
    assert state.act("inventory") == ("Inventory: 1 oak logs, 4 oak planks", True)
    assert not state.success
    assert state.act("craft 1 crafting table using 4 oak planks")[1]
    assert state.success
    assert state.inventory == {"oak logs": 1, "crafting table": 1}


def test_getting_what_no_recipe_uses_says_so(state: CraftingState) -> None:
    assert state.act("get 2 quartz bricks") == ("Got 2 quartz bricks; no recipe uses it.", True)
    assert state.act("get 2 snow") == ("Got 2 snow; no recipe uses it.", True)
    assert OriginalState(builtin_book(), "stick").act("get 2 snow") == ("Got 2 snow", True)
    for item in ("diamond", "oak logs", "bamboo"):
        assert state.act(f"get 1 {item}") == (f"Got 1 {item}", True)


@pytest.mark.parametrize(
    "text",
    ["GET 2 Oak  Logs", "  get 2 oak logs.\n", "get 02 oak_logs", "`get 2 oak logs`"],
)
def test_case_space_and_end_punctuation_do_not_matter(state: CraftingState, text: str) -> None:
    assert state.act(text) == ("Got 2 oak logs", True)


def test_output_count_is_taken_as_written_wrong_or_not_at_all(state: CraftingState) -> None:
    state.act("get 3 oak logs")
    for text in ("craft oak planks using 1 oak logs", "craft 9 oak planks using 1 oak logs"):
        assert state.act(text) == ("Crafted 4 oak planks", True)


def test_ingredients_come_in_any_order_and_add_up(state: CraftingState) -> None:
    for text in ("get 1 oak logs", "get 1 coal", "get 2 bamboo"):
        state.act(text)
    assert state.act("craft 1 stick using 1 bamboo, 1 bamboo") == ("Crafted 1 stick", True)
    assert state.act("craft 4 torch using 1 stick, 1 coal") == ("Crafted 4 torch", True)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("craft 1 stick using 2 bamboo", "you have 1 bamboo, 2 are needed"),
        ("craft 1 stick using 3 bamboo", "No recipe crafts stick from 3 bamboo; it is crafted"),
        ("craft 4 stick using 2 planks", "planks is a generic name; name a special type"),
        ("craft 1 bamboo using 2 stick", "No recipe crafts bamboo: it can only be got"),
        ("craft 1 planks using 1 oak logs", "generic name"),
        ("craft 1 stick using bamboo", "Wrong amount 'bamboo'"),
        ("craft 1 stick using 2 bamboo,, 1 coal", "Wrong amount ''"),
        ("craft 1 stick", "write craft <count> <item> using"),
        ("craft 0 stick using 2 bamboo", "from 1 to"),
        ("get 1 stick", "it can be crafted, not found"),
        ("get 1 planks", "generic name"),
        ("get 1 unobtainium", "no item called 'unobtainium'; write names as the commands do."),
        ("get bamboo", "write <count> <item>"),
        ("get 0 bamboo", "from 1 to"),
        ("get -1 bamboo", "Wrong amount"),
        ("get 1.5 bamboo", "Wrong amount"),
        ("get ٣ bamboo", "Wrong amount"),
        ("get " + "9" * 5000 + " bamboo", "from 1 to"),
        ("get", "Could not execute 'get'"),
        ("", "Could not execute ''"),
        ("fly " * 10_000, "The actions are"),
    ],
)
def test_what_cannot_be_played_says_why_and_changes_nothing(
    state: CraftingState, text: str, part: str
) -> None:
    state.act("get 1 bamboo")
    observation, is_valid = state.act(text)
    assert part in observation
    assert len(observation) < 250
    assert not is_valid
    assert state.inventory == {"bamboo": 1}


COUNTS = st.one_of(st.integers(-3, 10**9).map(str), st.sampled_from(["", "٣", "1e3", "9" * 5000]))
ITEMS = st.one_of(
    st.sampled_from(["planks", "oak logs", "oak planks", "stick", "bamboo", "", ","]), st.text()
)
AMOUNTS = st.builds("{} {}".format, COUNTS, ITEMS)
ACTIONS = st.one_of(
    st.text(),
    st.builds("get {}".format, AMOUNTS),
    st.builds(
        "craft {} using {}".format,
        AMOUNTS,
        st.lists(AMOUNTS, max_size=3).map(", ".join),
    ),
    st.sampled_from(["get 3 oak logs", "craft 4 oak planks using 1 oak logs", "inventory"]),
)


@settings(max_examples=examples(150))
@given(st.lists(ACTIONS, max_size=12))
@pytest.mark.parametrize("rules", [CraftingState, OriginalState])
def test_no_text_breaks_the_rules(
    rules: type[CraftingState] | type[OriginalState], actions: list[str]
) -> None:
    state = rules(builtin_book(), "crafting table")
    for action in actions:
        before = state.inventory.copy()
        observation, is_valid = state.act(action)
        assert isinstance(observation, str) and observation
        assert is_valid or state.inventory == before
        assert all(count >= 0 for count in state.inventory.values())
