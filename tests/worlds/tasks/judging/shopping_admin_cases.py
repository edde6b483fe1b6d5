"""The administration's tasks: damage, other ways and near misses."""

from __future__ import annotations

from collections.abc import Callable

from tests.worlds.tasks.arriving import WORLD
from tests.worlds.tasks.judging.forms import (
    as_if,
    changed_rows,
    first,
    form,
    in_turn,
    values_of,
)
from tests.worlds.tasks.judging.verdicts import Damage, after
from worlds.tasks.template import Solution

SITE = "shopping_admin"
HOME = "http://shopping-admin.test"
ENABLED = "Enabled in the shop"
PERCENT, FIRST_DAY, LAST_DAY = (
    "Discount in percent",
    "First day (YYYY-MM-DD)",
    "Last day (YYYY-MM-DD)",
)
"""Labels of the forms."""


def order_url(order_id: object) -> str:
    return f"{HOME}/orders/{first(SITE, f'SELECT number FROM orders WHERE id = {order_id}')}"


def product(product_id: object, **fields: str) -> Damage:
    names = {"enabled": ENABLED, "name": "Product name", "special": "Special price", "sku": "SKU"}
    labels = {names.get(name, name.capitalize()): text for name, text in fields.items()}
    return form(f"{HOME}/products/{product_id}", "Save product", labels)


def new_product(**fields: str) -> Damage:
    return product("new", **fields)


def review(review_id: object, **fields: str) -> Damage:
    labels = {name.capitalize(): text for name, text in fields.items()}
    return form(f"{HOME}/reviews/{review_id}", "Save review", labels)


def coupon(coupon_id: object, fields: dict[str, str]) -> Damage:
    return form(f"{HOME}/coupons/{coupon_id}", "Save coupon", fields)


def switch(code: str, *, on: bool) -> Damage:
    return form(f"{HOME}/coupons?code={code}", f"{'Activate' if on else 'Deactivate'} {code}")


def page(page_id: object, **fields: str) -> Damage:
    labels = {"title": "Title", "content": "Content", "enabled": ENABLED}
    return form(f"{HOME}/pages/{page_id}", "Save page", {labels[n]: t for n, t in fields.items()})


def address(url: str, **fields: str) -> Damage:
    labels = {name.capitalize(): text for name, text in fields.items()}
    return form(f"{url}/address", "Save address", labels)


def shipment(url: str, carrier: str, tracking: str) -> Damage:
    return form(f"{url}/ship", "Record shipment", {"Tracking number": tracking, "Carrier": carrier})


def ids(template: int, table: str) -> list[int]:
    return [row["id"] for row in changed_rows(template, table)]


# Damage ---------------------------------------------------------------------------------------

PRODUCT = 505
SPARE_COUPON = {
    "Code": "SPARE20",
    "Name": "Spare",
    PERCENT: "20",
    FIRST_DAY: "2026-04-01",
    LAST_DAY: "2026-04-02",
}
SPARE = {"name": "Spare", "sku": "SPARE-1", "category": "Textiles / Towels", "price": "1.05"}


def newest_coupon() -> str:
    return first(SITE, "SELECT max(id) FROM coupons WHERE is_active")


def damage(template: int) -> dict[str, Damage]:
    """Return the damage that the agent can do, by name."""
    open_order = order_url(first(SITE, "SELECT min(id) FROM orders WHERE status = 'processing'"))
    sent_order = order_url(first(SITE, "SELECT min(id) FROM orders WHERE status = 'complete'"))
    approved = first(SITE, "SELECT min(id) FROM reviews WHERE status = 'approved'")
    code = first(SITE, f"SELECT code FROM coupons WHERE id = {newest_coupon()}")
    return {
        "price": product(PRODUCT, price="900.05"),
        "special price": product(PRODUCT, price="900.05", special="1.05"),
        "stock": product(PRODUCT, stock="4711"),
        "product's name": product(PRODUCT, name="Something else"),
        "product's description": product(PRODUCT, description=""),
        "product disabled": product(PRODUCT, enabled=""),
        "product's category": product(PRODUCT, category="Kitchen / Bakeware"),
        "product added": new_product(**SPARE),
        "order held": form(open_order, "Put on hold"),
        "order cancelled": form(open_order, "Cancel order"),
        "order refunded": form(sent_order, "Refund"),
        "order shipped": shipment(open_order, "Swiftwing", "XX000000"),
        "comment": form(sent_order, "Add comment", {"Comment": "Nothing to see here."}),
        "address of an order": address(sent_order, street="1 Elsewhere"),
        "review rejected": review(approved, status="rejected"),
        "review's text": review(approved, review="I never wrote this."),
        "coupon switched off": switch(code, on=False),
        "coupon added": coupon("new", SPARE_COUPON),
        "coupon's last day": coupon(newest_coupon(), {LAST_DAY: "2027-01-01"}),
        "customer's group": form(
            f"{HOME}/customers/77", "Save group", {"Customer group": "Retailer"}
        ),
        "page's content": page(2, content="Closed for ever."),
        "page disabled": page(2, enabled=""),
        "message to the shop": form(
            "http://shopping.test/contact",
            "Send message",
            {"Name": "Nobody", "Email": "nobody@post.test", "Message": "What is this about?"},
        ),
    }


# Other ways -----------------------------------------------------------------------------------


def pending_besides(reviews: list[int]) -> str:
    listed = ", ".join(map(str, reviews))
    return first(SITE, f"SELECT id FROM reviews WHERE status = 'pending' AND id NOT IN ({listed})")


def approved_too_much_at_first() -> Solution:
    mine = ids(36, "reviews")
    more = pending_besides(mine)
    approved = [review(number, status="approved") for number in (*mine, more)]
    return in_turn(*approved, review(more, status="pending"))


def corrected(*fields: dict[str, str]) -> Solution:
    (number,) = ids(37, "reviews")
    return in_turn(*(review(number, **each) for each in fields))


def repriced(rows: list[dict[str, int]]) -> Solution:
    return in_turn(*(product(row["id"], price=f"${row['price'] / 100:.2f}") for row in rows))


def redirected_in_steps() -> Solution:
    (order,), values = ids(44, "orders"), values_of(44)
    names = ("postcode", "town", "street")
    return in_turn(*(address(order_url(order), **{name: values[name]}) for name in names))


def expected_coupon() -> dict[str, str]:
    values = values_of(45)
    names = {"Code": "code", "Name": "name", PERCENT: "percent", FIRST_DAY: "first"}
    return {label: values[name] for label, name in names.items()} | {LAST_DAY: values["last"]}


def coupon_activated_later() -> Solution:
    fields = expected_coupon()
    return in_turn(coupon("new", fields | {"Active": ""}), switch(fields["Code"], on=True))


def coupon_corrected_later() -> Solution:
    number = int(first(SITE, "SELECT max(id) FROM coupons")) + 1
    return in_turn(coupon("new", SPARE_COUPON), coupon(number, expected_coupon()))


def coupon_off_and_on() -> Solution:
    (row,) = changed_rows(46, "coupons")
    code, is_active = WORLD.rows(
        SITE, "SELECT code, is_active FROM coupons WHERE id = ?", row["id"]
    )[0]
    percent = coupon(row["id"], {PERCENT: str(row["percent"])})
    return in_turn(switch(code, on=not is_active), percent, switch(code, on=bool(is_active)))


def expected_product() -> dict[str, str]:
    values = values_of(48)
    names = ("name", "sku", "brand", "price", "stock")
    return {name: values[name] for name in names} | {"category": values["option"]}


def product_completed_later() -> Solution:
    number = int(first(SITE, "SELECT max(id) FROM products")) + 1
    return in_turn(
        new_product(**SPARE, enabled=""),
        product(number, **expected_product()),
        product(number, enabled=""),
    )


def product_finished_in_the_grid() -> Solution:
    fields = expected_product()
    stock, sku = fields.pop("stock"), fields["sku"]
    enable = {f"Tick {sku}": "", "With ticked products": "Enable"}
    restock = {f"Tick {sku}": "", "With ticked products": "Set stock", "New stock": stock}
    grid, button = f"{HOME}/products?sku={sku}", "Apply to ticked"
    bare = new_product(**fields, enabled="")
    return in_turn(bare, form(grid, button, enable), form(grid, button, restock))


def shipped_by_address() -> Solution:
    (order,), values = ids(41, "orders"), values_of(41)
    return in_turn(shipment(order_url(order), values["carrier"], values["tracking"]))


def page_saved_twice() -> Solution:
    (row,) = changed_rows(47, "pages")
    return in_turn(page(row["id"], enabled=""), page(row["id"], title=row["title"]))


WAYS: dict[str, tuple[int, Callable[[], Solution]]] = {
    "reviews one by one": (
        36, lambda: in_turn(*(review(n, status="approved") for n in ids(36, "reviews")))
    ),
    "a review too many, taken back": (36, approved_too_much_at_first),
    "approved first": (
        37, lambda: corrected({"status": "approved"}, {"rating": values_of(37)["stars"]})
    ),
    "stars first": (
        37, lambda: corrected({"rating": values_of(37)["stars"]}, {"status": "approved"})
    ),
    "prices backwards": (38, lambda: repriced(changed_rows(38, "products")[::-1])),
    "disabled one by one": (
        39, lambda: in_turn(*(product(n, enabled="") for n in ids(39, "products")))
    ),
    "shipped by address": (41, shipped_by_address),
    "held one by one": (
        42, lambda: in_turn(*(form(order_url(n), "Put on hold") for n in ids(42, "orders")))
    ),
    "address in three steps": (44, redirected_in_steps),
    "coupon activated later": (45, coupon_activated_later),
    "coupon corrected later": (45, coupon_corrected_later),
    "coupon off and on": (46, coupon_off_and_on),
    "page saved twice": (47, page_saved_twice),
    "product completed later": (48, product_completed_later),
    "product finished in the grid": (48, product_finished_in_the_grid),
    "stock one by one": (
        53,
        lambda: in_turn(*(product(n, stock=values_of(53)["number"]) for n in ids(53, "products"))),
    ),
}  # fmt: skip


# Near misses ----------------------------------------------------------------------------------


def refunded_another() -> Solution:
    (order,) = ids(52, "orders")
    same = f"SELECT customer_id FROM orders WHERE id = {order}"
    others = f"SELECT id FROM orders WHERE customer_id = ({same}) AND status = 'complete'"
    return in_turn(form(order_url(first(SITE, f"{others} AND id <> {order}")), "Refund"))


def commented_without_notice() -> Solution:
    (row,) = changed_rows(43, "order_comments", "added")
    return in_turn(form(order_url(row["order_id"]), "Add comment", {"Comment": row["text"]}))


def cheaper_coupon(number: str) -> Solution:
    return in_turn(coupon(number, {PERCENT: values_of(46)["percent"]}))


NEAR_MISSES: dict[str, tuple[int, Callable[[], Solution]]] = {
    "a review forgotten": (
        36, lambda: in_turn(*(review(n, status="approved") for n in ids(36, "reviews")[1:]))
    ),
    "a review too many": (
        36, lambda: after(review(pending_besides(ids(36, "reviews")), status="approved"), 36)
    ),
    "other stars": (37, lambda: as_if(37, stars="5 stars")),
    "not approved": (37, lambda: corrected({"rating": values_of(37)["stars"]})),
    "a price forgotten": (38, lambda: repriced(changed_rows(38, "products")[1:])),
    "another amount": (38, lambda: as_if(38, notes={"change": 5})),
    "one enabled again": (39, lambda: after(product(ids(39, "products")[0], enabled=""), 39)),
    "a piece too many": (40, lambda: as_if(40, pieces="4" + values_of(40)["pieces"])),
    "another product": (40, lambda: as_if(40, sku=first(SITE, "SELECT min(sku) FROM products"))),
    "another carrier": (41, lambda: as_if(41, carrier="Blue Heron Freight")),
    "another tracking number": (41, lambda: as_if(41, tracking="AK10000000")),
    "one order released": (
        42, lambda: after(form(order_url(ids(42, "orders")[0]), "Release from hold"), 42)
    ),
    "another comment": (43, lambda: as_if(43, text="Your parcel leaves tomorrow.")),
    "a comment that nobody hears of": (43, commented_without_notice),
    "another street": (44, lambda: as_if(44, street="59 Swan Street")),
    "another order": (44, lambda: as_if(44, number=first(SITE, "SELECT min(number) FROM orders"))),
    "another discount": (45, lambda: as_if(45, percent="31")),
    "a coupon that is not active": (
        45, lambda: in_turn(coupon("new", expected_coupon() | {"Active": ""}))
    ),
    "a percent too many": (46, lambda: as_if(46, percent="13")),
    "another coupon": (46, lambda: cheaper_coupon(newest_coupon())),
    "another title": (47, lambda: as_if(47, new_title="About")),
    "the title alone": (
        47, lambda: in_turn(*(page(r["id"], title=r["title"]) for r in changed_rows(47, "pages")))
    ),
    "another category": (48, lambda: as_if(48, notes={"option": "Textiles / Curtains & Rugs"})),
    "another price": (48, lambda: as_if(48, notes={"price": "999.05"})),
    "another order refunded": (52, refunded_another),
    "another stock": (53, lambda: as_if(53, number="120")),
}  # fmt: skip
