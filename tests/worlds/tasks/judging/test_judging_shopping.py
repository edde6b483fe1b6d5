"""The shop's tasks: whole states, typed answers and reasons decide, not the way that was taken."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.evaluators.typed_answer import is_answer
from agentgym_envs.webarena.tasks.experts import EXPERTS
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.solution import Case, Solution
from tests.worlds.tasks.judging.mistaking import mistaken, slots, unfinished
from tests.worlds.tasks.judging.shopping_damage import (
    AGENT_ALONE,
    ANYBODY,
    SHOP,
    THROUGH_OFFICE,
    choose_delivery,
    empty_cart,
    fill_cart,
    one_after_the_other,
    submitting,
    use_coupon,
)
from tests.worlds.tasks.judging.shopping_ways import WAYS
from tests.worlds.tasks.judging.verdicts import (
    after,
    answering,
    changing,
    each_with_every,
    in_turn_with,
    reading,
    some,
    verdict,
)
from worlds.tasks.drawing import TEMPLATES
from worlds.tasks.floors import is_impossible

CHANGING, READING = changing("shopping"), reading("shopping")
SIGNED_OUT = 23
DAMAGE = ANYBODY | AGENT_ALONE | THROUGH_OFFICE
FEASIBLE = [
    *each_with_every([number for number in CHANGING if number != SIGNED_OUT], DAMAGE),
    # A new account has no orders, no addresses and no key to the office.
    *each_with_every([SIGNED_OUT], ANYBODY),
]


# Damage -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("number", "damage"), FEASIBLE)
def test_what_is_done_besides_undoes_the_task(number: int, damage: str) -> None:
    assert verdict(some(number), after(DAMAGE[damage], number)).score == 0.0


@pytest.mark.parametrize(("number", "damage"), in_turn_with(READING, DAMAGE))
def test_nothing_may_change_where_a_task_reads_or_shows(number: int, damage: str) -> None:
    assert verdict(some(number), after(DAMAGE[damage], number)).score == 0.0


UNDONE = {
    "a search, which the shop counts": submitting(SHOP, "Search"),
    "what is put into the cart and taken out": one_after_the_other(fill_cart, empty_cart),
    "a checkout that is left, a form half filled in": one_after_the_other(
        fill_cart, choose_delivery, empty_cart
    ),
    "a choice made and taken back": one_after_the_other(*[ANYBODY["the newsletter"]] * 2),
    "a coupon applied and removed": one_after_the_other(
        fill_cart, use_coupon, submitting(f"{SHOP}/cart", "Remove coupon"), empty_cart
    ),
}


@pytest.mark.parametrize("what", UNDONE)
@pytest.mark.parametrize("number", [1, 7, 13, 14, 22])
def test_nobody_minds(number: int, what: str) -> None:
    assert verdict(some(number), after(UNDONE[what], number)).score == 1.0


# Ways -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("instance", [0, 1])
@pytest.mark.parametrize(("number", "way", "solution"), WAYS)
def test_another_honest_way_is_as_good(
    number: int, way: str, solution: Solution, instance: int
) -> None:
    result = verdict(some(number, instance), solution)
    assert result.score == 1.0, (way, result.reasons)


# A person and a town name an address together, a shelf may hold too few, bounds overlap, and the
# cheaper of two products may also be better in stock.
PAIRS = {
    6: ("category", "quantity"),
    9: ("person", "town"),
    17: ("least", "most"),
    148: ("quantity", "which"),
}


@pytest.mark.parametrize(
    ("number", "wrong"),
    [(n, each) for n in CHANGING for each in slots(n, *[PAIRS[n]] if n in PAIRS else [])],
)
def test_one_thing_mistaken_is_wrong(number: int, wrong: tuple[str, ...]) -> None:
    assert verdict(some(number), mistaken(number, *wrong)).score == 0.0


def test_the_other_of_two_products_is_wrong() -> None:
    opposite = {"the cheaper one": "the more expensive one"}

    def other(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        which = opposite[case.values["which"]]
        yield from EXPERTS[148](Case({**case.values, "which": which}, case.notes), screen)

    task = next(t for t in map(partial(some, 148), range(50)) if "cheaper" in t.intent)
    assert verdict(task).score == 1.0 and verdict(task, other).score == 0.0


@pytest.mark.parametrize("number", CHANGING)
def test_the_last_step_counts(number: int) -> None:
    assert verdict(some(number), unfinished(number)).score == 0.0


def test_the_right_total_is_wrong_when_the_coupon_is_taken_back() -> None:
    without_coupon = submitting(f"{SHOP}/cart", "Remove coupon")
    assert verdict(some(12), after(without_coupon, 12)).score == 0.0


# Answers ----------------------------------------------------------------------------------------

ANSWERS: dict[int, tuple[list[str], list[str]]] = {
    0: (
        ["{0}", "The cheapest product is {0}.", '"{0}"', "It is called {0}"],
        ["{0}, large", "not {0}", "{0} or another one", "{next}", ""],
    ),
    1: (
        ["{0}, {1}", "{0} reviews, {1} stars in all", "{1} stars in {0} reviews",
         "{0} reviews mention it, with {1} stars in all."],
        ["{1}, {0}", "{0}", "{1}", "{0}, {1}, 5", "{0} stars, {1} reviews"],
    ),
    2: (
        ["{0}", "{0} wrote it.", "The latest review was written by {0}.", "By {0}"],
        ["{next}", "{0} or {next}", "{0}son", "perhaps {0}"],
    ),
    3: (
        ["{0}", "You spent {0}.", "{plain}", "{plain} dollars", "The total is {0}"],
        ["{next}", "1{plain}", "{0} and {next}", "about {0}", "€{plain}"],
    ),
    4: (
        ["{0}", "The tracking number is {0}.", "My latest order has the tracking number {0}."],
        ["{next}", "{0}1", "{0} or {next}", "N/A - it was not sent"],
    ),
    12: (
        ["{0}", "The total is {0}.", "{plain} dollars"],
        ["{next}", "1{plain}", "{0}, without discount {next}", ""],
    ),
    15: (
        ["{0}", "{plain}", "100 g of it cost {0}.", "{0} per 100 g"],
        ["{next}", "{0} per pound", "{0} or {next}", "-{plain}"],
    ),
    18: (
        ["{0}", "{0} products", "There are {0}.", "{0}.0"],
        ["{0}1", "{0} reviews", "at least {0}", "{0} or 3"],
    ),
    19: (
        ["{0}, {1}", "{0} pieces for {1}", "{1} for {0} pieces", "I bought {0} and paid {1}."],
        ["{0}", "{1}", "{1}, {1}", "{0}, {next}", "{0}1, {1}"],
    ),
}  # fmt: skip
"""By template: right answers and wrong ones, made of the values and of another task's last one."""


def _written(number: int, answer: str) -> str:
    mine, other = (some(number, instance).eval["typed_answer"] for instance in (0, 2))
    values = [str(part["value"]) for part in mine.get("of", [mine])]
    another = str(other.get("of", [other])[-1]["value"])
    plain = values[0].replace("$", "").replace(",", "")
    return answer.format(*values, next=another, plain=plain)


@pytest.mark.parametrize(("number", "answer"), [(n, a) for n in ANSWERS for a in ANSWERS[n][0]])
def test_a_right_answer_in_other_words_is_right(number: int, answer: str) -> None:
    text = _written(number, answer)
    result = verdict(some(number), answering(text, number))
    assert result.score == 1.0, (text, result.reasons)


@pytest.mark.parametrize(("number", "answer"), [(n, a) for n in ANSWERS for a in ANSWERS[n][1]])
def test_a_wrong_answer_is_wrong(number: int, answer: str) -> None:
    text = _written(number, answer)
    assert verdict(some(number), answering(text, number)).score == 0.0, text


# Reasons ----------------------------------------------------------------------------------------

REASONS: dict[int, tuple[list[str], list[str]]] = {
    16: (
        ["N/A: no pending order contains it", "N/A - there is no such order that is pending",
         "This cannot be done: none of my pending orders has it",
         "N/A. The order with it is already complete", "N/A, the order was shipped long ago",
         "Not possible, because that order has been refunded", "N/A - it is not pending any more",
         "Impossible: nothing pending contains {product}",
         "N/A (I don't have a pending order with {product})",
         "N/A: I found no order with this product that could still be cancelled"],
        ["N/A: the page did not load", "N/A: I do not know the reason", "No pending order has it",
         "N/A: this shop does not let anybody cancel", "N/A: the product is out of stock"],
    ),
    145: (
        ["N/A: the order was not sent, so it has no tracking number",
         "N/A - not shipped yet", "N/A. No tracking number is shown for this order",
         "It cannot be answered: the latest order has no shipment", "N/A: never dispatched",
         "Not available: my latest order with {product} hasn't been sent",
         "N/A, the order has not been delivered or sent", "N/A - there is none: it was not shipped",
         "N/A (delivery: not sent yet)", "Impossible: the order lacks a tracking number"],
        ["N/A: I never bought it", "N/A: there is no order with it", "It has no tracking number",
         "N/A: the product is not sold any more", "N/A: I am not signed in"],
    ),
    146: (
        ["N/A: there is no address of {person} in {town}", "N/A: no such address in the book",
         "N/A - {person} has no {town} address", "Not possible: {person} does not live in {town}",
         "N/A. The address book has nobody called {person} in {town}",
         "N/A: there is not such an address", "N/A - {person}'s address isn't in {town}",
         "This cannot be done, since no address in {town} belongs to {person}",
         "N/A (that address does not exist)", "N/A: I found no matching address"],
        ["N/A: the address book is empty", "N/A: {person} is not in the address book",
         "N/A: {new_town} does not exist", "N/A: the postcode is not valid",
         "There is no address of {person} in {town}"],
    ),
    147: (
        ["N/A: no review gives {stars}", "N/A - nobody gave {stars}", "N/A: there's no such review",
         "N/A. None of the reviews has {stars}", "Not possible: no review with this star rating",
         "N/A - no review has this number of stars", "N/A (No review has this rating: {stars})",
         "It cannot be answered, as there is no review rated {stars}",
         "N/A: the filter for {stars} shows no review", "N/A, without a review of {stars}"],
        ["N/A: the product does not exist", "N/A: no product of this name",
         "No review gives {stars}", "N/A: the reviews are not signed", "N/A: nobody"],
    ),
}  # fmt: skip
"""By template: good reasons and bad ones, with the slots of the intent."""


def test_each_one_that_cannot_be_done_has_its_reasons_here() -> None:
    assert set(REASONS) == {number for number in READING if is_impossible(some(number))}
    assert all(len(good) >= 10 and len(bad) >= 5 for good, bad in REASONS.values())


@pytest.mark.parametrize("number", REASONS)
def test_a_good_reason_is_needed_in_any_words(number: int) -> None:
    good, bad = REASONS[number]
    for instance in range(TEMPLATES[number].instances):
        task = some(number, instance)
        for reason, is_right in [(each, True) for each in good] + [(each, False) for each in bad]:
            answer = reason.format_map(task.instantiation_dict or {})
            result = is_answer(task.eval["typed_answer"], answer, task=task.intent)
            assert result == is_right, answer


@pytest.mark.parametrize("number", REASONS)
def test_the_task_that_can_be_done_is_not_given_up(number: int) -> None:
    task = TEMPLATES[number]
    twin = next(n for n, t in TEMPLATES.items() if t.intents == task.intents and t is not task)
    reason = REASONS[number][0][0].format_map(some(twin).instantiation_dict or {})
    assert verdict(some(twin), lambda case, screen: iter([screen.stop(reason)])).score == 0.0
