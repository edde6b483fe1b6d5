"""The search over everything: projects, issues, people."""

from __future__ import annotations

from starlette.responses import Response

from agentgym_envs.sites.gitlab.access import VISIBLE, visitor_id
from agentgym_envs.sites.gitlab.dashboard import list_projects
from agentgym_envs.sites.gitlab.reading import like
from agentgym_envs.sites.gitlab.site import SITE
from agentgym_envs.sites.paging import Pages
from agentgym_envs.sites.web import RequestContext

SCOPES = ("projects", "issues", "people")

_ISSUES = (
    "FROM issues i JOIN projects p ON p.id = i.project_id JOIN users u ON u.id = p.owner_id "
    f"WHERE {VISIBLE} AND NOT i.confidential AND i.title LIKE ? ESCAPE '\\'"
)


@SITE.get("/search")
def search(context: RequestContext) -> Response:
    """Show what a text occurs in."""
    text = context.field("q")
    scope = context.field("scope")
    scope = scope if scope in SCOPES else "projects"
    user = visitor_id(context)
    if scope == "projects":
        rows, pages = list_projects(context, "1", size=10)
    elif scope == "issues":
        pages = Pages.of(
            context, context.value(f"SELECT count(*) {_ISSUES}", user, user, like(text)), 15
        )
        rows = context.rows(
            "SELECT i.iid, i.title, i.state, i.created_at, p.name AS project, "
            f"'/~' || u.username || '/' || p.slug AS path {_ISSUES} "
            "ORDER BY i.created_at DESC, i.id LIMIT ? OFFSET ?",
            user, user, like(text), pages.size, pages.offset,
        )  # fmt: skip
    else:
        where = "name LIKE ? ESCAPE '\\' OR username LIKE ? ESCAPE '\\' OR email = ?"
        values = (like(text), like(text), text.lower())
        total = context.value(f"SELECT count(*) FROM users WHERE {where}", *values)
        pages = Pages.of(context, total, 15)
        rows = context.rows(
            f"SELECT * FROM users WHERE {where} ORDER BY name LIMIT ? OFFSET ?",
            *values,
            pages.size,
            pages.offset,
        )
    return context.render("search.html", text=text, scope=scope, rows=rows, pages=pages)
