"""Makes the shop's information pages, its search terms, and messages to it."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import timedelta

from agentgym_envs.sites.filters import day, money
from agentgym_envs.sites.people import Person
from agentgym_envs.sites.shopping.delivery import SHIPPING_METHODS
from agentgym_envs.sites.shopping.search import SEARCHED, search_terms
from agentgym_envs.sites.state import NOW
from worlds.dice import Dice
from worlds.sites.moments import TODAY
from worlds.sites.shopping.orders import COUPONS
from worlds.sites.shopping.ranges import RANGES
from worlds.words import read_words

_WORDS = read_words("sites/shopping/pages.toml")

PAGES: tuple[tuple[str, ...], ...] = _WORDS["pages"]

MESSAGES: tuple[str, ...] = _WORDS["messages"]


def fill_pages(connection: sqlite3.Connection, dice: Dice, people: Sequence[Person]) -> None:
    """Write the CMS pages, search terms and messages."""
    pages = (*PAGES[:1], _delivery(), _offers(), *PAGES[1:])
    connection.executemany(
        "INSERT INTO pages (title, url_key, content, is_enabled) VALUES (?, ?, ?, ?)",
        [(*page, int(page[1] != "careers")) for page in pages],
    )
    nouns = [kind.noun for group in RANGES for leaf in group.leaves for kind in leaf.kinds]
    terms = [noun.lower() for noun in nouns] + ["gift", "linen", "oak", "espresso machine", "sale"]
    texts = [
        row[0]
        for row in connection.execute(
            f"SELECT {SEARCHED} FROM products p JOIN categories c ON c.id = p.category_id "
            "WHERE p.is_enabled"
        )
    ]
    connection.executemany(
        "INSERT INTO search_terms (term, results, uses) VALUES (?, ?, ?)",
        [
            (term, _count(term, texts), int(2 + 400 * dice.random() ** 4))
            for term in dict.fromkeys(terms)
        ],
    )
    messages: list[tuple[str, str, str, str]] = []
    for _ in range(40):
        person = dice.pick(people[1:])
        text = dice.pick(MESSAGES).format(noun=dice.pick(nouns).lower())
        moment = TODAY - timedelta(minutes=dice.between(60, 120 * 24 * 60 - 1))
        messages.append((person.name, person.email, text, str(moment)))
    messages.sort(key=lambda message: message[3])
    connection.executemany(
        "INSERT INTO contact_messages (name, email, message, created_at) VALUES (?, ?, ?, ?)",
        messages,
    )


def _count(term: str, texts: list[str]) -> int:
    words = search_terms(term)
    return sum(all(word in text for word in words) for text in texts)


def _delivery() -> tuple[str, str, str]:
    lines = [
        f"{method.title}: {money(method.price)}, {method.time}." for method in SHIPPING_METHODS
    ]
    text = "We ship from Rivermouth to every town of Valdera, on every working day."
    return "Delivery", "delivery", "\n\n".join([text, *lines])


def _offers() -> tuple[str, str, str]:
    lines = [
        f"{name}: {percent}% off everything with the code {code}, until {day(last)}."
        for code, name, percent, is_active, first, last in COUPONS
        if is_active and first <= NOW[:10] <= last
    ]
    text = "Enter a code in the cart. One code can be used for each order."
    return "Current offers", "offers", "\n\n".join([text, *lines])
