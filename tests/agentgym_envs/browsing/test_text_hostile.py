"""Whatever a policy types, clicks and opens on the embedded sites, it gets a page or a refusal."""

from __future__ import annotations

import random
import re
from contextlib import suppress

import pytest

from agentgym_envs.browsing.actions import WebAction
from agentgym_envs.browsing.page import Page
from agentgym_envs.browsing.text.browser import TextBrowser
from agentgym_envs.errors import InvalidAction
from agentgym_envs.sites.names import DATABASES, ORIGINS
from agentgym_envs.sites.state import SiteState

EPISODES = 2
STEPS = 50
TEXTS = (
    "", "x", "0", "-1", "3.7", "1e308", "NaN", "999999999", "9" * 20, "2026-02-31", "%", "_", "\\",
    "'; DROP TABLE sessions;--", "<b>&amp;</b>", "{{ 7 * 7 }}", "../../etc", "a\x00b\x07", "\ud800",
    "\N{FULLWIDTH DIGIT ONE}", "\N{SLIGHTLY SMILING FACE}", "x" * 5000,
)  # fmt: skip
ENDINGS = (
    "?page=" + "9" * 20, "?page=-3", "?sort=zzz", "?q=%00", "?q=%ff%fe", "?page=%D9%A1", "/x",
    "/%00", "/" + "9" * 400, "/..%2f..", "/%ff",
)  # fmt: skip


@pytest.mark.parametrize("site", DATABASES)
def test_no_input_brings_an_exception_out_of_a_site(site: str) -> None:
    rng = random.Random(site)
    for _ in range(EPISODES):
        state = SiteState()
        browser = TextBrowser(state)
        browser.open(ORIGINS[site] + "/", {site: {"session": state.sign_in(site, 1)}})
        for _ in range(STEPS):
            action = draw(browser.page(), rng)
            with suppress(InvalidAction):
                browser.act(action)
            assert all("\n" not in line for line in browser.page().lines())
        state.close()


def draw(page: Page, rng: random.Random) -> WebAction:
    """Draw an action: mostly on an element, now and then an address that was tampered with."""
    if rng.random() < 0.1:
        url = re.sub(r"\d+", lambda _: rng.choice(("0", "-1", "9" * 20)), page.url.split("?")[0])
        return WebAction("goto", text=url.rstrip("/") + rng.choice(("", *ENDINGS)))
    if rng.random() < 0.05:
        return WebAction("go_back")
    roles = (
        "link",
        "button",
        "textbox",
        "searchbox",
        "spinbutton",
        "combobox",
        "checkbox",
        "radio",
    )
    node = rng.choice([node for node in page.nodes if node.role in roles] or page.nodes)
    if node.role in ("textbox", "searchbox", "spinbutton"):
        return WebAction("type", node.element, rng.choice(TEXTS), rng.random() < 0.4)
    if node.role == "combobox":
        options = node.properties.get("options", "").strip("'").split("', '")
        return WebAction("select", node.element, rng.choice(options))
    return WebAction("click", node.element)
