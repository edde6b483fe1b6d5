"""The members of a project: inviting, changing roles, removing."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import (
    ROLES,
    Project,
    find_project,
    managed,
    of_project,
)
from agentgym_envs.sites.gitlab.reading import day_error
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.web import NotFound, RequestContext

GIVEN_ROLES = ROLES[:-1]
"""What members can be; there is one owner."""

_EMPTY = {"who": "", "role": "Developer", "expires_on": ""}


@SITE.get("/~{owner}/{slug}/members")
def member_list(context: RequestContext, owner: str, slug: str) -> Response:
    """List the members."""
    return _list(context, find_project(context, owner, slug), _EMPTY, {}, 200)


@SITE.post("/~{owner}/{slug}/members", signed_in=True)
def invite(context: RequestContext, owner: str, slug: str) -> Response:
    """Add a member by user name or e-mail address."""
    project = managed(context, owner, slug, "Maintainer")
    values = {field: context.field(field) for field in _EMPTY}
    who = values["who"].lower().removeprefix("@")
    person = context.row("SELECT id, name FROM users WHERE username = ? OR email = ?", who, who)
    errors = {"expires_on": day_error(values["expires_on"])}
    if person is None:
        errors["who"] = "There is no user with this user name or e-mail address."
    elif _role_of(context, project, person["id"]):
        errors["who"] = f"{person['name']} is a member already."
    if values["role"] not in GIVEN_ROLES:
        errors["role"] = "Choose a role."
    if (
        not errors["expires_on"]
        and values["expires_on"]
        and values["expires_on"] <= context.now[:10]
    ):
        errors["expires_on"] = "This day must lie in the future."
    errors = {field: error for field, error in errors.items() if error}
    if errors or person is None:
        return _list(context, project, values, errors, 422)
    context.run(
        "INSERT INTO members (project_id, user_id, role, expires_on, joined_at) "
        "VALUES (?, ?, ?, ?, ?)",
        project.id, person["id"], values["role"], values["expires_on"] or None, context.now,
    )  # fmt: skip
    context.flash(f"{person['name']} is now a {values['role']}.")
    return context.redirect(f"{project.path}/members")


@SITE.get("/~{owner}/{slug}/members/{username}", signed_in=True)
def member_form(context: RequestContext, owner: str, slug: str, username: str) -> Response:
    """Show the form for a member's role."""
    project = managed(context, owner, slug, "Maintainer")
    member = _member(context, project, username)
    values = {"role": member["role"], "expires_on": member["expires_on"] or ""}
    return _form(context, project, member, values, {}, 200)


@SITE.post("/~{owner}/{slug}/members/{username}", signed_in=True)
def change(context: RequestContext, owner: str, slug: str, username: str) -> Response:
    """Change a member's role and the day on which it ends."""
    project = managed(context, owner, slug, "Maintainer")
    member = _member(context, project, username)
    values = {"role": context.field("role"), "expires_on": context.field("expires_on")}
    errors = {"expires_on": day_error(values["expires_on"])}
    if values["role"] not in GIVEN_ROLES:
        errors["role"] = "Choose a role."
    errors = {field: error for field, error in errors.items() if error}
    if errors:
        return _form(context, project, member, values, errors, 422)
    context.run(
        "UPDATE members SET role = ?, expires_on = ? WHERE project_id = ? AND user_id = ?",
        values["role"], values["expires_on"] or None, project.id, member["id"],
    )  # fmt: skip
    context.flash(f"{member['name']} is now a {values['role']}.")
    return context.redirect(f"{project.path}/members")


@SITE.post("/~{owner}/{slug}/members/{username}/remove", signed_in=True)
def remove(context: RequestContext, owner: str, slug: str, username: str) -> Response:
    """Remove a member; everybody may leave by themselves."""
    project = find_project(context, owner, slug)
    is_self = context.user is not None and context.user["username"] == username
    if not is_self:
        project = managed(context, owner, slug, "Maintainer")
    member = _member(context, project, username)
    context.run(
        "DELETE FROM members WHERE project_id = ? AND user_id = ?", project.id, member["id"]
    )
    context.flash("You have left." if is_self else f"{member['name']} has been removed.")
    return context.redirect("/" if is_self else f"{project.path}/members")


def _member(context: RequestContext, project: Project, username: str) -> sqlite3.Row:
    """Return a member who is not the owner."""
    member = context.row(
        "SELECT u.id, u.name, u.username, m.role, m.expires_on FROM members m "
        "JOIN users u ON u.id = m.user_id WHERE m.project_id = ? AND u.username = ? "
        "AND m.role <> 'Owner'",
        project.id,
        username,
    )
    if member is None:
        raise NotFound("There is no such member.")
    return member


def _role_of(context: RequestContext, project: Project, user: int) -> str:
    return (
        context.value(
            "SELECT role FROM members WHERE project_id = ? AND user_id = ?", project.id, user
        )
        or ""
    )


def _list(
    context: RequestContext,
    project: Project,
    values: dict[str, str],
    errors: dict[str, str],
    status: int,
) -> Response:
    rows = context.rows(
        "SELECT u.name, u.username, m.role, m.expires_on, m.joined_at FROM members m "
        "JOIN users u ON u.id = m.user_id WHERE m.project_id = ? ORDER BY u.name",
        project.id,
    )
    return of_project(
        context, project, "members.html", status, rows=rows, values=values, errors=errors,
        roles=[(role, role) for role in GIVEN_ROLES],
    )  # fmt: skip


def _form(
    context: RequestContext, project: Project, member: sqlite3.Row, values: dict[str, str],
    errors: dict[str, str], status: int,
) -> Response:  # fmt: skip
    return of_project(
        context, project, "member.html", status, member=member, values=values, errors=errors,
        roles=[(role, role) for role in GIVEN_ROLES],
    )  # fmt: skip
