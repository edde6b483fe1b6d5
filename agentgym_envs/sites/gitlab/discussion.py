"""Discussions: the shared part of issues and merge requests."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from dataclasses import dataclass

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import ARCHIVED, Project, find_project, numbered
from agentgym_envs.sites.gitlab.fields import ForgeFields
from agentgym_envs.sites.gitlab.todos import add_todo
from agentgym_envs.sites.listing import Listing, Orders, Pages
from agentgym_envs.sites.web import Forbidden, RequestContext

NONE = "none"
"""In a filter: those that have none."""


@dataclass(frozen=True)
class Kind:
    """Issues, or merge requests.

    Attributes:
        folder: of their pages' addresses.
        table: that holds them, `i` in SQL.
        key: the column that names one in other tables.
        role: the least that may edit those of others.
        columns: what pages show of one.
        joined: the tables that the columns need besides `a`, the author.
        states: that they can have.
        orders: how their list is sorted.
    """

    folder: str
    table: str
    key: str
    role: str
    columns: str
    joined: str
    states: tuple[str, ...]
    orders: Orders

    @property
    def choices(self) -> list[tuple[str, str]]:
        """The options of the list box of states."""
        return [(state, state.capitalize()) for state in (*self.states, "all")]

    @property
    def _source(self) -> str:
        return f"{self.table} i JOIN users a ON a.id = i.author_id"

    def path(self, project: Project, iid: int) -> str:
        """Return the address of one."""
        return f"{project.path}/{self.folder}/{iid}"

    def find(
        self,
        context: RequestContext,
        project: Project,
        iid: str,
        condition: str = "1",
        *values: object,
    ) -> sqlite3.Row:
        """Return the row of a number in an address.

        Raises:
            NotFound: there is none, or the condition does not hold.
        """
        sql = (
            f"SELECT {self.columns} FROM {self._source} {self.joined} "
            f"WHERE i.project_id = ? AND i.iid = ? AND {condition}"
        )
        return numbered(context, sql, project, iid, *values)

    def listing(self, context: RequestContext, project: Project, size: int) -> Listing:
        """Return the list of a project's, filtered by state and text."""
        listing = Listing(context, self._source, self.orders, size=size)
        listing.where("i.project_id = ?", project.id)
        state = context.field("state") or "open"
        if state in self.states:
            listing.where("i.state = ?", state)
        listing.like("q", "i.title", "i.body")
        return listing

    def may_edit(self, project: Project, row: sqlite3.Row) -> bool:
        """Return whether the visitor may edit and close one."""
        is_author = project.is_open and row["author_id"] == project.user_id
        return is_author or project.allows(self.role)

    def insert(self, context: RequestContext, project: Project, **row: object) -> tuple[int, int]:
        """Open one and return its number in the project and its id."""
        iid = context.value(
            f"SELECT coalesce(max(iid), 0) + 1 FROM {self.table} WHERE project_id = ?", project.id
        )
        about = {"project_id": project.id, "iid": iid, "author_id": project.user_id}
        return iid, context.insert(self.table, **about, **row, created_at=context.now)

    def ask(
        self, context: RequestContext, project: Project, row_id: int, user: int | None, action: str
    ) -> None:
        """Give a to-do about one to a user."""
        add_todo(context, user, action, project_id=project.id, **{self.key: row_id})

    def notes(
        self, context: RequestContext, row: sqlite3.Row, size: int
    ) -> tuple[list[sqlite3.Row], Pages]:
        """Return a page of the comments."""
        listing = Listing(context, "notes n", size=size).where(f"n.{self.key} = ?", row["id"])
        return listing.rows(
            "n.*, u.name AS author, u.username",
            joined="JOIN users u ON u.id = n.author_id",
            order="n.created_at, n.id",
        )

    def comment(
        self,
        context: RequestContext,
        project: Project,
        row: sqlite3.Row,
        page: Callable[[RequestContext, Project, sqlite3.Row, ForgeFields], Response],
    ) -> Response:
        """Add the posted comment, or show the page again with its errors."""
        fields = ForgeFields(context)
        text = fields.comment("body")
        if fields.errors:
            return page(context, project, row, fields)
        context.insert(
            "notes",
            **{self.key: row["id"]},
            author_id=project.user_id,
            body=text,
            created_at=context.now,
        )
        context.flash("Your comment has been added.")
        return context.redirect(self.path(project, row["iid"]))


def open_project(context: RequestContext, owner: str, slug: str) -> Project:
    """Return a project in which the visitor may open issues and comment.

    Raises:
        NotFound: there is no such project for this visitor.
        Forbidden: it is archived.
    """
    project = find_project(context, owner, slug)
    if not project.is_open:
        raise Forbidden(ARCHIVED)
    return project
