"""Tasks on the forum."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.reddit.comments import COMMENTS
from agentgym_envs.webarena.tasks.reddit.lookups import LOOKUPS
from agentgym_envs.webarena.tasks.reddit.navigation import NAVIGATION
from agentgym_envs.webarena.tasks.reddit.readings import READINGS
from agentgym_envs.webarena.tasks.reddit.registering import REGISTERING
from agentgym_envs.webarena.tasks.reddit.votes import VOTES
from agentgym_envs.webarena.tasks.reddit.writing import WRITING
from agentgym_envs.webarena.tasks.template import Template

TEMPLATES: tuple[Template, ...] = (
    *LOOKUPS,
    *READINGS,
    *VOTES,
    *COMMENTS,
    *WRITING,
    *NAVIGATION,
    *REGISTERING,
)
"""Numbers 80 to 99 and 140 to 149."""
