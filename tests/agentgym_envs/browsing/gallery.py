"""A site of a few pages that hold one of everything, for the text browser's tests."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path

from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response

from agentgym_envs.browsing.actions import parse_action
from agentgym_envs.browsing.page import Node
from agentgym_envs.browsing.text.browser import TextBrowser
from agentgym_envs.browsing.text.fetch import fetch
from agentgym_envs.errors import InvalidAction
from agentgym_envs.sites import homepage
from agentgym_envs.sites.state import SiteState
from agentgym_envs.sites.web import RequestContext, Site

HOME = "http://homepage.test/"

FORM = """
<h1>Order</h1>
<form method="post" action="/echo">
<p><label for="name">Name</label> <input id="name" name="name" value="Mira" required></p>
<p><label for="note">Note</label> <textarea id="note" name="note">two
lines</textarea></p>
<p><label for="size">Size</label>
<select id="size" name="size"><option value="s">Small</option>
<option value="m" selected>Medium  size</option><option disabled>Giant</option></select></p>
<p><input type="checkbox" id="gift" name="gift"> <label for="gift">Gift</label></p>
<p><label><input type="radio" name="pay" value="card" checked> Card</label>
<label><input type="radio" name="pay" value="cash"> Cash</label></p>
<p><label for="day">Day</label> <input id="day" name="day" type="date"></p>
<p><label for="code">Code</label> <input id="code" name="code" maxlength="4"></p>
<p><label for="locked">Locked</label> <input id="locked" name="locked" disabled value="x">
<label for="fixed">Fixed</label> <input id="fixed" name="fixed" readonly value="y"></p>
<p><button name="go" value="now">Send</button> <button name="go" value="later">Send later</button>
<button type="reset">Reset</button> <button type="button">Idle</button>
<button disabled>Off</button> <button formaction="/save">Save</button></p>
</form>
"""

KEYS = """
<h1>Keys</h1>
<form method="post" action="/echo">
<p><label for="word">Word</label> <input id="word" name="word" value="lamp oil"></p>
<p><label for="short">Short</label> <input id="short" name="short" value="abcd" maxlength="4"></p>
<p><label for="note">Note</label> <textarea id="note" name="note">two
lines</textarea></p>
<p><label for="many">Many</label> <input id="many" name="many" type="number" value="12"></p>
<p><label for="sought">Sought</label> <input id="sought" name="sought" type="search" value="oil">
</p>
<p><label for="size">Size</label> <select id="size" name="size"><option>Tiny</option>
<option selected>Small</option><option disabled>Giant</option><option>Large</option>
<option>Huge</option><option>Vast</option></select></p>
<p><label for="some">Some</label> <select id="some" name="some" multiple><option>One</option>
<option>Two</option></select></p>
<p><label><input type="radio" name="pay" value="card"> Card</label>
<label><input type="radio" name="pay" value="cash" checked> Cash</label>
<label><input type="radio" name="pay" value="loan"> Loan</label></p>
<p><input type="checkbox" id="gift" name="gift"> <label for="gift">Gift</label></p>
<p><label for="day">Day</label> <input id="day" name="day" type="date" value="2026-03-14"></p>
<p><button>Send</button></p>
</form>
"""


def serve() -> Callable[..., TextBrowser]:
    """Return what opens a new gallery and a browser on one of its pages."""

    def open_gallery(path: str = "/") -> TextBrowser:
        site = build()
        browser = TextBrowser(SiteState(), partial(fetch, sites=lambda name: site))
        browser.open(HOME.removesuffix("/") + path, {})
        return browser

    return open_gallery


def build() -> Site:
    """Build the site; how often its home page was visited is its only state."""
    site = Site("homepage", "Gallery", Path(homepage.__file__).parent)  # for its page of errors
    visits: list[str] = []

    def page(title: str, body: str, status: int = 200) -> Response:
        return HTMLResponse(f"<title>{title}</title><body>{body}</body>", status)

    @site.get("/")
    def home(context: RequestContext) -> Response:
        visits.append("home")
        links = ("form", "search?q=old#top", "who", "loop", "away", "plain", "file", "empty")
        listed = "".join(f'<li><a href="/{link}">{link}</a></li>' for link in links)
        return page(
            "Home",
            f"<h1>Home</h1><p>RequestContext {len(visits)}</p><ul>{listed}</ul>"
            '<a href="#below">below</a> <a href="mailto:a@b.test">mail</a>'
            '<p id="below">Below</p>',
        )

    @site.get("/form")
    def form(context: RequestContext) -> Response:
        return page("Form", FORM)

    @site.get("/keys")
    def keys(context: RequestContext) -> Response:
        return page("Keys", KEYS)

    @site.post("/echo")
    def echo(context: RequestContext) -> Response:
        fields = "".join(f"<li>{escape(f'{k}={v!r}')}</li>" for k, v in context.form.items())
        return page("Echo", f"<ul>{fields}</ul><a href='/'>Home</a>")

    @site.post("/save")
    def save(context: RequestContext) -> Response:
        return context.redirect("/who?saved=1")

    @site.post("/keep")
    def keep(context: RequestContext) -> Response:
        return RedirectResponse("/echo", 307)

    @site.get("/search")
    def search(context: RequestContext) -> Response:
        return page(
            "Search",
            f"<p>Found {escape(context.field('q'))}</p><form action='/search?gone=1'>"
            "<input type=search name=q aria-label=Query></form>"
            "<form method=post action=/keep><input name=kept aria-label=Kept></form>"
            "<form><input name=a aria-label=A><input name=b aria-label=B></form>",
        )

    @site.get("/who")
    def who(context: RequestContext) -> Response:
        headers = context.request.headers
        answer = page(
            "Who",
            f"<p>cookies: {escape(headers.get('cookie', ''))}</p>"
            f"<p>referer: {escape(headers.get('referer', ''))}</p>"
            "<p><a href='/who'>again</a> <a href='/forget'>forget</a></p>",
        )
        answer.set_cookie("seen", "yes")
        return answer

    @site.get("/forget")
    def forget(context: RequestContext) -> Response:
        answer = context.redirect("/who")
        answer.delete_cookie("seen")
        answer.set_cookie("forgot", "1", httponly=True)
        return answer

    @site.get("/loop")
    def loop(context: RequestContext) -> Response:
        return context.redirect("/loop")

    @site.get("/away")
    def away(context: RequestContext) -> Response:
        return context.redirect("http://elsewhere.test/page")

    @site.get("/plain")
    def plain(context: RequestContext) -> Response:
        return PlainTextResponse("a < b & c")

    @site.get("/file")
    def file(context: RequestContext) -> Response:
        return PlainTextResponse("x", headers={"content-disposition": "attachment"})

    @site.get("/empty")
    def empty(context: RequestContext) -> Response:
        return Response(status_code=204)

    @site.get("/nothing")
    def nothing(context: RequestContext) -> Response:
        return HTMLResponse("")

    @site.get("/words/{word}")
    def words(context: RequestContext, word: str) -> Response:
        return page("Word", f"<p>{escape(word)}</p>")

    return site


def find(browser: TextBrowser, role: str, name: str) -> Node:
    """Return the element of this role and name."""
    return next(n for n in browser.page().nodes if (n.role, n.name) == (role, name))


def do(browser: TextBrowser, verb: str, role: str, name: str, rest: str = "") -> None:
    """Act on the element of this role and name."""
    node = find(browser, role, name)
    browser.act(parse_action(f"{verb} [{node.element}] {rest}".strip()))


def act(browser: TextBrowser, action: str) -> None:
    """Carry out a plain action."""
    browser.act(parse_action(action))


def refusal(browser: TextBrowser, action: str) -> str:
    """Return how an action is refused, and see that it changed nothing."""
    before = browser.page()
    try:
        act(browser, action)
    except InvalidAction as error:
        assert browser.page() is before
        return str(error)
    raise AssertionError(f"{action} was not refused")


def texts(browser: TextBrowser) -> list[str]:
    """List the page's lines, without indentation and ids."""
    return [line.strip().partition("] ")[2] for line in browser.page().lines()]
