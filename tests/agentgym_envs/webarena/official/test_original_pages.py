"""What locators give in Chromium, as the authors' evaluators and ours read it off equal pages."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright")
from playwright.sync_api import sync_playwright

from agentgym_envs.browsing.chromium.browser import ChromiumBrowser
from agentgym_envs.browsing.chromium.pool import find_executable
from agentgym_envs.webarena.evaluators import Ending, build_evaluators, multiply
from agentgym_envs.webarena.tasks.files import WebTask
from tests.agentgym_envs.webarena.official.authors import AuthorsEvaluators, needs_authors
from tests.agentgym_envs.webarena.official.test_original_rules import Functions
from tests.agentgym_envs.webarena.still import StillBrowser

PAGE = """<!doctype html><html><head><title>Shop</title></head><body>
<h1>Caf&eacute; &amp; <b>more</b></h1><!-- a remark -->
<p hidden>unseen words</p><p id="price">000000170 $182.40 costs</p>
<form class="vote vote--up"><input name="product[price]" value="35.00">
<input type="checkbox" checked>
<select id="engine"><option>car<option selected>foot</select></form>
<a href="/one" title="General">One</a><a href="/two">Two</a>
<div id="later" hidden>prepared</div>
<script>window.show = () => { document.querySelector('#later').hidden = false; }</script>
</body></html>"""

SHOW, BREAK = "window.show()", "document.querySelector('#nothing').click()"
TARGETS: list[tuple[str, list[str], list[str]]] = [
    # locator, preparations, what is looked for
    ("", [], ["unseen words", "a remark", "vote--up", "<!doctype html>", "& <b>", "absent"]),
    ("document.querySelector('h1').outerText", [], ["caf\u00e9 & more", "<b>"]),
    ("document.querySelector('#price').outerText", [], ["170", "182.4", "35.00", "83"]),
    ("document.querySelector('[name=\"product[price]\"').value", [], ["35.0", "35.00", "None"]),
    ("document.querySelector('form').getAttribute('class')", [], ["vote--up", "none"]),
    ("document.querySelector('form').getAttribute('id')", [], ["none", "null", "undefined"]),
    ("document.querySelector('form').nothing", [], ["none", "undefined"]),
    ("document.querySelector('#nothing').outerText", [], ["none", "", "null"]),
    ("document.querySelector(", [], ["none", "", "null"]),
    ("document.querySelector('[type=checkbox]').checked", [], ["true", "True", "1"]),
    ("document.querySelector('#engine').selectedIndex", [], ["1", "0", "foot"]),
    ("document.querySelectorAll('a').length / 4", [], ["0.5", "1/2"]),
    ("[...document.querySelectorAll('a')].map(one => one.title)", [], ["['General', '']", "[]"]),
    ("[...document.querySelectorAll('a')].map(e => e.getAttribute('href')).join(' ')", [],
     ["/one /two", "/two /one"]),
    ("document.querySelector('#later').outerText", [], ["prepared", "none"]),
    ("document.querySelector('#later').innerText + document.body.innerText", [SHOW], ["prepared"]),
    ("document.body.innerText", [SHOW], ["prepared", "unseen words"]),
    ("document.body.innerText", [BREAK, SHOW], ["prepared", "170"]),
    ("document.body.innerText", [SHOW, BREAK], ["prepared", "170"]),
]  # fmt: skip


class Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGE.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        with contextlib.suppress(BrokenPipeError):  # a page was closed meanwhile
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


class Once(StillBrowser):
    """Reads each thing once, for that takes Chromium half a second."""

    def __init__(self, browser: ChromiumBrowser) -> None:
        super().__init__()
        self._browser = browser
        self._texts: dict[tuple[str, str], str] = {}

    def look_up(self, url: str, locator: str) -> str:
        place = url, locator
        if place not in self._texts:
            self._browser.open("http://shopping.test/", {})
            self._texts[place] = self._browser.look_up(url, locator)
        return self._texts[place]


def cases() -> Iterator[WebTask]:
    for number, (locator, preparations, phrases) in enumerate(TARGETS):
        for phrase, kind in product(phrases, ("must_include", "exact_match")):
            required = {kind: phrase if kind == "exact_match" else [phrase]}
            url = ("last", "__SHOPPING__/other")[number % 2]
            target = {"url": url, "locator": locator, "required_contents": required}
            if preparations:
                target["prep_actions"] = preparations
            evaluation = {"eval_types": ["program_html"], "program_html": [target]}
            yield WebTask(("shopping",), 0, "__SHOPPING__", "", evaluation)


def our_score(task: WebTask, browser: Once) -> float | None:
    text = json.dumps(dict(task.eval)).replace("__SHOPPING__", "http://shopping.test")
    evaluators = build_evaluators(json.loads(text), is_original=True)
    ending = Ending("", "", browser, Functions({}))
    return multiply(evaluate(ending) for evaluate in evaluators).score


@pytest.mark.browser
@needs_authors
def test_pages_are_read_as_the_authors_evaluators_read_them(address: str, tmp_path: Path) -> None:
    sites = {"shopping": address}
    authors = AuthorsEvaluators(sites, judging=lambda reference, answer: False, functions={})
    browser = ChromiumBrowser(None, origins=sites)
    reader = Once(browser)
    others, scores = [], []
    with sync_playwright() as playwright:
        theirs = playwright.chromium.launch(
            executable_path=find_executable(), args=["--no-sandbox"]
        )
        page = theirs.new_page()
        for task in cases():
            page.goto(address)
            their_score = authors.score(task, tmp_path, answer="", page=page)
            scores.append(their_score)
            if our_score(task, reader) != their_score:
                others.append((task.eval["program_html"], their_score))
        theirs.close()
    browser.close()
    assert min(scores.count(0.0), scores.count(1.0)) > 10
    assert others == []
