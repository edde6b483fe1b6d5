"""Finds the words for a relation of a kind of entity."""

from __future__ import annotations

from agentgym_envs.searchqa.world.asking.wording import Wording
from agentgym_envs.searchqa.world.asking.words_organisations import BY_KIND, ORGANISATIONS
from agentgym_envs.searchqa.world.asking.words_people import PEOPLE_AND_PLACES
from agentgym_envs.searchqa.world.asking.words_works import WORKS_AND_EVENTS

WORDING: dict[str, Wording] = {**PEOPLE_AND_PLACES, **ORGANISATIONS, **WORKS_AND_EVENTS}
"""The relations that are asked about, in any kind of entity unless `BY_KIND` has the kind."""


def wording_of(kind: str, relation: str) -> Wording | None:
    """Return the words for a relation of a kind of entity; None where it is not asked about."""
    return BY_KIND.get((kind, relation), WORDING.get(relation))
