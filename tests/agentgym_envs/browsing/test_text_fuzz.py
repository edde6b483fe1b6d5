"""No sequence of actions, however written, raises anything but `InvalidAction`."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agentgym_envs.browsing.actions import VERBS, WebAction, parse_action
from agentgym_envs.browsing.page import Page
from agentgym_envs.errors import InvalidAction
from tests.agentgym_envs.browsing.gallery import serve
from tests.quick import examples

KINDS = [verb.name for verb in VERBS]
TEXTS = st.one_of(
    st.text(max_size=20),
    st.text(st.characters(), max_size=10).map(lambda text: text * 50),
    st.sampled_from(["Small", "Enter", "Tab", "Space", "Ctrl+a", "\ud800", "\x00", "3"]),
    st.sampled_from(["homepage.test/form", "http://homepage.test/who", "http://[", "//"]),
    st.sampled_from(["homepage.test/words/%00%ff", "homepage.test/%ZZ?%", "map.test@map.test"]),
)
ACTIONS = st.builds(
    WebAction,
    st.sampled_from(KINDS),
    element=st.integers(-2, 40),
    text=TEXTS,
    press_enter=st.booleans(),
)
gallery = serve()


@example("/", [WebAction("goto", text="HOMEPAGE.TEST/0")])
@settings(max_examples=examples(120), suppress_health_check=list(HealthCheck))
@given(st.sampled_from(["/", "/form", "/search"]), st.lists(ACTIONS, max_size=12))
def test_any_actions_end_on_a_page(path: str, actions: list[WebAction]) -> None:
    browser = gallery(path)
    for action in actions:
        before = browser.page()
        try:
            browser.act(action)
        except InvalidAction as error:
            assert str(error)
            assert browser.page() is before
        page = browser.page()
        assert isinstance(page, Page)
        assert 0 <= page.current_tab < len(page.tabs)
        assert all("\n" not in line for line in page.lines())


@settings(max_examples=examples(200))
@given(st.sampled_from(KINDS), st.text(max_size=30))
def test_any_text_is_an_action_or_refused(kind: str, rest: str) -> None:
    browser = gallery("/form")
    with suppress(InvalidAction):
        browser.act(parse_action(f"{kind} {rest}"))
    assert browser.page().lines()


@settings(max_examples=examples(100))
@given(st.text(max_size=60), st.text(max_size=200))
def test_any_look_up_gives_text(url: str, locator: str) -> None:
    browser = gallery("/form")
    assert isinstance(browser.look_up(url, locator), str)
    assert isinstance(browser.look_up("last", locator), str)
    assert isinstance(browser.look_up("last", f"document.querySelector('{locator}').value"), str)
