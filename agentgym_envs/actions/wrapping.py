"""Takes off what language models write around an action, such as fences, quotes and bold."""

from __future__ import annotations

import re
from collections.abc import Sequence

from agentgym_envs.actions.verbs import ActionVerb

MAX_CLEANED = 2_000
"""Characters of the longest text that is cleaned; matching verbs takes long on longer ones."""

_FENCED = re.compile(
    r"(?P<fence>`{3,}+|~{3,}+)(?:[\w+-]*[ \t\r]*\n)?(?P<inner>.*?)(?P=fence)", re.DOTALL
)
_LABEL = re.compile(r"(?<![^\W_])action(?![^\W_])[*_ \t]*[:：][*_]*", re.IGNORECASE)
_LINE_LABEL = re.compile(
    rf"^[#> \t]*(?P<marks>[*_`~\"']*)[ \t]*{_LABEL.pattern}", re.IGNORECASE | re.MULTILINE
)
_FENCE_BEHIND = re.compile(r"\s*(?:`{3,}+|~{3,}+)$")
_NEXT_LABEL = re.compile(r"^[*_#> \t]*(?:thought|observation)[*_ \t]*[:：]", re.I | re.M)
_PAIRS = ("**", "__", "*", "`", '"', "'", "“”", "‘’", "«»")
_MARKS = re.compile(r"[`*\"'“”‘’«»~]|__|[.!]\s*$|^[\s#>_]*action", re.IGNORECASE)
"""One of these is in every text that cleaning may change."""


def unwrap(text: str) -> str:
    """Return a text without the fence, the quotes and the bold that hold the whole of it."""
    text = text.strip()
    while True:
        fenced = _FENCED.fullmatch(text)
        inner = fenced["inner"].strip() if fenced else _without_pair(text)
        if inner == text:
            return text
        text = inner


def unwrap_block(text: str) -> str:
    """Return what a fence at a text's beginning holds, else the text as `unwrap` does."""
    fenced = _FENCED.match(text.strip())
    return fenced["inner"].strip() if fenced else unwrap(text)


def undress(text: str) -> str:
    """Return a text without what holds the whole of it, and without `Action:` in front."""
    if len(text) > MAX_CLEANED:
        return text.strip()
    text = unwrap(text)
    unmarked = text.lstrip("*_#> ")
    label = _LABEL.match(unmarked)
    return unwrap(unmarked[label.end() :]) if label else text


def clean_action(text: str, verbs: Sequence[ActionVerb]) -> str:
    """Return the plain action that a text is meant as.

    What stands around the whole text goes, and what stands around an argument, but for arguments
    that are free text. A final full stop goes where the action does not end in free text.

    Args:
        text: one action as a policy wrote it.
        verbs: the environment's.
    """
    if len(text) > MAX_CLEANED or not _MARKS.search(text):
        return text.strip()
    action = undress(text)
    for candidate in (action, unwrap(action.rstrip(".! "))):
        for verb in verbs:
            arguments = verb.match(candidate)
            if arguments is not None:
                return verb.fill(
                    {name: _argument(verb, name, arguments[name]) for name in arguments}
                )
    # A web action with an argument left out is no verb's template, but ends in a bracket, too.
    return re.sub(r"(?<=[\])>])[.! ]+$", "", action)


def last_labelled(text: str, verbs: Sequence[ActionVerb] = ()) -> str | None:
    """Return what follows the last `Action:` in the block or line behind it; None without one.

    Where one begins a line, those inside lines are words of a thought or an action. It is empty
    where nothing follows.

    Args:
        text: the completion.
        verbs: the environment's. Where some take several lines, all is returned up to the end of
            the block or to the next label, but for actions of the others.
    """
    lines = list(_LINE_LABEL.finditer(text))
    labels = lines or list(_LABEL.finditer(text))
    if not labels:
        return None
    rest = text[labels[-1].end() :].strip()
    closing = lines[-1]["marks"][::-1] if lines else ""
    fenced = _FENCED.match(rest)
    rest = fenced["inner"].strip() if fenced else _NEXT_LABEL.split(rest)[0].strip()
    first = rest.splitlines()[0].strip() if rest else ""
    if not fenced:
        if closing and first.count(closing) == 1:  # it was opened in front of the label
            first = first.removesuffix(closing).rstrip()
        first = _FENCE_BEHIND.sub("", first)
    goes_on = any(verb.is_multiline for verb in verbs) and not any(
        verb.match(first) for verb in verbs if not verb.is_multiline
    )
    return rest if goes_on and "\n" in rest else first


def _argument(verb: ActionVerb, name: str, value: str | int) -> str:
    text = str(value)
    if name in verb.free_text:
        return text
    return unwrap(text.rstrip(".! ") if verb.ends_in(name) else text)


def _without_pair(text: str) -> str:
    for pair in _PAIRS:
        opening, closing = (pair[0], pair[-1]) if pair[0] != pair[-1] else (pair, pair)
        inner = text[len(opening) : -len(closing)]
        ends = text.startswith(opening) and text.endswith(closing)
        if ends and len(text) > len(opening) + len(closing) and closing not in inner:
            return inner.strip()
    return text
