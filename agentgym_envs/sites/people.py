"""The people of the sites: the same person shops, posts, writes code and lives in a town."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Person:
    """A person.

    Attributes:
        name: first and last name; no two people share one.
        username: on every site.
        email: address.
        town: where they live, one of the map's.
    """

    name: str
    username: str
    email: str
    town: str


AGENT = Person("Mira Halden", "mira.halden", "mira.halden@post.test", "Willowmere")
"""The agent's person, signed in on every site when a task begins, with `PASSWORD`."""

AGENT_ID = 1
"""The agent's user id on every site."""

PASSWORD = "correct-horse"
