"""Judges the answer that a task is impossible, by its reason and the pages seen.

    {"type": "impossible", "reason": [["pending"], ["no ", "none", "not"]],
     "about": ["Fernley Lark Window Box, 80 cm, white"],
     "pages": ["http://shopping.test/account/orders/000002485"],
     "lists": ["http://shopping.test/account/orders*"]}

A reason is right if it

1. holds a phrase of each group under `reason`;
2. has at most `MAX_CLAUSES` clauses, `MAX_CLAIMS` of which deny something, and `MAX_WORDS` words
   that neither the task has nor the list `around` of `words.toml`; and names none of the `causes`
   of `words.toml` that neither the task nor those phrases nor `also` name: a list of all reasons or
   of all things is none;
3. rests on a page that was seen. One of `pages` was among the last `RECENT_PAGES`, or the reason
   names what it is `about` and one of `pages` or `lists` was seen at any time. A task without
   `pages` asks for none.

An address under `pages` or `lists` that ends in `*` stands for the pages below it too. A parameter
that it has must be there, and more than half of its words must be those that the address gives.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from agentgym_envs.webarena.evaluators.answer_parts import plain
from agentgym_envs.webarena.evaluators.quantities import WORDS

MAX_CLAIMS = 2
MAX_CLAUSES = 4
MAX_WORDS = 12
RECENT_PAGES = 2

IMPOSSIBLE = re.compile("|".join(rf"(?<!\w){pattern}" for pattern in WORDS["impossible"]))
_SAYING_NOTHING = frozenset(WORDS["around"].split())
_REPEATED = 3
"""Tokens in a row that repeat the task, not the language."""

_TOKEN = re.compile(r"\w+(?:['.@-]\w+)*|[^\w\s]+")
_CAUSES = {cause: re.compile(rf"\b(?:{pattern})\b") for cause, pattern in WORDS["causes"].items()}
_DENYING = re.compile(rf"\b(?:{'|'.join(WORDS['denying'])})\b|n't\b")
_CLAUSE = re.compile(rf"\.(?!\w)|[,;:!?()\[\]/|+&\"\n]|\s-+\s|\b(?:{'|'.join(WORDS['joining'])})\b")
_CONCLUDING = re.compile(rf"\b(?:{'|'.join(WORDS['concluding'])})")


def check_lists(expected: Mapping[str, Any]) -> None:
    """Check that the fields of a reason are lists of texts.

    Raises:
        ValueError: it is something else.
    """
    for key in ("about", "pages", "lists", "also"):
        value = expected.get(key, [])
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise ValueError(
                f"{key!r} of an impossible typed_answer must be a list of texts, got {value!r:.200}"
            )


def gives_reason(expected: Mapping[str, Any], text: str, *, task: str) -> bool:
    """Return whether a plain text says that a task cannot be done, for this reason alone.

    Args:
        expected: of the type `impossible`.
        text: the answer, as `plain` returns it.
        task: the intent.
    """
    if not IMPOSSIBLE.search(text):
        return False
    # A blank in a phrase is where a word ends: "no " is not in "I know".
    text = f" {IMPOSSIBLE.sub(' ', text)} "
    reason = expected["reason"]
    if not all(any(phrase.casefold() in text for phrase in phrases) for phrases in reason):
        return False
    own = " ".join([task, *(phrase for phrases in reason for phrase in phrases)])
    own = " ".join([own, *expected.get("also", ())])
    return _is_short(text, task) and _causes_in(text) <= _causes_in(plain(own))


def rests_on(expected: Mapping[str, Any], text: str, visited: Sequence[str]) -> bool:
    """Return whether the pages were seen that a reason rests on.

    Args:
        expected: of the type `impossible`.
        text: the answer, as `plain` returns it.
        visited: the addresses of the pages that were shown, in order.
    """
    pages, lists = expected.get("pages", ()), expected.get("lists", ())
    if not pages:
        return True
    latest = list(dict.fromkeys(reversed(visited)))
    if any(_names(text, name) for name in expected.get("about", ())):
        return _is_any(latest, [*pages, *lists])
    return _is_any(latest[:RECENT_PAGES], pages)


# Inside ---------------------------------------------------------------------------------------


def _causes_in(text: str) -> set[str]:
    return {cause for cause, pattern in _CAUSES.items() if pattern.search(text)}


def _is_short(text: str, task: str) -> bool:
    rest = _without_repeats(text, task)
    clauses = [clause for clause in _CLAUSE.split(rest) if re.search(r"\w", clause)]
    num_claims = sum(bool(_DENYING.search(_CONCLUDING.sub(" ", clause))) for clause in clauses)
    own = _SAYING_NOTHING.union(re.findall(r"\w+", plain(task)))
    num_words = sum(word not in own for word in re.findall(r"\w+", text))
    return num_words <= MAX_WORDS and len(clauses) <= MAX_CLAUSES and num_claims <= MAX_CLAIMS


def _without_repeats(text: str, task: str) -> str:
    """Remove the task's own words, whose names have commas and whose words may deny."""
    known = f" {' '.join(_TOKEN.findall(plain(task)))} "
    tokens, start = _TOKEN.findall(text), 0
    kept: list[str] = []
    while start < len(tokens):
        end = start + 1
        while end < len(tokens) and f" {' '.join(tokens[start : end + 1])} " in known:
            end += 1
        kept += tokens[start:end] if end - start < _REPEATED else ["it"]
        start = end
    return " ".join(kept)


def _names(text: str, name: str) -> bool:
    """Return whether a text holds half of a name's words, two at least if it has as many."""
    words = _words(name)
    return bool(words) and len(words & _words(text)) >= max(min(2, len(words)), len(words) / 2)


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", plain(text)) if len(word) > 2 or word.isdigit()}


def _is_any(visited: Iterable[str], pages: Iterable[str]) -> bool:
    return any(is_page(url, page) for url in visited for page in pages)


def is_page(url: str, page: str) -> bool:
    """Return whether an address is one that a task gives under `pages` or `lists`."""
    actual, expected = urlsplit(url), urlsplit(page)
    path, base = unquote(actual.path).rstrip("/"), unquote(expected.path).removesuffix("*")
    is_below = expected.path.endswith("*") and f"{path}/".startswith(base.rstrip("/") + "/")
    if actual.netloc != expected.netloc or not (path == base.rstrip("/") or is_below):
        return False
    given = dict(parse_qsl(actual.query))  # of a repeated one the last value, as sites heed it
    return all(_asks_for(given.get(key, ""), value) for key, value in parse_qsl(expected.query))


def _asks_for(given: str, value: str) -> bool:
    words = set(re.findall(r"\w+", plain(given)))
    return 2 * len(words & set(re.findall(r"\w+", plain(value)))) > len(words)
