"""The last page is judged by what it shows, not by how its address is written."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentgym_envs.sites.names import DATABASES
from agentgym_envs.sites.state import SiteState
from agentgym_envs.webarena.evaluators import build_evaluators
from agentgym_envs.webarena.evaluators.verdict import Verdict
from tests.agentgym_envs.webarena.still import StillBrowser, ending

SHOP, ADMIN, MAP = "http://shopping.test", "http://shopping-admin.test", "http://map.test"
FORUM, HOST = "http://reddit.test", "http://gitlab.test"
KITCHEN = f"{SHOP}/category/kitchen?sort=name&brand=Oldacre&stock=1&max=160&page=2"
ROUTE = f"{MAP}/directions?from=Calder+Point&via=Fernhollow&to=Eastwick&mode=foot"
REVIEWS = f"{ADMIN}/reviews?status=rejected&rating=high&from=2025-01-01&to=2025-12-31&sort=product"


@pytest.fixture(scope="module")
def state() -> Iterator[SiteState]:
    made = SiteState(signed_in=dict.fromkeys(DATABASES, 1))
    yield made
    made.close()


def verdict(state: SiteState, last: str, *expected: str) -> Verdict:
    (evaluate,) = build_evaluators({"eval_types": ["page_shown"], "page_shown": list(expected)})
    return evaluate(ending(browser=StillBrowser(last), state=state))


@pytest.mark.parametrize(
    ("expected", "last"),
    [
        (KITCHEN, KITCHEN + "#top"),
        (KITCHEN, KITCHEN + "&"),
        (KITCHEN, f"{SHOP}/category/kitchen?page=2&max=160.00&stock=1&brand=Oldacre&sort=name"),
        (
            KITCHEN,
            f"{SHOP}/category/kitchen?max=%24160&min=&brand=Oldacre&stock=1&page=02&sort=name",
        ),
        (f"{SHOP}/category/kitchen", f"{SHOP}/category/kitchen?page=1&brand="),
        (f"{SHOP}/category/kitchen", "http://SHOPPING.test/category/kitchen"),
        (ROUTE, f"{MAP}/directions?mode=foot&to=Eastwick&via=Fernhollow&from=Calder+Point"),
        (ROUTE, ROUTE.replace("Calder+Point", "calder%20point").replace("Eastwick", "EASTWICK")),
        (f"{REVIEWS}&page=2", f"{REVIEWS}&page=2&customer="),
        (f"{FORUM}/c/books?sort=top&within=365", f"{FORUM}/c/books?within=365&sort=top&flair="),
        (f"{SHOP}/", SHOP),
    ],
)
def test_spelling_order_and_defaults_do_not_matter(
    state: SiteState, expected: str, last: str
) -> None:
    assert verdict(state, last, expected) == Verdict(1.0)


def _changed(url: str) -> list[str]:
    """Write an address with each parameter left out, and with another value of it."""
    path, _, query = url.partition("?")
    pairs = query.split("&")
    others = {"sort": "price", "brand": "Hearthby", "stock": "0", "max": "150", "page": "1",
              "from": "Redmarsh", "via": "Redmarsh", "to": "Redmarsh", "mode": "bicycle",
              "status": "approved", "rating": "low", "within": "30", "flair": "Event"}  # fmt: skip
    if "reviews" in path:
        others |= {"from": "2025-02-01", "to": "2025-11-30", "sort": "customer"}
    if "/c/" in path:
        others |= {"sort": "new"}
    wrong = []
    for place, pair in enumerate(pairs):
        name = pair.partition("=")[0]
        rest = pairs[:place] + pairs[place + 1 :]
        wrong += [
            f"{path}?{'&'.join(rest)}",
            f"{path}?{'&'.join([*rest, f'{name}={others[name]}'])}",
        ]
    return wrong


@pytest.mark.parametrize(
    ("expected", "extra"),
    [
        (KITCHEN, "stars=4"),
        (ROUTE, "via=Redmarsh"),
        (f"{REVIEWS}&page=2", "text=good"),
        (f"{FORUM}/c/books?sort=top", "page=2"),
        (f"{FORUM}/c/books?sort=top&within=365&flair=Review", "sort=new"),
    ],
)
def test_every_parameter_counts(state: SiteState, expected: str, extra: str) -> None:
    for last in (*_changed(expected), f"{expected}&{extra}"):
        assert verdict(state, last, expected).score == 0.0, last


@pytest.mark.parametrize(
    ("expected", "last"),
    [
        (f"{SHOP}/category/kitchen", f"{SHOP}/category/kitchen?min=10"),
        (f"{SHOP}/category/kitchen", f"{SHOP}/category/kitchen?sort=price"),
        (f"{SHOP}/category/kitchen", f"{SHOP}/category/kitchen?page=2"),
        (f"{ADMIN}/products/202", f"{ADMIN}/products/203"),
        (f"{ADMIN}/products/202", f"{ADMIN}/products/20"),
        (f"{SHOP}/", "about:blank"),
        (f"{SHOP}/", "http://elsewhere.test/"),
        (f"{SHOP}/", f"{ADMIN}/"),
        (f"{SHOP}/", f"{SHOP}/no-such-page"),
        (f"{FORUM}/p/522", f"{FORUM}/p/523"),
    ],
)
def test_another_page_is_another_page(state: SiteState, expected: str, last: str) -> None:
    found = verdict(state, last, expected)
    assert found.score == 0.0 and last in found.reasons[0]


def test_one_of_several_pages_is_enough(state: SiteState) -> None:
    assert verdict(state, f"{FORUM}/p/523", f"{FORUM}/p/522", f"{FORUM}/p/523").score == 1.0


def test_the_refusal_says_what_the_page_lacks_and_shows(state: SiteState) -> None:
    reasons = verdict(state, KITCHEN.replace("sort=name", "sort=price"), KITCHEN).reasons
    assert any(reason.startswith("it lacks the combobox 'sort by'") for reason in reasons), reasons
    assert any(reason.startswith("it shows the combobox 'sort by'") for reason in reasons), reasons


def test_what_a_site_says_once_is_no_part_of_a_page(state: SiteState) -> None:
    flash = '[{"kind": "success", "text": "Saved."}]'
    state.database("shopping").execute("UPDATE sessions SET flash = ?", (flash,))
    assert verdict(state, f"{SHOP}/cart", f"{SHOP}/cart").score == 1.0


@pytest.mark.parametrize("urls", [None, [], "http://shopping.test/", [1]])
def test_another_form_is_refused_at_once(urls: object) -> None:
    with pytest.raises(ValueError, match="list of addresses"):
        build_evaluators({"eval_types": ["page_shown"], "page_shown": urls})


def test_a_page_that_does_not_exist_is_refused(state: SiteState) -> None:
    with pytest.raises(ValueError, match="there is no page"):
        verdict(state, f"{SHOP}/", f"{SHOP}/no-such-page")
