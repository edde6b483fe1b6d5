"""The helper functions on the embedded sites give what their pages show."""

from __future__ import annotations

from agentgym_envs.browsing.text.browser import TextBrowser
from agentgym_envs.sites.people import AGENT_ID
from agentgym_envs.sites.state import SiteState, first_token
from agentgym_envs.webarena.site_functions import EmbeddedFunctions


def browser_on(state: SiteState, site: str, url: str) -> TextBrowser:
    browser = TextBrowser(state)
    browser.open(url, {site: {"session": first_token(site)}})
    return browser


def test_the_latest_order_has_a_page() -> None:
    state = SiteState(signed_in={"shopping": AGENT_ID})
    database = state.database("shopping")
    database.execute(
        "UPDATE orders SET created_at = '2026-03-14 09:30:00', customer_id = ? "
        "WHERE id = (SELECT max(id) FROM orders)",
        (AGENT_ID,),
    )
    number = database.execute("SELECT number FROM orders ORDER BY id DESC").fetchone()[0]
    url = EmbeddedFunctions(state).latest_order_url()
    page = browser_on(state, "shopping", url).page()
    assert page.url == url
    assert any(node.role == "heading" and number in node.name for node in page.nodes)


def test_the_latest_review_is_the_newest_of_its_product() -> None:
    state = SiteState()
    database = state.database("shopping")
    sku, name, rating = database.execute(
        "SELECT p.sku, r.nickname, r.rating FROM reviews r JOIN products p ON p.id = r.product_id "
        "ORDER BY r.id DESC"
    ).fetchone()
    functions = EmbeddedFunctions(state)
    assert functions.latest_review(sku) == (name, str(20 * rating))
    assert functions.latest_review("no such thing") == ("", "")


def test_a_member_s_role_is_that_of_the_project_on_the_page() -> None:
    state = SiteState(signed_in={"gitlab": AGENT_ID})
    owner, slug, member, role = (
        state.database("gitlab")
        .execute(
            "SELECT o.username, p.slug, u.username, m.role FROM members m "
            "JOIN users u ON u.id = m.user_id JOIN projects p ON p.id = m.project_id "
            "JOIN users o ON o.id = p.owner_id WHERE p.visibility = 'public' ORDER BY p.id, u.id"
        )
        .fetchone()
    )
    url = f"http://gitlab.test/{owner}/{slug}"
    browser = browser_on(state, "gitlab", url)
    assert slug in browser.page().url
    functions = EmbeddedFunctions(state)
    assert functions.member_role(browser, "last", member) == role
    assert functions.member_role(browser, url, member) == role
    assert functions.member_role(browser, url, "no.body") == ""
    assert functions.member_role(browser, "http://gitlab.test/", member) == ""
