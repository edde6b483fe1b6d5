"""The form of a policy's turn in a model family: its thought, its answer, and their markup.

In texts a thought stands between `<think>` and `</think>`, whatever the family's own markup.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from trainers.tokens.encoding import Piece, PieceEncoder

OPENING, CLOSING = "<think>", "</think>"
_OPENED = re.compile(rf"{OPENING}\s*\Z")


@dataclass(frozen=True)
class Completion:
    """A turn's text in its parts.

    Attributes:
        opening: a `<think>` at the start, with the white space before it.
        thought: the text before the last `</think>`; None without a thought. Without `</think>` it
            is all that follows the opening: a thought that was cut off.
        closing: `</think>`, if it is there.
        answer: the rest.
    """

    opening: str
    thought: str | None
    closing: str
    answer: str

    @classmethod
    def parse(cls, text: str) -> Completion:
        """Split a text, which may begin within a thought that the template has opened."""
        head, closing, answer = text.rpartition(CLOSING)
        head = head if closing else text
        opening = head[: head.find(OPENING) + len(OPENING)]
        if opening.strip() != OPENING:
            opening = ""
        if not (opening or closing):
            return cls("", None, "", text)
        return cls(opening, head.removeprefix(opening), closing, answer if closing else "")


@dataclass(frozen=True)
class ReplyForm:
    """The form of a turn, behind the generation prompt.

    Attributes:
        bare: before an answer without a thought.
        before: before a thought; None where thoughts are written as the text has them.
        between: between a thought and the answer.
        opened: the end of the generation prompt that opens a thought: `<think>` and a line's end.
        key: the entry of a message that holds a thought, where the template reads no `<think>` in
            the content; None where it does.
        is_quiet: thinking is turned off; thoughts of texts are left out.
    """

    bare: str = ""
    before: str | None = None
    between: str = ""
    opened: str = ""
    key: str | None = None
    is_quiet: bool = False

    def write(self, text: str, encoder: PieceEncoder) -> list[Piece]:
        """Return a turn's text, with or without a thought, in the form of the policy's turns."""
        parts = Completion.parse(text)
        if parts.thought is None:
            return [Piece(self.bare), encoder.content(text)]
        if self.is_quiet:
            return [Piece(self.bare), encoder.content(parts.answer.lstrip("\n"))]
        if self.before is None:
            as_it_stands = encoder.content(parts.thought), encoder.content(parts.answer)
            return [
                *(Piece(parts.opening), as_it_stands[0]),
                *(Piece(parts.closing), as_it_stands[1]),
            ]
        pieces = [Piece(self.before), encoder.content(parts.thought.strip("\n"))]
        if parts.closing:
            pieces += [Piece(self.between), encoder.content(parts.answer.lstrip("\n"))]
        return pieces

    def read(self, text: str) -> str:
        """Return a sampled turn's text with `<think>` and `</think>` around its thought."""
        if self.opened or self.key is None or self.before is None:
            return self.opened + text
        if not text.startswith(self.before):
            return text.removeprefix(self.bare)
        thought, between, answer = text.removeprefix(self.before).partition(self.between)
        end = f"\n{CLOSING}\n\n{answer}" if between else ""
        return f"{OPENING}\n{thought}{end}"


def opened_by(prompt_end: str) -> str:
    """Return the text by which a generation prompt opens a thought, or an empty one."""
    match = _OPENED.search(prompt_end)
    return match.group() if match else ""
