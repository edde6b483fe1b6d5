"""Folders and files of a project."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.webarena.sites.gitlab.access import find_project, of_project
from agentgym_envs.webarena.sites.gitlab.site import SITE
from agentgym_envs.webarena.sites.gitlab.trees import (
    branch_names,
    branch_of,
    file_of,
    files_of,
    listing,
)
from agentgym_envs.webarena.sites.web import NotFound, Visit


@SITE.get("/~{owner}/{slug}/tree")
def root(visit: Visit, owner: str, slug: str) -> Response:
    """List the top folder."""
    return folder(visit, owner, slug, "")


@SITE.get("/~{owner}/{slug}/tree/{path:path}")
def folder(visit: Visit, owner: str, slug: str, path: str) -> Response:
    """List a folder."""
    project = find_project(visit, owner, slug)
    branch = branch_of(visit, project)
    path = path.strip("/")
    entries = listing(files_of(visit, project, branch), path)
    if path and not entries:
        raise NotFound(f"There is no folder {path!r:.140} on this branch.")
    return of_project(
        visit, project, "folder.html", branch=branch, branches=branch_names(visit, project),
        path=path, entries=entries, parents=_parents(path),
    )  # fmt: skip


@SITE.get("/~{owner}/{slug}/file/{path:path}")
def show_file(visit: Visit, owner: str, slug: str, path: str) -> Response:
    """Show a file."""
    project = find_project(visit, owner, slug)
    branch = branch_of(visit, project)
    file = file_of(visit, project, branch, path)
    lines = file["content"].splitlines()
    return of_project(
        visit, project, "file.html", branch=branch, branches=branch_names(visit, project),
        file=file, lines=lines, parents=_parents(path), size=len(file["content"].encode()),
    )  # fmt: skip


def _parents(path: str) -> list[tuple[str, str]]:
    """List the folders above a path as (name, path)."""
    names = path.split("/")[:-1]
    return [(name, "/".join(names[: place + 1])) for place, name in enumerate(names)]
