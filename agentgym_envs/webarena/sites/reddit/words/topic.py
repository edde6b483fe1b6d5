"""What a community talks about: its word lists, read from a compact text."""

from __future__ import annotations

from dataclasses import dataclass

_LISTS = ("things", "gear", "doing", "trouble", "tips", "views")


@dataclass(frozen=True)
class Topic:
    """A community and its vocabulary.

    Attributes:
        name: the community's slug.
        title: how it is called.
        description: one sentence.
        prices: whole dollars, from and to.
        things: plural nouns: "tomatoes".
        gear: products, without an article: "Fieldline K2 spade".
        doing: what people do, as gerunds: "pruning fruit trees".
        trouble: what goes wrong, as clauses: "the lower leaves turn yellow".
        tips: sentences of advice.
        views: sentences of opinion.
    """

    name: str
    title: str
    description: str
    prices: tuple[int, int]
    things: tuple[str, ...]
    gear: tuple[str, ...]
    doing: tuple[str, ...]
    trouble: tuple[str, ...]
    tips: tuple[str, ...]
    views: tuple[str, ...]


def topic(name: str, title: str, description: str, prices: tuple[int, int], words: str) -> Topic:
    """Read a topic: in `words`, each list begins on its own line with its name and a colon.

    Raises:
        ValueError: a list is missing or empty.
    """
    lists: dict[str, str] = {}
    current = ""
    for line in words.strip().splitlines():
        label, colon, rest = line.partition(":")
        if colon and label in _LISTS:
            current, line = label, rest
        lists[current] = f"{lists.get(current, '')} {line}"
    items = {key: _items(lists.get(key, "")) for key in _LISTS}
    empty = [key for key in _LISTS if not items[key]]
    if empty:
        raise ValueError(f"topic {name!r} lacks {', '.join(empty)}; write each as 'list: a; b'")
    return Topic(name, title, description, prices, **items)


def _items(text: str) -> tuple[str, ...]:
    return tuple(" ".join(item.split()) for item in text.split(";") if item.strip())
