"""The files of a branch, stored as differences from the default branch."""

from __future__ import annotations

import hashlib
import sqlite3
from dataclasses import dataclass

from agentgym_envs.sites.gitlab.access import Project, touch
from agentgym_envs.sites.web import NotFound, RequestContext


@dataclass(frozen=True)
class Entry:
    """A file or folder in a listing.

    Attributes:
        name: within its folder.
        path: from the root.
        is_folder: whether it is one.
        commit: the row of the latest commit in it, with `author`, its writer's name.
    """

    name: str
    path: str
    is_folder: bool
    commit: sqlite3.Row


def find_branch(context: RequestContext, project: Project, name: str = "") -> str:
    """Return the branch that a page is about: the one asked for, or the default one.

    Raises:
        NotFound: the project has no such branch.
    """
    name = name or context.field("branch") or project.branch
    if context.row("SELECT 1 FROM branches WHERE project_id = ? AND name = ?", project.id, name):
        return name
    raise NotFound(f"This project has no branch {name!r:.90}.")


def branch_names(context: RequestContext, project: Project) -> list[str]:
    """List the branches, the default one first."""
    rows = context.rows(
        "SELECT name FROM branches WHERE project_id = ? ORDER BY name <> ?, name",
        project.id,
        project.branch,
    )
    return [row["name"] for row in rows]


def branch_files(context: RequestContext, project: Project, branch: str) -> list[sqlite3.Row]:
    """List the files of a branch by path, each with its last commit."""
    return context.rows(
        "SELECT f.path, f.content, c.message, c.created_at, c.sha, u.name AS author, "
        "u.username AS author_username FROM files f JOIN commits c ON c.id = f.commit_id "
        "JOIN users u ON u.id = c.author_id WHERE f.project_id = ? AND (f.branch = ? "
        "OR f.branch = ? AND NOT EXISTS (SELECT 1 FROM files g WHERE g.project_id = f.project_id "
        "AND g.branch = ? AND g.path = f.path)) ORDER BY f.path",
        project.id,
        branch,
        project.branch,
        branch,
    )


def find_file(context: RequestContext, project: Project, branch: str, path: str) -> sqlite3.Row:
    """Return a file.

    Raises:
        NotFound: there is none at this path.
    """
    for row in branch_files(context, project, branch):
        if row["path"] == path:
            return row
    raise NotFound(f"There is no file {path!r:.140} on this branch.")


def listing(files: list[sqlite3.Row], folder: str) -> list[Entry]:
    """List a folder: its folders, then its files."""
    inside = f"{folder}/" if folder else ""
    entries: dict[str, Entry] = {}
    for row in files:
        if not row["path"].startswith(inside):
            continue
        name, *rest = row["path"][len(inside) :].split("/", 1)
        before = entries.get(name)
        if before is None or row["created_at"] > before.commit["created_at"]:
            entries[name] = Entry(name, inside + name, bool(rest), row)
    return sorted(entries.values(), key=lambda entry: (not entry.is_folder, entry.name))


def add_commit(context: RequestContext, project: Project, branch: str, message: str) -> int:
    """Add a commit of the visitor's and return its id."""
    touch(context, project)
    number = context.value("SELECT max(id) FROM commits") + 1
    sha = hashlib.sha1(f"forgeyard {number} {message}".encode()).hexdigest()
    return context.insert(
        "commits", project_id=project.id, branch=branch, sha=sha, author_id=context.user_id,
        message=message, created_at=context.now,
    )  # fmt: skip


def write_file(
    context: RequestContext, project: Project, branch: str, path: str, content: str, commit: int
) -> None:
    """Create or replace a file on a branch."""
    context.run(
        "INSERT INTO files (project_id, branch, path, content, commit_id) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (project_id, branch, path) DO UPDATE SET content = excluded.content, "
        "commit_id = excluded.commit_id",
        project.id, branch, path, content, commit,
    )  # fmt: skip


def add_branch(context: RequestContext, project: Project, name: str) -> None:
    """Add a branch that equals the default one."""
    context.insert(
        "branches", project_id=project.id, name=name, author_id=context.user_id,
        created_at=context.now,
    )  # fmt: skip
