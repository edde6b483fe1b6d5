"""The administration's tasks: other ways do as well, near misses and damage do not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agentgym_envs.webarena.tasks.solution import Solution
from tests.worlds.tasks.arriving import WORLD
from tests.worlds.tasks.judging.administering import (
    FIRST_DAY,
    HOME,
    LAST_DAY,
    PERCENT,
    SITE,
    address,
    coupon,
    first,
    new_product,
    order_url,
    page,
    product,
    review,
    shipment,
    switch,
)
from tests.worlds.tasks.judging.forms import as_if, changed_rows, form, in_turn, pressed, values_of
from tests.worlds.tasks.judging.verdicts import (
    Damage,
    after,
    changing,
    each_with_every,
    in_turn_with,
    reading,
    some,
    verdict,
)
from worlds.tasks.drawing import TEMPLATES


def ids(template: int, table: str) -> list[int]:
    return [row["id"] for row in changed_rows(template, table)]


# Damage ---------------------------------------------------------------------------------------

PRODUCT = 505
OPEN_ORDER = order_url(first("SELECT min(id) FROM orders WHERE status = 'processing'"))
SENT_ORDER = order_url(first("SELECT min(id) FROM orders WHERE status = 'complete'"))
REVIEW = first("SELECT min(id) FROM reviews WHERE status = 'approved'")
COUPON = first("SELECT max(id) FROM coupons WHERE is_active")
COUPON_CODE = first(f"SELECT code FROM coupons WHERE id = {COUPON}")
SPARE_COUPON = {
    "Code": "SPARE20",
    "Name": "Spare",
    PERCENT: "20",
    FIRST_DAY: "2026-04-01",
    LAST_DAY: "2026-04-02",
}
SPARE = {"name": "Spare", "sku": "SPARE-1", "category": "Textiles / Towels", "price": "1.05"}
DAMAGES: dict[str, Damage] = {
    "price": product(PRODUCT, price="900.05"),
    "special price": product(PRODUCT, price="900.05", special="1.05"),
    "stock": product(PRODUCT, stock="4711"),
    "product's name": product(PRODUCT, name="Something else"),
    "product's description": product(PRODUCT, description=""),
    "product disabled": product(PRODUCT, enabled=""),
    "product's category": product(PRODUCT, category="Kitchen / Bakeware"),
    "product added": new_product(**SPARE),
    "order held": pressed(OPEN_ORDER, "Put on hold"),
    "order cancelled": pressed(OPEN_ORDER, "Cancel order"),
    "order refunded": pressed(SENT_ORDER, "Refund"),
    "order shipped": shipment(OPEN_ORDER, "Swiftwing", "XX000000"),
    "comment": form(SENT_ORDER, {"Comment": "Nothing to see here."}, "Add comment"),
    "address of an order": address(SENT_ORDER, street="1 Elsewhere"),
    "review rejected": review(REVIEW, status="rejected"),
    "review's text": review(REVIEW, review="I never wrote this."),
    "coupon switched off": switch(COUPON_CODE, on=False),
    "coupon added": coupon("new", SPARE_COUPON),
    "coupon's last day": coupon(COUPON, {LAST_DAY: "2027-01-01"}),
    "customer's group": form(f"{HOME}/customers/77", {"Customer group": "Retailer"}, "Save group"),
    "page's content": page(2, content="Closed for ever."),
    "page disabled": page(2, enabled=""),
    "message to the shop": form(
        "http://shopping.test/contact",
        {"Name": "Nobody", "Email": "nobody@post.test", "Message": "What is this about?"},
        "Send message",
    ),
}


@pytest.mark.parametrize(("template", "kind"), each_with_every(changing(SITE), DAMAGES))
def test_a_change_besides_the_one_that_is_asked_for_counts(template: int, kind: str) -> None:
    assert verdict(some(template), after(DAMAGES[kind], template)).score == 0.0


@pytest.mark.parametrize(("template", "kind"), in_turn_with(reading(SITE), DAMAGES))
def test_whoever_only_looks_leaves_everything_as_it_was(template: int, kind: str) -> None:
    assert verdict(some(template), after(DAMAGES[kind], template)).score == 0.0


# Other ways -----------------------------------------------------------------------------------


def pending_besides(reviews: list[int]) -> str:
    listed = ", ".join(map(str, reviews))
    return first(f"SELECT id FROM reviews WHERE status = 'pending' AND id NOT IN ({listed})")


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


def coupon_asked_for() -> dict[str, str]:
    values = values_of(45)
    names = {"Code": "code", "Name": "name", PERCENT: "percent", FIRST_DAY: "first"}
    return {label: values[name] for label, name in names.items()} | {LAST_DAY: values["last"]}


def coupon_activated_later() -> Solution:
    fields = coupon_asked_for()
    return in_turn(coupon("new", fields | {"Active": ""}), switch(fields["Code"], on=True))


def coupon_corrected_later() -> Solution:
    number = int(first("SELECT max(id) FROM coupons")) + 1
    return in_turn(coupon("new", SPARE_COUPON), coupon(number, coupon_asked_for()))


def coupon_off_and_on() -> Solution:
    (row,) = changed_rows(46, "coupons")
    code, is_active = WORLD.rows(
        SITE, "SELECT code, is_active FROM coupons WHERE id = ?", row["id"]
    )[0]
    percent = coupon(row["id"], {PERCENT: str(row["percent"])})
    return in_turn(switch(code, on=not is_active), percent, switch(code, on=bool(is_active)))


def product_asked_for() -> dict[str, str]:
    values = values_of(48)
    names = ("name", "sku", "brand", "price", "stock")
    return {name: values[name] for name in names} | {"category": values["option"]}


def product_completed_later() -> Solution:
    number = int(first("SELECT max(id) FROM products")) + 1
    return in_turn(
        new_product(**SPARE, enabled=""),
        product(number, **product_asked_for()),
        product(number, enabled=""),
    )


def product_finished_in_the_grid() -> Solution:
    fields = product_asked_for()
    stock, sku = fields.pop("stock"), fields["sku"]
    enable = {f"Tick {sku}": "", "With ticked products": "Enable"}
    restock = {f"Tick {sku}": "", "With ticked products": "Set stock", "New stock": stock}
    grid, button = f"{HOME}/products?sku={sku}", "Apply to ticked"
    bare = new_product(**fields, enabled="")
    return in_turn(bare, form(grid, enable, button), form(grid, restock, button))


def shipped_by_address() -> Solution:
    (order,), values = ids(41, "orders"), values_of(41)
    return in_turn(shipment(order_url(order), values["carrier"], values["tracking"]))


def page_saved_twice() -> Solution:
    (row,) = changed_rows(47, "pages")
    return in_turn(page(row["id"], enabled=""), page(row["id"], title=row["title"]))


OTHER_WAYS: dict[str, tuple[int, Callable[[], Solution]]] = {
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
        42, lambda: in_turn(*(pressed(order_url(n), "Put on hold") for n in ids(42, "orders")))
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


@pytest.mark.parametrize("way", OTHER_WAYS)
def test_another_way_does_as_well(way: str) -> None:
    template, solution = OTHER_WAYS[way]
    result = verdict(some(template), solution())
    assert result.score == 1.0, result.reasons


# Near misses ----------------------------------------------------------------------------------


def refunded_another() -> Solution:
    (order,) = ids(52, "orders")
    same = f"SELECT customer_id FROM orders WHERE id = {order}"
    others = f"SELECT id FROM orders WHERE customer_id = ({same}) AND status = 'complete'"
    return in_turn(pressed(order_url(first(f"{others} AND id <> {order}")), "Refund"))


def told_nobody() -> Solution:
    (row,) = changed_rows(43, "order_comments", "added")
    return in_turn(form(order_url(row["order_id"]), {"Comment": row["text"]}, "Add comment"))


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
    "another product": (40, lambda: as_if(40, sku=first("SELECT min(sku) FROM products"))),
    "another carrier": (41, lambda: as_if(41, carrier="Blue Heron Freight")),
    "another tracking number": (41, lambda: as_if(41, tracking="AK10000000")),
    "one order released": (
        42, lambda: after(pressed(order_url(ids(42, "orders")[0]), "Release from hold"), 42)
    ),
    "another comment": (43, lambda: as_if(43, text="Your parcel leaves tomorrow.")),
    "a comment that nobody hears of": (43, told_nobody),
    "another street": (44, lambda: as_if(44, street="59 Swan Street")),
    "another order": (44, lambda: as_if(44, number=first("SELECT min(number) FROM orders"))),
    "another discount": (45, lambda: as_if(45, percent="31")),
    "a coupon that is not active": (
        45, lambda: in_turn(coupon("new", coupon_asked_for() | {"Active": ""}))
    ),
    "a percent too many": (46, lambda: as_if(46, percent="13")),
    "another coupon": (46, lambda: cheaper_coupon(COUPON)),
    "another title": (47, lambda: as_if(47, new_title="About")),
    "the title alone": (
        47, lambda: in_turn(*(page(r["id"], title=r["title"]) for r in changed_rows(47, "pages")))
    ),
    "another category": (48, lambda: as_if(48, notes={"option": "Textiles / Curtains & Rugs"})),
    "another price": (48, lambda: as_if(48, notes={"price": "999.05"})),
    "another order refunded": (52, refunded_another),
    "another stock": (53, lambda: as_if(53, number="120")),
}  # fmt: skip


@pytest.mark.parametrize("miss", NEAR_MISSES)
def test_a_near_miss_does_not_do(miss: str) -> None:
    template, solution = NEAR_MISSES[miss]
    assert verdict(some(template), solution()).score == 0.0


def test_every_task_that_changes_something_can_be_missed() -> None:
    alone = {number for number in changing(SITE) if TEMPLATES[number].sites == (SITE,)}
    assert {template for template, _ in NEAR_MISSES.values()} == alone
