"""Accessible names of elements (W3C Accessible Name and Description Computation).

The first of these that gives something: aria-labelledby, aria-label, what HTML itself provides
(label, alt, legend, caption, a button's value), content, title, placeholder.
"""

from __future__ import annotations

from collections.abc import Sequence

from lxml.etree import _Element as Element

from agentgym_envs.browsing.text.document import Document, is_text_field, option_text
from agentgym_envs.browsing.text.roles import LEFT_OUT, input_type, is_hidden
from agentgym_envs.browsing.tree_rules import INLINE_TAGS

FROM_CONTENT = frozenset({
    "link", "button", "heading", "option", "tab", "term", "menuitem", "menuitemcheckbox",
    "menuitemradio", "checkbox", "radio", "switch", "treeitem", "tooltip",
})  # fmt: skip
"""Roles that take their name from the element's content."""

_LABELLED = frozenset({"input", "select", "textarea", "meter", "progress", "output", "button"})
_BUTTON_NAMES = {"submit": "Submit", "reset": "Reset", "image": "Submit"}
_NAMED_BY_CHILD = {"fieldset": "legend", "table": "caption", "svg": "{*}title"}


def accessible_name(document: Document, element: Element, role: str, given: Sequence[str]) -> str:
    """Return an element's accessible name, white space not collapsed.

    Args:
        document: its document, as it is now.
        element: the element.
        role: its own.
        given: its attributes' names.
    """
    if "aria-labelledby" in given:
        ids = element.attrib["aria-labelledby"].split()
        targets = [document.ids[word] for word in ids if word in document.ids]
        named = " ".join(_label_text(document, target) for target in targets)
        if named.strip():
            return named
    if "aria-label" in given:
        label: str = element.attrib["aria-label"]
        if label.strip():
            return label
    name = _native(document, element)
    if not name.strip() and role in FROM_CONTENT and element.tag != "input":
        name = text_content(document, element)
    if not name.strip() and ("title" in given or "placeholder" in given):
        return element.get("title") or element.get("placeholder") or ""
    return name


def is_named_by_labels(control: Element) -> bool:
    """Return whether a control's labels, if it has some, are its name."""
    return not (control.get("aria-labelledby") or control.get("aria-label", "").strip())


def text_content(document: Document, element: Element, *, without: Element | None = None) -> str:
    """Return an element's content as text. One control may be left out."""
    if not len(element):
        return element.text or ""
    parts: list[str] = []
    _gather(document, element, without, parts)
    return "".join(parts)


def _label_text(document: Document, element: Element) -> str:
    label: str = element.get("aria-label", "")
    if label.strip():
        return label
    embedded = _embedded(document, element, element.tag)
    return text_content(document, element) if embedded is None else embedded


def _native(document: Document, element: Element) -> str:
    tag = element.tag
    if tag in _LABELLED:
        labels = document.labels.get(element)
        if labels:
            texts = (text_content(document, label, without=element) for label in labels)
            return " ".join(text.strip() for text in texts)
        if tag == "input":
            kind = input_type(element)
            if kind == "image":
                return element.get("alt") or element.get("value") or _BUTTON_NAMES[kind]
            if kind in ("submit", "reset", "button"):
                return str(element.get("value", _BUTTON_NAMES.get(kind, "")))
    elif tag == "img":
        return str(element.get("alt", ""))
    elif tag == "option":
        return option_text(element)
    elif tag in _NAMED_BY_CHILD:
        child = element.find(_NAMED_BY_CHILD[tag])
        return "" if child is None else text_content(document, child)
    return ""


def _gather(
    document: Document, element: Element, without: Element | None, parts: list[str]
) -> None:
    if element.text:
        parts.append(element.text)
    for child in element:
        tag = child.tag
        if child is not without and tag not in LEFT_OUT and not is_hidden(child, child.keys()):
            embedded = _embedded(document, child, tag)
            is_inline = tag in INLINE_TAGS
            if not is_inline:
                parts.append(" ")
            if embedded is None:
                _gather(document, child, without, parts)
            else:
                parts.append(embedded)
            if not is_inline:
                parts.append(" ")
        if child.tail:
            parts.append(child.tail)


def _embedded(document: Document, element: Element, tag: str) -> str | None:
    """Return an element's part in another's name, or None to use its content."""
    label: str = element.get("aria-label", "")
    if label.strip():
        return label
    if tag in ("img", "svg"):
        return _native(document, element)
    if tag == "select":
        return " ".join(option_text(option) for option in document.chosen(element))
    if is_text_field(element):
        return document.value(element)
    if tag == "input":
        return _native(document, element)
    return None
