"""Roles and permissions, and a visitor's view of projects."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import Any

from agentgym_envs.sites.web import NOT_FOUND, Forbidden, NotFound, RequestContext, read_id

ROLES = ("Guest", "Reporter", "Developer", "Maintainer", "Owner")
"""From the least to the most powerful."""

VISIBILITIES = ("private", "internal", "public")
"""From the most hidden to the most open."""

ARCHIVED = "This project is archived: it can be read, but not changed."

VISIBILITY_CHOICES = [(name, name.capitalize()) for name in VISIBILITIES]

VISIBLE = (
    "(p.visibility = 'public' OR (p.visibility = 'internal' AND ? > 0) OR EXISTS "
    "(SELECT 1 FROM members v WHERE v.project_id = p.id AND v.user_id = ?))"
)
"""Condition on projects `p`. It takes the visitor's id twice, 0 for strangers."""

VISIBLE_ISSUE = "(NOT i.confidential OR ? OR ? IN (i.author_id, i.assignee_id))"
"""Condition on issues `i` of one project. It takes `Project.issue_rights`."""


@dataclass(frozen=True)
class Project:
    """A project as one visitor sees it.

    Attributes:
        row: its row, with `owner_username` and `owner_name`.
        role: the visitor's, or "".
        user_id: the visitor, 0 for strangers.
    """

    row: sqlite3.Row
    role: str
    user_id: int

    @property
    def id(self) -> int:
        """Its number."""
        return int(self.row["id"])

    @property
    def name(self) -> str:
        """The project's name."""
        return str(self.row["name"])

    @property
    def path(self) -> str:
        """The beginning of its pages' addresses."""
        return f"/~{self.row['owner_username']}/{self.row['slug']}"

    @property
    def branch(self) -> str:
        """The default branch."""
        return str(self.row["default_branch"])

    @property
    def topics(self) -> list[str]:
        """Its topics."""
        return [topic for topic in self.row["topics"].split(", ") if topic]

    @property
    def is_open(self) -> bool:
        """Whether the visitor may open issues and comment."""
        return self.user_id > 0 and not self.row["archived"]

    @property
    def issue_rights(self) -> tuple[bool, int]:
        """Whether the visitor may see all confidential issues, and whose own ones otherwise."""
        return self.ranks("Reporter"), self.user_id

    def ranks(self, role: str) -> bool:
        """Return whether the visitor's role is this one or above it."""
        return bool(self.role) and ROLES.index(self.role) >= ROLES.index(role)

    def allows(self, role: str) -> bool:
        """Return whether the visitor has this role. Archived projects allow nothing."""
        return not self.row["archived"] and self.ranks(role)

    def require(self, role: str, *, unless: bool = False) -> None:
        """Let through those whom `allows` lets do this, and all if `unless` holds.

        Raises:
            Forbidden: the visitor's role is too small, or the project is archived.
        """
        if not (unless or self.allows(role)):
            raise Forbidden(self.refusal(role))

    def refusal(self, role: str) -> str:
        """Return the reason why something is not allowed."""
        return (
            ARCHIVED
            if self.row["archived"]
            else f"This takes the role {role} or above in {self.name}."
        )


def find_project(context: RequestContext, owner: str, slug: str) -> Project:
    """Return a project that the visitor may see.

    Raises:
        NotFound: there is none, or it is hidden from this visitor.
    """
    hidden = "There is no such project, or you may not see it."
    user = context.user_id
    row = context.find(
        hidden,
        "SELECT p.*, u.username AS owner_username, u.name AS owner_name, m.role AS visitor_role "
        "FROM projects p JOIN users u ON u.id = p.owner_id "
        "LEFT JOIN members m ON m.project_id = p.id AND m.user_id = ? "
        "WHERE u.username = ? AND p.slug = ?",
        *(user, owner, slug),
    )
    role = row["visitor_role"] or ""
    if not role and (
        row["visibility"] == "private" or not user and row["visibility"] == "internal"
    ):
        raise NotFound(hidden)
    return Project(row, role, user)


def managed(context: RequestContext, owner: str, slug: str, role: str) -> Project:
    """Return a project in which the visitor has at least this role, and that is not archived.

    Raises:
        NotFound: there is no such project for this visitor.
        Forbidden: the visitor's role is too small, or the project is archived.
    """
    project = find_project(context, owner, slug)
    project.require(role)
    return project


def numbered(
    context: RequestContext, sql: str, project: Project, iid: str, *values: Any
) -> sqlite3.Row:
    """Return a project's row of a number in an address.

    Args:
        context: the request.
        sql: takes the project's id, the number and `values`.
        project: the project.
        iid: the number as the address has it.
        values: of the query's further placeholders.

    Raises:
        NotFound: there is none.
    """
    return context.find(NOT_FOUND, sql, project.id, read_id(iid), *values)


def project_people(context: RequestContext, project: Project) -> list[sqlite3.Row]:
    """List the members as users, by name."""
    return context.rows(
        "SELECT u.id, u.name, u.username FROM members m JOIN users u ON u.id = m.user_id "
        "WHERE m.project_id = ? ORDER BY u.name",
        project.id,
    )


def person_choices(people: list[sqlite3.Row], nobody: str) -> list[tuple[str, str]]:
    """Return the options of a list box of people, an empty one first."""
    return [("", nobody), *((str(person["id"]), person["name"]) for person in people)]


def chosen_id(value: str, rows: list[sqlite3.Row]) -> int | None:
    """Return the id that was chosen, where it is one of these rows."""
    return next((int(row["id"]) for row in rows if str(row["id"]) == value), None)


def touch(context: RequestContext, project: Project) -> None:
    """Remember that the project has changed."""
    context.update("projects", project.id, updated_at=context.now)
