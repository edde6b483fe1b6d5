"""Tasks that need two sites: what one of them knows, the other one is told."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.across.forum_and_map import PublishPhone
from agentgym_envs.webarena.tasks.across.parcels import BestRatedThere, DriveToParcel, RefundIssue
from agentgym_envs.webarena.tasks.across.people import (
    GroupOfContributor,
    MessageBuyer,
    StarAuthorsBest,
)
from agentgym_envs.webarena.tasks.template import Template

TEMPLATES: tuple[Template, ...] = (
    DriveToParcel(),
    PublishPhone(),
    RefundIssue(),
    MessageBuyer(),
    BestRatedThere(),
    GroupOfContributor(),
    StarAuthorsBest(),
)
