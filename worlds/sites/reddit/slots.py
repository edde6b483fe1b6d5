"""Fills the slots of sentence patterns with a topic's words.

`"I paid {price} for {gear} in {town}."` becomes a sentence. Some slots keep their word within one
text, so that it stays with its subject; others give another word each time.
"""

from __future__ import annotations

from collections.abc import Sequence

from worlds.dice import Dice
from worlds.sites.reddit.topics import Topic
from worlds.sites.setting import TOWNS
from worlds.words import read_words

_WORKS = ("books", "board-games")  # their products are titles, which take no article
_WORDS = read_words("sites/reddit/slots.toml")

DAYS: tuple[str, ...] = _WORDS["days"]
_PLACES: tuple[str, ...] = _WORDS["places"]
_PEOPLE: tuple[str, ...] = _WORDS["people"]


class Slots(dict[str, str]):
    """The words of one text. A missing one is drawn when a pattern asks for it.

    Args:
        topic: what the text is about.
        dice: draws.
        fixed: words that are decided already.
    """

    def __init__(self, topic: Topic, dice: Dice, **fixed: str) -> None:
        super().__init__(fixed)
        self.topic = topic
        self._dice = dice
        self._turn = dice.between(0, 1000)

    def __missing__(self, slot: str) -> str:
        """Draw the word of a slot, capitalised if the slot's name is."""
        name = slot.lower()
        if name != slot:
            word = self[name]
            return word[:1].upper() + word[1:]
        number = self._number(name)
        if number:
            return number
        word = self._fresh(name)
        if word:
            return word
        self[name] = word = self._remembered(name)
        return word

    def fill(self, pattern: str) -> str:
        """Fill a pattern."""
        return pattern.format_map(self)

    def write(self, patterns: Sequence[str]) -> str:
        """Draw a pattern and fill it."""
        return self.fill(self._dice.pick(patterns))

    def _number(self, name: str) -> str:
        dice = self._dice
        if name == "n":
            return str(dice.between(2, 14))
        if name == "big":
            return str(dice.between(3, 40) * 5)
        if name == "price":
            return f"${dice.between(*self.topic.prices)}"
        return ""

    def _fresh(self, name: str) -> str:
        lists = {"tip": self.topic.tips, "view": self.topic.views}
        if name not in lists:
            return ""
        self._turn += 1
        return lists[name][self._turn % len(lists[name])]

    def _remembered(self, name: str) -> str:
        topic, dice = self.topic, self._dice
        base = name.rstrip("2")
        if base == "product":
            self[name.replace("product", "gear")]
            return self[name]
        if base == "gear":
            others = [item for item in topic.gear if item not in self.values()]
            word = dice.pick(others)
            self["product" + name.removeprefix("gear")] = word
            return word if topic.name in _WORKS else f"the {word}"
        lists: dict[str, Sequence[str]] = {
            "thing": topic.things,
            "doing": topic.doing,
            "trouble": topic.trouble,
            "town": TOWNS,
            "day": DAYS,
            "place": _PLACES,
            "person": _PEOPLE,
        }
        return dice.pick([word for word in lists[base] if word not in self.values()])
