"""What no click does, in both browsers: the shop's menus open, the code host's search is sent."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from agentgym_envs.browsing import Browser
from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.page import Node
from agentgym_envs.browsing.text.browser import TextBrowser
from agentgym_envs.errors import InvalidAction
from tests.agentgym_envs.browsing.session import COOKIES, signed_in

SHOP = "http://shopping.test/"


def in_chromium() -> Browser:
    # Imported here: it needs the browser extra.
    from agentgym_envs.browsing.chromium.browser import ChromiumBrowser

    return ChromiumBrowser(signed_in())


_BACKENDS = [
    pytest.param(lambda: TextBrowser(signed_in()), id="text"),
    pytest.param(in_chromium, id="chromium", marks=pytest.mark.browser),
]


@pytest.fixture(params=_BACKENDS)
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    if request.node.get_closest_marker("browser"):
        request.getfixturevalue("chromium")
    make: Callable[[], Browser] = request.param
    made = make()
    made.open(SHOP, COOKIES)
    yield made
    made.close()


def links(browser: Browser) -> list[str]:
    return [node.name for node in browser.page().nodes if node.role == "link"]


def link(browser: Browser, name: str) -> Node:
    return next(n for n in browser.page().nodes if (n.role, n.name) == ("link", name))


def hover(browser: Browser, name: str) -> None:
    browser.act(WebAction("hover", element=link(browser, name).element))


def groups(browser: Browser) -> list[str]:
    """Return the names in the list of categories."""
    nodes = browser.page().nodes
    (nav,) = (n for n in nodes if (n.role, n.name) == ("navigation", "Categories"))
    return [node.name for node, _ in nav.walk() if node.role == "link"]


def test_pointing_opens_one_menu_and_what_is_in_it_can_be_opened(browser: Browser) -> None:
    before = links(browser)
    first, second = groups(browser)[:2]
    hover(browser, first)
    parts = [name for name in links(browser) if name not in before]
    assert parts
    hover(browser, second)
    others = [name for name in links(browser) if name not in before]
    assert others and not set(others) & set(parts)
    hover(browser, others[-1])
    assert [name for name in links(browser) if name not in before] == others
    browser.act(WebAction("click", element=link(browser, others[-1]).element))
    assert browser.page().title.startswith(others[-1])
    assert not set(parts + others[:-1]) & set(links(browser)), "the next page begins without a menu"


def test_what_is_not_open_is_not_there(browser: Browser) -> None:
    first = groups(browser)[0]
    hover(browser, first)
    inside = link(browser, groups(browser)[1])
    hover(browser, "My account")
    with pytest.raises(InvalidAction):
        browser.act(WebAction("click", element=max(n.element for n in browser.page().nodes) + 1))
    assert inside.name not in links(browser)


def test_any_other_action_closes_the_menu(browser: Browser) -> None:
    before = browser.page().nodes
    for action in (WebAction("press", text="Tab"), WebAction("new_tab")):
        hover(browser, groups(browser)[0])
        assert len(browser.page().nodes) > len(before)
        browser.act(action)
    closed = [(n.role, n.name) for n in before]
    browser.act(WebAction("tab_focus", element=0))
    assert [(n.role, n.name) for n in browser.page().nodes] == closed
    hover(browser, groups(browser)[0])
    for action in (WebAction("tab_focus", element=1), WebAction("close_tab")):
        browser.act(action)
    assert [(n.role, n.name) for n in browser.page().nodes] == closed


def test_tab_stops_at_no_link_of_a_closed_menu(browser: Browser) -> None:
    names = set(links(browser))
    for _ in range(25):
        browser.act(WebAction("press", text="Tab"))
        focused = [n for n in browser.page().nodes if n.properties.get("focused")]
        assert {n.name for n in focused if n.role == "link"} <= names


def test_the_code_hosts_search_is_sent_by_a_key_alone(browser: Browser) -> None:
    browser.act(WebAction("goto", text="http://gitlab.test/explore"))
    (field,) = (n for n in browser.page().nodes if n.role == "searchbox")
    assert not [n for n in browser.page().nodes if (n.role, n.name) == ("button", "Search")]
    browser.act(WebAction("type", element=field.element, text="road", press_enter=False))
    assert browser.page().url == "http://gitlab.test/explore"
    browser.act(WebAction("press", text="Enter"))
    assert browser.page().url == "http://gitlab.test/search?q=road"
