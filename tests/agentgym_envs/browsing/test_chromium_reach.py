"""On sites that somebody else serves, the browser reaches those sites alone."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.chromium.browser import ChromiumBrowser
from tests.agentgym_envs.browsing.chromium_pairs import play

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("chromium")]

REFUSED = "This site can't be reached"
PAGE = """<title>Site</title><h1>{path}</h1><a href="{to}/link">Link</a>
<a href="{to}/popup" target="_blank">Popup</a>
<a href="/away?to={to}/popup" target="_blank" rel="noopener">Redirected popup</a>
<button onclick="window.open('/away?to=' + encodeURIComponent('/away?to={to}/opened'))">Open
</button>
<a href="/away?to={to}/redirected">Redirect</a>
<form action="{to}/form" method="post"><button>Send</button></form>"""
FRAMED = """<title>Framed</title><iframe src="{to}/leaks?to={leak}"></iframe>
<iframe src="{to}/away?to={leak}/framed"></iframe>
<iframe src="{to}/?to={leak}" width="900" height="300"></iframe>"""
LEAKS = """<title>Leaks</title><img src="{to}/image"><img src="/away?to={to}/image-redirected">
<iframe src="{to}/frame"></iframe><script src="{to}/script"></script>
<link rel="stylesheet" href="{to}/style"><script>
const ended = [fetch('{to}/fetch', {{mode: 'no-cors'}}), navigator.sendBeacon('{to}/beacon', 'x'),
    fetch('/away?to={to}/fetch-redirected', {{mode: 'no-cors'}}),
    new Promise(resolve => {{
        const socket = new WebSocket('{to}/socket'.replace('http', 'ws'));
        socket.onclose = socket.onerror = socket.onopen = resolve;
    }})];
Promise.allSettled(ended).then(() => document.title = 'Tried');
</script>"""


class Handler(BaseHTTPRequestHandler):
    server: Site

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        url = urlsplit(self.path)
        query = parse_qs(url.query)
        to, leak = query.get("to", [""])[0], query.get("leak", [""])[0]
        if url.path == "/away":
            self.send_response(302)
            self.send_header("Location", to)
            body = b""
        else:
            page = {"/leaks": LEAKS, "/framed": FRAMED}.get(url.path, PAGE)
            body = page.format(to=to, leak=leak, path=url.path).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


class Site(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked: list[str] = []
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True).start()


@pytest.fixture
def sites() -> Iterator[tuple[Site, Site]]:
    """The deployment's one site, and what else listens on the machine."""
    both = Site(), Site()
    yield both
    for site in both:
        site.shutdown()
        site.server_close()


@pytest.fixture
def browser(sites: tuple[Site, Site]) -> Iterator[ChromiumBrowser]:
    site, other = sites
    browser = ChromiumBrowser(origins={"shopping": f"{site.origin}/"})
    browser.open(f"{site.origin}/?to={other.origin}", {})
    yield browser
    browser.close()


@pytest.mark.parametrize(
    "how", ["goto", "Link", "Popup", "Redirected popup", "Open", "Redirect", "Send"]
)
def test_no_way_leads_out_of_the_sites(
    browser: ChromiumBrowser, sites: tuple[Site, Site], how: str
) -> None:
    site, other = sites
    assert browser.page().title == "Site"
    if how == "goto":
        browser.act(WebAction("goto", text=f"{other.origin}/"))
    else:
        play(browser, f"click [{'button' if how in ('Send', 'Open') else 'link'}:{how}]")
    assert browser.page().title == REFUSED
    assert "127.0.0.1 is outside of what this browser may open." in [
        node.name for node in browser.page().nodes
    ]
    assert other.asked == []
    browser.act(WebAction("goto", text=f"{site.origin}/away?to={site.origin}/there"))
    assert browser.page().url == "http://shopping.test/there"


def test_the_answer_to_a_form_can_be_gone_back_to(
    browser: ChromiumBrowser, sites: tuple[Site, Site]
) -> None:
    site, _ = sites
    browser.act(WebAction("goto", text=f"{site.origin}/?to={site.origin}"))
    play(browser, "click [button:Send]")
    assert "/form" in [node.name for node in browser.page().nodes]
    browser.act(WebAction("goto", text=f"{site.origin}/next"))
    browser.act(WebAction("go_back"))
    assert "/form" in [node.name for node in browser.page().nodes]
    assert site.asked.count("/form") == 1


def test_what_a_page_loads_comes_from_the_sites_alone(
    browser: ChromiumBrowser, sites: tuple[Site, Site]
) -> None:
    site, other = sites
    browser.act(WebAction("goto", text=f"{site.origin}/leaks?to={other.origin}"))
    assert browser.look_up("last", "document.title") == "Tried"
    assert other.asked == []
    assert any(path.endswith("/fetch-redirected") for path in site.asked)


def test_a_page_that_opens_within_the_sites_comes_once_it_is_watched(
    browser: ChromiumBrowser, sites: tuple[Site, Site]
) -> None:
    site, _ = sites
    browser.act(WebAction("goto", text=f"{site.origin}/?to={site.origin}"))
    for name in ("Popup", "Redirected popup"):
        play(browser, f"click [link:{name}]")
        assert (browser.page().url, browser.page().title) == ("http://shopping.test/popup", "Site")
        play(browser, "close_tab")
    assert site.asked.count("/popup") == 2
    play(browser, "click [button:Open]")
    assert browser.page().url == "http://shopping.test/opened"
    assert browser.look_up("last", "opener.document.title") == "Site"


def test_a_page_of_another_site_in_a_frame_reaches_the_sites_alone(
    sites: tuple[Site, Site],
) -> None:
    site, other = sites
    by_name = site.origin.replace("127.0.0.1", "localhost")  # another site, as browsers see it
    browser = ChromiumBrowser(origins={"shopping": site.origin, "map": by_name})
    framed = f"{site.origin}/framed?to={by_name}&leak={other.origin}"
    browser.open(framed, {})
    assert any(path.endswith("/fetch-redirected") for path in site.asked)
    assert REFUSED in [node.name for node in browser.page().nodes]
    for name in ("Link", "Redirect"):
        play(browser, f"click [link:{name}]")
        assert REFUSED in [node.name for node in browser.page().nodes]
        browser.act(
            WebAction("goto", text=f"{site.origin}/framed?to={by_name}&leak={other.origin}")
        )
    assert other.asked == []
    browser.close()


def test_a_named_service_is_reached(sites: tuple[Site, Site]) -> None:
    site, other = sites
    browser = ChromiumBrowser(origins={"map": site.origin}, services=[f"{other.origin}/"])
    browser.open(f"{site.origin}/away?to={other.origin}/route", {})
    assert browser.page().title == "Site" and other.asked == ["/route"]
    browser.close()


def test_a_page_of_a_name_that_only_begins_like_a_site_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        browser = ChromiumBrowser(origins={"shopping": f"http://localhost:{port // 10}"})
        browser.open(f"http://localhost:{port}/", {})
        assert browser.page().title == REFUSED
        browser.close()
