"""Returns the role of an HTML element in the accessibility tree, as Chromium does."""

from __future__ import annotations

from collections.abc import Sequence

from lxml.etree import _Element as Element

from agentgym_envs.browsing.tree_rules import RENAMED

BY_TAG = {
    "article": "article",
    "aside": "complementary",
    "blockquote": "blockquote",
    "button": "button",
    "dd": "definition",
    "dl": "DescriptionList",
    "dt": "term",
    "fieldset": "group",
    "figure": "figure",
    "form": "form",
    "h1": "heading",
    "h2": "heading",
    "h3": "heading",
    "h4": "heading",
    "h5": "heading",
    "h6": "heading",
    "img": "img",
    "li": "listitem",
    "main": "main",
    "menu": "list",
    "meter": "meter",
    "nav": "navigation",
    "ol": "list",
    "option": "option",
    "output": "status",
    "progress": "progressbar",
    "search": "search",
    "section": "region",
    "summary": "button",
    "table": "table",
    "td": "cell",
    "textarea": "textbox",
    "th": "cell",
    "tr": "row",
    "ul": "list",
}
"""Elements whose role depends on nothing else."""

BY_INPUT_TYPE = {
    "button": "button",
    "checkbox": "checkbox",
    "file": "button",
    "image": "button",
    "number": "spinbutton",
    "radio": "radio",
    "range": "slider",
    "reset": "button",
    "search": "searchbox",
    "submit": "button",
}
"""Inputs that are no ordinary text fields."""

LEFT_OUT = frozenset({
    "area", "audio", "base", "canvas", "col", "colgroup", "datalist", "embed", "head", "hr",
    "iframe", "link", "map", "meta", "noscript", "object", "param", "script", "source", "style",
    "template", "title", "track", "video",
})  # fmt: skip
"""Elements that show nothing, here or anywhere below."""

CLOSED = "closed"
"""No role of ARIA's: a dialog that is not open shows nothing, here or below."""

_SECTIONS = frozenset({"article", "aside", "main", "nav", "section"})
_NO_ROLES = frozenset({"none", "presentation", "generic"})


def is_hidden(element: Element, given: Sequence[str]) -> bool:
    """Return whether an element is left out of the tree by an attribute of its own.

    Args:
        element: the element.
        given: its attributes' names. A question to lxml costs as much as ten to a list.
    """
    return "hidden" in given or ("aria-hidden" in given and element.get("aria-hidden") == "true")


def element_role(element: Element, tag: str, given: Sequence[str]) -> str:
    """Return an element's role, empty for one that only passes its children on.

    Args:
        element: the element.
        tag: its own.
        given: its attributes' names.
    """
    if "role" in given and (words := element.attrib["role"].split()):
        role = words[0].lower()
        return "" if role in _NO_ROLES else RENAMED.get(role, role)
    by_tag = BY_TAG.get(tag)
    if by_tag is not None:
        return by_tag
    if tag == "input":
        return input_role(element)
    if tag == "a":
        return "link" if "href" in given else ""
    if tag == "select":
        return "listbox" if is_list_box(element) else "combobox"
    if tag in ("header", "footer"):
        inside = any(parent.tag in _SECTIONS for parent in element.iterancestors())
        return "" if inside else "banner" if tag == "header" else "contentinfo"
    if tag == "dialog":
        return "dialog" if "open" in given else CLOSED
    if tag == "svg":
        return "img" if element.find("{*}title") is not None else ""
    return ""


def input_role(element: Element) -> str:
    """Return an input's role, empty for a hidden one."""
    kind = input_type(element)
    if kind == "hidden":
        return ""
    role = BY_INPUT_TYPE.get(kind, "textbox")
    has_list = "list" in element.attrib and role in ("textbox", "searchbox")
    return "combobox" if has_list else role


def input_type(element: Element) -> str:
    """Return the type of an input, `"text"` where it has none."""
    return (element.get("type") or "text").strip().lower()


def is_list_box(select: Element) -> bool:
    """Return whether a select shows several options at once."""
    size = select.attrib.get("size", "")
    return "multiple" in select.attrib or (size.isdecimal() and size not in ("0", "1"))
