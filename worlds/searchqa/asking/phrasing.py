"""Puts a question's tree into words."""

from __future__ import annotations

import re

from worlds.dice import Dice
from worlds.searchqa.asking.patterns import BACKWARD, JOINS
from worlds.searchqa.asking.relations import wording_of
from worlds.searchqa.asking.structure import Anchor, Back, Join, Kin, Node, Step
from worlds.searchqa.asking.wording import Wording

_ASKING_WHO = ("Who ", "After whom ", "To whom ")
_KIN_ASKS = (
    "Who was the {word} of {{x}}?",
    "What is the name of the {word} of {{x}}?",
    "Who is the {word} of {{x}}?",
)


def ask(node: Node, dice: Dice) -> str:
    """Return the whole question for a tree."""
    if isinstance(node, Join):
        pattern = dice.pick(JOINS[node.kind, *node.relations])
        first, second = (phrase(branch, dice) for branch in node.branches)
        return _tidy(pattern.format(a=first, b=second))
    assert not isinstance(node, Anchor)
    return _tidy(dice.pick(_asks(node)).format(x=phrase(node.inner, dice)))


def name(node: Node, dice: Dice) -> str:
    """Return a question that asks for the value by a bare noun: "What is the capital of ...?"."""
    if isinstance(node, Step):
        words = wording_of(node.kind, node.relation)
        assert words is not None
        if words.phrase:
            noun = words.phrase[0].format(x=phrase(node.inner, dice), kind=node.value_kind)
            asks_who = words.ask[0].startswith(_ASKING_WHO)
            opening = dice.pick(("Who is", "Who was")) if asks_who else "What is"
            return _tidy(f"{opening} {noun}?")
    return ask(node, dice)


def phrase(node: Node, dice: Dice) -> str:
    """Return the noun phrase for a node inside a question."""
    if isinstance(node, Anchor):
        return node.mention.text
    if isinstance(node, Join):
        clause = JOINS[node.kind, *node.relations][2].removeprefix("Name ").removesuffix(".")
        first, second = (phrase(branch, dice) for branch in node.branches)
        return clause.format(a=first, b=second)
    inner = phrase(node.inner, dice)
    if isinstance(node, Kin):
        return f"the {node.word} of {inner}"
    kind = node.value_kind if isinstance(node, Step) else ""
    return dice.pick(_phrases(node)).format(x=inner, kind=kind)


def _asks(node: Step | Back | Kin) -> tuple[str, ...]:
    if isinstance(node, Kin):
        return tuple(pattern.format(word=node.word) for pattern in _KIN_ASKS)
    if isinstance(node, Back):
        return BACKWARD[node.kind, node.relation].ask
    words = wording_of(node.kind, node.relation)
    assert words is not None
    return words.ask


def _phrases(node: Step | Back) -> tuple[str, ...]:
    if isinstance(node, Back):
        return BACKWARD[node.kind, node.relation].phrase
    words = wording_of(node.kind, node.relation)
    assert words is not None
    return words.phrase


def _tidy(text: str) -> str:
    text = re.sub(r"\b([Tt])he the\b", r"\1he", text)
    text = re.sub(r"(\w)(,) (who was born in \d+)(?= [a-z])", r"\1\2 \3,", text)
    return text[0].upper() + text[1:]


def compare(noun: str, clause: str, nodes: tuple[Node, Node], dice: Dice) -> str:
    """Return the question which of two things a clause is true of."""
    patterns = (
        f"Which {noun} {clause}, {{a}} or {{b}}?",
        f"Between {{a}} and {{b}}, {'who' if noun == 'person' else 'which'} {clause}?",
        f"Of {{a}} and {{b}}, which {noun} {clause}?",
    )
    return fill(dice.pick(patterns), *(phrase(node, dice) for node in nodes))


def ask_of_winner(
    words: Wording, noun: str, clause: str, nodes: tuple[Node, Node], dice: Dice
) -> str:
    """Return a question about that one of two things that a clause is true of."""
    relative = "who" if noun == "person" else "that"
    first, second = (phrase(node, dice) for node in nodes)
    subject = f"the {noun} {relative} {clause}, {first} or {second},"
    return _tidy(dice.pick(words.ask).format(x=subject).replace(",?", "?"))


def fill(pattern: str, first: str, second: str) -> str:
    """Return a comparison of two noun phrases."""
    return _tidy(pattern.format(a=first, b=second))
