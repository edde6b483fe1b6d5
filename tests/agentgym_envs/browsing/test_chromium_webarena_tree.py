"""`tree="webarena"` shows what WebArena's own code shows of the same page, and can be played by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import NoExpert
from agentgym_envs.browsing.chromium.pool import shared_chromium
from agentgym_envs.browsing.chromium.reach import Reach
from agentgym_envs.browsing.chromium.reading import Tree, read_tree
from agentgym_envs.browsing.chromium.server import shared_server
from agentgym_envs.browsing.chromium.tab import Tab
from agentgym_envs.browsing.page import Page
from agentgym_envs.sites.names import SITES, find_site
from agentgym_envs.webarena.env import WebArenaEnv
from tests.agentgym_envs.browsing import gallery, scripted
from tests.agentgym_envs.browsing.authors_tree import (
    authors_lines,
    needs_authors,
    without_ids,
)
from tests.agentgym_envs.browsing.scripted import Player
from tests.agentgym_envs.browsing.session import COOKIES, signed_in
from tests.agentgym_envs.sites.crawl import a_page_of_each_route

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("chromium")]

WINDOW = (1280, 720)
SECONDS = 60.0
STILL = ("/list", "/suggest", "/dialogs", "/frames", "/inner", "/item")
MANY = """<title>Many</title><header><nav><a href="/a">A</a></nav></header>
<ul><li>one</li><li><ul><li></li></ul></li></ul><img src="data:,"><img alt="Pic" src="data:,">
<p>Twice</p><p>Twice</p><h2 aria-expanded="true">Head</h2><section aria-label="S">x</section>
<fieldset><legend>L</legend><label><input type="checkbox" checked> Tick</label></fieldset>
<input type="range" aria-valuetext="half"><input type="date" value="2026-03-14" required>
<select multiple><option>1</option><option selected>2</option></select><progress value="0.5">
</progress><details open><summary>More</summary>Details</details><div contenteditable>Rich</div>
<table><tr><th>a</th><td>b</td></tr></table><dl><dt>t</dt><dd>d</dd></dl><hr>
<button aria-haspopup="menu" aria-pressed="mixed" title="T" disabled>'Quoted' "both" \\ \n</button>
<iframe srcdoc="<p>inner</p>"></iframe><div style="margin-left: 1270px; width: 900px">Edge</div>
<div role="tree"><div role="treeitem" aria-level="2" aria-selected="true">T</div></div>
<div style="height: 690px"></div><p>Half in</p><p style="height: 2000px">Tall</p><p>Below</p>"""


class Pages:
    """Pages of one tab, read by us and by them."""

    def __init__(self) -> None:
        self._chromium = shared_chromium()
        self._run(self._open())

    def goto(self, url: str) -> None:
        self._run(self._tab.goto(url))

    def show(self, content: str) -> None:
        self._run(self._page.set_content(content))

    def scroll(self, top: int) -> None:
        self._run(self._page.evaluate(f"scrollTo(0, {top})"))

    def lines(self, *, window_only: bool) -> list[str]:
        kind = "webarena_window" if window_only else "webarena"
        tree: Tree = self._run(read_tree(self._tab, kind, str, WINDOW))
        return Page("", "", tree.root, ids=tree.ids).lines()

    def authors_lines(self, *, window_only: bool) -> list[str]:
        return authors_lines(self._send, WINDOW, window_only=window_only)

    def agree(self) -> int:
        """Compare both ways to show a page; return how many lines it has."""
        for window_only in (True, False):
            lines = without_ids(self.lines(window_only=window_only))
            assert lines == self.authors_lines(window_only=window_only)
        return len(lines)

    def close(self) -> None:
        self._run(self._context.close())

    def _run(self, work: Any) -> Any:
        return self._chromium.run(work, timeout=SECONDS)

    def _send(self, method: str, parameters: Mapping[str, Any]) -> Any:
        return self._run(self._cdp.send(method, dict(parameters)))

    async def _open(self) -> None:
        width, height = WINDOW
        self._context = await self._chromium.new_context(
            viewport={"width": width, "height": height}
        )
        self._page = await self._context.new_page()
        self._tab = await Tab.from_page(
            self._page, runs_scripts=True, reach=Reach((), is_redirected=False)
        )
        self._cdp = await self._context.new_cdp_session(self._page)

    def sign_in(self, origins: Mapping[str, str]) -> None:
        cookies = [
            {"name": name, "value": value, "url": origins[site]}
            for site, values in COOKIES.items()
            for name, value in values.items()
        ]
        self._run(self._context.add_cookies(cookies))


@pytest.fixture
def pages() -> Iterator[Pages]:
    pages = Pages()
    yield pages
    pages.close()


@needs_authors
def test_a_page_of_one_of_everything_reads_as_their_code_writes_it(pages: Pages) -> None:
    for content in (MANY, gallery.FORM, gallery.KEYS, "", *map(scripted.PAGES.get, STILL)):
        pages.show(content)
        pages.agree()
    pages.show(MANY)
    for top in (300, 700, 2000, 4000):
        pages.scroll(top)
        pages.agree()


@needs_authors
@pytest.mark.timeout(600)
@pytest.mark.parametrize("site", SITES)
def test_every_kind_of_page_reads_as_their_code_writes_it(pages: Pages, site: str) -> None:
    server = shared_server()
    episode = server.open(signed_in())
    pages.sign_in(episode.origins)
    num_lines = 0
    for url in a_page_of_each_route(site).values():
        host = url.partition("//")[2].partition("/")[0]
        pages.goto(url.replace(f"http://{host}", episode.origins[find_site(host) or ""]))
        num_lines += pages.agree()
    assert num_lines > 10
    server.forget(episode)


def test_the_window_shows_a_part_of_the_page_and_keeps_its_ids(pages: Pages) -> None:
    pages.show(MANY)
    whole, top = pages.lines(window_only=False), pages.lines(window_only=True)
    pages.scroll(4000)
    end = pages.lines(window_only=True)
    assert "Below" not in "".join(top) and "Below" in "".join(end)
    assert "Head" in "".join(top) and "Head" not in "".join(end)
    ids = {re.sub(r"^\t*", "", line) for line in whole}
    assert {re.sub(r"^\t*", "", line) for line in (*top, *end)} <= ids


def test_an_episode_is_played_by_the_ids_of_the_window() -> None:
    env = WebArenaEnv(backend="chromium", tree="webarena", viewport_lines="window", split="test")
    first, _ = env.reset(options={"task_id": env.task_ids("test")[0]})
    field = re.search(r"\[(\d+)\] searchbox 'Search the shop'", first)
    assert field is not None
    found, *_, info = env.step(f"type [{field[1]}] [lamp] [1]")
    assert info["url"].startswith("http://shopping.test/search?q=lamp")
    below, *_ = env.step("scroll [down]")
    assert "searchbox" in found and "searchbox" not in below and "link '" in below
    link = re.search(r"\[(\d+)\] link '[^']+ Lamp", below)
    assert link is not None
    product, *_, info = env.step(f"click [{link[1]}]")
    assert "/product/" in info["url"] and info["is_valid_action"]
    _, *_, info = env.step(f"click [{link[1]}999]")
    assert not info["is_valid_action"]
    again = WebArenaEnv(backend="chromium", tree="webarena", split="test")
    again.reset(options={"task_id": env.task_ids("test")[0]})
    with pytest.raises(NoExpert, match="tree='short'"):
        next(again.expert())
    again.close()
    env.close()


def test_the_same_actions_give_the_same_ids() -> None:
    texts = []
    for _ in range(2):
        env = WebArenaEnv(backend="chromium", tree="webarena", viewport_lines=None, split="test")
        texts.append([env.reset(options={"task_id": env.task_ids("test")[3]})[0]])
        for action in ("goto [http://reddit.test]", "goto [http://gitlab.test]", "go_back"):
            texts[-1].append(env.step(action)[0])
        env.close()
    assert texts[0] == texts[1]


def test_other_people_s_sites_are_shown_by_their_canonical_addresses(tmp_path: Path) -> None:
    with scripted.serve() as origin:
        player = Player(origin, tmp_path, "/list", tree="webarena", viewport_lines="window")
        assert "] link 'Item 7' url: http://shopping.test/item" in player.text
        assert "Item 12'" not in player.text
        while "Item 60'" not in player.play("scroll [down]"):
            assert player.info["is_valid_action"]
        player.play("click <link Item 60>")
        assert player.info["url"] == "http://shopping.test/item"
        player.env.close()


def test_the_observation_is_agentgym_s_where_it_is_asked_for(tmp_path: Path) -> None:
    with scripted.serve() as origin:
        player = Player(
            origin, tmp_path, "/item", tree="webarena", viewport_lines="window", compat="agentgym"
        )
        assert player.text == (
            "OBSERVATION:\nTab 0 (current): Item\n\n"
            "[1] RootWebArea 'Item' focused: True url: http://shopping.test/item\n"
            "\t[2] heading 'An item'\n"
            "URL: http://shopping.test/item\nOBJECTIVE: Do it\n"
            "PREVIOUS ACTION: None"
        )
        player.env.close()
