from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

import pytest
from lxml import html

from agentgym_envs.browsing.text.browser import TextBrowser
from agentgym_envs.browsing.text.fetch import Answer, fetch
from agentgym_envs.sites.filters import money
from agentgym_envs.sites.names import ORIGINS
from agentgym_envs.sites.people import AGENT, PASSWORD
from agentgym_envs.sites.shopping_admin.reports import REPORTS
from agentgym_envs.sites.state import NOW, SiteState
from agentgym_envs.sites.web import own_path

ORIGIN = ORIGINS["shopping_admin"]

PAGES = (
    "/",
    "/orders",
    "/orders?status=pending&sort=oldest&from=x",
    "/orders/000002400",
    "/orders/000002400/address",
    "/products",
    "/products?brand=Corvane&stock=many",
    "/products/new",
    "/products/5",
    "/customers",
    "/customers/1",
    "/reviews",
    "/reviews/3",
    "/coupons",
    "/coupons/new",
    "/coupons/1",
    "/pages",
    "/pages/2",
    "/reports",
    *(f"/reports/{key}" for key in REPORTS),
)


@dataclass
class Office:
    """The administration with somebody signed in."""

    state: SiteState = field(default_factory=SiteState)

    def __post_init__(self) -> None:
        self.cookies = {"session": self.state.sign_in("shopping_admin", 1)}

    def get(self, path: str) -> Answer:
        return fetch(self.state, ORIGIN + path, cookies=self.cookies)

    def post(self, path: str, *fields: tuple[str, str]) -> Answer:
        return fetch(self.state, ORIGIN + path, form=fields, cookies=self.cookies)

    def value(self, sql: str, *values: object) -> object:
        row = self.state.database("shopping_admin").execute(sql, values).fetchone()
        return None if row is None else row[0]

    def text(self, path: str) -> str:
        return " ".join(html.fromstring(self.get(path).body).text_content().split())

    def order(self, *statuses: str) -> str:
        marks = ", ".join("?" * len(statuses))
        number = self.value(
            f"SELECT number FROM orders WHERE status IN ({marks}) ORDER BY id", *statuses
        )
        assert isinstance(number, str)
        return number

    def status(self, number: str) -> object:
        return self.value("SELECT status FROM orders WHERE number = ?", number)


@pytest.fixture
def office() -> Iterator[Office]:
    office = Office()
    yield office
    office.state.close()


def said(answer: Answer) -> str:
    return " ".join(html.fromstring(answer.body).text_content().split())


def product_form(office: Office, product: int, **changes: str) -> Sequence[tuple[str, str]]:
    (form,) = html.fromstring(office.get(f"/products/{product}").body).xpath(
        f"//form[@action='/products/{product}']"
    )
    return list((dict(form.form_values()) | changes).items())


# Signing in -----------------------------------------------------------------------------------


def test_strangers_sign_in_first_and_then_see_what_they_asked_for(office: Office) -> None:
    sent = fetch(office.state, f"{ORIGIN}/orders?status=pending")
    assert (sent.status, sent.header("location")) == (303, "/login?next=/orders%3Fstatus%3Dpending")
    page = html.fromstring(fetch(office.state, f"{ORIGIN}{sent.header('location')}").body)
    form = dict(page.forms[0].form_values())
    form |= {"username": AGENT.username, "password": PASSWORD}
    entered = fetch(office.state, f"{ORIGIN}/login", form=list(form.items()))
    assert (entered.status, entered.header("location")) == (303, "/orders?status=pending")
    assert "session=" in (entered.header("set-cookie") or "")


@pytest.mark.parametrize(
    ("username", "password", "complaint"),
    [
        ("", "x", "User name is required."),
        (AGENT.username, "", "Password is required."),
        (AGENT.username, "wrong", "User name and password do not match."),
        ("nobody", PASSWORD, "User name and password do not match."),
    ],
)
def test_a_wrong_sign_in_says_why_and_opens_nothing(
    office: Office, username: str, password: str, complaint: str
) -> None:
    form = [("username", username), ("password", password)]
    answer = fetch(office.state, f"{ORIGIN}/login", form=form)
    assert complaint in said(answer)
    assert answer.header("set-cookie") is None


def test_an_account_that_is_not_active_cannot_sign_in(office: Office) -> None:
    username = str(office.value("SELECT username FROM admins WHERE NOT is_active"))
    answer = office.post("/login", ("username", username), ("password", PASSWORD))
    assert "This account is not active." in said(answer)


def test_signing_out_ends_the_session(office: Office) -> None:
    office.post("/logout")
    assert office.get("/orders").header("location") == "/login?next=/orders"


@pytest.mark.parametrize(
    "address", ["//elsewhere.test/", "http://elsewhere.test/", "/\\elsewhere.test", "", "/a\nb"]
)
def test_nobody_is_sent_to_another_site(address: str) -> None:
    assert own_path(address) == "/"


# Pages ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
def test_every_page_has_one_heading_labelled_controls_and_a_lean_tree(
    office: Office, path: str
) -> None:
    answer = office.get(path)
    assert answer.status == 200
    page = html.fromstring(answer.body)
    assert len(page.xpath("//h1")) == 1
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))
    labelled = set(page.xpath("//label/@for"))
    controls = page.xpath("//input[not(@type='hidden')] | //select | //textarea")
    assert all(c.get("id") in labelled or c.get("aria-label") for c in controls)
    browser = TextBrowser(office.state)
    browser.open(ORIGIN + path, {"shopping_admin": office.cookies})
    assert len(browser.page().lines()) <= 150


def test_every_link_of_every_page_leads_somewhere(office: Office) -> None:
    links = {
        urlsplit(str(link)).path
        for path in PAGES
        for link in html.fromstring(office.get(path).body).xpath("//main//a/@href | //nav//a/@href")
    }
    assert len(links) > 100
    assert {path: office.get(path).status for path in sorted(links)} == dict.fromkeys(links, 200)


@pytest.mark.parametrize(
    "path",
    ["/orders/1", "/products/99999", "/products/-1", "/customers/0", "/reviews/x", "/coupons/1e3",
     "/pages/9999999999999999999999", "/reports/nothing", "/nothing", f"/products/{'9' * 5000}"],
)  # fmt: skip
def test_what_does_not_exist_is_not_found(office: Office, path: str) -> None:
    answer = office.get(path)
    assert answer.status == 404
    assert "Something is missing" in said(answer)


_HOSTILE = (
    "", "\x00", "'; DROP TABLE orders; --", "{{ 7*7 }}", "%", "9" * 400, "-1", "٣",
    "\U0001f9f5" * 600, "<b>",
)  # fmt: skip
_FIELDS = (
    "number", "customer", "status", "from", "to", "min", "max", "sort", "page", "name", "sku",
    "stock", "below", "search", "rating", "text", "action", "order", "product", "review", "back",
    "next", "comment", "notify", "carrier", "tracking_number", "street", "town", "postcode",
    "phone", "price", "special_price", "category_id", "weight_grams", "code", "percent",
    "starts_on", "ends_on", "title", "url_key", "content", "group", "username", "password",
    "new_stock", "is_enabled",
)  # fmt: skip


@pytest.mark.parametrize("text", _HOSTILE)
def test_no_input_breaks_a_page(office: Office, text: str) -> None:
    number = office.order("pending")
    forms = (
        "/orders/mass", f"/orders/{number}/comments", f"/orders/{number}/ship", "/login",
        f"/orders/{number}/address", "/products/mass", "/products/new", "/products/7",
        "/customers/7/group", "/reviews/mass", "/reviews/7", "/coupons/new", "/coupons/2",
        "/pages/2", f"/orders/{number}/explode",
    )  # fmt: skip
    query = "&".join(f"{name}={quote(text[:3000])}" for name in _FIELDS)
    for path in PAGES:
        assert office.get(f"{path.split('?')[0]}?{query}").status == 200
    for path in forms:
        answer = office.post(path, *((name, text) for name in _FIELDS))
        assert answer.status in (200, 303, 404, 422)
        assert (answer.header("location") or "/").startswith("/")
    assert office.value("SELECT count(*) FROM orders") == 1500
    assert "<b>" not in office.get("/products?name=%3Cb%3E").body


# Grids ----------------------------------------------------------------------------------------


def test_a_filter_that_makes_no_sense_is_told_and_not_applied(office: Office) -> None:
    text = office.text("/orders?from=yesterday&max=lots&status=lost")
    assert "Write a day as YYYY-MM-DD." in text
    assert "Write an amount such as 24.90." in text
    assert "There is no such value." in text
    assert "1,500 orders" in text


def test_filters_of_the_grid_of_orders_combine(office: Office) -> None:
    expected = office.value(
        "SELECT count(*) FROM orders WHERE status = 'complete' AND total BETWEEN 5000 AND 20000 "
        "AND created_at BETWEEN '2025-03-01' AND '2025-03-31 23:59:59'"
    )
    query = "status=complete&min=50&max=200.00&from=2025-03-01&to=2025-03-31"
    assert f" {expected} orders " in office.text(f"/orders?{query}")


def test_percent_signs_are_text_and_no_wildcards(office: Office) -> None:
    assert "No product matches these filters." in office.text("/products?name=%25")


def test_the_pages_of_a_grid_show_every_row_once(office: Office) -> None:
    seen: list[str] = []
    for page in range(1, 8):
        rows = html.fromstring(office.get(f"/orders?status=refunded&page={page}").body)
        seen += rows.xpath("//table//a/text()")
    numbers = [number for number in seen if number.isdecimal()]
    refunded = office.value("SELECT count(*) FROM orders WHERE status = 'refunded'")
    assert len(set(numbers)) == refunded


def test_many_orders_are_held_at_once_and_those_that_cannot_be_are_counted(office: Office) -> None:
    pending, complete = office.order("pending"), office.order("complete")
    answer = office.post(
        "/orders/mass",
        ("order", pending), ("order", complete), ("order", "nonsense"),
        ("action", "hold"), ("back", "/orders?status=pending"),
    )  # fmt: skip
    assert answer.header("location") == "/orders?status=pending"
    assert (office.status(pending), office.status(complete)) == ("on hold", "complete")
    text = office.text("/orders")
    assert "1 order put on hold." in text
    assert "2 orders could not be changed." in text


# Orders ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["pending", "processing"])
def test_release_gives_an_order_the_status_back_that_it_had(office: Office, status: str) -> None:
    number = office.order(status)
    if status == "processing":
        office.post(f"/orders/{number}/comments", ("comment", "Payment received."))
    office.post(f"/orders/{number}/hold")
    assert office.status(number) == "on hold"
    office.post(f"/orders/{number}/release")
    assert office.status(number) == status


def test_cancelling_puts_the_goods_back_into_stock(office: Office) -> None:
    number = office.order("pending")
    units = office.value(
        "SELECT sum(quantity) FROM order_items i JOIN orders o ON o.id = i.order_id "
        "WHERE o.number = ?",
        number,
    )
    before = office.value("SELECT sum(stock) FROM products")
    assert isinstance(before, int) and isinstance(units, int)
    office.post(f"/orders/{number}/cancel")
    assert office.status(number) == "cancelled"
    assert office.value("SELECT sum(stock) FROM products") == before + units


def test_a_shipment_needs_carrier_and_number_and_completes_the_order(office: Office) -> None:
    number = office.order("pending", "processing")
    answer = office.post(f"/orders/{number}/ship", ("carrier", "Balloon"), ("tracking_number", "?"))
    assert "Choose one of the values for the carrier." in said(answer)
    assert "A tracking number has 6 to 30 letters, digits and hyphens." in said(answer)
    assert office.status(number) != "complete"
    form = (("carrier", "Swiftwing"), ("tracking_number", "SW123456"))
    office.post(f"/orders/{number}/ship", *form)
    assert office.status(number) == "complete"
    assert "Swiftwing, SW123456" in office.text(f"/orders/{number}")
    office.post(f"/orders/{number}/ship", *form)
    assert "An order that is complete cannot be shipped." in office.text(f"/orders/{number}")
    assert office.value("SELECT count(*) FROM shipments WHERE tracking_number = 'SW123456'") == 1


@pytest.mark.parametrize(("action", "status"), [("refund", "pending"), ("hold", "complete")])
def test_what_a_status_forbids_changes_nothing(office: Office, action: str, status: str) -> None:
    number = office.order(status)
    office.post(f"/orders/{number}/{action}")
    assert office.status(number) == status
    assert f"This cannot be done to an order that is {status}." in office.text(f"/orders/{number}")


def test_a_comment_says_whether_the_customer_was_told(office: Office) -> None:
    number = office.order("processing")
    assert "Comment is required." in said(office.post(f"/orders/{number}/comments"))
    office.post(f"/orders/{number}/comments", ("comment", "On its way."), ("notify", "1"))
    text = office.text(f"/orders/{number}")
    assert "The comment was saved and sent to" in text
    assert f"{NOW[:16]} processing, customer notifiedOn its way." in text


def test_an_address_is_checked_and_belongs_to_its_order_alone(office: Office) -> None:
    number = office.order("processing")
    others = "SELECT count(DISTINCT street || town) FROM orders WHERE number <> ?"
    before = office.value(others, number)
    form = {"name": "Ada Dahl", "street": "1 Old Quay", "town": "Larkspur", "phone": "0555 1 2"}
    answer = office.post(f"/orders/{number}/address", *form.items(), ("postcode", "abc"))
    assert "A postcode has five digits." in said(answer)
    assert "1 Old Quay" in answer.body
    office.post(f"/orders/{number}/address", *form.items(), ("postcode", "24870"))
    assert "1 Old Quay24870 Larkspur" in office.text(f"/orders/{number}")
    assert office.value(others, number) == before


# Products, customers, reviews, coupons, pages -------------------------------------------------


def test_saving_a_product_unchanged_changes_nothing(office: Office) -> None:
    query = "SELECT group_concat(quote(description) || price || sku || stock) FROM products"
    before = office.value(query)
    office.post("/products/5", *product_form(office, 5))
    assert "was saved." in office.text("/products/5")
    assert office.value(query) == before


def test_a_wrong_product_form_keeps_what_was_typed_and_says_what_is_wrong(office: Office) -> None:
    price = office.value("SELECT price FROM products WHERE id = 5")
    sku = str(office.value("SELECT sku FROM products WHERE id = 6"))
    form = product_form(office, 5, price="12.345", stock="-3", name="", sku=sku)
    answer = office.post("/products/5", *form)
    text = said(answer)
    assert "Price must be an amount such as 24.90." in text
    assert "Stock must be a whole number from 0 to 99999." in text
    assert "Product name is required." in text
    assert "Another product has this SKU." in text
    assert 'value="12.345"' in answer.body
    assert office.value("SELECT price FROM products WHERE id = 5") == price


def test_a_special_price_must_be_lower_than_the_price(office: Office) -> None:
    form = product_form(office, 5, price="20", special_price="20.00")
    answer = office.post("/products/5", *form)
    assert "Special price must be lower than the price." in said(answer)
    office.post("/products/5", *product_form(office, 5, price="20", special_price="19.5"))
    assert office.value("SELECT special_price FROM products WHERE id = 5") == 1950


def test_two_new_products_of_one_name_get_two_addresses(office: Office) -> None:
    form = {"name": "Plain Bowl", "category_id": "5", "price": "9", "stock": "1"}
    for sku in ("NEW-1", "NEW-2"):
        answer = office.post(
            "/products/new", *form.items(), ("sku", sku), ("weight_grams", "0"), ("is_enabled", "1")
        )
        assert answer.header("location") == f"/products?sku={sku}"
    slugs = "SELECT group_concat(slug) FROM products WHERE name = 'Plain Bowl'"
    assert office.value(slugs) == "plain-bowl,plain-bowl-2"


def test_the_stock_of_many_products_is_set_at_once(office: Office) -> None:
    skus = [str(office.value("SELECT sku FROM products WHERE id = ?", n)) for n in (5, 6)]
    form = [("product", sku) for sku in skus]
    office.post("/products/mass", *form, ("action", "stock"), ("new_stock", "x"))
    assert "New stock must be a whole number" in office.text("/products")
    office.post("/products/mass", *form, ("action", "stock"), ("new_stock", "77"))
    assert office.value("SELECT count(*) FROM products WHERE id IN (5, 6) AND stock = 77") == 2


def test_a_customer_moves_only_into_a_group_that_there_is(office: Office) -> None:
    answer = office.post("/customers/7/group", ("group", "VIP"))
    assert "Choose one of the values for the group." in said(answer)
    office.post("/customers/7/group", ("group", "Wholesale"))
    assert office.value("SELECT group_name FROM customers WHERE id = 7") == "Wholesale"


def test_reviews_are_rejected_one_by_one_or_many_at_once(office: Office) -> None:
    office.post("/reviews/mass", ("review", "3"), ("review", "4"), ("action", "rejected"))
    rejected = "SELECT count(*) FROM reviews WHERE id IN (3, 4) AND status = 'rejected'"
    assert office.value(rejected) == 2
    form = {"status": "approved", "rating": "2", "nickname": "Bo", "title": "So so", "body": "Hm."}
    assert "Title is required." in said(office.post("/reviews/3", *(form | {"title": ""}).items()))
    office.post("/reviews/3", *form.items())
    assert office.value("SELECT status || rating || nickname FROM reviews WHERE id = 3") == (
        "approved2Bo"
    )


def test_a_coupon_must_be_new_and_end_after_it_starts(office: Office) -> None:
    form = {
        "code": "HELLO10", "name": "Again", "percent": "95", "starts_on": "2026-05-02",
        "ends_on": "2026-05-01", "is_active": "1",
    }  # fmt: skip
    text = said(office.post("/coupons/new", *form.items()))
    assert "There is a coupon of this code already." in text
    assert "Discount must be a whole number from 1 to 90." in text
    assert "The last day must not be before the first day." in text
    right = form | {"code": "AGAIN9", "percent": "9", "ends_on": "2026-05-30"}
    office.post("/coupons/new", *right.items())
    coupon = office.value("SELECT id FROM coupons WHERE code = 'AGAIN9'")
    office.post(f"/coupons/{coupon}/switch", ("is_active", "0"))
    assert office.value("SELECT is_active FROM coupons WHERE code = 'AGAIN9'") == 0


def test_saving_a_content_page_keeps_its_line_breaks(office: Office) -> None:
    before = str(office.value("SELECT content FROM pages WHERE id = 2"))
    assert "\n" in before
    form = {"title": "Delivery", "url_key": "returns", "content": before.replace("\n", "\r\n")}
    assert "Another page has this URL key." in said(office.post("/pages/2", *form.items()))
    office.post("/pages/2", *(form | {"url_key": "delivery", "is_enabled": "1"}).items())
    assert office.value("SELECT content FROM pages WHERE id = 2") == before


# Reports --------------------------------------------------------------------------------------


def test_the_sales_report_adds_up(office: Office) -> None:
    query = "from=2025-01-01&to=2025-06-30&status=complete"
    orders, revenue = (
        office.value(
            f"SELECT {what} FROM orders WHERE status = 'complete' "
            "AND created_at BETWEEN '2025-01-01' AND '2025-06-30 23:59:59'"
        )
        for what in ("count(*)", "sum(total)")
    )
    assert isinstance(revenue, int)
    for key in ("sales-by-month", "sales-by-day"):
        page = html.fromstring(office.get(f"/reports/{key}?{query}").body)
        (total,) = page.xpath("//tr[@class='totals']")
        cells = total.xpath("td/text()")
        assert (cells[0], cells[-1]) == (str(orders), money(revenue))
    months = html.fromstring(office.get(f"/reports/sales-by-month?{query}").body)
    assert months.xpath("//tr[not(th)]/td[1]/text()") == [
        f"2025-0{month}" for month in range(6, 0, -1)
    ]


def test_best_sellers_count_units_in_a_category_and_its_parents(office: Office) -> None:
    best = office.state.database("shopping_admin").execute(
        "SELECT p.name, sum(i.quantity) AS units FROM order_items i "
        "JOIN products p ON p.id = i.product_id JOIN categories c ON c.id = p.category_id "
        "JOIN categories above ON above.id = c.parent_id WHERE above.name = 'Pantry' "
        "GROUP BY p.id ORDER BY units DESC, p.name"
    )
    name, units = best.fetchone()
    page = html.fromstring(office.get("/reports/best-sellers?search=pantry").body)
    first = page.xpath("//tr[2]")[0]
    assert first.xpath("td[1]/a/text()") == [name]
    assert first.xpath("td[3]/text()") == [str(units)]


def test_low_stock_means_below_ten_unless_told_otherwise(office: Office) -> None:
    for query, bound in (("", 10), ("?below=3", 3)):
        page = html.fromstring(office.get(f"/reports/low-stock{query}").body)
        stocks = [int(text) for text in page.xpath("//tr/td[4]/text()")]
        assert stocks == sorted(stocks)
        assert stocks[-1] < bound
