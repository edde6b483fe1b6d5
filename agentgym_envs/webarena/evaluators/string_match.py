"""Checks that the answer is the right one: `string_match`.

The rules are WebArena's (arXiv 2307.13854, section 3.2, and its evaluation harness): white space
and one pair of quotes around an answer do not count, nor does case. `is_original` follows them to
the letter; without it there are two deviations:

1. A reference that is a number must stand by itself: "12" is not in "112", "12.5" or "1,012".
2. Words are told apart by white space and the punctuation around them.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Mapping
from typing import Any

from agentgym_envs.webarena.evaluators.verdict import Ending, Verdict, judged, multiply

KINDS = ("exact_match", "must_include", "fuzzy_match")
_FORMS = {
    "exact_match": "text",
    "must_include": "a list of text",
    "fuzzy_match": "text or a list of text",
}
IMPOSSIBLE = "N/A"

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_APART = r"\s;@#$%&?!*()\[\]{}<>\"`\u00ab\u00bb\u2012-\u2015\u2018\u2019\u201c-\u201e"
"""Characters that are tokens of their own in the original's tokenizer.

It is NLTK's, after the Penn Treebank.
"""
_BEFORE = rf"(?:^|^'|(?<=[{_APART}])|(?<=\W')|(?<=--)|(?<=\.\.))"
_AFTER = rf"(?=$|[{_APART}]|--|\.\.|[:,](?!\d)|'(?:s|m|d|ll|re|ve)?(?:\s|$)|\.[\])}}>\"'\s]*$|\.\s)"
_NO_JUDGE = "whether the answer means the same is for a judge, and there is none"


def clean(answer: str) -> str:
    """Take white space and one pair of quotes off an answer, and lower its case."""
    answer = answer.strip()
    for quote in ("'", '"'):
        if len(answer) > 1 and answer.startswith(quote) and answer.endswith(quote):
            answer = answer[1:-1]
            break
    return answer.lower()


def equals(reference: str, answer: str) -> bool:
    """Compare after cleaning."""
    return clean(answer) == clean(reference)


def includes(reference: str, answer: str, *, is_only_one: bool = False) -> bool:
    """Return whether an answer holds a phrase.

    Args:
        reference: the phrase.
        answer: what was said.
        is_only_one: no other phrase is asked for; one of a single character must then be a word of
            its own, so that "10" is no "0".
    """
    phrase, text = clean(reference), clean(answer)
    if is_only_one and len(phrase) == 1 and phrase.isalnum():
        return phrase in (word.strip(string.punctuation) for word in text.split())
    if _NUMBER.fullmatch(phrase):
        pattern = rf"(?<!\d)(?<!\d[.,]){re.escape(phrase)}(?![.,]?\d)"
        return re.search(pattern, text) is not None
    return phrase in text


def includes_literally(reference: str, answer: str, *, is_only_one: bool = False) -> bool:
    """Return whether an answer holds a phrase, by the original's rule: anywhere in it.

    Args:
        reference: the phrase.
        answer: what was said.
        is_only_one: as of `includes`; what is a word of its own is as for the original's tokenizer,
            whose model of sentences is not here: a full stop before white space ends one.
    """
    phrase, text = clean(reference), clean(answer)
    if is_only_one and len(phrase) == 1:
        return re.search(_BEFORE + re.escape(phrase) + _AFTER, text) is not None
    return phrase in text


class StringEvaluator:
    """Compares the answer with the references.

    Args:
        evaluation: WebArena's `eval` object; its `reference_answers` count, and `string_note`.
        is_original: follow the original's rules to the letter.

    Raises:
        ValueError: there are no references, or not of these kinds.
    """

    def __init__(self, evaluation: Mapping[str, Any], *, is_original: bool = False) -> None:
        references = evaluation.get("reference_answers")
        if not isinstance(references, Mapping) or not references:
            raise ValueError(
                f"string_match needs reference_answers with {', '.join(KINDS)}, got {references!r}"
            )
        for kind, expected in references.items():
            if kind not in KINDS:
                raise ValueError(f"unknown reference_answers {kind!r}; allowed: {', '.join(KINDS)}")
            if not _fits(kind, expected):
                raise ValueError(f"{kind} must be {_FORMS[kind]}, got {expected!r}")
        self._references = dict(references)
        self._note = str(evaluation.get("string_note") or "")
        self._includes = includes_literally if is_original else includes

    def __call__(self, ending: Ending) -> Verdict:
        """Compare the answer."""
        answer = clean(ending.answer)
        return multiply(
            verdict
            for kind, expected in self._references.items()
            for verdict in self._verdicts(kind, expected, answer, ending)
        )

    def _verdicts(self, kind: str, expected: Any, answer: str, ending: Ending) -> Iterator[Verdict]:
        if kind == "exact_match":
            yield judged([] if equals(expected, answer) else [f"{answer!r} is not {expected!r}"])
        elif kind == "must_include":
            for phrase in expected:
                held = self._includes(phrase, answer, is_only_one=len(expected) == 1)
                yield judged([] if held else [f"{phrase!r} is not in {answer!r}"])
        elif expected == IMPOSSIBLE:
            yield self._judge_reason(answer, ending)
        else:
            for reference in [expected] if isinstance(expected, str) else expected:
                yield self._judge_meaning(reference, answer, ending)

    def _judge_meaning(self, reference: str, answer: str, ending: Ending) -> Verdict:
        if not answer or equals(reference, answer):
            is_right = equals(reference, answer)
        elif ending.judge is None:
            return Verdict(None, (_NO_JUDGE,))
        else:
            is_right = bool(
                ending.judge.is_equivalent(
                    question=ending.intent, reference=reference, answer=answer
                )
            )
        return judged([] if is_right else [f"{answer!r} does not mean {reference!r}"])

    def _judge_reason(self, answer: str, ending: Ending) -> Verdict:
        if equals(IMPOSSIBLE, answer):
            return judged([])
        if not answer:
            return judged(["there is no answer"])
        if ending.judge is None:
            return Verdict(None, (_NO_JUDGE,))
        is_right = ending.judge.is_same_reason(task=ending.intent, reason=self._note, report=answer)
        return judged([] if is_right else [f"{answer!r} does not give the reason {self._note!r}"])


def _fits(kind: str, expected: Any) -> bool:
    if isinstance(expected, str):
        return kind != "must_include"
    is_list = isinstance(expected, list) and all(isinstance(one, str) for one in expected)
    return is_list and kind != "exact_match"
