"""The shop's templates that end on a page, or begin signed out: which page or row is the right one.

What is right is computed here anew, by other queries than the templates' own.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from agentgym_envs.sites.shopping.catalogue import PAGE_SIZE, SORTS
from agentgym_envs.sites.shopping.product import REVIEWS_PER_PAGE
from agentgym_envs.webarena.env import WebArenaEnv
from tests.worlds.tasks.arriving import Drawn, case_of, cases, ends_at, reference
from worlds.tasks.drawing import STRIDE
from worlds.tasks.screen import Screen
from worlds.tasks.shopping.navigation import ORDERS
from worlds.tasks.template import World

SHOP = "http://shopping.test"
SOME = (0, 17, 33)

_PRICED = (
    "SELECT p.*, min(p.price, ifnull(p.special_price, p.price)) AS now, "
    "p.price - ifnull(p.special_price, p.price) AS cut, leaf.name AS leaf, top.name AS top "
    "FROM products p, categories leaf, categories top "
    "WHERE p.is_enabled = 1 AND leaf.id = p.category_id AND top.id = leaf.parent_id"
)


@pytest.fixture(scope="module")
def env() -> Iterator[WebArenaEnv]:
    made = WebArenaEnv(viewport_lines=None)
    yield made
    made.close()


def cents(amount: str) -> int:
    return int(amount.removeprefix("$")) * 100


def play(env: WebArenaEnv, number: int, instance: int, *, until: str) -> None:
    """Let the expert play until its next action begins so."""
    env.reset(options={"task_id": number * STRIDE + instance})
    for action in env.expert():
        if action.startswith(until):
            return
        env.step(action)
    raise AssertionError(f"no action {until!r}")


# Which page is right --------------------------------------------------------------------------


def test_the_second_page_of_the_list_is_not_empty_and_the_filters_matter(world: World) -> None:
    shown = {key: text for key, text in SORTS}
    products = world.rows("shopping", _PRICED)
    for case in cases(20):
        values = case.values
        sort, label = ORDERS[values["order"]]
        assert shown[sort] == label
        url = urlsplit(reference(case))
        most = values["most"].removeprefix("$")
        expected = {"sort": sort, "brand": values["brand"], "stock": "1", "page": "2", "max": most}
        assert parse_qs(url.query) == {name: [text] for name, text in expected.items()}
        slug = url.path.removeprefix("/category/")
        name = world.value("shopping", "SELECT name FROM categories WHERE slug = ?", slug)
        assert name == values["category"]
        ours = [p for p in products if (p["brand"], p["top"]) == (values["brand"], name)]
        cheap = [p for p in ours if p["now"] <= cents(values["most"])]
        fitting = [p for p in cheap if p["stock"] > 0]
        assert PAGE_SIZE < len(fitting) < len([p for p in ours if p["stock"] > 0])


def test_the_most_reviewed_product_is_one_and_its_reviews_fill_one_page(world: World) -> None:
    stars = Counter(
        (row["product_id"], row["rating"])
        for row in world.rows("shopping", "SELECT * FROM reviews WHERE status = 'approved'")
    )
    products = world.rows("shopping", _PRICED)
    for case in cases(21):
        values = case.values
        reviews = {
            p["slug"]: [stars[p["id"], n] for n in range(1, 6)]
            for p in products
            if (p["brand"], p["leaf"]) == (values["brand"], values["category"])
        }
        slug, other = sorted(reviews, key=lambda slug: -sum(reviews[slug]))[:2]
        assert sum(reviews[slug]) > sum(reviews[other])
        number = int(values["stars"][0])
        assert reference(case) == f"{SHOP}/product/{slug}?stars={number}"
        assert 1 <= reviews[slug][number - 1] <= REVIEWS_PER_PAGE
        assert reviews[slug][number - 1] < sum(reviews[slug])


def test_the_price_of_one_product_is_cut_most(world: World) -> None:
    products = world.rows("shopping", f"{_PRICED} ORDER BY cut DESC")
    for case in cases(22):
        first, second, *_ = (
            p
            for p in products
            if p["leaf"] == case.values["category"]
            and cents(case.values["least"]) <= p["now"] <= cents(case.values["most"])
        )
        assert first["cut"] > second["cut"] > 0
        assert reference(case) == f"{SHOP}/product/{first['slug']}/review"


def test_of_one_variant_there_is_most_in_stock(world: World) -> None:
    products = world.rows("shopping", f"{_PRICED} ORDER BY p.stock DESC")
    for case in cases(24):
        family = [p for p in products if p["name"].partition(",")[0] == case.values["family"]]
        assert len(family) >= 3 and len({p["category_id"] for p in family}) == 1
        assert family[0]["stock"] > family[1]["stock"]
        assert reference(case) == f"{SHOP}/product/{family[0]['slug']}"


# Which pages pass -----------------------------------------------------------------------------


def _wrong_pages(world: World, number: int, case: Drawn) -> list[str]:
    """List pages that lie near the right one."""
    right = reference(case)
    parts = urlsplit(right)
    page = f"{SHOP}{parts.path}"
    if number == 20:
        without = [
            "&".join(part for part in parts.query.split("&") if not part.startswith(f"{name}="))
            for name in ("sort", "brand", "stock", "max", "page")
        ]
        return [page, f"{page}?page=2", *(f"{page}?{query}" for query in without)]
    if number == 21:
        stars = int(parts.query.removeprefix("stars="))
        return [page, f"{page}?stars={stars % 5 + 1}", f"{page}/review"]
    slug = parts.path.split("/")[2]
    other = world.value(
        "shopping",
        "SELECT b.slug FROM products a, products b WHERE a.slug = ? AND b.id != a.id "
        "AND b.is_enabled AND b.category_id = a.category_id ORDER BY abs(b.id - a.id)",
        slug,
    )
    if number == 22:
        return [f"{SHOP}/product/{slug}", f"{SHOP}/product/{other}/review"]
    search = f"{SHOP}/search?q={quote(case.values['family'])}"
    return [f"{SHOP}/product/{other}", f"{page}/review", search]


def _spellings(right: str) -> list[str]:
    """List addresses that show the right page."""
    path, _, query = right.partition("?")
    backwards = "&".join(reversed(query.split("&")))
    empty = f"{path}?colour=&{query}"
    in_cents = re.sub(r"max=(\d+)", r"max=%24\1.00", right)
    return [right, f"{path}?{backwards}", empty, in_cents, f"{right}#main"]


@pytest.mark.parametrize("instance", SOME)
@pytest.mark.parametrize("number", [20, 21, 22, 24])
def test_the_right_page_passes_and_its_neighbours_do_not(
    env: WebArenaEnv, world: World, number: int, instance: int
) -> None:
    case = case_of(number, instance)
    right = reference(case)
    for url in _spellings(right):
        assert ends_at(env, number, instance, url) == 1.0, url
    for url in _wrong_pages(world, number, case):
        assert ends_at(env, number, instance, url) == 0.0, url


# Signed out -----------------------------------------------------------------------------------


def click(env: WebArenaEnv, role: str, name: str) -> None:
    env.step(f"click [{Screen(env.browser.page).find(role, name).element}]")


def fill(env: WebArenaEnv, name: str, text: str) -> None:
    element = Screen(env.browser.page).find("textbox", name).element
    env.step(f"type [{element}] [{text}] [0]")


def test_accounts_are_new_and_differ(world: World) -> None:
    known = {
        row[column]
        for row in world.rows("shopping", "SELECT name, email FROM customers")
        for column in ("name", "email")
    }
    values = [case.values for case in cases(23)]
    assert not known & {given[slot] for given in values for slot in ("name", "email")}
    assert len({given["email"] for given in values}) > 45
    assert {given["newsletter"].startswith("Do not") for given in values} == {True, False}
    assert all(8 <= len(given["password"]) <= 100 for given in values)


def wish(env: WebArenaEnv, world: World, instance: int) -> None:
    """Press the button of the page of the product that the instance asks for."""
    product = case_of(23, instance).values["product"]
    slug = world.value("shopping", "SELECT slug FROM products WHERE name = ?", product)
    env.step(f"goto [{SHOP}/product/{slug}]")
    click(env, "button", "Add to wish list")


def test_a_visitor_cannot_wish(env: WebArenaEnv, world: World) -> None:
    env.reset(options={"task_id": 23 * STRIDE})
    assert Screen(env.browser.page).has("link", "Sign in")
    wish(env, world, 0)
    assert env.browser.page().url.startswith(f"{SHOP}/login")
    assert env.step("stop []")[1] == 0.0


def test_somebody_else_s_wish_scores_nothing(env: WebArenaEnv, world: World) -> None:
    env.reset(options={"task_id": 23 * STRIDE})
    env.step(f"goto [{SHOP}/login]")
    fill(env, "User name or email", "mira.halden")
    fill(env, "Password", "correct-horse")
    click(env, "button", "Sign in")
    wish(env, world, 0)
    assert "is now on your wish list" in " ".join(n.name for n in env.browser.page().nodes)
    assert env.step("stop []")[1] == 0.0


def test_an_account_without_the_wish_scores_nothing(env: WebArenaEnv) -> None:
    env.reset(options={"task_id": 23 * STRIDE + 1})
    for action in env.expert():
        if Screen(env.browser.page).has("link", "My account"):
            break
        env.step(action)
    assert env.step("stop []")[1] == 0.0


@pytest.mark.parametrize("is_wanted", [True, False])
def test_the_newsletter_counts(env: WebArenaEnv, is_wanted: bool) -> None:
    instance = next(
        place
        for place, case in enumerate(cases(23))
        if case.values["newsletter"].startswith("Subscribe") is is_wanted
    )
    play(env, 23, instance, until="stop")
    env.step(f"goto [{SHOP}/account/newsletter]")
    click(env, "checkbox", "I want to get the newsletter")
    click(env, "button", "Save choice")
    assert env.step("stop []")[1] == 0.0
