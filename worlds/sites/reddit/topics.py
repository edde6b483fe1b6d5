"""The communities' topics: their word lists."""

from __future__ import annotations

from dataclasses import dataclass

from worlds.words import read_words


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


_TOWNS = read_words("sites/reddit/topics/towns.toml")

SUBJECT_TOPICS = tuple(
    Topic(**topic)
    for name in ("home", "outdoors", "devices", "culture")
    for topic in read_words(f"sites/reddit/topics/{name}.toml")["topic"]
)
"""Communities about a subject."""

TOWN_TOPICS = tuple(
    Topic(
        *(name, title, description, _TOWNS["talk"]["prices"]),
        *(
            tuple(word.format(title=title) for word in _TOWNS["talk"][words])
            for words in ("things", "gear", "doing", "trouble", "tips", "views")
        ),
    )
    for name, title, description in _TOWNS["places"]
)
"""Communities of the country and seven of its towns, which share their words."""

TOPICS = (*SUBJECT_TOPICS, *TOWN_TOPICS)
"""Every community, in the order of their ids."""

FOLK: tuple[str, ...] = _TOWNS["folk"]
"""Subjects of town news."""
