from __future__ import annotations

import pytest

from agentgym_envs.actions import make_parser
from agentgym_envs.sciworld.answers import choices, is_question, not_known, question
from agentgym_envs.sciworld.house import ROOMS, next_door, room_shown, tour, visited_rooms, way
from agentgym_envs.sciworld.verbs import CALLABLE, leading_verb, reworded

GOLD = [
    "look around",
    "open door to kitchen",
    "go to kitchen",
    "pick up thermometer",
    "focus on substance in metal pot",
    "use thermometer in inventory on unknown substance b",
    "move egg blue jay egg in inventory to red box",
    "pour cup containing red paint in inventory into metal pot",
    "connect battery anode to black wire terminal 1",
    "activate stove",
    "deactivate sink",
    "examine ice",
    "drop light",
    "mix jug",
    "read recipe in inventory",
    "close door to outside",
    "wait1",
    "wait",
    "0",
    "pour cup of tea in a in b on c",
]


@pytest.mark.parametrize("action", GOLD)
@pytest.mark.parametrize("action_format", ["function_call", "code"])
def test_calls_build_the_action_that_they_were_made_of(action: str, action_format: str) -> None:
    parser = make_parser(action_format, CALLABLE)
    assert reworded(action) == action
    assert parser.parse(parser.format(action)) == action


@pytest.mark.parametrize(
    ("action", "wording"),
    [
        (
            "pour cup containing blue paint in art studio in jug",
            "pour cup containing blue paint in art studio into jug",
        ),
        ("pour jug in jug", "pour jug into jug"),
        ("connect wire in battery", "connect wire to battery"),
        ("pour cup of tea in a in b on c", "pour cup of tea in a in b on c"),
        ("fly to the moon", "fly to the moon"),
    ],
)
def test_the_simulators_wording_becomes_ours(action: str, wording: str) -> None:
    assert reworded(action) == wording


@pytest.mark.parametrize(
    ("action", "name"),
    [
        ("LOOK  at x", "look_at"),
        ("wait1", "wait_one"),
        ("wait 3 turns", "wait"),
        ("open", "open"),
        ("opening", None),
        ("5", None),
        ("", None),
    ],
)
def test_a_verb_is_known_by_how_the_action_begins(action: str, name: str | None) -> None:
    verb = leading_verb(action)
    assert (verb and verb.name) == name


def test_a_long_list_of_names_is_cut() -> None:
    names = [f"thing {number}" for number in range(50)]
    assert not_known("eat qqq", names).endswith("thing 39, and 10 more.")


WORKSHOP = [
    *("agent", "air", "anode in battery", "battery", "battery cathode", "black wire"),
    *("black wire terminal 1", "cathode in red light bulb", "door", "hallway", "red light bulb"),
    *("switch", "table", "violet light bulb", "workshop"),
]


def test_what_is_only_a_little_like_a_name_is_not_offered() -> None:
    assert "Names like yours" not in not_known("examine kitchen", WORKSHOP)
    assert not_known("examine swich", WORKSHOP).endswith("Names like yours here: switch.")
    assert not_known("open the door", WORKSHOP).endswith("Names like yours here: door.")


def test_a_shared_word_makes_a_name_like_another_and_parts_come_last() -> None:
    message = not_known("pick up green light bulb", WORKSHOP)
    assert message.endswith(
        "like yours here: red light bulb, violet light bulb, cathode in red light bulb."
    )
    message = not_known("connect table to black wires", WORKSHOP)
    assert message.endswith("like yours here: black wire, black wire terminal 1.")
    message = not_known("connect battery to switch", WORKSHOP)
    assert message.endswith("here: battery, switch, battery cathode, anode in battery.")
    assert not_known("move BATERY to table", WORKSHOP).endswith("yours here: battery.")
    assert "terminal 1" not in not_known("read note 1 in", WORKSHOP).partition("yours here")[2]


@pytest.mark.parametrize("place", ["kitchen", "switch board", "door to kitchen", "", "workshop"])
def test_a_way_that_does_not_exist_is_answered_by_the_rooms_next_door(place: str) -> None:
    message = not_known(f"go to {place}", WORKSHOP)
    assert message.endswith("The form is: go to <place>. Next door: hallway.")
    hallway = ["agent", "art studio", "art studio door", "door to kitchen", "hallway", "kitchen"]
    assert not_known("go to bath", hallway).endswith("Next door: art studio, kitchen.")
    assert not_known("go to bath", ["agent", "outer space"]).endswith("here: agent, outer space.")


def test_parts_of_things_are_listed_after_whole_things() -> None:
    message = not_known("eat unicorn", WORKSHOP)
    assert message.endswith(
        "violet light bulb, workshop, anode in battery, battery cathode, black wire terminal 1, "
        "cathode in red light bulb."
    )


@pytest.mark.parametrize("room", ROOMS)
def test_the_rooms_next_door_are_read_off_the_names(room: str) -> None:
    around = {other for other in ROOMS if len(way(room, other) or []) == 2}
    names = ["agent", *sorted({room, *around}), f"{room} door"]
    assert set(next_door(names)) == around


def test_a_questions_choices_are_read() -> None:
    text = "Ambiguous request: which?\n0:\topen door\n1:\topen box\n"
    assert is_question(text)
    assert choices(text) == ["open door", "open box"]


def asked(*actions: str) -> str:
    rows = [f"{number}:\t{action}\n" for number, action in enumerate(actions)]
    return "Ambiguous request: which?\n" + "".join(rows)


def test_a_long_question_shows_ten_choices_and_how_to_be_more_specific() -> None:
    things = [f"look at terminal {n} (in sink, in bathroom)" for n in range(1, 41)]
    lines = question(asked(*things)).splitlines()
    assert lines[:11] == asked(*things[:10]).splitlines()
    assert lines[11:] == [
        "Choices 10 to 39 are not shown. To be more specific, say where it is or leads to: "
        "'terminal 1 in sink'."
    ]


def test_a_question_with_eleven_choices_says_that_one_is_not_shown() -> None:
    asks = asked(*(f"look at terminal {n}" for n in range(1, 12)))
    assert question(asks).splitlines()[-1] == "Choice 10 is not shown."


@pytest.mark.parametrize(
    ("actions", "hint"),
    [
        (["pick up air (in kitchen)", "pick up soap (in kitchen)"], "'air in kitchen'"),
        (["move cup (in sink) to pot", "move cup (in oven) to pot"], "'cup in sink'"),
        (
            ["open door between kitchen and hallway", "open door between bathroom and kitchen"],
            "'door to hallway'",
        ),
    ],
)
def test_a_question_says_how_to_be_more_specific(actions: list[str], hint: str) -> None:
    said = question(asked(*actions)).splitlines()[-1]
    assert said == f"To be more specific, say where it is or leads to: {hint}."


def test_a_question_about_twins_asks_for_a_number() -> None:
    seed = "move orange seed (in seed jar, in inventory) to flower pot 2"
    said = question(asked(*[seed] * 12)).splitlines()
    assert said[-1] == (
        "Choices 10 to 11 are not shown. They are alike; answer with any of the numbers."
    )
    said = question(asked(seed, seed, "move orange seed (in bed) to flower pot 2")).splitlines()
    assert said[-1].endswith("or leads to: 'orange seed in bed'.")


def test_a_name_that_fits_several_choices_is_no_hint() -> None:
    asks = asked(*(f"focus on orange (in orange tree, in flower pot {n})" for n in (1, 2)))
    assert question(asks) == asks[:-1]


def test_a_question_without_places_stays_as_it_is() -> None:
    assert question(asked("eat red apple", "eat apple")) == asked("eat red apple", "eat apple")[:-1]


def test_the_way_leads_through_doors() -> None:
    assert way("kitchen", "kitchen") == []
    assert way("bathroom", "hallway") == [
        "open door to kitchen",
        "go to kitchen",
        "open door to hallway",
        "go to hallway",
    ]
    assert way("kitchen", "moon") is None


def test_rooms_are_read_off_texts_and_actions() -> None:
    assert room_shown("This outside location is called the outside. Here you see: ...") == "outside"
    assert room_shown("This room is called the art studio. In it, you see:") == "art studio"
    assert visited_rooms(["wait", "go to kitchen", "wait"], "hallway") == [
        "hallway",
        "hallway",
        "kitchen",
        "kitchen",
    ]
    with pytest.raises(ValueError, match="no room"):
        room_shown("hello")


@pytest.mark.parametrize("start", ROOMS)
def test_a_tour_sees_every_room_from_door_to_door(start: str) -> None:
    tours = [tour(start, preference) for preference in range(8)]
    for walk in tours:
        assert {start, *walk} == set(ROOMS)
        for here, there in zip([start, *walk], walk, strict=False):
            assert way(here, there) == [f"open door to {there}", f"go to {there}"]
    assert len(set(map(tuple, tours))) > 1
