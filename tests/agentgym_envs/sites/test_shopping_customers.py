"""What customers can change in the shop."""

from __future__ import annotations

import pytest

from agentgym_envs.sites.people import AGENT, PASSWORD
from tests.agentgym_envs.sites.shopper import Shopper

ADDRESS = {
    "name": "Ida Quill",
    "street": "3 Old Quay",
    "town": "Redmarsh",
    "postcode": "32180",
    "phone": "0555 123 4567",
}


@pytest.fixture
def shopper() -> Shopper:
    return Shopper()


def slug_of(shopper: Shopper, product: int) -> str:
    return str(shopper.value("SELECT slug FROM products WHERE id = ?", product))


def check_out(shopper: Shopper, *, shipping: str = "express") -> str:
    """Order what is in the cart, and return where that leads."""
    shopper.post("/checkout/address", address="2")
    shopper.post("/checkout/delivery", shipping=shipping, payment="invoice")
    return shopper.post("/checkout/order").header("location") or ""


# Signing in -----------------------------------------------------------------------------------


def test_an_account_needs_signing_in_and_leads_back() -> None:
    guest = Shopper(user_id=None)
    assert guest.get("/account/orders").header("location") == "/login?next=/account/orders"
    answer = guest.post("/login", username=AGENT.email, password=PASSWORD, next="/account/orders")
    assert answer.header("location") == "/account/orders"
    assert guest.get("/account/orders").status == 200
    guest.post("/logout")
    assert guest.get("/account/orders").status == 303


@pytest.mark.parametrize(("name", "password"), [(AGENT.email, "x"), ("nobody", PASSWORD)])
def test_a_wrong_password_is_refused(name: str, password: str) -> None:
    guest = Shopper(user_id=None)
    answer = guest.post("/login", username=name, password=password)
    assert answer.status == 422 and "User name and password do not match." in answer.body


@pytest.mark.parametrize("path", ["//evil.test/", "http://evil.test/", "/\\evil.test", "x"])
def test_signing_in_never_leads_to_another_site(path: str) -> None:
    guest = Shopper(user_id=None)
    answer = guest.post("/login", username=AGENT.username, password=PASSWORD, next=path)
    assert answer.header("location") == "/account"


def test_a_guest_who_buys_is_sent_to_sign_in_and_back() -> None:
    guest = Shopper(user_id=None)
    slug = slug_of(guest, guest.on_sale())
    answer = guest.post(f"/product/{slug}/cart", quantity="1")
    assert answer.header("location") == f"/login?next=/product/{slug}"


def test_a_new_account_can_be_used_and_its_address_only_once() -> None:
    form = {"name": "Nils Ostrow", "email": "nils@post.test", "password": "long enough"}
    guest = Shopper(user_id=None)
    assert guest.post("/register", **form, repeat="else").status == 422
    assert guest.post("/register", **form, repeat="long enough").status == 303
    assert "Nils Ostrow" in guest.text("/account")
    again = guest.post("/register", **form, repeat="long enough")
    assert "There is an account with this email address." in again.body


# Cart and checkout ----------------------------------------------------------------------------


def test_a_cart_adds_up_and_stays_within_the_stock(shopper: Shopper) -> None:
    product = shopper.on_sale()
    stock = shopper.value("SELECT stock FROM products WHERE id = ?", product)
    for quantity in ("2", "3", str(stock), "0", "-1", "1.5", "100", "two"):
        shopper.post(f"/product/{slug_of(shopper, product)}/cart", quantity=quantity)
    assert shopper.rows("SELECT product_id, quantity FROM cart_items") == [(product, 5)]
    item = shopper.value("SELECT id FROM cart_items")
    shopper.post(f"/cart/{item}/quantity", quantity="4")
    shopper.post(f"/cart/{item}/quantity", quantity=str(stock + 1))
    assert shopper.value("SELECT quantity FROM cart_items") == 4
    shopper.post(f"/cart/{item}/remove")
    assert "Your cart is empty." in shopper.text("/cart")


def test_a_coupon_counts_only_while_it_is_valid(shopper: Shopper) -> None:
    shopper.fill_cart(shopper.on_sale(), 1)
    for code in ("WINTER25", "LANTERN18", "NONSENSE"):
        assert "This coupon code is not valid." in shopper.post("/cart/coupon", code=code).body
    assert shopper.post("/cart/coupon", code="spring20").status == 303
    assert "Spring cleaning: 20% off" in shopper.text("/cart")
    shopper.post("/cart/coupon", code="")
    assert "20% off" not in shopper.text("/cart")


def test_an_order_holds_what_was_chosen(shopper: Shopper) -> None:
    product = shopper.on_sale()
    cost, stock = shopper.rows(
        "SELECT coalesce(special_price, price), stock FROM products WHERE id = ?", product
    )[0]
    shopper.fill_cart(product, 3)
    shopper.post("/cart/coupon", code="TEATIME15")
    number = check_out(shopper).rpartition("/")[2]
    discount = (3 * cost * 15 + 50) // 100
    order = shopper.rows(
        "SELECT status, town, shipping_method, payment_method, coupon, subtotal, discount, total "
        "FROM orders WHERE number = ?",
        number,
    )
    expected = ("pending", "Rivermouth", "Express delivery", "Invoice", "TEATIME15")
    assert order == [(*expected, 3 * cost, discount, 3 * cost - discount + 1290)]
    assert shopper.value("SELECT stock FROM products WHERE id = ?", product) == stock - 3
    assert shopper.rows("SELECT * FROM cart_items") == []
    assert number in shopper.text(f"/checkout/done/{number}")


def test_nothing_is_ordered_before_everything_is_chosen(shopper: Shopper) -> None:
    assert shopper.post("/checkout/order").header("location") == "/cart"
    shopper.fill_cart(shopper.on_sale(), 1)
    assert shopper.post("/checkout/order").header("location") == "/checkout"
    assert shopper.post("/checkout/address", address="9999").status == 422
    other = shopper.value("SELECT id FROM addresses WHERE customer_id = 2")
    assert shopper.post("/checkout/address", address=str(other)).status == 422
    assert shopper.post("/checkout/delivery", shipping="rocket", payment="card").status == 422
    assert shopper.value("SELECT count(*) FROM orders") == 1500


def test_a_new_address_in_the_checkout_is_validated_and_kept(shopper: Shopper) -> None:
    shopper.fill_cart(shopper.on_sale(), 1)
    wrong = shopper.post("/checkout/new-address", **(ADDRESS | {"postcode": "12"}))
    assert "A postcode has five digits." in wrong.body and "3 Old Quay" in wrong.body
    shopper.post("/checkout/new-address", **ADDRESS)
    shopper.post("/checkout/delivery", shipping="pickup", payment="cash")
    shopper.post("/checkout/order")
    assert shopper.value("SELECT street FROM orders ORDER BY id DESC") == "3 Old Quay"
    assert shopper.value("SELECT count(*) FROM addresses WHERE customer_id = 1") == 6


def test_what_is_sold_out_meanwhile_is_not_ordered(shopper: Shopper) -> None:
    product = shopper.on_sale()
    shopper.fill_cart(product, 5)
    shopper.state.database("shopping").execute(
        "UPDATE products SET stock = 1 WHERE id = ?", [product]
    )
    assert check_out(shopper) == "/cart"
    assert shopper.value("SELECT count(*) FROM orders") == 1500


# Orders ---------------------------------------------------------------------------------------


def test_cancelling_gives_the_goods_back_and_needs_a_reason(shopper: Shopper) -> None:
    product = shopper.on_sale()
    stock = shopper.value("SELECT stock FROM products WHERE id = ?", product)
    shopper.fill_cart(product, 2)
    number = check_out(shopper).rpartition("/")[2]
    path = f"/account/orders/{number}/cancel"
    assert shopper.post(path, reason="").status == 422
    shopper.post(path, reason="No longer needed")
    assert shopper.value("SELECT stock FROM products WHERE id = ?", product) == stock
    shopper.post(path, reason="No longer needed")
    assert shopper.value("SELECT stock FROM products WHERE id = ?", product) == stock
    assert "Cancelled" in shopper.text(f"/account/orders/{number}")


def test_only_a_pending_order_can_be_cancelled(shopper: Shopper) -> None:
    number = shopper.value(
        "SELECT number FROM orders WHERE customer_id = 1 AND status = 'complete'"
    )
    shopper.post(f"/account/orders/{number}/cancel", reason="No longer needed")
    assert shopper.value("SELECT status FROM orders WHERE number = ?", number) == "complete"


def test_ordering_again_fills_the_cart(shopper: Shopper) -> None:
    product = shopper.on_sale()
    shopper.fill_cart(product, 2)
    number = check_out(shopper).rpartition("/")[2]
    shopper.post(f"/account/orders/{number}/reorder")
    assert shopper.rows("SELECT product_id, quantity FROM cart_items") == [(product, 2)]


def test_orders_are_found_by_status_and_product(shopper: Shopper) -> None:
    name, count = shopper.rows(
        "SELECT i.name, count(DISTINCT o.id) AS n FROM order_items i "
        "JOIN orders o ON o.id = i.order_id WHERE o.customer_id = 1 AND o.status = 'complete' "
        "GROUP BY i.name ORDER BY n DESC, i.name"
    )[0]
    assert count > 1
    text = shopper.text(
        f"/account/orders?status=complete&product={name.upper().replace('&', '%26')}"
    )
    assert f"{count} orders" in text


# Account --------------------------------------------------------------------------------------


def test_there_is_always_one_default_address(shopper: Shopper) -> None:
    shopper.post("/account/addresses/new", **ADDRESS, default="1")
    default = "SELECT street FROM addresses WHERE customer_id = 1 AND is_default"
    assert shopper.rows(default) == [("3 Old Quay",)]
    shopper.post("/account/addresses/2/default")
    new = shopper.value("SELECT id FROM addresses WHERE street = '3 Old Quay' AND customer_id = 1")
    shopper.post("/account/addresses/2/delete")
    shopper.post(f"/account/addresses/{new}/delete")
    assert shopper.rows(default) == [("Unit 3, 90 Harbour Street",)]
    assert shopper.value("SELECT count(*) FROM addresses WHERE customer_id = 1") == 5


def test_a_wrong_address_is_refused_field_by_field(shopper: Shopper) -> None:
    form = {"name": "", "street": "x" * 81, "town": " ", "postcode": "abc", "phone": "call me"}
    body = shopper.post("/account/addresses/1", **form).body
    for message in ("Name is a required", "Street can have at most 80", "Town is a required"):
        assert message in body
    assert "A postcode has five digits." in body and "with digits and spaces only" in body
    assert 'value="call me"' in body


def test_personal_data_are_validated(shopper: Shopper) -> None:
    other = shopper.value("SELECT email FROM customers WHERE id = 2")
    taken = shopper.post("/account/data", name="Mira", email=other, phone="")
    assert "Another account has this email address." in taken.body
    assert shopper.post("/account/data", name="Mira", email="mira", phone="").status == 422
    assert shopper.post("/account/data", name="Mira", email="m@post.test", phone="").status == 303
    assert shopper.value("SELECT email FROM customers WHERE id = 1") == "m@post.test"


def test_the_newsletter_can_be_taken_and_left(shopper: Shopper) -> None:
    for form, expected in (({"newsletter": "1"}, 1), ({}, 0)):
        shopper.post("/account/newsletter", **form)
        assert shopper.value("SELECT newsletter FROM customers WHERE id = 1") == expected


def test_a_password_is_changed_by_who_knows_it(shopper: Shopper) -> None:
    new = {"new": "battery-staple", "repeat": "battery-staple"}
    assert shopper.post("/account/password", current="wrong", **new).status == 422
    assert (
        shopper.post("/account/password", current=PASSWORD, new="short", repeat="short").status
        == 422
    )
    assert shopper.post("/account/password", current=PASSWORD, **new).status == 303
    guest = Shopper(user_id=None)
    guest.state = shopper.state
    assert guest.post("/login", username=AGENT.email, password=PASSWORD).status == 422
    assert guest.post("/login", username=AGENT.email, password="battery-staple").status == 303


def test_a_wish_moves_to_the_cart_only_if_it_can_be_had(shopper: Shopper) -> None:
    product = shopper.on_sale()
    shopper.state.database("shopping").execute("DELETE FROM wishlist_items WHERE customer_id = 1")
    for _ in range(2):
        shopper.post(f"/product/{slug_of(shopper, product)}/wish")
    wishes = "SELECT id, product_id FROM wishlist_items WHERE customer_id = 1"
    ((wish, product_id),) = shopper.rows(wishes)
    assert product_id == product
    stock = shopper.value("SELECT stock FROM products WHERE id = ?", product)
    shopper.post(f"/account/wishlist/{wish}/move", quantity=str(stock + 1))
    assert len(shopper.rows(wishes)) == 1
    shopper.post(f"/account/wishlist/{wish}/move", quantity="2")
    assert shopper.rows(wishes) == []
    assert shopper.rows("SELECT product_id, quantity FROM cart_items") == [(product, 2)]


def test_a_review_waits_for_approval(shopper: Shopper) -> None:
    slug = slug_of(shopper, shopper.on_sale())
    form = {"nickname": "Mira", "title": "Such a fine thing", "body": "It sings in the night."}
    assert "Please choose a rating." in shopper.post(f"/product/{slug}/review", **form).body
    shopper.post(f"/product/{slug}/review", **form, rating="4")
    assert "Such a fine thing" not in shopper.text(f"/product/{slug}")
    assert "Such a fine thing" in shopper.text("/account/reviews")


def test_a_message_reaches_the_shop(shopper: Shopper) -> None:
    form = {"name": "Mira", "email": "m@post.test"}
    assert shopper.post("/contact", **form, message="short").status == 422
    shopper.post("/contact", **form, message="Where is the snail on my parcel?")
    stored = shopper.value("SELECT message FROM contact_messages ORDER BY id DESC")
    assert stored == "Where is the snail on my parcel?"


def test_what_is_written_is_shown_and_not_run(shopper: Shopper) -> None:
    shopper.post("/account/data", name="<b>Mira</b>", email="m@post.test", phone="")
    assert "&lt;b&gt;Mira" in shopper.get("/account").body
