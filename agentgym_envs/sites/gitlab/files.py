"""Folders and files of a project."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import find_project, of_project
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.gitlab.trees import (
    branch_names,
    branch_of,
    file_of,
    files_of,
    listing,
)
from agentgym_envs.sites.web import NotFound, RequestContext


@SITE.get("/~{owner}/{slug}/tree")
def root(context: RequestContext, owner: str, slug: str) -> Response:
    """List the top folder."""
    return folder(context, owner, slug, "")


@SITE.get("/~{owner}/{slug}/tree/{path:path}")
def folder(context: RequestContext, owner: str, slug: str, path: str) -> Response:
    """List a folder."""
    project = find_project(context, owner, slug)
    branch = branch_of(context, project)
    path = path.strip("/")
    entries = listing(files_of(context, project, branch), path)
    if path and not entries:
        raise NotFound(f"There is no folder {path!r:.140} on this branch.")
    return of_project(
        context, project, "folder.html", branch=branch, branches=branch_names(context, project),
        path=path, entries=entries, parents=_parents(path),
    )  # fmt: skip


@SITE.get("/~{owner}/{slug}/file/{path:path}")
def show_file(context: RequestContext, owner: str, slug: str, path: str) -> Response:
    """Show a file."""
    project = find_project(context, owner, slug)
    branch = branch_of(context, project)
    file = file_of(context, project, branch, path)
    lines = file["content"].splitlines()
    return of_project(
        context, project, "file.html", branch=branch, branches=branch_names(context, project),
        file=file, lines=lines, parents=_parents(path), size=len(file["content"].encode()),
    )  # fmt: skip


def _parents(path: str) -> list[tuple[str, str]]:
    """List the folders above a path as (name, path)."""
    names = path.split("/")[:-1]
    return [(name, "/".join(names[: place + 1])) for place, name in enumerate(names)]
