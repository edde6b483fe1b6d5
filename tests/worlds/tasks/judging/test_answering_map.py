"""Answers about the map, and reasons why something cannot be done, in many wordings."""

from __future__ import annotations

import pytest

from agentgym_envs.webarena.evaluators.typed_answer import is_answer
from tests.worlds.tasks.judging.verdicts import answering, is_reason, listed, some, verdict

RIGHT = {
    60: (
        "131",
        "131 minutes",
        "2 h 11 min",
        "From Taverna Oscar to Oscar and Dora it takes 131 min.",
    ),
    61: ("Alderbrook, 65.4 km", "It is Alderbrook, 65.4 kilometres", "65.4 (Alderbrook)"),
    62: ("046 458 410", "046458410", "The phone number is 046 458 410.", "Phone: 046 458 410"),
    63: ("1", "one", "1 supermarket", "Only 1 of them is open at 21:15."),
    67: ("193.0", "193 km", "193.0 kilometres longer", "It is 193 km longer."),
    68: (
        "Orchard Vale, Millbrook, Willowmere",
        "Orchard Vale, then Millbrook and finally Willowmere",
        "1. Orchard Vale\n2. Millbrook\n3. Willowmere",
    ),
    69: (
        "Kingsreach, 21 min",
        "Kingsreach is quickest; it takes 21 minutes.",
        "21 min, Kingsreach",
    ),
    73: ("Hotel Maud", "It is Hotel Maud.", "The cheapest double room is at Hotel Maud."),
    74: ("23:30", "11:30 pm", "It closes at 23:30.", "On Monday it closes at 11:30 PM."),
}
WRONG = {
    60: ("132", "131 km", "about 131 minutes", "2 h 12 min", "131 or 140 minutes"),
    61: ("Alderbrook", "65.4 km", "Eastwick, 65.4 km", "Alderbrook, 66 km", "Alderbrook, 65.4 min"),
    62: ("046 458 411", "046 458 410 or 046 458 411", "46 45", "Shell, Thornbury"),
    63: ("2", "none", "1 or 2", "1 pharmacy", "21:15"),
    67: ("19.3 km", "193 minutes", "between 190 and 195 km", "193 metres"),
    68: (
        "Millbrook, Orchard Vale, Willowmere",
        "Orchard Vale, Willowmere",
        "Orchard Vale, Millbrook, Willowmere, Kingsreach",
    ),
    69: ("Kingsreach", "21 min", "Alderbrook, 21 min", "Kingsreach, 21 h", "Kingsreach, 12 min"),
    73: ("Hotel Otto", "Hotel Maud or Hotel Otto", "Maude", "Not Hotel Maud"),
    74: ("closed", "23:00", "11:30", "Around 23:30", "23:30 or 24:00", "12:00-23:30"),
}


@pytest.mark.parametrize(("template", "text"), [(n, text) for n in RIGHT for text in RIGHT[n]])
def test_an_answer_may_be_worded_freely(template: int, text: str) -> None:
    result = verdict(some(template), answering(text, template))
    assert result.score == 1.0, result.reasons


@pytest.mark.parametrize(("template", "text"), [(n, text) for n in WRONG for text in WRONG[n]])
def test_another_value_or_doubt_is_no_answer(template: int, text: str) -> None:
    assert verdict(some(template), answering(text, template)).score == 0.0


def test_a_place_that_does_not_open_is_closed() -> None:
    task = next(t for n in range(50) if (t := some(74, n)).eval["typed_answer"]["type"] == "name")
    day = (task.instantiation_dict or {})["day"]
    expected = task.eval["typed_answer"]
    for right in ("closed", "It is closed all day.", "It does not open.", f"Closed on {day}"):
        assert is_answer(expected, right, task=task.intent), right
    for wrong in ("18:30", "not closed", "It may be closed.", "It closes at 18:30.", "N/A", "open"):
        assert not is_answer(expected, wrong, task=task.intent), wrong


REASONS = {
    72: (
        "{place} in {town} is not on this list.",
        "{place} is not on the list {source}.",
        "The list {source} doesn't contain {place}.",
        "The place isn't saved in {source}.",
        "It is not in the list {source}.",
        "I could not find {place} on the list.",
        "There is no such place on {source}.",
        "{source} does not include {place}.",
        "{place} was not found on the list {source}.",
        "The place is missing from {source}, so there is no note to keep.",
    ),
    75: (
        "{town} has no {place}.",
        "There is no {place} in {town}.",
        "{place} does not exist in {town}.",
        "The map has no place called {place} in {town}.",
        "I found no result for {place} in {town}.",
        "{place} is not in {town}.",
        "{place} isn't located in {town}.",
        "{place} is in another town.",
        "No such place was found in {town}.",
        "{place} could not be found there.",
    ),
    155: (
        "No hotel in {town} has more than 4 stars.",
        "There is no hotel with {stars} stars in {town}.",
        "None of the hotels has {stars} stars.",
        "All hotels in {town} have fewer than {stars} stars.",
        "The best hotel in {town} has only 4 stars.",
        "{town} has no {stars}-star hotel.",
        "Not a single hotel there has that many stars.",
        "The hotels of {town} have at most 4 stars.",
        "{town}'s hotels don't reach {stars} stars.",
        "No {stars} star hotels exist in {town}.",
    ),
    156: (
        "There is no {kind} at {address} in {town}.",
        "No place has this address.",
        "{address} does not exist on the map.",
        "Nothing is found at {address}.",
        "The map shows nothing at this address.",
        "There is nothing at {address}, {town}.",
        "I could not find a {kind} at {address}.",
        "The address {address} is not on the map.",
        "No {kind} is listed at {address}.",
        "The street has no number 22, so no such address exists.",
    ),
}
OTHER_REASONS = {
    72: (
        "There is no list called {source}.",
        "The list {target} does not exist.",
        "The place is already on the list {target}.",
        "I am not signed in.",
        "The note is too long.",
    ),
    75: (
        "{place} is closed on {day}.",
        "{place} in {town} has no opening hours.",
        "The opening hours are not shown.",
        "The town {town} is unknown to me.",
        "{town} does not exist.",
        "I may not look up hours.",
    ),
    155: (
        "There are no hotels in {town}.",
        "The prices are not shown.",
        "There is no such town.",
        "The hotels are fully booked.",
        "No double room is free.",
    ),
    156: (
        "The {kind} has been reviewed already.",
        "I am not signed in.",
        "The text is too long for a review.",
        "There is no town called {town}.",
        "The {kind} takes no reviews.",
    ),
}


@pytest.mark.parametrize(("template", "text"), listed(REASONS))
def test_the_reason_may_be_worded_freely(template: int, text: str) -> None:
    assert is_reason(template, text)


@pytest.mark.parametrize(("template", "text"), listed(OTHER_REASONS))
def test_another_reason_is_none(template: int, text: str) -> None:
    assert not is_reason(template, text)
