"""What a turn sees, and what of it is recorded."""

from __future__ import annotations

from typing import Any

import pytest

from agentgym_envs import Trajectory, Turn
from trainers.history.notes import INSTRUCTION, MAX_NOTES, Notes
from trainers.history.summary import MAX_CHARACTERS, Summary
from trainers.history.views import History, LastTurns, View, next_view


def episode(*completions: str, valid: bool = True) -> Trajectory:
    turns = [
        Turn(f"see {n}", completion, 0.0, valid, 0.0) for n, completion in enumerate(completions)
    ]
    return Trajectory("e", "t_0", turns=turns, final_observation=f"see {len(turns)}")


def test_all_turns_are_a_conversation() -> None:
    assert LastTurns().view(episode("a", "b")) == View(("see 0", "see 1", "see 2"), (0, 1))


def test_last_turns_follow_the_task_and_an_empty_turn() -> None:
    history = LastTurns(2)
    assert history.view(episode("a", "b")) == LastTurns().view(episode("a", "b"))
    shown = history.view(episode("a", "b", "c"))
    assert shown == View(("see 0", "see 1", "see 2", "see 3"), (None, 1, 2))


def test_a_summary_holds_the_task_each_action_and_the_last_observation() -> None:
    assert Summary().view(episode()) == View(("see 0",))
    view = Summary().view(episode("go north", "look", "look", "look", "take lamp"))
    assert view.turns == ()
    assert view.observations == (
        "see 0\n\nYour actions so far:\n1. go north\n2-4. look\n5. take lamp\n\n"
        "What you see now:\n\nsee 5",
    )


def test_a_summary_with_last_turns_shows_these_in_full() -> None:
    view = Summary(1).view(episode("a", "b", "c"))
    assert view.turns == (2,)
    assert view.observations[0].startswith("see 0\n\nYour actions so far:\n1. a\n2. b\n")
    assert view.observations[0].endswith("\n\nsee 2") and view.observations[1] == "see 3"
    assert Summary(3).view(episode("a", "b", "c")) == LastTurns().view(episode("a", "b", "c"))


@pytest.mark.parametrize(
    ("completion", "line"),
    [
        ("Thought: a lamp.\nAction: take lamp", "take lamp"),
        ("<think>\na lamp\n</think>\n\ntake lamp", "take lamp"),
        ("In summary, I will ```click [12]```", "click [12]"),
        ('```python\ntake("lamp")\n```', 'take("lamp")'),
        ("take\n  lamp", "take lamp"),
        ("x" * 200, "x" * (MAX_CHARACTERS - 3) + "..."),
    ],
)
def test_an_action_in_a_summary_is_one_short_line(completion: str, line: str) -> None:
    (text,) = Summary().view(episode(completion)).observations
    assert f"\n1. {line}\n" in text


def test_a_summary_says_which_actions_were_not_valid() -> None:
    (text,) = Summary().view(episode("fly", valid=False)).observations
    assert "\n1. fly (not a valid action)\n" in text


def test_notes_are_carried_in_place_of_turns() -> None:
    written = ("Memory: the key is red\ntake key", "go", "open\nMemory:  the door is open ", "look")
    view = Notes().view(episode(*written))
    assert view == View(
        ("see 0\n\nYour notes:\n- the key is red\n- the door is open\n\nsee 3", "see 4"), (3,)
    )
    assert Notes().view(episode(written[0])) == LastTurns().view(episode(written[0]))
    assert Notes().view(episode("go", "look")).observations[0] == "see 0\n\nsee 1"


def test_equal_notes_are_kept_once_and_the_latest_are_kept() -> None:
    (text, _) = Notes().view(episode("Memory: a", "Memory: b", "Memory: a", "go")).observations
    assert "Your notes:\n- b\n- a\n" in text
    many = [f"Memory: fact {n}" for n in range(MAX_NOTES + 3)]
    (text, _) = Notes().view(episode(*many, "go")).observations
    assert text.count("\n- ") == MAX_NOTES and "fact 2\n" not in text and "- fact 3\n" in text


@pytest.mark.parametrize(
    ("completion", "action"),
    [
        ("Memory: the key is red\ntake key", "take key"),
        ("take key\nMemory: the key is red", "take key"),
        ("Thought: red.\nMemory: red\nAction: take key", "Thought: red.\nAction: take key"),
        ("<think>\nMemory: no note\n</think>\n\ntake key", "take key"),
        (" take key ", " take key "),
        ("Memory: nothing else", "Memory: nothing else"),
    ],
)
def test_environments_do_not_read_notes(completion: str, action: str) -> None:
    assert Notes().action(completion) == action


def test_a_thought_holds_no_notes() -> None:
    (text, _) = Notes().view(episode("<think>\nMemory: x\n</think>\n\ngo", "go")).observations
    assert "Your notes" not in text


def test_the_instruction_says_once_how_notes_are_written() -> None:
    told = Notes().instruction("You play.")
    assert told == f"You play.\n\n{INSTRUCTION}"
    assert Notes().instruction(told) == told
    assert Summary().instruction("You play.") == "You play."


class Broken(History):
    def __init__(self, view: Any) -> None:
        self._view = view

    def view(self, episode: Trajectory) -> View:
        return self._view  # type: ignore[no-any-return]


@pytest.mark.parametrize("view", ["see 0", ("see 0",), View((3,))])  # type: ignore[arg-type]
def test_what_is_no_view_of_texts_is_refused(view: Any) -> None:
    with pytest.raises(TypeError, match="Broken.view must return a trainers.View of texts"):
        next_view(Broken(view), episode("a"))


@pytest.mark.parametrize("turn", [1, -1])
def test_a_turn_that_was_not_played_is_refused(turn: int) -> None:
    with pytest.raises(ValueError, match=f"shows turn {turn} of an episode of 1 turns"):
        next_view(Broken(View(("a", "b"), (turn,))), episode("a"))


def test_a_view_has_one_observation_more_than_turns() -> None:
    with pytest.raises(ValueError, match="got 1 observations and 1 turns"):
        View(("a",), (0,))
