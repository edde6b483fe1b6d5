"""Makes what the shop says about itself, the search terms, and messages to the shop."""

from __future__ import annotations

import random
import sqlite3
from datetime import datetime, timedelta

from agentgym_envs.webarena.sites.filters import day, money
from agentgym_envs.webarena.sites.people import people
from agentgym_envs.webarena.sites.shopping.delivery import SHIPPING_METHODS
from agentgym_envs.webarena.sites.shopping.made_orders import COUPONS
from agentgym_envs.webarena.sites.shopping.made_products import RANGES
from agentgym_envs.webarena.sites.shopping.search import SEARCHED, words_of
from agentgym_envs.webarena.sites.state import NOW

PAGES = (
    (
        "About us",
        "about-us",
        "Larder & Loom began in 2009 as a stall on the market of Willowmere, with eleven kinds of "
        "jam and one loom.\n\nToday forty people look after the warehouse in Rivermouth. We still "
        "taste, wash, drop and sit on everything before we sell it.",
    ),
    (
        "Returns",
        "returns",
        "You may send back anything within thirty days, without giving a reason. Opened food is "
        "the one exception.\n\nPut the goods into their box, add the order number, and leave the "
        "parcel at any pick-up point. The money is back within five working days.",
    ),
    (
        "Privacy",
        "privacy",
        "We store what we need to deliver your order, and nothing else. Nobody else gets your "
        "address but the carrier.\n\nYou can leave the newsletter at any time in your account.",
    ),
    (
        "Careers",
        "careers",
        "We look for two people for the warehouse and one for customer care, from April.\n\nWrite "
        "to us through the contact form and tell us about the last thing that you repaired.",
    ),
    (
        "Caring for cast iron",
        "caring-for-cast-iron",
        "Wash it warm, dry it at once, rub it with a few drops of oil. That is all.\n\nNever soak "
        "it overnight, and never put it into the dishwasher.",
    ),
)

MESSAGES = (
    "Do you have the {noun} in other colours? I cannot find any.",
    "My parcel with the {noun} has not arrived yet. Could you look into it?",
    "Just to say that the {noun} is wonderful. Greetings to the packer who drew the snail.",
    "The {noun} that I received has a dent. What shall I do with it?",
    "When will the {noun} be back in stock?",
)


def fill_pages(connection: sqlite3.Connection, dice: random.Random) -> None:
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
    everybody = people()
    messages: list[tuple[str, str, str, str]] = []
    for _ in range(40):
        person = everybody[dice.randrange(1, len(everybody))]
        text = dice.choice(MESSAGES).format(noun=dice.choice(nouns).lower())
        moment = datetime.fromisoformat(NOW) - timedelta(minutes=dice.randrange(60, 120 * 24 * 60))
        messages.append((person.name, person.email, text, str(moment)))
    messages.sort(key=lambda message: message[3])
    connection.executemany(
        "INSERT INTO contact_messages (name, email, message, created_at) VALUES (?, ?, ?, ?)",
        messages,
    )


def _count(term: str, texts: list[str]) -> int:
    words = words_of(term)
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
