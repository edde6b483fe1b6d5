"""A name is shown where a line of a text has its words."""

from __future__ import annotations

import pytest

from agentgym_envs.sciworld.expert import ShownNames

SHOWN = ShownNames(
    [
        "This outside location is called the outside. Here you see:\n"
        "\ta parrot egg\n"
        "\ta flower pot 5 (containing a peach tree, soil)\n"
        "\ta black wire\n"
        "\tunknown substance B"
    ]
)


@pytest.mark.parametrize(
    "action",
    [
        pytest.param("focus on egg parrot", id="another order"),
        pytest.param("focus on Parrot Egg", id="another case"),
        pytest.param("focus on parrot", id="a part of the name"),
        pytest.param(
            "pick up flower pot 5 containing peach tree and soil in inventory", id="contents"
        ),
        pytest.param("connect black wire terminal 1 to cathode in black wire", id="terminals"),
        pytest.param("pick up unknown substance B in outside", id="a room"),
        pytest.param("open door to kitchen", id="a door"),
        pytest.param("go to workshop", id="a room to go to"),
        pytest.param("look around", id="no thing"),
        pytest.param("0", id="a choice"),
    ],
)
def test_what_was_shown_is_not_missing(action: str) -> None:
    assert SHOWN.missing(action) == []


@pytest.mark.parametrize(
    ("action", "name"),
    [
        ("focus on egg giant tortoise", {"egg", "giant", "tortoise"}),
        ("move parrot egg to red box", {"red", "box"}),
        ("pick up flower pot 6", {"flower", "pot", "6"}),
        pytest.param("pick up peach wire", {"peach", "wire"}, id="words of two lines"),
    ],
)
def test_what_was_not_shown_is_missing(action: str, name: set[str]) -> None:
    assert SHOWN.missing(action) == [name]


def test_a_text_that_is_added_is_shown() -> None:
    shown = ShownNames([])
    shown.add("You move the thermometer to the inventory.")
    assert shown.missing("focus on thermometer in inventory") == []
