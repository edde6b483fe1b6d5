"""Lists texts that the agent is asked to write, none of which is on the forum yet."""

from __future__ import annotations

import random

from agentgym_envs.webarena.sites.people import TOWNS

_REMARKS = (
    "I tried this in {town} and it took me {n} days.",
    "Could you send me the details by the {nth}?",
    "We are {n} people from {town} and would like to join.",
    "My notes say {n}, but I may be wrong.",
    "Thank you, I will report back in {n} weeks.",
    "In {town} they charge {n} dollars for that.",
    "I have {n} of them to give away in {town}.",
    "Number {n} on my list, so I agree.",
    "It was cheaper in {town}, I paid {n} dollars.",
    "Please keep me a place, I arrive at {n} past four.",
)
_TITLES = (
    "Report from {town} after {n} weeks",
    "{n} questions from a newcomer in {town}",
    "Looking for company in {town}, {n} of us so far",
    "What {n} days in {town} taught me",
    "Anyone else from {town}? Table for {n}",
    "A list of {n} things to do better next year",
)
_BIOGRAPHIES = (
    "Gardener in {town}, {n} years and counting.",
    "Baker, reader and owner of {n} bicycles. {town}.",
    "Moved from {town} {n} years ago and never looked back.",
    "I answer within {n} days. Usually from {town}.",
    "Collects maps of {town}: {n} so far.",
)
_KINDS = ("Evening", "Winter", "Coastal", "Quiet", "Hilltop", "Pocket", "Sunday", "Riverside")
_CIRCLES = ("Pottery", "Chess", "Mending", "Sketching", "Choir", "Kites", "Cheese", "Origami")
_RULES = (
    "Be kind. Meetings on day {n} of the month.",
    "No adverts, and at most {n} posts a week.",
    "Say hello first. {n} members are enough to begin.",
    "Photos are welcome, up to {n} at a time.",
)


_MOST = 28
"""No number is larger, as some are days of a month."""


def _filled(pattern: str, rng: random.Random) -> str:
    number = rng.randint(2, _MOST)
    return pattern.format(town=rng.choice(TOWNS), n=number, nth=_ordinal(number))


def _ordinal(number: int) -> str:
    ending = "th" if 10 < number < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def remark(rng: random.Random) -> str:
    """Draw a comment or message of one sentence."""
    return _filled(rng.choice(_REMARKS), rng)


def title(rng: random.Random) -> str:
    """Draw a post's title."""
    return _filled(rng.choice(_TITLES), rng)


def biography(rng: random.Random) -> str:
    """Draw what somebody says about themselves."""
    return _filled(rng.choice(_BIOGRAPHIES), rng)


def circle(rng: random.Random) -> tuple[str, str]:
    """Draw a new community's title and the name that goes with it."""
    words = f"{rng.choice(_KINDS)} {rng.choice(_CIRCLES)}"
    return words, words.lower().replace(" ", "-")


def rule(rng: random.Random) -> str:
    """Draw a sidebar."""
    return _filled(rng.choice(_RULES), rng)
