"""Tasks that need two sites: they carry a fact of one over to the other."""

from __future__ import annotations

from worlds.tasks.across.forum_and_map import PublishPhone
from worlds.tasks.across.parcels import BestRatedThere, DriveToParcel, RefundIssue
from worlds.tasks.across.people import (
    GroupOfContributor,
    MessageBuyer,
    StarAuthorsProject,
)
from worlds.tasks.template import Template

TEMPLATES: tuple[Template, ...] = (
    DriveToParcel(),
    PublishPhone(),
    RefundIssue(),
    MessageBuyer(),
    BestRatedThere(),
    GroupOfContributor(),
    StarAuthorsProject(),
)
