"""Draws the pages deep inside a site that some tasks begin on.

One in eleven of WebArena's tasks begins on such a page, which has nothing to do with the task:
somebody has left it open.
"""

from __future__ import annotations

from worlds.dice import Dice
from worlds.tasks.gitlab.draws import SEEN
from worlds.tasks.template import Case, Template, World

EVERY = 11
_FIRST = 7

_PAGES = {
    "shopping": "SELECT '/product/' || slug FROM products WHERE is_enabled ORDER BY id",
    "shopping_admin": "SELECT '/orders/' || number FROM orders ORDER BY id",
    "reddit": "SELECT '/p/' || id FROM posts ORDER BY id",
    "gitlab": "SELECT '/~' || u.username || '/' || p.slug FROM projects p "
    f"JOIN users u ON u.id = p.owner_id WHERE {SEEN} ORDER BY p.id",
    "map": "SELECT '/place/' || id FROM places ORDER BY id",
}
"""Paths of the pages by site."""

_DATABASES = {"shopping_admin": "shopping"}


def start_of(template: Template, case: Case, instance: int, world: World) -> str:
    """Return where a task begins, with WebArena's placeholders.

    Args:
        template: its template.
        case: what was drawn; where it or its template says where to begin, that counts.
        instance: its place in the template; one in `EVERY` begins deep inside.
        world: that is played on.
    """
    site = template.sites[0]
    home = f"__{site.upper()}__"
    is_deep = template.signed_in and instance % EVERY == _FIRST
    if case.start or template.start or not is_deep:
        return case.start or template.start or home
    rows = world.rows(_DATABASES.get(site, site), _PAGES[site])
    dice = Dice("start", template.number, instance)
    start = f"{home}{dice.pick(rows)[0]}"
    return home if start in case.goal.pages else start
