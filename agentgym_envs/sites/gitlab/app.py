"""Assembles the code host with all its pages."""

from __future__ import annotations

from agentgym_envs.sites.gitlab import (
    branches,
    commits,
    dashboard,
    editing,
    files,
    issue_changes,
    issues,
    labels,
    members,
    merge_changes,
    merges,
    milestones,
    new_project,
    profiles,
    projects,
    search,
    settings,
    todos,
)
from agentgym_envs.sites.gitlab.prose import prose
from agentgym_envs.sites.gitlab.site import SITE

SITE.environment.filters["prose"] = prose

__all__ = [
    "SITE",
    "branches",
    "commits",
    "dashboard",
    "editing",
    "files",
    "issue_changes",
    "issues",
    "labels",
    "members",
    "merge_changes",
    "merges",
    "milestones",
    "new_project",
    "profiles",
    "projects",
    "search",
    "settings",
    "todos",
]
