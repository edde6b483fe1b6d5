"""The made-up people and towns that the sites have in common.

The same person shops, posts, writes code and lives in a town of the map.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

TOWNS = (
    "Alderbrook", "Ashmere", "Bellhaven", "Brackwater", "Calder Point", "Carrowdale", "Copperfield",
    "Dunmore", "Eastwick", "Elmsworth", "Fallowby", "Fernhollow", "Glenmoor", "Granite Bay",
    "Harrowgate", "Hazelford", "Ironbridge", "Juniper Falls", "Kestrel Bay", "Kingsreach",
    "Larkspur", "Lindenau", "Marlow Heath", "Millbrook", "Northcliff", "Oakhurst", "Orchard Vale",
    "Pinecrest", "Port Senna", "Quarry Hill", "Redmarsh", "Rivermouth", "Saltmarsh", "Silverton",
    "Stonebridge", "Thornbury", "Umberleigh", "Vale Royal", "Westerfield", "Willowmere",
)  # fmt: skip

_FIRST = (
    "Ada", "Amir", "Anika", "Arlo", "Bea", "Bruno", "Carla", "Cyril", "Dalia", "Darius", "Edith",
    "Elio", "Esme", "Farid", "Flora", "Gideon", "Greta", "Hamza", "Hilda", "Ida", "Idris", "Ines",
    "Jonas", "Juno", "Kaya", "Kenji", "Lena", "Luca", "Mabel", "Malik", "Marta", "Milo", "Nadia",
    "Nils", "Nora", "Olive", "Omar", "Otto", "Petra", "Priya", "Quentin", "Rafael", "Rosa", "Ruth",
    "Samir", "Selma", "Silas", "Sonja", "Tamar", "Theo", "Tilda", "Ugo", "Vera", "Viktor", "Wanda",
    "Wesley", "Xenia", "Yara", "Yusuf", "Zora",
)  # fmt: skip
_LAST = (
    "Abernathy", "Adeyemi", "Albrecht", "Antonelli", "Barlow", "Bergstrom", "Blackwood", "Boateng",
    "Caldwell", "Castellan", "Chaudhry", "Corbett", "Dahl", "Delacroix", "Drummond", "Eastman",
    "Eriksen", "Fairbanks", "Farrow", "Ferreira", "Galloway", "Garnier", "Greenfield", "Haddad",
    "Halden", "Hartmann", "Holloway", "Ibarra", "Ingram", "Jansen", "Jovanovic", "Kapoor", "Keller",
    "Kowalski", "Lambert", "Larsen", "Lindqvist", "Lovell", "Mackay", "Marchetti", "Merrick",
    "Moreau", "Nakamura", "Navarro", "Novak", "Oduya", "Okafor", "Olsen", "Osborne", "Pemberton",
    "Petrov", "Quill", "Ramsey", "Rinaldi", "Rossi", "Sandoval", "Santos", "Sato", "Schreiber",
    "Sinclair", "Sorensen", "Tanaka", "Thackeray", "Thorne", "Ueda", "Underhill", "Valdez",
    "Vandermeer", "Varga", "Vogel", "Wainwright", "Weaver", "Whitlock", "Winslow", "Yamada",
    "Yilmaz", "Zamora", "Zeller", "Zimmer", "Zhou",
)  # fmt: skip


@dataclass(frozen=True)
class Person:
    """A person.

    Attributes:
        name: first and last name; no two people share one.
        username: on every site.
        email: address.
        town: where they live, one of `TOWNS`.
    """

    name: str
    username: str
    email: str
    town: str


AGENT = Person("Mira Halden", "mira.halden", "mira.halden@post.test", "Willowmere")
"""Who the agent acts as: signed in on every site when a task begins. The password is `PASSWORD`."""

AGENT_ID = 1
"""The agent's user id on every site."""

PASSWORD = "correct-horse"


@cache
def people(number: int = 400) -> tuple[Person, ...]:
    """Return the agent's person and others, always the same."""
    rng = np.random.default_rng(7)
    result = {AGENT.name: AGENT}
    while len(result) < number:
        first, last = str(rng.choice(_FIRST)), str(rng.choice(_LAST))
        name = f"{first} {last}"
        username = f"{first}.{last}".lower()
        person = Person(name, username, f"{username}@post.test", str(rng.choice(TOWNS)))
        result.setdefault(name, person)
    return tuple(result.values())
