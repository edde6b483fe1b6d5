"""Tasks on the forum."""

from __future__ import annotations

from worlds.tasks.reddit.comments import COMMENTS
from worlds.tasks.reddit.lookups import LOOKUPS
from worlds.tasks.reddit.missing import MISSING
from worlds.tasks.reddit.navigation import NAVIGATION
from worlds.tasks.reddit.posting import POSTING
from worlds.tasks.reddit.readings import READINGS
from worlds.tasks.reddit.registering import REGISTERING
from worlds.tasks.reddit.votes import VOTES
from worlds.tasks.reddit.writing import WRITING
from worlds.tasks.template import Template

TEMPLATES: tuple[Template, ...] = (
    *LOOKUPS,
    *READINGS,
    *VOTES,
    *COMMENTS,
    *POSTING,
    *WRITING,
    *NAVIGATION,
    *REGISTERING,
    *MISSING,
)
"""Numbers 80 to 99, 140 to 149, 165 to 168 and 190 to 194."""
