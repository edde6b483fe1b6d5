"""Removes labels, fences, tags and remarks that language models write around an action.

What is an action as it stands is never undressed: the environment's verbs say what one is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from agentgym_envs.actions.literals import decoded
from agentgym_envs.actions.markup import (
    ARGUMENT_KEYS,
    HEADER,
    NAME_KEYS,
    TOKEN,
    WORDS,
    first_turn,
    result_start,
)
from agentgym_envs.actions.quoting import is_quoted
from agentgym_envs.actions.verbs import ActionVerb

MAX_CLEANED = 2_000
"""Characters of the longest text that is cleaned. Matching verbs takes long on longer ones."""

_MOST_LAYERS = 12
_MOST_LINES = 40
_FENCED = re.compile(
    r"(?P<fence>`{3,}+|~{3,}+)(?:[\w+-]*[ \t\r]*\n)?(?P<inner>.*?)(?P=fence)", re.DOTALL
)
_OPEN_FENCE = re.compile(r"(?:`{3,}|~{3,})[\w+-]*[ \t\r]*\n(?P<inner>[^`]+)")
_FENCE = re.compile(rf"(?<![`~]){_FENCED.pattern}", re.DOTALL)
_FENCE_BEHIND = re.compile(r"(?<!\s)\s*(?:`{3,}+|~{3,}+)$")


def _any_of(kind: str) -> str:
    return f"(?:{'|'.join(WORDS[kind])})"


_BEFORE = rf"(?:{_any_of('before_label')}[ \t]+){{0,4}}"
_NUMBER = r"(?:[ _]?#?\d{1,3})?"
_SEPARATOR = r"(?:(?:[:：=→|]{1,2}|[-=]?>)[>*_]*|[-–—]{1,2}(?=\s))"
_WORD = rf"{_any_of('action')}{_NUMBER}(?![^\W_])"
_NAME = rf"(?<![^\W_]){_BEFORE}{_WORD}"
_LABEL = re.compile(rf"(?<![^\W_]){_WORD}[*_ \t]*[:：][*_]*", re.IGNORECASE)
_LINE_LABEL = re.compile(
    rf"^[#> \t]{{0,20}}(?:[-•+][ \t]{{1,9}})?(?P<marks>[*_`~\"']{{0,9}})[ \t]{{0,9}}"
    rf"(?:[\[(<]{_NAME}[\])>][*_ \t]{{0,9}}(?:{_SEPARATOR})?|{_NAME}[*_` \t]{{0,9}}{_SEPARATOR}"
    rf"|(?<=[*_#])[ \t]{{0,9}}{_NAME}[*_ \t]{{0,9}}(?=\n))",
    re.IGNORECASE | re.MULTILINE,
)
_NEXT_LABEL = re.compile(r"^[*_#> \t]*(?:thought|observation)[*_ \t]*[:：]", re.I | re.M)
_ANNOUNCED = re.compile(
    rf"{_any_of('interjections')}(?![^\W_])[!.,:;…]*\s*(?:[-–—]\s+)?"
    rf"|[*_#]*{_BEFORE}(?:{_any_of('action')}|{_any_of('labels')})(?![^\W\d_]){_NUMBER}"
    rf"(?:[*_` \t]*{_SEPARATOR}\s*|[ \t]+(?:is|will be)(?: to)?:?\s+)"
    rf"|{_any_of('choices')}(?: to)?:?\s+|[^:：.!?\n]{{1,120}}(?:[:.!]\s+|：\s*)"
    r"|[^\w\s\[\](){}<>\"'`$*-]+\s*",
    re.IGNORECASE,
)
_HEDGED = re.compile(rf"(?<![^\W_]){_any_of('hedges')}(?![^\W_])|\?", re.IGNORECASE)
_SEQUEL = re.compile(rf"(?<![^\W_]){_any_of('sequels')}(?![^\W_])", re.IGNORECASE)
_REMARK = re.compile(
    rf"(?:(?:\s*{TOKEN}){{1,3}}|\s*</\w{{1,30}}>|\s*[\[<]/?[A-Z]{{2,12}}[\]>]"
    r"|\s+\([^()]*\)|\s+(?:#|//|-{1,2}|[-=]>|—|–|;;|<-|←|<!--)(?:\s.*)?|(?:\s*\\n)+|[.!;]\s+\w.*"
    r"|,?\s+(?:because|in order to|so that|which)\s.*)\Z",
    re.DOTALL,
)
_ENDING = re.compile(r"[.!,;:…|#\s\u2190-\u2bff\ufe0f\U0001f300-\U0001faff]+\Z")
_WRAPPER = re.compile(r"[\w.]{1,30}\s?[\[(](.*)[\])]", re.DOTALL)
_OBJECT_KEY = re.compile(rf"(?:\w+_)?(?:{_any_of('action')}|{_any_of('labels')})", re.IGNORECASE)
_TAG_ENDS = re.compile(r"<(/?)(\w[\w-]{0,30})>")
_TAG = re.compile(
    r"<(\w[\w-]{0,30})(?:\s+\w+=[^<>]{0,200})?>(?:(.+)</\1>|((?:(?!</).)+))", re.I | re.DOTALL
)
_TOKENS = re.compile(rf"{TOKEN}(.+){TOKEN}", re.DOTALL)
_BULLET = re.compile(
    r"(?:>+(?=\s*\S)|[-+•*–—][ \t]|[-=]>|[→➜➡👉▶$#❯][ \t]|\(?(?:\d{1,2}|[a-z])[.)][ \t]"
    r"|#\d{1,2}[ \t]|In \[\d{0,3}\]:)\s*(?=\S)"
)
_SPAN = re.compile(r"(?<!`)`([^`\n]{1,500})`(?!`)|\*\*([^*\n]{1,500})\*\*")
_INLINE_RESULT = re.compile(
    r"(?<![ \t])[ \t]+\**observation(?: ?\d{1,3})?\**[ \t]*[:：]", re.IGNORECASE
)
_QUOTED_LINES = re.compile(r"^[ \t]*> ?", re.MULTILINE)
_BOXED = re.compile(r"\\(?:boxed|fbox|text|texttt|textbf|mathrm)\s*\{")
_PAIRS: tuple[tuple[str, str], ...] = tuple(map(tuple, WORDS["pairs"]))
_NEXT_ACTION = re.compile(r",\s*(?:and\s+)?(?:then\s+)?|\s(?:and\s+)?then\s")
_PLAIN = re.compile(
    r"(?!.*\s(?:because|in order to|so that|which)\s|.*\[[A-Z]+\]\Z)[\w\s,\[\]]*[\w\]]"
)
"""A text of words and brackets alone, as most actions are: it has nothing to take off."""


class _Label(NamedTuple):
    """The span of an action's label, or of its tag with the content."""

    start: int
    end: int
    marks: str = ""
    content: str | None = None


# One layer ------------------------------------------------------------------------------------


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
    """Return the content of a fence at a text's beginning, else the text as `unwrap` does."""
    fenced = _FENCED.match(text.strip())
    return fenced["inner"].strip() if fenced else unwrap(text)


def layers(text: str, *, words: bool) -> Iterator[str]:
    """Yield a text as it stands, then with one layer after the other removed.

    Args:
        text: the text.
        words: whether words about the action go as well, not marks alone.
    """
    text = text.strip()
    for _ in range(_MOST_LAYERS):
        yield text
        inner = _without_marks(text) or _without_marks(text.rstrip(".!,; "))
        if words and not inner:
            inner = _without_words(text)
        if not inner or inner == text:
            return
        text = inner


def _without_marks(text: str) -> str | None:
    """Return a text without its outermost layer of marks, or None."""
    fenced = _FENCED.fullmatch(text) or _OPEN_FENCE.fullmatch(text)
    if fenced:
        return fenced["inner"].strip()
    paired = _without_pair(text)
    if paired != text:
        return paired
    tag = _TAG.fullmatch(text)
    if tag:
        return (tag[2] or tag[3]).strip()
    between = _TOKENS.fullmatch(text)
    if between:
        return between[1].strip()
    boxed = _BOXED.match(text)
    if boxed and _closing(text, boxed.end()) == len(text) - 1:
        return text[boxed.end() : -1].replace("\\_", "_").replace("\\ ", " ").strip()
    header = HEADER.match(text)
    if header and header.end():
        return text[header.end() :]
    label = _LINE_LABEL.match(text)
    if label:
        rest, closing = text[label.end() :].strip(), label["marks"][::-1]
        return rest.removesuffix(closing).strip() if rest.count(closing) == 1 else rest
    if "\n" in text and all(line.lstrip().startswith(">") for line in text.splitlines()):
        return _QUOTED_LINES.sub("", text).strip()
    bullet = _BULLET.match(text)
    if bullet:
        return text[bullet.end() :]
    in_object = _in_object(text)
    if in_object:
        return in_object
    is_bracketed = text[:1] + text[-1:] in ("[]", "<>", "()", "{}")
    return text[1:-1].strip() if is_bracketed and _closing(text, 1) == len(text) - 1 else None


def _without_words(text: str) -> str:
    """Return a text without an announcement in front of the action, or a call around it."""
    announced = _ANNOUNCED.match(text)
    if announced and announced.end() < len(text) and not _HEDGED.search(announced[0]):
        return text[announced.end() :]
    wrapped = _WRAPPER.fullmatch(text)
    return wrapped[1].strip() if wrapped else text


def _without_remark(text: str, accepts: Callable[[str], bool]) -> str:
    """Return a text without the remark behind its action, unless that is an action, too."""
    remark = _REMARK.search(text)
    if remark is None or _SEQUEL.search(remark[0]):
        return text
    words = _ENDING.sub("", remark[0].lstrip(" \t\r\n.,;:()<>#/=-—–"))
    return text if accepts(words) else text[: remark.start()].strip()


def _in_object(text: str) -> str | None:
    """Return the action of `{"thought": ..., "action": ...}`, or None."""
    result = decoded(text) if text.endswith("}") else None
    if result is None or result[1] != len(text) or set(ARGUMENT_KEYS) & set(result[0]):
        return None
    texts = {key: value for key, value in result[0].items() if isinstance(value, str)}
    keys = [*filter(texts.get, NAME_KEYS), *filter(_OBJECT_KEY.fullmatch, texts)]
    return texts[keys[0]].strip() if keys else None


def _closing(text: str, start: int) -> int:
    """Return where the bracket that was opened right before `start` closes, or -1."""
    closing = {"{": "}", "[": "]", "(": ")", "<": ">"}[text[start - 1]]
    opening, depth = text[start - 1], 1
    for place in range(start, len(text)):
        depth += (text[place] == opening) - (text[place] == closing)
        if depth == 0:
            return place
    return -1


def _without_pair(text: str) -> str:
    for opening, closing in _PAIRS:
        if text.startswith(opening) and text.endswith(closing):
            inner = text[len(opening) : -len(closing)]
            if len(text) > len(opening) + len(closing) and closing not in inner:
                return inner.strip()
    return text


# Where the action stands ----------------------------------------------------------------------


def is_action(text: str, verbs: Sequence[ActionVerb]) -> bool:
    """Return whether a text is an action of the verbs as it stands.

    A verb whose template is one argument alone takes any text, so it says this of its own words
    only, where the argument is free text. A question is no action, unless its words are free text.
    """
    return len(text) <= MAX_CLEANED and any(
        (verb.is_multiline or "\n" not in text)
        and (verb.free_text or (verb.is_distinct and not text.endswith("?")))
        and verb.match(text) is not None
        for verb in verbs
    )


def undressed(text: str, accepts: Callable[[str], bool]) -> str | None:
    """Return the first layer of a text that is accepted, or None."""
    if len(text) > MAX_CLEANED:
        text = text.strip()
        return text if accepts(text) else None
    for layer in layers(text, words=True):
        for candidate in (layer, _ENDING.sub("", layer)):
            if accepts(candidate):
                return candidate
    shorter = _without_remark(text, accepts)
    return None if shorter == text else undressed(shorter, accepts)


def dressed_parts(text: str) -> Iterator[str]:
    """Yield the parts of a text that are marked as its action, the surest first.

    They stand behind a label, in a tag, in a box or in a fence, on the only line with a bullet, or
    are the only words in backticks or bold.
    """
    labelled = last_labelled(text)
    if labelled:
        yield labelled
    yield from (tag.content or "" for tag in reversed(list(_tags(text))))
    boxes = list(_BOXED.finditer(text))
    if boxes:
        yield text[boxes[-1].start() : _closing(text, boxes[-1].end()) + 1]
    fences = [fence["inner"] for fence in _FENCE.finditer(text)]
    if len(fences) == 1:
        yield fences[0].strip()
    lines = [line.strip() for line in text.splitlines() if len(line) <= MAX_CLEANED]
    dressed = [line for line in lines if _without_marks(line)]
    if len(set(dressed)) == 1:
        yield dressed[0]
    spans = list(_SPAN.finditer(text))
    if len({span[1] or span[2] for span in spans}) == 1 and not any(
        _is_hedged(text, span.start()) or text.startswith("?", span.end())
        for span in spans[:_MOST_LAYERS]
    ):
        yield spans[0][1] or spans[0][2]


def _is_hedged(text: str, place: int) -> bool:
    """Return whether the words before a place, in its sentence, say that it is no action now."""
    start = max(text.rfind(mark, 0, place) for mark in ".!?:;\n") + 1
    return _HEDGED.search(text, start, place) is not None


def find_action(text: str, accepts: Callable[[str], bool]) -> str | None:
    """Return the action of a text that needs no label, or None.

    It is the whole, or the part that is marked as the action, or the first or last line where no
    other line is one.

    Args:
        text: up to what the policy has invented of the environment's answer.
        accepts: whether a text is an action.
    """
    for part in chain((text,), dressed_parts(text)):
        action = undressed(part, accepts)
        if action is not None:
            return action
    lines = [line for line in text.splitlines() if line.strip()]
    if not 2 <= len(lines) <= _MOST_LINES:
        return None
    actions = [undressed(line, accepts) for line in lines]
    distinct = set(actions) - {None}
    return distinct.pop() if len(distinct) == 1 and (actions[0] or actions[-1]) else None


def last_labelled(completion: str, verbs: Sequence[ActionVerb] = ()) -> str | None:
    """Return the text after the last `Action:` in the block or line behind it, or None.

    It is the last one before an `Observation:` that the policy has invented. Where one begins a
    line, those inside lines are words of a thought or an action. It is empty where nothing follows.

    Args:
        completion: the policy's.
        verbs: the environment's. Where some take several lines, all is returned up to the end of
            the block, to an empty line or to the next label, but for actions of the others.
    """
    text = first_turn(completion)
    labels = _labels(text)
    if not labels:
        return None
    end = result_start(text, labels[0].end)
    label = max((label for label in labels if label.start < end), key=_start)
    action = _behind(text[:end], label, verbs)
    inline = _INLINE_RESULT.search(action)
    if inline and is_action(action[: inline.start()], verbs):
        return action[: inline.start()]
    return action


def _start(label: _Label) -> tuple[int, bool]:
    return label.start, label.content is not None


def _labels(text: str) -> list[_Label]:
    """Return the labels in their order, those that begin a line where there are any, and tags."""
    lines = [
        _Label(label.start(), label.end(), label["marks"]) for label in _LINE_LABEL.finditer(text)
    ]
    inside = [
        _Label(*label.span())
        for label in _LABEL.finditer(text)
        if not lines and not _is_hedged(text, label.start())
    ]
    tags = [tag for tag in _tags(text) if tag.marks in WORDS["action"]]
    labels = sorted([*lines, *inside, *tags], key=_start)
    # A later one may be words of an argument.
    return labels[:1] + [label for label in labels[1:] if not is_quoted(text, *label[:2])]


def _behind(text: str, label: _Label, verbs: Sequence[ActionVerb]) -> str:
    """Return the action of a label, one line or several where the verbs have such."""
    fenced = _FENCED.match(text[label.end :].strip()) if label.content is None else None
    if label.content is not None:
        rest = label.content
    elif fenced:
        rest = fenced["inner"].strip()
    else:
        rest = _paragraph(_NEXT_LABEL.split(text[label.end :].strip())[0].strip())
    first = rest.splitlines()[0].strip() if rest else ""
    if label.content is None and not fenced:
        closing = label.marks[::-1]
        if closing and first.count(closing) == 1:  # it was opened in front of the label
            first = first.removesuffix(closing).rstrip()
        first = _FENCE_BEHIND.sub("", first)
    goes_on = any(verb.is_multiline for verb in verbs) and not any(
        verb.match(first) is not None
        for verb in verbs
        if not verb.is_multiline and not verb.is_slow_on(first)
    )
    return rest if goes_on and "\n" in rest else first


def _paragraph(text: str) -> str:
    """Return a text up to its first empty line that stands in no argument."""
    for gap in re.finditer(r"\n[ \t\r]*\n", text):
        if not is_quoted(text, *gap.span()):
            return text[: gap.start()]
    return text


def _tags(text: str) -> Iterator[_Label]:
    """Yield the tags that models write around actions, each from its last opening."""
    openings: dict[str, re.Match[str]] = {}
    for tag in _TAG_ENDS.finditer(text):
        name = tag[2].lower()
        if not tag[1]:
            openings[name] = tag
        elif name in openings:
            opening = openings[name]
            openings = {}
            content = text[opening.end() : tag.start()].strip()
            yield _Label(opening.start(), tag.end(), name, content)


# The plain action -----------------------------------------------------------------------------


def clean_action(text: str, verbs: Sequence[ActionVerb]) -> str:
    """Return the plain action that a text is meant as.

    What stands around the whole text goes, and what stands around an argument, but for arguments
    that are free text. A final full stop goes where the action does not end in free text.

    Args:
        text: one action as a policy wrote it.
        verbs: the environment's.
    """
    text = text.strip()
    if len(text) > MAX_CLEANED or is_bare(text, verbs):
        return text
    action = find_action(text, lambda part: is_action(part, verbs))
    if action is None:
        *_, action = layers(text, words=False)
    return _cleaned(action, verbs)


def read_action(turn: str, verbs: Sequence[ActionVerb]) -> str:
    """Return the plain action of a turn that holds nothing else, or marks it."""
    text = (turn[: result_start(turn)] or turn).strip()
    if is_bare(text, verbs):
        return text
    action = find_action(text, lambda part: is_action(part, verbs))
    if action is not None:
        return _cleaned(action, verbs)
    if not _TOKENS.fullmatch(text):
        text = HEADER.sub("", text, count=1)
    if "\n" in text and not all(verb.is_distinct for verb in verbs):
        text = next(dressed_parts(text), text)
    return clean_action(last_labelled(text, verbs) or text, verbs)


def listed_actions(turn: str, verbs: Sequence[ActionVerb]) -> list[str]:
    """Return the plain actions of a turn that lists several, or an empty list.

    They stand in lines or between semicolons with nothing else among them, or are a text between
    commas or "then" that holds nothing else. A comma may also belong to an action. A list is part
    of the whole turn, or of the block behind the last `Action:`.
    """
    verbs = [verb for verb in verbs if verb.is_distinct]
    free = [verb for verb in verbs if verb.free_text]
    text = turn[: result_start(turn)] or turn
    labels = _labels(text)
    if labels and labels[-1].content is not None:
        text = labels[-1].content
    elif labels:
        text = _paragraph(_NEXT_LABEL.split(text[labels[-1].end :].strip())[0].strip())
    if len(text) > MAX_CLEANED:
        return []
    for layer in layers(text, words=False):
        parts = [part for part in re.split(r"[\n;]", layer) if part.strip()]
        listed = [_enumerated(part, verbs) for part in parts]
        places = [place for place, actions in enumerate(listed) if actions]
        actions = [action for part in listed for action in part]
        others = [part for part, found in zip(parts, listed, strict=True) if not found]
        if any(_HEDGED.search(part) for part in others) or (
            others and undressed(layer, lambda t: is_action(t, free))
        ):
            continue
        if len(actions) > 1 and places[-1] - places[0] == len(places) - 1:
            return [_cleaned(action, verbs) for action in actions]
    return []


def _enumerated(line: str, verbs: Sequence[ActionVerb]) -> list[str]:
    """Return the actions of a line that holds nothing else, or an empty list."""
    actions: list[str] = []
    start = end = 0
    is_open = False  # the text from `start` on is no action yet: a comma stands in one
    for gap in chain(_NEXT_ACTION.finditer(line), [None]):
        stop = len(line) if gap is None else gap.start()
        goes_on = is_open or (bool(actions) and _ends_in_words(actions[-1], verbs))
        action = None if goes_on else undressed(line[end:stop], lambda t: is_action(t, verbs))
        if action is not None:
            actions.append(action)
            start = end
        else:
            action = undressed(line[start:stop], lambda t: is_action(t, verbs))
            is_open = action is None
            if action is not None:
                actions[-1:] = [action]
        end = stop if gap is None else gap.end()
    return [] if is_open else actions


def _ends_in_words(action: str, verbs: Sequence[ActionVerb]) -> bool:
    """Return whether an action ends in free text that nothing closes."""
    return any(
        verb.match(action) is not None and any(map(verb.ends_in, verb.free_text)) for verb in verbs
    )


def is_bare(text: str, verbs: Sequence[ActionVerb]) -> bool:
    """Return whether a text is an action with nothing to take off."""
    return _PLAIN.fullmatch(text) is not None and is_action(text, verbs)


def _cleaned(action: str, verbs: Sequence[ActionVerb]) -> str:
    """Return an action without the marks around its arguments."""
    for candidate in (action, _ENDING.sub("", action)):
        for verb in verbs:
            is_possible = verb.is_multiline or "\n" not in candidate
            arguments = verb.match(candidate) if is_possible else None
            if arguments is not None:
                return verb.fill(
                    {name: _argument(verbs, verb, name, arguments[name]) for name in arguments}
                )
    # A web action with an argument left out is no verb's template, but ends in a bracket, too.
    return re.sub(r"(?<=[\])>])[.! ]+$", "", action)


def _argument(verbs: Sequence[ActionVerb], verb: ActionVerb, name: str, value: str | int) -> str:
    text = str(value)
    if name in verb.free_text:
        return text
    if verb.ends_in(name):
        text = _ENDING.sub("", _without_remark(text, lambda words: is_action(words, verbs)))
    return unwrap(text)
