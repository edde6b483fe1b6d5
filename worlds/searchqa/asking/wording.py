"""The words for a relation, and builders for the usual sorts.

`{x}` is the relation's subject, `{kind}` the kind of its value.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wording:
    """The words for one relation.

    Attributes:
        ask: whole questions.
        phrase: noun phrases that stand for the value.
        keys: what a person types into search beside the subject's name.
    """

    ask: tuple[str, str, str]
    phrase: tuple[str, ...]
    keys: str


def who(verb: str, noun: str, keys: str = "", agent: str = "person") -> Wording:
    """Words for somebody who did something to the subject: "wrote", "author"."""
    relative = "that" if agent in ("company", "institution") else "who"
    return Wording(
        (f"Who {verb} {{x}}?", f"Who was the {noun} of {{x}}?", f"Which {agent} {verb} {{x}}?"),
        (f"the {noun} of {{x}}", f"the {agent} {relative} {verb} {{x}}"),
        keys or noun,
    )


def in_year(event: str, keys: str) -> Wording:
    """Words for the year of something that was done to the subject: "was founded"."""
    was, done = event.split(" ", 1)
    return Wording(
        (
            f"In which year {was} {{x}} {done}?",
            f"When {was} {{x}} {done}?",
            f"In what year {was} {{x}} {done}?",
        ),
        (),
        keys,
    )


def amount(noun: str, how: str, keys: str = "") -> Wording:
    """Words for a measure of the subject: "height", "How high is {x}?"."""
    return Wording(
        (f"What is the {noun} of {{x}}?", how, f"Which figure is given for the {noun} of {{x}}?"),
        (f"the {noun} of {{x}}",),
        keys or noun,
    )


def where(ask: tuple[str, str], noun: str, clause: str, keys: str = "") -> Wording:
    """Words for a place: two questions, "the birthplace" and "the city where {x} was born"."""
    first, second = ask
    return Wording(
        (first, second, f"What is the {noun} of {{x}}?"),
        (f"the {noun} of {{x}}", clause),
        keys or noun,
    )


def which(noun: str, ask: str, keys: str = "", *, what: str = "What") -> Wording:
    """Words for a named thing: "What is the currency of {x}?".

    `what` is "What" or "Who".
    """
    return Wording(
        (f"{what} is the {noun} of {{x}}?", ask, f"Can you name the {noun} of {{x}}?"),
        (f"the {noun} of {{x}}",),
        keys or noun,
    )
