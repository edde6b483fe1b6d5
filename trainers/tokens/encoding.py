"""From text to ids, with the content of messages kept apart from the template's markup.

Only the template's own markup becomes special ids; the same characters in a message stay text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from transformers import PreTrainedTokenizerBase

_MARKUP = re.compile(r"<[^\s<>]+>|\[/?[A-Z_]+\]")


@dataclass(frozen=True)
class Piece:
    """One stretch of a text, from a message (`is_content`) or from the template."""

    text: str
    is_content: bool = False


class PieceEncoder:
    """Encodes pieces of text in one go, so that the ids are those of the text as a whole.

    Where a message holds the text of a special token (or of markup that the tokenizer knows as one
    token, such as `<think>`), it is cut inside that text and the parts are encoded apart: it stays
    text and never becomes the special id.

    Args:
        tokenizer: the policy's.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        self.tokenizer = tokenizer
        added = tokenizer.added_tokens_decoder
        markup = {
            id_: token.content
            for id_, token in added.items()
            if token.special or _MARKUP.fullmatch(token.content)
        }
        # Ordinary words may be unknown; that is no special text.
        self._markup_ids = frozenset(markup) - {tokenizer.unk_token_id}
        texts = sorted({text for text in markup.values() if len(text) > 1}, key=len, reverse=True)
        self._markup = re.compile("|".join(map(re.escape, texts)) or r"(?!)")
        self._single = str.maketrans({t: "\ufffd" for t in markup.values() if len(t) == 1})
        self._special_ids = frozenset(added) | frozenset(tokenizer.all_special_ids)
        self._encode_cached = lru_cache(maxsize=8192)(self._encode)

    def content(self, text: str, *, trim: bool = False) -> Piece:
        """Return the content of a message as a piece."""
        text = self.clean(text)
        return Piece(text.strip() if trim else text, is_content=True)

    def clean(self, text: str) -> str:
        """Replace characters that cannot be encoded: single special ones and lone surrogates."""
        # Tokenizers refuse lone surrogates, which decoded web pages can hold.
        return text.translate(self._single).encode("utf-8", "replace").decode("utf-8")

    def encode(self, pieces: Iterable[Piece], *, cached: bool = True) -> list[int]:
        """Encode a text as (N,) ids, `cached` for one that comes again."""
        encode = self._encode_cached if cached else self._encode
        return list(encode(tuple(pieces)))

    def encode_markup(self, text: str) -> list[int]:
        """Encode the template's own text."""
        return self._encode_parts(text, [])

    def starts_with_special(self, text: str) -> int | None:
        """Return the special id that a text of the template starts with, or None."""
        ids = self.encode_markup(text)
        return ids[0] if ids and ids[0] in self._special_ids else None

    def _encode(self, pieces: tuple[Piece, ...]) -> tuple[int, ...]:
        text = "".join(piece.text for piece in pieces)
        contents: list[tuple[int, int]] = []
        at = 0
        for piece in pieces:
            if piece.is_content:
                contents.append((at, at + len(piece.text)))
            at += len(piece.text)
        ids = self._encode_parts(text, self._cuts(text, contents))
        expected = sum(
            id_ in self._markup_ids
            for piece in pieces
            if not piece.is_content
            for id_ in self._encode_parts(piece.text, [])
        )
        if sum(id_ in self._markup_ids for id_ in ids) != expected:
            # A normalizer made special text out of ordinary characters: encode one by one.
            ids = self._encode_parts(
                text, [i for start, end in contents for i in range(start, end)]
            )
        return tuple(ids)

    def _cuts(self, text: str, contents: list[tuple[int, int]]) -> list[int]:
        cuts = []
        match = self._markup.search(text)
        while match:
            start, end = match.span()
            in_content = any(start < stop and end > begin for begin, stop in contents)
            if in_content:
                cuts.append(start + 1)
            match = self._markup.search(text, start + 1 if in_content else end)
        return cuts

    def _encode_parts(self, text: str, cuts: list[int]) -> list[int]:
        ids: list[int] = []
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            if start < end:
                ids += self.tokenizer.encode(text[start:end], add_special_tokens=False)
        return ids
