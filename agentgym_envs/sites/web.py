"""The sites' web framework: routes, forms, sessions, pages. Built on Starlette and Jinja.

A site is a `Site` with handlers, `def handler(context: RequestContext, ...path parameters) ->
Response`. The app holds no state: everything lives in the episode's `SiteState`, which comes with
the request's scope.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

import jinja2
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Match, Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from agentgym_envs.sites.filters import FILTERS
from agentgym_envs.sites.names import DATABASES, ORIGINS
from agentgym_envs.sites.state import NOW, SiteState

STATE_KEY = "agentgym.state"  # of the scope: the episode's SiteState
ORIGINS_KEY = "agentgym.origins"  # of the scope: {site: origin}, where not canonical
SESSION_COOKIE = "session"
NOT_FOUND = "This page does not exist."
_MOST_PATHS = 1000  # whose route is remembered

Handler = Callable[..., Response]


class NotFound(HTTPException):
    """There is no such page."""

    def __init__(self, detail: str = NOT_FOUND) -> None:
        super().__init__(404, detail)


class Forbidden(HTTPException):
    """The visitor may not do this."""

    def __init__(self, detail: str) -> None:
        super().__init__(403, detail)


def read_id(text: str, missing: str = NOT_FOUND) -> int:
    """Read the id in an address: at most nine digits.

    Raises:
        NotFound: it is no id; `missing` says so.
    """
    if not (text.isascii() and text.isdecimal() and len(text) <= 9):
        raise NotFound(missing)
    return int(text)


def own_path(text: str, default: str = "/") -> str:
    """Return a path of this site as it is, and `default` for every other address."""
    is_own = text.startswith("/") and not text.startswith("//") and "\\" not in text
    return text if is_own and text.isprintable() else default


class RequestContext:
    """One request to a site, with its handler's helpers.

    Attributes:
        site: the site.
        request: Starlette's request.
        state: the episode's databases.
        form: the posted fields, the last value of each; empty for GET.
        now: the sites' clock, `"YYYY-MM-DD HH:MM:SS"`.
    """

    now = NOW

    def __init__(self, site: Site, request: Request, form: Mapping[str, Sequence[str]]) -> None:
        self.site = site
        self.request = request
        self.state: SiteState = request.scope[STATE_KEY]
        self._form = form
        self.form = {name: values[-1] for name, values in form.items()}
        self._token = request.cookies.get(SESSION_COOKIE, "")
        self._new_token = ""

    # The database -----------------------------------------------------------------------------

    @cached_property
    def db(self) -> sqlite3.Connection:
        """The site's database in this episode."""
        return self.state.database(self.site.name)

    def rows(self, sql: str, *values: Any) -> list[sqlite3.Row]:
        """Return all rows of a query."""
        return self.db.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> sqlite3.Row | None:
        """Return the first row of a query, or None."""
        row: sqlite3.Row | None = self.db.execute(sql, values).fetchone()
        return row

    def value(self, sql: str, *values: Any) -> Any:
        """Return the first column of the first row, or None."""
        row = self.row(sql, *values)
        return None if row is None else row[0]

    def find(self, missing: str, sql: str, *values: Any) -> sqlite3.Row:
        """Return the first row of a query.

        Raises:
            NotFound: there is none; `missing` says so.
        """
        row = self.row(sql, *values)
        if row is None:
            raise NotFound(missing)
        return row

    def run(self, sql: str, *values: Any) -> int:
        """Change the database and return the id of the last inserted row.

        Everything is committed when the handler has answered.
        """
        return self.db.execute(sql, values).lastrowid or 0

    def insert(self, table: str, **row: Any) -> int:
        """Insert a row and return its id."""
        marks = ", ".join("?" * len(row))
        return self.run(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", *row.values())

    def update(self, table: str, row_id: int, **changes: Any) -> None:
        """Change columns of the row of an id."""
        columns = ", ".join(f"{column} = ?" for column in changes)
        self.run(f"UPDATE {table} SET {columns} WHERE id = ?", *changes.values(), row_id)

    # The request ------------------------------------------------------------------------------

    def field(self, name: str) -> str:
        """Return a posted field or query parameter, stripped, "" if missing."""
        return (self.form.get(name) or self.request.query_params.get(name) or "").strip()

    def fields(self, name: str) -> list[str]:
        """Return all values of a field or query parameter that may occur several times."""
        return [*self._form.get(name, ()), *self.request.query_params.getlist(name)]

    def number(self, name: str, default: int = 0) -> int:
        """Return a field as a whole number of up to nine digits, or `default`."""
        text = self.field(name)
        is_number = text.removeprefix("-").isdecimal() and text.isascii() and len(text) <= 9
        return int(text) if is_number else default

    def way_back(self, default: str = "/", *, name: str = "next") -> str:
        """Return a field's page of this site, or `default`."""
        path = own_path(self.field(name), default)
        return path if self.site.has_page(path) else default

    # The session ------------------------------------------------------------------------------

    @cached_property
    def user(self) -> sqlite3.Row | None:
        """The signed-in user's row of the site's user table, or None."""
        if not self._token or not self.site.user_table:
            return None
        return self.row(
            f"SELECT u.* FROM sessions s JOIN {self.site.user_table} u ON u.id = s.user_id "
            "WHERE s.token = ? AND s.site = ?",
            self._token,
            self.site.name,
        )

    @property
    def user_id(self) -> int:
        """The signed-in user's id, 0 for strangers."""
        return 0 if self.user is None else int(self.user["id"])

    def sign_in(self, user_id: int) -> None:
        """Sign a user in with the answer to this request."""
        self._new_token = self.state.sign_in(self.site.name, user_id)
        self._token = self._new_token
        self.__dict__.pop("user", None)

    def sign_out(self) -> None:
        """End the session."""
        self.run("DELETE FROM sessions WHERE token = ?", self._token)
        self.__dict__.pop("user", None)

    def flash(self, message: str, kind: str = "success") -> None:
        """Show a message on the next page: kind is `"success"`, `"error"` or `"notice"`."""
        if self.row("SELECT 1 FROM sessions WHERE token = ?", self._token) is None:
            self._new_token = self._token = self.state.sign_in(self.site.name, 0)
        messages = [*self._flashes(), {"kind": kind, "text": message}]
        self.run("UPDATE sessions SET flash = ? WHERE token = ?", json.dumps(messages), self._token)

    def _flashes(self) -> list[dict[str, str]]:
        if not self._token or self.site.name not in DATABASES:
            return []
        messages = self.value("SELECT flash FROM sessions WHERE token = ?", self._token)
        return json.loads(messages) if messages else []

    # The answer -------------------------------------------------------------------------------

    def render(self, template: str, *, status: int = 200, **variables: Any) -> Response:
        """Render a template with `context`, `user`, `site`, `origins` and `flashes`."""
        flashes = self._flashes()
        if flashes:
            self.run("UPDATE sessions SET flash = '[]' WHERE token = ?", self._token)
        html = self.site.environment.get_template(template).render(
            context=self,
            user=self.user,
            site=self.site,
            origins=self.origins,
            flashes=flashes,
            **variables,
        )
        return HTMLResponse(html, status)

    def redirect(self, path: str) -> Response:
        """Send the browser to another page of this site, or to an absolute address."""
        return RedirectResponse(path, 303)

    @property
    def origins(self) -> Mapping[str, str]:
        """For links to other sites: {site: origin}, as this browser reaches them."""
        origins: Mapping[str, str] = self.request.scope.get(ORIGINS_KEY, ORIGINS)
        return origins

    @property
    def path(self) -> str:
        """Path and query of this request."""
        query = self.request.url.query
        return self.request.url.path + (f"?{query}" if query else "")

    def link(self, **changes: Any) -> str:
        """Return this page's address with changed query parameters. None removes one."""
        query = dict(self.request.query_params) | changes
        parameters = {name: value for name, value in query.items() if value not in (None, "")}
        return self.request.url.path + (f"?{urlencode(parameters)}" if parameters else "")

    def finish(self, response: Response) -> Response:
        """Commit, and set the session's cookie where it is new."""
        if "db" in self.__dict__:
            self.db.commit()
        if self._new_token:
            response.set_cookie(SESSION_COOKIE, self._new_token, httponly=True, samesite="lax")
        return response


class _Environment(jinja2.Environment):
    """Jinja's, which asks a row of the database for its columns first: they are no attributes."""

    def getattr(self, obj: Any, attribute: str) -> Any:
        """Return an attribute, or an item of that name."""
        if type(obj) is sqlite3.Row:
            try:
                return obj[attribute]
            except IndexError:
                pass
        return super().getattr(obj, attribute)


class Site:
    """One web site: its routes and its templates.

    Args:
        name: as in `names.SITES`.
        title: what the site calls itself.
        folder: the site's package folder; templates lie in its `pages`, `theme.css` beside them.
        user_table: table of its users, with a column `id`; empty if nobody signs in.
    """

    def __init__(self, name: str, title: str, folder: Path, *, user_table: str = "") -> None:
        self.name = name
        self.title = title
        self.folder = folder
        self.user_table = user_table
        self.routes: list[Route] = []

    def get(self, path: str, *, signed_in: bool = False) -> Callable[[Handler], Handler]:
        """Register a handler for GET. `signed_in` sends strangers to `/login` first."""
        return self._register("GET", path, signed_in)

    def post(self, path: str, *, signed_in: bool = False) -> Callable[[Handler], Handler]:
        """Register a handler for POST."""
        return self._register("POST", path, signed_in)

    def has_page(self, path: str) -> bool:
        """Return whether something can be opened at a path, as far as the routes tell."""
        scope = {"type": "http", "method": "GET", "path": unquote(urlsplit(path).path)}
        return any(route.matches(scope)[0] == Match.FULL for route in self.routes)

    @cached_property
    def environment(self) -> jinja2.Environment:
        """The templates: the site's own, then the shared layout."""
        shared = Path(__file__).parent / "layout"
        environment = _Environment(
            loader=jinja2.FileSystemLoader([self.folder / "pages", shared]),
            autoescape=True,
            auto_reload=False,
            trim_blocks=True,
            lstrip_blocks=True,
            undefined=jinja2.StrictUndefined,
        )
        environment.filters.update(FILTERS)
        return environment

    @cached_property
    def app(self) -> ASGIApp:
        """The site as an ASGI application. The scope holds the episode's state."""
        router = Router(self.routes)

        @lru_cache(_MOST_PATHS)
        def find_route(method: str, path: str) -> ASGIApp:
            """Return a path's handler. The router itself tries one route after the other."""
            scope = {"type": "http", "method": method, "path": path}
            matching = (route for route in self.routes if route.matches(scope)[0] == Match.FULL)
            route = next(matching, None)
            return router if route is None else Router([route])

        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            try:
                answer = find_route(scope["method"], scope["path"])
                await answer({**scope, "app": None}, receive, send)
            except HTTPException as error:
                context = RequestContext(self, Request(scope), {})
                # The router's own words, for an address that has no route, are bare.
                detail = NotFound().detail if type(error) is HTTPException else error.detail
                response = context.render("error.html", status=error.status_code, message=detail)
                await context.finish(response)(scope, receive, send)

        return app

    def _register(self, method: str, path: str, signed_in: bool) -> Callable[[Handler], Handler]:
        def register(handler: Handler) -> Handler:
            # async, though nothing is awaited: Starlette sends plain functions to a thread pool.
            async def endpoint(request: Request) -> Response:
                form: dict[str, list[str]] = {}
                if method == "POST":
                    for name, value in (await request.form()).multi_items():
                        form.setdefault(name, []).append(str(value))
                context = RequestContext(self, request, form)
                if signed_in and context.user is None:
                    return context.finish(context.redirect(f"/login?next={quote(context.path)}"))
                return context.finish(handler(context, **request.path_params))

            self.routes.append(Route(path, endpoint, methods=[method]))
            return handler

        return register
