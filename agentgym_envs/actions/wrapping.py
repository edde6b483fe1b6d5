"""Removes fences, labels, tags and other marks that language models write around an action.

What is an action as it stands is never undressed: the environment's verbs say what one is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from agentgym_envs.actions.markup import HEADER, first_turn, result_start
from agentgym_envs.actions.verbs import ActionVerb

MAX_CLEANED = 2_000
"""Characters of the longest text that is cleaned; matching verbs takes long on longer ones."""

_MOST_LAYERS = 12
_FENCED = re.compile(
    r"(?P<fence>`{3,}+|~{3,}+)(?:[\w+-]*[ \t\r]*\n)?(?P<inner>.*?)(?P=fence)", re.DOTALL
)
_SEPARATOR = r"(?:[:：=→]|[-=]>)[>*_]*"
_NAME = (
    r"(?<![^\W_])(?:(?:my |the )?(?:next|final|chosen|best) )?action(?:[ _]?#?\d{1,3})?(?![^\W_])"
)
_LABEL = re.compile(rf"{_NAME}[*_ \t]*[:：][*_]*", re.IGNORECASE)
_LINE_LABEL = re.compile(
    rf"^[#> \t]*(?:[-•+][ \t]+)?(?P<marks>[*_`~\"']*)[ \t]*"
    rf"(?:[\[(<]{_NAME}[\])>][*_ \t]*(?:{_SEPARATOR})?|{_NAME}[*_` \t]*{_SEPARATOR}"
    rf"|(?<=[*_#])[ \t]*{_NAME}[*_ \t]*(?=\n))",
    re.IGNORECASE | re.MULTILINE,
)
_TAGS = (
    "action|next_action|act|command|cmd|execute|code|tool_code|tool_call|final_answer|final|answer|"
    "response|output|move"
)
_TAG_END = re.compile(rf"</({_TAGS})>", re.IGNORECASE)
_TAG = re.compile(
    rf"<({_TAGS})(?:\s+\w+=[^<>]{{0,200}})?>(.*?)(?:</\1>)?", re.IGNORECASE | re.DOTALL
)
_OPEN_FENCE = re.compile(r"(?:`{3,}|~{3,})[\w+-]*[ \t\r]*\n(?P<inner>[^`]+)")
_FENCE = re.compile(rf"(?<![`~]){_FENCED.pattern}", re.DOTALL)
_FENCE_BEHIND = re.compile(r"\s*(?:`{3,}+|~{3,}+)$")
_NEXT_LABEL = re.compile(r"^[*_#> \t]*(?:thought|observation)[*_ \t]*[:：]", re.I | re.M)
_BULLET = re.compile(
    r"(?:>+(?=\s*\S)|[-+•*–—][ \t]|[-=]>|[→➜➡👉▶$#❯][ \t]|\(?\d{1,2}[.)][ \t])\s*(?=\S)"
)
_SPAN = re.compile(r"(?<!`)`([^`\n]{1,500})`(?!`)|\*\*([^*\n]{1,500})\*\*")
_INLINE_RESULT = re.compile(r"[ \t]+\**observation(?: ?\d{1,3})?\**[ \t]*[:：]", re.IGNORECASE)
_QUOTED_LINES = re.compile(r"^[ \t]*> ?", re.MULTILINE)
_BOXED = re.compile(r"\\(?:boxed|fbox|text|texttt|textbf|mathrm)\s*\{")
_PAIRS = ("**", "__", "*", "``", "`", '"', "'", "“”", "‘’", "«»", "「」", "$")
_MARKS = re.compile(
    r"[`*\"'“”‘’«»「」~>\\$•→➜➡👉▶❯–—]|__|[.!]\s*$|^\s*[\[({#+-]|^\s*\d{1,2}[.)]|<\||\[\||\[e~"
    r"|^[\s#>_]*(?:\w+ ){0,2}(?:action|assistant)|action *[:：]",
    re.IGNORECASE,
)
"""One of these is in every text that cleaning may change."""


class _Tag(NamedTuple):
    start: int
    end: int
    name: str
    content: str


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


def layers(text: str) -> Iterator[str]:
    """Yield a text as it stands, then with one layer of marks after the other removed."""
    text = text.strip()
    for _ in range(_MOST_LAYERS):
        yield text
        inner = _inner(text)
        if inner in (None, "", text):
            inner = _inner(text.rstrip(".!,; "))
        if not inner or inner == text:
            return
        text = inner


def dressed_parts(text: str) -> Iterator[str]:
    """Yield the parts of a text that are marked as its action, the surest first.

    They stand behind a label, in a tag, in a box or in a fence, on the only line with a bullet, or
    are the only words in backticks or bold.
    """
    labelled = last_labelled(text)
    if labelled:
        yield labelled
    yield from (tag.content for tag in reversed(list(_tags(text))))
    boxes = list(_BOXED.finditer(text))
    if boxes:
        yield text[boxes[-1].start() : _closing(text, boxes[-1].end()) + 1]
    fences = [fence["inner"] for fence in _FENCE.finditer(text)]
    if len(fences) == 1:
        yield fences[0].strip()
    lines = [line.strip() for line in text.splitlines() if len(line) <= MAX_CLEANED]
    dressed = [line for line in lines if _inner(line)]
    if len(set(dressed)) == 1:
        yield dressed[0]
    spans = {span[1] or span[2] for span in _SPAN.finditer(text)}
    if len(spans) == 1:
        yield spans.pop()


def is_action(text: str, verbs: Sequence[ActionVerb]) -> bool:
    """Return whether a text is an action of the verbs as it stands.

    A verb whose template is one argument alone takes any text, so it says this of its own words
    only, where the argument is free text.
    """
    return len(text) <= MAX_CLEANED and any(
        (verb.is_multiline or "\n" not in text)
        and (verb.has_words or verb.free_text)
        and verb.match(text) is not None
        for verb in verbs
    )


def undressed(text: str, accepts: Callable[[str], bool]) -> str | None:
    """Return the first layer of a text that is accepted, or None."""
    if len(text) > MAX_CLEANED:
        text = text.strip()
        return text if accepts(text) else None
    for layer in layers(text):
        for candidate in (layer, layer.rstrip(".! ")):
            if accepts(candidate):
                return candidate
    return None


def find_action(completion: str, accepts: Callable[[str], bool]) -> str | None:
    """Return the action of a completion that needs no label, or None.

    It is the whole, before what the policy has invented of the environment's answer, or else the
    part that is marked as the action.
    """
    text = first_turn(completion)
    before = text[: result_start(text)]
    for part in dict.fromkeys((before, text)):
        action = undressed(part, accepts)
        if action is not None:
            return action
    for part in dressed_parts(before or text):
        action = undressed(part, accepts)
        if action is not None:
            return action
    return None


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
    action = find_action(text, lambda layer: is_action(layer, verbs))
    if action is None:
        *_, action = layers(text)
    return _cleaned(action, verbs)


def read_action(completion: str, verbs: Sequence[ActionVerb]) -> str:
    """Return the plain action of a completion that holds nothing else, or marks it."""
    if "\n" not in completion and not _MARKS.search(completion):
        return completion.strip()
    whole = completion.strip()
    if is_action(whole, verbs) and not is_action(first_turn(whole).strip(), verbs):
        return whole  # its marks stand inside an argument, such as a text to type
    action = find_action(completion, lambda text: is_action(text, verbs))
    if action is not None:
        return _cleaned(action, verbs)
    text = HEADER.sub("", first_turn(completion), count=1)
    action = text[: result_start(text)].strip() or text
    if "\n" in action and not all(verb.has_words for verb in verbs):
        action = next(dressed_parts(action), action)
    return clean_action(last_labelled(action, verbs) or action, verbs)


def last_labelled(text: str, verbs: Sequence[ActionVerb] = ()) -> str | None:
    """Return what follows the last `Action:` in the block or line behind it; None without one.

    It is the last one before an `Observation:` that the policy has invented. Where one begins a
    line, those inside lines are words of a thought or an action. It is empty where nothing follows.

    Args:
        text: the completion.
        verbs: the environment's. Where some take several lines, all is returned up to the end of
            the block or to the next label, but for actions of the others.
    """
    text = first_turn(text)
    labels = _labels(text)
    if not labels:
        return None
    end = result_start(text, labels[0].end)
    label = max((label for label in labels if label.start < end), key=_start)
    action = _behind(text[:end], label, verbs)
    inline = _INLINE_RESULT.search(action)
    if inline and is_action(action[: inline.start()], verbs):
        return action[: inline.start()]
    whole = text[label.end :].strip()  # lines of free text may look like an answer
    return whole if is_action(whole, verbs) and not is_action(action, verbs) else action


class _Label(NamedTuple):
    """Where an action is named: its label, or its tag with the content."""

    start: int
    end: int
    marks: str = ""
    content: str | None = None


def _start(label: _Label) -> tuple[int, bool]:
    return label.start, label.content is not None


def _labels(text: str) -> list[_Label]:
    """Return the labels in their order, those that begin a line where there are any, and tags."""
    lines = [
        _Label(label.start(), label.end(), label["marks"]) for label in _LINE_LABEL.finditer(text)
    ]
    inside = [] if lines else [_Label(*label.span()) for label in _LABEL.finditer(text)]
    tags = [
        _Label(tag.start, tag.end, content=tag.content)
        for tag in _tags(text)
        if tag.name == "action"
    ]
    return sorted([*lines, *inside, *tags], key=_start)


def _behind(text: str, label: _Label, verbs: Sequence[ActionVerb]) -> str:
    """Return the action of a label, one line or several where the verbs have such."""
    fenced = _FENCED.match(text[label.end :].strip()) if label.content is None else None
    if label.content is not None:
        rest = label.content
    elif fenced:
        rest = fenced["inner"].strip()
    else:
        rest = _NEXT_LABEL.split(text[label.end :].strip())[0].strip()
    first = rest.splitlines()[0].strip() if rest else ""
    if label.content is None and not fenced:
        closing = label.marks[::-1]
        if closing and first.count(closing) == 1:  # it was opened in front of the label
            first = first.removesuffix(closing).rstrip()
        first = _FENCE_BEHIND.sub("", first)
    goes_on = any(verb.is_multiline for verb in verbs) and not any(
        verb.match(first) is not None for verb in verbs if not verb.is_multiline
    )
    return rest if goes_on and "\n" in rest else first


def _tags(text: str) -> Iterator[_Tag]:
    """Yield the tags that models write around actions, each from its last opening."""
    before = 0
    for closing in _TAG_END.finditer(text):
        name = closing[1]
        start = text.rfind(f"<{name}>", before, closing.start())
        if start >= 0:
            content = text[start + len(name) + 2 : closing.start()].strip()
            yield _Tag(start, closing.end(), name.lower(), content)
            before = closing.end()


def _cleaned(action: str, verbs: Sequence[ActionVerb]) -> str:
    """Return an action without the marks around its arguments."""
    for candidate in (action, action.rstrip(".! ")):
        for verb in verbs:
            arguments = verb.match(candidate)
            if arguments is not None:
                return verb.fill(
                    {name: _argument(verb, name, arguments[name]) for name in arguments}
                )
    # A web action with an argument left out is no verb's template, but ends in a bracket, too.
    return re.sub(r"(?<=[\])>])[.! ]+$", "", action)


def _argument(verb: ActionVerb, name: str, value: str | int) -> str:
    text = str(value)
    if name in verb.free_text:
        return text
    return unwrap(text.rstrip(".! ") if verb.ends_in(name) else text)


def _inner(text: str) -> str | None:
    """Return a text without its outermost layer, or None."""
    fenced = _FENCED.fullmatch(text) or _OPEN_FENCE.fullmatch(text)
    if fenced:
        return fenced["inner"].strip()
    paired = _without_pair(text)
    if paired != text:
        return paired
    tag = _TAG.fullmatch(text)
    if tag:
        return tag[2].strip()
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
    in_json = _action_in_json(text)
    if in_json:
        return in_json
    is_bracketed = text[:1] + text[-1:] in ("[]", "<>", "()", "{}")
    if is_bracketed and _closing(text, 1) == len(text) - 1:
        return text[1:-1].strip()
    return None


def _action_in_json(text: str) -> str | None:
    """Return the action of `{"thought": ..., "action": ...}`, or None."""
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        action = json.loads(text, strict=False).get("action")
    except (ValueError, RecursionError):
        return None
    return action.strip() if isinstance(action, str) else None


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
    for pair in _PAIRS:
        opening, closing = (pair[0], pair[-1]) if pair[0] != pair[-1] else (pair, pair)
        inner = text[len(opening) : -len(closing)]
        ends = text.startswith(opening) and text.endswith(closing)
        if ends and len(text) > len(opening) + len(closing) and closing not in inner:
            return inner.strip()
    return text
