"""The shop's content and its catalogue, and that no page breaks."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
from lxml import etree, html

from agentgym_envs.browsing.text.browser import TextBrowser
from agentgym_envs.sites.apps import open_site
from agentgym_envs.sites.content import open_content
from agentgym_envs.sites.forms import read_amount
from tests.agentgym_envs.sites.shopper import ORIGIN, Shopper

HOSTILE = (
    "x" * 5000,
    "a\x00b\x1b[31m",
    "'; DROP TABLE orders; --",
    "<script>alert(1)</script>",
    "%_\\",
    "-999999999999999999999",
    "99999999999999999999",
    "１２",
    "\ud800",
    "",
)


@pytest.fixture
def shopper() -> Shopper:
    return Shopper()


def paths(shopper: Shopper) -> list[str]:
    slug = shopper.value("SELECT slug FROM products WHERE is_enabled ORDER BY id")
    number = shopper.value("SELECT number FROM orders WHERE customer_id = 1 ORDER BY id")
    shopper.fill_cart(shopper.on_sale(), 2)
    account = ("", "/orders", f"/orders/{number}", "/addresses", "/addresses/new", "/addresses/1")
    rest = ("/data", "/newsletter", "/password", "/reviews", "/wishlist")
    return [
        *("/", "/category/kitchen", "/category/coffee?sort=stars&stock=1", "/search?q=mug"),
        *(f"/product/{slug}", f"/product/{slug}?stars=5", f"/product/{slug}/review"),
        *(f"/account{part}" for part in account + rest),
        *("/cart", "/checkout", "/register", "/contact", "/page/offers", "/page/delivery"),
    ]


# Content --------------------------------------------------------------------------------------


def test_there_is_as_much_as_promised(shopper: Shopper) -> None:
    assert len(open_content().database("shopping")) < 4_000_000
    assert shopper.value("SELECT count(*) FROM products") >= 1200
    assert shopper.value("SELECT count(*) FROM reviews") == 4000
    assert shopper.value("SELECT count(*) FROM orders") == 1500
    assert shopper.value("SELECT count(*) FROM orders WHERE customer_id = 1") >= 30
    assert shopper.value("SELECT count(*) FROM categories WHERE parent_id IS NOT NULL") >= 35


def test_every_order_adds_up(shopper: Shopper) -> None:
    wrong = shopper.rows(
        "SELECT o.id FROM orders o WHERE o.total != o.subtotal - o.discount + o.shipping OR "
        "o.subtotal != (SELECT sum(price * quantity) FROM order_items WHERE order_id = o.id)"
    )
    assert wrong == []


def test_a_special_price_is_lower_than_the_price(shopper: Shopper) -> None:
    assert shopper.rows("SELECT id FROM products WHERE special_price >= price") == []


# Pages ----------------------------------------------------------------------------------------


def test_every_page_is_whole_and_lean(shopper: Shopper) -> None:
    for path in paths(shopper):
        answer = shopper.get(path)
        assert answer.status == 200, path
        page = html.fromstring(answer.body, parser=etree.HTMLParser(recover=False))
        assert len(page.findall(".//h1")) == 1, path
        ids = page.xpath("//@id")
        assert len(ids) == len(set(ids)), path
        for control in page.xpath("//input[@type != 'hidden'] | //select | //textarea"):
            named = control.get("aria-label") or page.xpath(
                "//label[@for = $id]", id=control.get("id", "")
            )
            assert named, (path, etree.tostring(control))
        browser = TextBrowser(shopper.state)
        browser.open(ORIGIN + path, {"shopping": shopper.cookies})
        assert len(browser.page().nodes) <= 150, path


@pytest.mark.parametrize(
    "path", ["/category/none", "/product/none", "/page/none", "/account/orders/1", "/none"]
)
def test_what_is_unknown_is_not_found(shopper: Shopper, path: str) -> None:
    assert shopper.get(path).status == 404


def test_other_customers_things_are_not_found(shopper: Shopper) -> None:
    address = shopper.value("SELECT id FROM addresses WHERE customer_id = 2")
    number = shopper.value("SELECT number FROM orders WHERE customer_id != 1")
    assert shopper.get(f"/account/addresses/{address}").status == 404
    assert shopper.get(f"/account/orders/{number}").status == 404


@pytest.mark.parametrize("hostile", HOSTILE)
def test_no_text_breaks_a_page(shopper: Shopper, hostile: str) -> None:
    text = quote(hostile, errors="surrogatepass")
    names = ("q", "sort", "min", "max", "brand", "colour", "stars", "stock", "page", "status")
    query = "&".join(f"{name}={text}" for name in (*names, "product", "next"))
    for path in paths(shopper):
        assert shopper.get(f"{path.partition('?')[0]}?{query}").status < 500
    for path in ("/category/", "/product/", "/page/", "/account/orders/", "/account/addresses/"):
        assert shopper.get(path + text).status < 500


@pytest.mark.parametrize("hostile", HOSTILE[:-2])
def test_no_text_breaks_a_form(shopper: Shopper, hostile: str) -> None:
    slug = shopper.value("SELECT slug FROM products WHERE is_enabled ORDER BY id")
    posts = [
        (r.path, r.methods) for r in open_site("shopping").routes if "POST" in (r.methods or ())
    ]
    assert len(posts) > 20
    names = ("quantity", "code", "reason", "rating", "nickname", "title", "body", "name", "email")
    more = ("street", "town", "postcode", "phone", "message", "password", "repeat", "current")
    last = ("new", "address", "shipping", "payment", "newsletter", "default", "next", "page")
    form = {name: hostile for name in (*names, *more, *last)}
    for path, _ in posts:
        for value in (slug, "1", quote(hostile)):
            shopper.post(re.sub(r"\{\w+\}", value, path), **form)
    assert shopper.value("SELECT count(*) FROM orders") == 1500


# The catalogue --------------------------------------------------------------------------------


def test_a_list_is_sorted_by_what_is_paid(shopper: Shopper) -> None:
    names = shopper.names("/category/kitchen?sort=price")
    expected = shopper.rows(
        "SELECT min(coalesce(special_price, price)) FROM products p JOIN categories c "
        "ON c.id = p.category_id JOIN categories g ON g.id = c.parent_id "
        "WHERE g.slug = 'kitchen' AND is_enabled"
    )
    costs = [
        shopper.value("SELECT coalesce(special_price, price) FROM products WHERE name = ?", name)
        for name in names
    ]
    assert len(names) == 12
    assert costs == sorted(costs) and costs[0] == expected[0][0]


def test_filters_keep_what_fits(shopper: Shopper) -> None:
    path = "/category/textiles?min=20&max=50&brand=Weftly&stock=1"
    expected = shopper.value(
        "SELECT count(*) FROM products p JOIN categories c ON c.id = p.category_id "
        "JOIN categories g ON g.id = c.parent_id WHERE g.slug = 'textiles' AND is_enabled "
        "AND stock > 0 AND brand = 'Weftly' "
        "AND coalesce(special_price, price) BETWEEN 2000 AND 5000"
    )
    assert 0 < expected == shopper.total(path)


def test_pages_of_a_list_share_nothing_and_hold_everything(shopper: Shopper) -> None:
    total = shopper.total("/category/coffee")
    names = [n for page in range(1, 20) for n in shopper.names(f"/category/coffee?page={page}")]
    assert len(set(names)) == total > 12


def test_a_wrong_price_is_said_to_be_wrong_and_kept(shopper: Shopper) -> None:
    body = shopper.get("/category/coffee?min=cheap").body
    assert "Please write an amount like 12.50." in body and 'value="cheap"' in body


def test_a_search_needs_every_word(shopper: Shopper) -> None:
    name = shopper.value("SELECT name FROM products WHERE is_enabled ORDER BY id LIMIT 1 OFFSET 40")
    assert name in shopper.names(f"/search?q={quote(name)}")
    assert shopper.names(f"/search?q={quote(name)}+zeppelin") == []
    assert "No product matches your search." in shopper.text("/search?q=zeppelin")


def test_a_search_term_has_as_many_results_as_its_search(shopper: Shopper) -> None:
    for term, results in shopper.rows("SELECT term, results FROM search_terms LIMIT 5"):
        assert shopper.total(f"/search?q={quote(term)}") == results


def test_a_disabled_product_cannot_be_seen(shopper: Shopper) -> None:
    name, slug = shopper.rows("SELECT name, slug FROM products WHERE NOT is_enabled")[0]
    assert shopper.get(f"/product/{slug}").status == 404
    assert name not in shopper.names(f"/search?q={quote(name)}")


def test_only_approved_reviews_are_shown_and_counted(shopper: Shopper) -> None:
    product, slug = shopper.rows(
        "SELECT p.id, p.slug FROM products p JOIN reviews r ON r.product_id = p.id "
        "WHERE p.is_enabled AND r.status = 'rejected' ORDER BY p.id"
    )[0]
    count = shopper.value(
        "SELECT count(*) FROM reviews WHERE product_id = ? AND status = 'approved'", product
    )
    shown = "No reviews yet" if not count else f", {count} review"
    assert shown in shopper.text(f"/product/{slug}")


@pytest.mark.parametrize(
    ("text", "cents"),
    [("12", 1200), ("12.5", 1250), ("$1,234.50", 123450), ("-1", None), ("1.234", None),
     ("", None), ("²", None), ("1234567", 123456700), ("12345678", None)],
)  # fmt: skip
def test_an_amount_is_read(text: str, cents: int | None) -> None:
    assert read_amount(text) == cents
