"""Writes pages as text: in our wording, and in the original's simple mode."""

from __future__ import annotations

import json

from agentgym_envs.actions.verbs import clipped
from agentgym_envs.webshop.catalogue import Goal, Product
from agentgym_envs.webshop.pages import MOST_HITS, Page, Visit
from agentgym_envs.webshop.reward import Reward

_SEPARATOR = " [SEP] "
_LONGEST_QUERY = 200
_ESCAPES = {ord(sign): f"\\u{ord(sign):04x}" for sign in "<>&'"}
_NO_GOAL = (
    "Target", "asin", "options", "attrs", "price upper", "instuction text", "category",
    "product category", "query", "Goal", "None", "Reward",
)  # fmt: skip
"""Headings of the goal on the original's last page, misspelling included, all left empty."""


def readable(visit: Visit, goal: Goal) -> str:
    """Return a page as a few lines, with the instruction beside the search bar."""
    page = visit.page
    if page.kind == "search":
        return f"Instruction: {goal.instruction}\n\nYou are at the search bar."
    if page.kind == "results":
        return _results(visit)
    product = _product(page)
    if page.kind == "product":
        return _about(product, page, visit)
    text = {
        "Description": product.description or "There is no description.",
        "Features": "\n".join(f"- {bullet}" for bullet in product.bullets) or "None are listed.",
        "Reviews": "\n".join(
            f'"{review.title}" ({review.score} of 5) {review.body}' for review in product.reviews
        )
        or "There are no reviews.",
    }[page.side]
    return f"{page.side} of {product.title}:\n{text}\n{_buttons(visit)}"


def bought(page: Page, reward: Reward, goal: Goal) -> str:
    """Return the purchase, and how well it fits."""
    product = _product(page)
    options = "".join(f", {name} {value}" for name, value in page.chosen.items())
    return (
        f"You bought {product.title}{options}, for {_price(product)}.\n"
        f"Score: {reward.total:.2f} of 1. {reward.attributes} of {len(goal.attributes)} attributes "
        f"fit, {reward.options} of {len(goal.options)} options, the price does"
        f"{'' if reward.is_within_price else ' not'}; the kind of product counts "
        f"{reward.type_factor:g}."
    )


def original(visit: Visit, goal: Goal, reward: Reward | None = None) -> str:
    """Return a page as the texts that it shows, one behind the other.

    Args:
        visit: with the page.
        goal: what is asked for.
        reward: of the purchase, on the page that thanks for it.
    """
    return _SEPARATOR.join(text.strip() for text in _texts(visit, goal, reward))


def _results(visit: Visit) -> str:
    page, num_hits = visit.page, len(visit.hits)
    if not num_hits:
        return f'No product fits "{clipped(page.query, _LONGEST_QUERY)}".\n{_buttons(visit)}'
    first = visit.hits.index(visit.shown_hits[0]) + 1
    most = " that fit best" if num_hits == MOST_HITS else ""
    lines = [
        f"Products {first} to {first + len(visit.shown_hits) - 1} of {num_hits}{most} for "
        f'"{clipped(page.query, _LONGEST_QUERY)}":',
        *(f"[{p.asin.lower()}] {p.title}, {_price(p)}" for p in visit.shown_hits),
    ]
    return "\n".join([*lines, _buttons(visit)])


def _about(product: Product, page: Page, visit: Visit) -> str:
    lines = [f"{product.title}", f"Price: {_price(product)}. Rating: {product.rating}"]
    for name, values in product.options.items():
        is_chosen = f" (chosen: {page.chosen[name]})" if name in page.chosen else ""
        lines.append(f"{name}{is_chosen}: {' '.join(f'[{value}]' for value in values)}")
    return "\n".join([*lines, _buttons(visit)])


def _buttons(visit: Visit) -> str:
    return "Buttons: " + " ".join(f"[{name.lower()}]" for name in visit.buttons)


def _price(product: Product) -> str:
    is_one = " to " not in product.price_tag
    return f"${product.price:.2f}" if is_one else product.price_tag


def _product(page: Page) -> Product:
    assert page.product is not None
    return page.product


def _texts(visit: Visit, goal: Goal, reward: Reward | None) -> list[str]:
    page = visit.page
    if page.kind == "search":
        return ["WebShop", "Instruction:", goal.instruction, "Search"]
    if page.kind == "bought":
        assert reward is not None
        return [*_thanks(page), f"{reward.total}", "Reward Details", "None"]
    head = ["Instruction:", goal.instruction, "Back to Search"]
    if page.kind == "results":
        number = f"Page {page.number} (Total results: {len(visit.hits)})"
        shown = [text for p in visit.shown_hits for text in (p.asin, p.title, p.price_tag)]
        return [*head, number, *visit.buttons[1:], *shown]
    product = _product(page)
    if page.kind == "side":
        return [*head, "< Prev", *_side(product, page.side)]
    options = [text for name, values in product.options.items() for text in (name, *values)]
    facts = [product.title, f"Price: {product.price_tag}", f"Rating: {product.rating}"]
    return [*head, "< Prev", *options, *facts, *visit.buttons[2:]]


def _side(product: Product, side: str) -> list[str]:
    if side == "Description":
        return [product.description] if product.description else []
    if side == "Features":
        return [bullet for bullet in product.bullets if bullet]
    reviews = [(f'"{review.title}"', review.score, review.body) for review in product.reviews]
    return [text for review in reviews for text in review if text]


def _thanks(page: Page) -> list[str]:
    options = json.dumps(page.chosen, sort_keys=True).translate(_ESCAPES)
    return [
        "Thank you for shopping with us!", "Your code:", "None",
        "(Paste it in your MTurk interface.)", "Purchased", "asin", _product(page).asin, "options",
        options, "attrs", "None", "category", "None", "query", "None", "product category", "None",
        *_NO_GOAL, "Your score (min 0.0, max 1.0)",
    ]  # fmt: skip
