"""Evaluates the small part of JavaScript that evaluators use, without a JavaScript engine.

`document.title`, `document.URL`, `location.href`, and one property of an element that
`document.querySelector('CSS')` or `document.querySelectorAll('CSS')[n]` finds. Everything else, and
whatever finds nothing, gives the empty string. An empty expression is the whole page's text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from cssselect import GenericTranslator, SelectorError
from lxml import etree
from lxml.etree import _Element as Element

from agentgym_envs.browsing.addresses import resolved
from agentgym_envs.browsing.text.document import Document
from agentgym_envs.browsing.text.forms import document_base
from agentgym_envs.browsing.text.roles import LEFT_OUT
from agentgym_envs.browsing.tree_rules import INLINE_TAGS, collapse

_STRING = r"""(?P<quote>['"`])(?P<css>(?:(?!(?P=quote)|\\).|\\['"`\\])*)(?P=quote)"""
_EXPRESSION = re.compile(
    r"document\s*\.\s*(?:querySelector\(\s*" + _STRING + r"\s*\)"
    r"|querySelectorAll\(\s*" + _STRING.replace("quote", "quotes").replace("css", "all") + r"\s*\)"
    r"\s*\[\s*(?P<index>\d{1,6})\s*\])"
    r"\s*\??\.\s*(?:(?P<property>[A-Za-z]+)"
    r"|getAttribute\(\s*(?P<mark>['\"])(?P<attribute>[A-Za-z][\w-]*)(?P=mark)\s*\))"
    r"(?P<trim>\s*\.\s*trim\(\))?",
    re.DOTALL,
)
_TITLE = re.compile(r"document\s*\.\s*title")
_ADDRESS = re.compile(
    r"document\s*\.\s*(?:URL|documentURI)|(?:(?:document|window)\s*\.\s*)?location(?:\s*\.\s*href)?"
)
_MAX_EXPRESSION = 2000


def evaluate(document: Document, url: str, expression: str) -> str:
    """Evaluate an expression on a page.

    Args:
        document: the page, with what its controls hold.
        url: its address.
        expression: the JavaScript.
    """
    expression = expression.strip().removesuffix(";").rstrip()
    if not expression:
        return visible_text(document.body)
    if len(expression) > _MAX_EXPRESSION:
        return ""
    if _TITLE.fullmatch(expression):
        return document.title
    if _ADDRESS.fullmatch(expression):
        return url
    match = _EXPRESSION.fullmatch(expression)
    if match is None:
        return ""
    selector = match["css"] if match["css"] is not None else match["all"]
    element = _select(document, re.sub(r"\\(.)", r"\1", selector), int(match["index"] or 0))
    if element is None:
        return ""
    if match["attribute"]:
        text = str(element.get(match["attribute"].lower(), ""))
    else:
        read = _PROPERTIES.get(match["property"])
        text = "" if read is None else read(document, element)
    return text.strip() if match["trim"] else text


def visible_text(element: Element) -> str:
    """Return the text of an element as it is seen: a line for each block, hidden parts left out."""
    parts: list[str] = []
    _gather(element, parts)
    lines = (collapse(line) for line in "".join(parts).split("\0"))
    return "\n".join(line for line in lines if line)


def _gather(element: Element, parts: list[str]) -> None:
    tag = element.tag
    is_left_out = tag in LEFT_OUT or "hidden" in element.attrib or element.get("class") == "submenu"
    if is_left_out or tag in ("select", "textarea"):
        return
    edge = "\0" if tag not in INLINE_TAGS and tag not in ("td", "th") else ""
    parts.append(edge)
    parts.append(element.text or "")
    for child in element:
        _gather(child, parts)
        if child.tag in ("td", "th"):
            parts.append("\t")
        parts.append(child.tail or "")
    parts.append(edge)


def _select(document: Document, selector: str, index: int) -> Element | None:
    find = _compiled(selector)
    if find is None:
        return None
    elements = find(document.root)
    return elements[index] if index < len(elements) else None


@lru_cache(maxsize=256)
def _compiled(selector: str) -> Callable[[Element], list[Element]] | None:
    try:
        path = GenericTranslator().css_to_xpath(selector)
        compiled: Callable[[Element], list[Element]] = etree.XPath(path)
    except (SelectorError, etree.XPathSyntaxError, ValueError):
        return None
    return compiled


def _whole_text(document: Document, element: Element) -> str:
    return "".join(element.itertext())


def _value(document: Document, element: Element) -> str:
    is_control = element.tag in ("input", "select", "textarea", "button")
    return document.value(element) if is_control else str(element.get("value", ""))


def _address(document: Document, element: Element) -> str:
    reference = element.get("href")
    if reference is None:
        return ""
    return resolved(document_base(document), reference) or reference


_PROPERTIES: dict[str, Callable[[Document, Element], str]] = {
    "outerText": lambda document, element: visible_text(element),
    "innerText": lambda document, element: visible_text(element),
    "textContent": _whole_text,
    "value": _value,
    "checked": lambda document, element: "true" if document.is_checked(element) else "false",
    "href": _address,
    "id": lambda document, element: str(element.get("id", "")),
}
