"""The experts of the tasks across sites."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.across import forum_and_map, parcels, people
from agentgym_envs.webarena.tasks.solution import Solution

EXPERTS: dict[int, Solution] = {
    130: parcels.drive_to_parcel,
    131: forum_and_map.publish_phone,
    132: parcels.refund_issue,
    133: people.group_of_contributor,
    134: people.star_authors_project,
    135: people.message_buyer,
    136: parcels.best_rated_there,
}
"""By the number of the template."""
