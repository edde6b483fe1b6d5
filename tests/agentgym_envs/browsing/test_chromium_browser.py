"""What is Chromium's alone: scripts, pictures, recorded traffic, other people's sites."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from agentgym_envs import InvalidAction
from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.chromium.browser import ChromiumBrowser
from agentgym_envs.browsing.chromium.origins import Origins
from agentgym_envs.browsing.chromium.server import shared_server
from agentgym_envs.sites.state import SiteState
from tests.agentgym_envs.browsing.chromium_pairs import open_pair, play

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("chromium")]

HOME = "http://homepage.test/"

PAGE = """<title>Elsewhere</title><body><h1>{path}</h1>
<button type="button" onclick="setTimeout(() => document.title = 'Clicked')">Later</button>
<button type="button" onclick="fetch('/x').then(() => this.textContent = 'Fetched')">Fetch</button>
<button type="button" onclick="this.remove()">Vanish</button>
<button type="button" onclick="location = '/moved?by=script'">Move</button>
<a href="/popup" target="_blank">Popup</a> <a href="http://shopping.test/canonical">Canonical</a>
<p>Find us at {origin}/shop</p>
<div style="width: 90px">a <a href="/wrapped">link that goes over several lines</a> b</div>
<select aria-label="Several" multiple><option>One</option><option>Two</option></select>
<div contenteditable role="textbox" aria-label="Rich">old</div>
<a href="/covered">Covered</a><div style="position: fixed; inset: 0 0 0 50%; background: red"></div>
</body>"""


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[str]:
    """A site that is not embedded; yields its origin."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    origin = f"http://127.0.0.1:{listener.getsockname()[1]}"

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        response: Response = HTMLResponse(PAGE.format(path=scope["path"], origin=origin))
        if scope["path"] == "/redirect":
            response = RedirectResponse("/there")
        await response(scope, receive, send)

    config = uvicorn.Config(app, log_config=None, lifespan="off", ws="none", interface="asgi3")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    yield origin
    server.should_exit = server.force_exit = True
    thread.join()
    listener.close()


@pytest.fixture
def abroad(elsewhere: str) -> Iterator[ChromiumBrowser]:
    browser = ChromiumBrowser(origins={"shopping": elsewhere})
    browser.open("http://shopping.test/", {"shopping": {"session": "mine"}})
    yield browser
    browser.close()


def names(browser: ChromiumBrowser) -> list[str]:
    return [node.name for node in browser.page().nodes]


def test_other_peoples_sites_are_shown_by_their_canonical_addresses(
    abroad: ChromiumBrowser,
) -> None:
    assert abroad.page().url == "http://shopping.test/"
    assert "Find us at http://shopping.test/shop" in names(abroad)
    abroad.act(WebAction("goto", text="http://shopping.test/redirect"))
    assert abroad.page().url == "http://shopping.test/there"
    assert abroad.look_up("last", "location.href") == "http://shopping.test/there"
    assert abroad.look_up("http://shopping.test/other", "document.cookie") == "session=mine"


def test_what_a_click_sets_off_has_happened_when_it_returns(abroad: ChromiumBrowser) -> None:
    play(abroad, "click [button:Later]")
    assert abroad.page().title == "Clicked"
    play(abroad, "click [button:Fetch]")
    assert "Fetched" in names(abroad)
    play(abroad, "click [button:Vanish]")
    assert "Vanish" not in names(abroad)
    play(abroad, "click [button:Move]")
    assert abroad.page().url == "http://shopping.test/moved?by=script"


def test_an_element_that_vanished_by_itself_is_refused(abroad: ChromiumBrowser) -> None:
    page = abroad.page()
    button = next(node for node in page.nodes if node.name == "Vanish")
    abroad.look_up("last", "document.querySelectorAll('button')[2].remove()")
    with pytest.raises(InvalidAction, match="no longer on the page"):
        abroad.act(WebAction("click", element=button.element))
    assert "Vanish" not in names(abroad)


def test_a_link_may_open_a_tab(abroad: ChromiumBrowser) -> None:
    play(abroad, "click [link:Popup]")
    page = abroad.page()
    assert (page.url, page.current_tab, len(page.tabs)) == ("http://shopping.test/popup", 1, 2)


def test_links_that_wrap_or_are_covered_can_be_clicked(abroad: ChromiumBrowser) -> None:
    play(abroad, "click [link:link that goes over several lines]")
    assert abroad.page().url == "http://shopping.test/wrapped"
    play(abroad, "click [link:Covered]")
    assert abroad.page().url == "http://shopping.test/covered"


def test_options_and_editable_elements_take_actions(abroad: ChromiumBrowser) -> None:
    play(abroad, "click [option:Two]")
    assert abroad.look_up("last", "document.querySelector('select').value") == "Two"
    play(abroad, "select [listbox:Several] [One]")
    assert abroad.look_up("last", "document.querySelector('select').value") == "One"
    play(abroad, "type [textbox:Rich] [new] [0]")
    assert abroad.look_up("last", "document.querySelector('[contenteditable]').innerText") == "new"


def test_look_up_evaluates_any_script_and_gives_nothing_for_errors() -> None:
    with open_pair(HOME) as (text, chromium):
        for browser in (text, chromium):
            assert browser.look_up(HOME, "document.querySelector('h1').outerText") == "Homepage"
            assert browser.look_up("last", "document.querySelector('h7').outerText") == ""
            assert browser.look_up("last", "no such script") == ""
            assert browser.page().tabs == ("Homepage",)
        links = "[...document.links].map(link => link.text).join()"
        assert chromium.look_up(HOME, links).startswith("Homepage,Larder & Loom,")
        assert chromium.look_up("last", "location.href") == HOME
        assert chromium.look_up("last", "null") == ""
        assert "Commonplace" in chromium.look_up("last", "")


def test_a_screenshot_is_a_picture_of_the_window() -> None:
    browser = ChromiumBrowser(SiteState(), viewport=(640, 400))
    browser.open(HOME, {})
    picture = browser.screenshot()
    browser.close()
    assert picture.startswith(b"\x89PNG")
    assert [int.from_bytes(picture[at : at + 4], "big") for at in (16, 20)] == [640, 400]


def test_the_traffic_of_an_episode_is_recorded(tmp_path: Path) -> None:
    har = tmp_path / "episode.har"
    browser = ChromiumBrowser(SiteState(), har=har)
    browser.open(HOME, {})
    browser.act(WebAction("goto", text=f"{HOME}?recorded=1"))
    browser.close()
    entries = json.loads(har.read_text("utf-8"))["log"]["entries"]
    recorded = next(entry for entry in entries if entry["request"]["url"].endswith("?recorded=1"))
    assert "<h1>Homepage</h1>" in recorded["response"]["content"]["text"]


def test_an_episode_reaches_nothing_but_its_own_sites() -> None:
    mine, other = ChromiumBrowser(SiteState()), shared_server().open(SiteState())
    mine.open(HOME, {})
    port = shared_server().port
    refused = "This site can't be reached"
    for url in (
        other.origins["homepage"],
        f"http://127.0.0.1:{port}/",
        f"http://localhost:{port}/",
        "https://example.com/",
    ):
        mine.act(WebAction("goto", text=url))
        assert mine.page().title == refused
    assert mine.look_up("https://example.com/", "document.title") == refused
    mine.close()
    shared_server().forget(other)


def test_origins_are_told_apart_by_their_whole_host() -> None:
    origins = Origins({"shopping": "http://host:7770", "shopping_admin": "http://host:7780/admin"})
    assert origins.real("http://shopping.test/a?b") == "http://host:7770/a?b"
    assert origins.real("http://shopping-admin.test/x") == "http://host:7780/admin/x"
    assert origins.real("http://shopping.tests/a") == "http://shopping.tests/a"
    assert origins.real("http://map.test/") == "http://map.test/"
    text = "see http://host:7780/admin/x and http://host:7770 or http://host:77701"
    shown = "see http://shopping-admin.test/x and http://shopping.test or http://host:77701"
    assert origins.canonical(text) == shown
    assert origins.is_of_a_site("http://host:7770/x")
    assert not origins.is_of_a_site("http://host:7771/x")
