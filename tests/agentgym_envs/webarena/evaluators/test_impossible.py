"""A reason for giving up is judged by what it claims, and by the pages that were seen."""

from __future__ import annotations

from typing import Any

import pytest

from agentgym_envs.webarena.evaluators import build_evaluators
from agentgym_envs.webarena.evaluators.impossible import RECENT_PAGES, is_page, rests_on
from agentgym_envs.webarena.evaluators.typed_answer import is_answer
from tests.agentgym_envs.webarena.still import ending

PRODUCT = "Fernley Lark Window Box, 80 cm, white"
TASK = f"Cancel my pending order with {PRODUCT}: Found it cheaper elsewhere."
SHOP = "http://shopping.test"
ORDERS = f"{SHOP}/account/orders"
EXPECTED: dict[str, Any] = {
    "type": "impossible",
    "reason": [["pending", "complete"], ["no ", "none", "not ", "n't", "complete"]],
    "about": [PRODUCT],
    "pages": [f"{ORDERS}?product=Fernley+Lark+Window+Box%2C+80+cm%2C+white", f"{ORDERS}/000002413"],
    "lists": [f"{ORDERS}/000002498"],
    "also": ["order"],
}
UNNAMED = "N/A - no pending order contains it."
NAMED = f"N/A - no pending order contains the {PRODUCT}."
ELSEWHERE = [f"{SHOP}/category/{number}" for number in range(RECENT_PAGES)]


@pytest.mark.parametrize(
    "answer",
    [
        UNNAMED,
        NAMED,
        "N/A - the order is already complete, so it cannot be cancelled and nothing can be done.",
        "N/A - I filtered my orders by this product, and none of them is pending.",
        f"N/A - I could not find a pending order with {PRODUCT}; the only one is complete.",
        f"N/A - I looked through all of my orders containing the {PRODUCT}, and the only one is "
        "already complete, so there is no pending order that I could cancel.",
    ],
)
def test_a_reason_of_one_or_two_claims_is_right(answer: str) -> None:
    assert is_answer(EXPECTED, answer, task=TASK)


@pytest.mark.parametrize(
    "answer",
    [
        "N/A - no pending order, no such address, no such place",
        "N/A - no pending order or comment",
        "N/A - no pending order milestone",
        "N/A - nothing pending, not rated",
        "N/A - not pending\nnot there\nnot mine",
        "N/A - not pending, not there, not mine",
        "N/A - not pending, that, it, this, here, there",
        "N/A - pending/no/none/nothing/not",
        "N/A - it is not pending, yourself",
        f"N/A - no pending order with {' '.join(f'Lark{number}' for number in range(30))}",
    ],
)
def test_a_list_of_reasons_is_none(answer: str) -> None:
    assert not is_answer(EXPECTED, answer, task=TASK)


def test_another_cause_counts_where_the_task_or_its_reason_names_it() -> None:
    answer = "N/A - no pending order is in this shipment"
    assert not is_answer(EXPECTED, answer, task=TASK)
    assert is_answer({**EXPECTED, "also": ["shipped"]}, answer, task=TASK)
    assert is_answer(EXPECTED, answer, task=f"{TASK} It was shipped.")


def test_a_reason_is_none_as_the_first_action() -> None:
    for answer in (UNNAMED, NAMED):
        assert not rests_on(EXPECTED, answer, [])
        assert not rests_on(EXPECTED, answer, [f"{SHOP}/", ORDERS, f"{ORDERS}?status=pending"])


def test_a_task_without_pages_asks_for_none() -> None:
    assert rests_on({"type": "impossible", "reason": [["pending"]]}, UNNAMED, [])


def test_a_page_counts_for_long_where_the_reason_names_what_it_is_about() -> None:
    seen = [f"{ORDERS}/000002413", *ELSEWHERE]
    assert rests_on(EXPECTED, NAMED, seen) and not rests_on(EXPECTED, UNNAMED, seen)
    assert rests_on(EXPECTED, UNNAMED, seen[:-1])
    assert rests_on(EXPECTED, UNNAMED, [*seen[:2], *seen[:2] * 9]), "a page counts once"


def test_a_page_of_many_tasks_counts_where_the_reason_names_what_it_is_about() -> None:
    seen = [f"{ORDERS}/000002498"]
    assert rests_on(EXPECTED, NAMED, seen) and not rests_on(EXPECTED, UNNAMED, seen)
    assert rests_on(EXPECTED, "N/A - no pending order with the Fernley Window Box", seen)
    assert not rests_on(EXPECTED, "N/A - no pending order with the white box", seen)


@pytest.mark.parametrize(
    ("url", "page", "expected"),
    [
        (f"{SHOP}/p/654", f"{SHOP}/p/654*", True),
        (f"{SHOP}/p/654/edit?a=1", f"{SHOP}/p/654*", True),
        (f"{SHOP}/p/6540", f"{SHOP}/p/654*", False),
        (f"{SHOP}/p/654/edit", f"{SHOP}/p/654", False),
        (f"{SHOP}/p/654?page=2", f"{SHOP}/p/654", True),
        (f"{SHOP}/p/654/", f"{SHOP}/p/654", True),
        ("http://reddit.test/p/654", f"{SHOP}/p/654*", False),
        ("http://gitlab.test/%7Eann/tool/issues/3", "http://gitlab.test/~ann/tool/issues*", True),
        (f"{ORDERS}?status=&product=lark+window", f"{ORDERS}?product=Lark+Window+Box", True),
        (f"{ORDERS}?product=", f"{ORDERS}?product=Lark+Window+Box", False),
        (f"{ORDERS}?status=pending", f"{ORDERS}?product=Lark+Window+Box", False),
        (f"{ORDERS}?product=bag+tea+box+pan", f"{ORDERS}?product=Lark+Window+Box", False),
        (f"{ORDERS}?product=lark&product=bag", f"{ORDERS}?product=Lark+Window+Box", False),
    ],
)
def test_an_address_is_compared_with_a_page(url: str, page: str, expected: bool) -> None:
    assert is_page(url, page) == expected


def test_the_verdict_says_which_page_was_not_seen() -> None:
    (evaluate,) = build_evaluators({"eval_types": ["typed_answer"], "typed_answer": EXPECTED})
    verdict = evaluate(ending(UNNAMED))
    assert verdict.score == 0.0 and f"{ORDERS}/000002413" in verdict.reasons[0]


@pytest.mark.parametrize("key", ["about", "pages", "lists", "also"])
def test_what_goes_with_a_reason_is_a_list_of_texts(key: str) -> None:
    spec = {**EXPECTED, key: "white"}
    with pytest.raises(ValueError, match=f"'{key}' of an impossible typed_answer must be a list"):
        build_evaluators({"eval_types": ["typed_answer"], "typed_answer": spec})
