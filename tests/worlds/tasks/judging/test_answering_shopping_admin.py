"""Answers about the shop's figures, and reasons why something cannot be done, in many wordings."""

from __future__ import annotations

import pytest

from agentgym_envs.webarena.evaluators.typed_answer import is_answer
from tests.worlds.tasks.judging.verdicts import answering, is_reason, listed, some, verdict

RIGHT = {
    30: ("{0}", "The SKU is {0}.", "SKU: {0}", "The SKU that sold most units is {0}."),
    31: (
        "{0}",
        "{0} orders",
        "There were {0}.",
        "{0} cancelled orders were placed in October 2025.",
    ),
    32: ("{0}", "The revenue is {0}.", "{0} in total", "Together they made {0} of revenue."),
    33: ("{0}", "It is {0}.", "The e-mail address is {0}", "**{0}**"),
    34: ("{0}", "Order number: {0}", "The latest order has the number {0}.", "#{0}"),
    35: ("{0}", "{0} wrote it.", "The reviewer is {0}.", '"{0}"'),
    50: ("{0}", '"{0}"', "The search term is {0}.", "The most used one is {0}"),
    51: ("{0}", "It is the {0}.", "The {0} has the lowest average.", "Product: {0}"),
    54: ("{0}", "E-mail address: {0}", "This customer is {0}.", "The answer is {0}."),
}
WRONG = {
    30: ("{0}X", "{0} or B1355-1CR", "It may be {0}.", "Not {0}.", ""),
    31: ("1{0}", "{0} or 77", "about {0}", "{0} pending orders", "N/A"),
    32: ("1{0}", "roughly {0}", "{0}, or $12.00 without shipping", "{0}5"),
    33: ("x{0}", "{0}, mira.halden@post.test", "perhaps {0}"),
    34: ("{0}1", "{0} or 000001234", "$12.50", "none"),
    35: ("{0}, PaulAb", "Not {0}", "{0}x", "PaulAb"),
    50: ("{0} and teapot", "teapot", "{0}s or so, I guess", ""),
    51: ("{0} or another one", "Fernley Marl Window Box", "Probably the {0}", "not the {0}"),
    54: ("{0}, mira.halden@post.test", "mira.halden@post.test", "never", "{0}.org"),
}


def value_of(template: int) -> str:
    answer = some(template).eval["typed_answer"]
    parts = answer.get("of", [answer])
    return " and ".join(str(part["value"]) for part in parts)


@pytest.mark.parametrize(("template", "text"), [(n, text) for n in RIGHT for text in RIGHT[n]])
def test_an_answer_may_be_worded_freely(template: int, text: str) -> None:
    result = verdict(some(template), answering(text.format(value_of(template)), template))
    assert result.score == 1.0, result.reasons


@pytest.mark.parametrize(("template", "text"), [(n, text) for n in WRONG for text in WRONG[n]])
def test_another_value_or_doubt_is_no_answer(template: int, text: str) -> None:
    answer = text.format(value_of(template))
    assert verdict(some(template), answering(answer, template)).score == 0.0


def test_reviewers_may_be_listed_in_any_order() -> None:
    task = next(t for n in range(50) if len((t := some(35, n)).eval["typed_answer"]["of"]) == 3)
    expected = task.eval["typed_answer"]
    a, b, c = (part["value"] for part in expected["of"])
    for right in (f"{c}, {a}, {b}", f"{b} and {a}, and {c}", f"- {a}\n- {c}\n- {b}"):
        assert is_answer(expected, right, task=task.intent), right
    for wrong in (f"{a}, {b}", f"{a}, {b}, {c}, Nobody", f"{a}, {b} or {c}"):
        assert not is_answer(expected, wrong, task=task.intent), wrong


REASONS = {
    49: (
        "No product of the brand has that many approved reviews.",
        "None of {brand}'s products has {number} or more approved reviews.",
        "All {brand} products have fewer than {number} approved reviews.",
        "The most reviewed product has only 5 approved reviews, which is not enough.",
        "There is no {brand} product with at least {number} approved reviews.",
        "No {brand} product reaches {number} reviews.",
        "Not a single product has enough reviews.",
        "The brand's products have at most 5 reviews each.",
        "No product meets the minimum of {number} reviews.",
        "Every product of {brand} has too few reviews.",
    ),
    55: (
        "{customer} has no {status} order.",
        "There is no {status} order by {customer}.",
        "All of {customer}'s orders are complete already.",
        "The customer doesn't have any {status} orders.",
        "None of the customer's orders is {status}.",
        "The only orders of {customer} are complete.",
        "No {status} order of {customer} was found.",
        "This customer has no open order that could be shipped.",
        "Every order of this customer has already been shipped.",
        "{customer}'s orders are all complete or cancelled, not {status}.",
    ),
    150: (
        "There is no order {number}.",
        "Order {number} does not exist.",
        "No order has the number {number}.",
        "I could not find an order with this number.",
        "The order number {number} is unknown.",
        "Order {number} was not found.",
        "The search for order {number} gives no results.",
        "No such order.",
        "The shop doesn't have such an order; none of the numbers matches.",
        "Nothing matches the order number {number}.",
    ),
    151: (
        "No order of {customer} holds the {product}.",
        "{customer} never bought the {product}.",
        "{customer} has not ordered this product.",
        "The product is in none of {customer}'s orders.",
        "The customer's orders don't contain the {product}.",
        "There is no order of {customer} with this product.",
        "None of the orders includes that item.",
        "I found no order by {customer} that contains the {product}.",
        "The {product} was not bought by {customer}.",
        "This customer didn't purchase the product.",
    ),
    152: (
        "{customer} has placed no orders.",
        "{customer} has no orders.",
        "The customer has never ordered anything.",
        "This customer hasn't placed any orders yet.",
        "There are no orders by {customer}.",
        "{customer} does not have any orders.",
        "The customer has 0 orders.",
        "No orders yet for this customer.",
        "{customer} has not ordered anything so far.",
        "The account exists, but without orders.",
    ),
}
OTHER_REASONS = {
    49: (
        "There is no such brand.",
        "The report cannot be opened.",
        "I do not know the products.",
        "The shop sells nothing by {brand}.",
        "Access denied.",
    ),
    55: (
        "There is no customer called {customer}.",
        "{carrier} is not among the carriers.",
        "The tracking number is not valid.",
        "I may not record shipments.",
        "The warehouse is closed.",
    ),
    150: (
        "The order has already been shipped.",
        "The address cannot be changed any more.",
        "The postcode {postcode} is not in {town}.",
        "I may not change orders.",
        "Name and phone are missing.",
    ),
    151: (
        "There is no customer called {customer}.",
        "The shop has no such product.",
        "The order has been refunded already.",
        "I may not refund orders.",
        "The parcel has not arrived yet.",
    ),
    152: (
        "There is no such customer.",
        "The product has been deleted.",
        "The product is not in the order.",
        "I may not edit products.",
        "All products of the order cost the same.",
    ),
}


@pytest.mark.parametrize(("template", "text"), listed(REASONS))
def test_the_reason_may_be_worded_freely(template: int, text: str) -> None:
    assert is_reason(template, text)


@pytest.mark.parametrize(("template", "text"), listed(OTHER_REASONS))
def test_another_reason_is_none(template: int, text: str) -> None:
    assert not is_reason(template, text)
