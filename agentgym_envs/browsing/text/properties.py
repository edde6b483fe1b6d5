"""Returns a control's properties in the accessibility tree, beside its role and name."""

from __future__ import annotations

from collections.abc import Sequence

from lxml.etree import _Element as Element

from agentgym_envs.browsing.text.document import Document, is_text_field, option_text
from agentgym_envs.browsing.text.roles import input_type
from agentgym_envs.browsing.tree_rules import options_property, value_property

_DOT = "\N{BULLET}"
_CONTROLS = frozenset({"input", "select", "textarea", "button", "option"})
_GAUGES = frozenset({"meter", "progress"})
_STATES = ("checked", "selected", "pressed", "expanded")
_ARIA_STATES = {f"aria-{name}": name for name in _STATES}


def accessibility_properties(
    document: Document, element: Element, given: Sequence[str]
) -> dict[str, str]:
    """Return a control's accessibility properties, in the order of `tree_rules.PROPERTIES`.

    Args:
        document: its document, as it is now.
        element: the control.
        given: its attributes' names.
    """
    tag = element.tag
    properties: dict[str, str] = {}
    is_control = tag in _CONTROLS
    if is_control or tag in _GAUGES:
        _add_contents(document, element, properties)
    if not _ARIA_STATES.keys().isdisjoint(given):
        for attribute, name in _ARIA_STATES.items():
            value = element.get(attribute)
            if value == "true" or (value == "false" and name != "selected"):
                properties.setdefault(name, value)
    if is_control:
        is_disabled = document.is_disabled(element)
        if "required" in given:
            properties["required"] = "true"
        if "readonly" in given and not is_disabled and is_text_field(element):
            properties["readonly"] = "true"
        if is_disabled:
            properties["disabled"] = "true"
    if "aria-disabled" in given and element.get("aria-disabled") == "true":
        properties["disabled"] = "true"
    if element is document.focused:
        properties["focused"] = "true"
    return properties


def option_properties(document: Document, option: Element, chosen: list[Element]) -> dict[str, str]:
    """Return the properties of an option in a list box."""
    properties = {"selected": "true"} if option in chosen else {}
    return properties | ({"disabled": "true"} if document.is_disabled(option) else {})


def _add_contents(document: Document, element: Element, properties: dict[str, str]) -> None:
    tag = element.tag
    if tag == "select":
        options = document.options(element)
        if "multiple" in element.attrib or not options:
            return
        chosen = "".join(option_text(option) for option in document.chosen(element))
        if chosen:
            properties["value"] = value_property(chosen)
        properties["options"] = options_property([option_text(option) for option in options])
    elif tag in _GAUGES:
        if "value" in element.attrib:
            properties["value"] = _number(element.attrib["value"])
    elif is_text_field(element):
        value = document.value(element)
        if tag == "input" and input_type(element) == "password":
            value = _DOT * len(value)
        if value:
            properties["value"] = value_property(value)
    elif tag == "input" and input_type(element) in ("checkbox", "radio"):
        properties["checked"] = "true" if document.is_checked(element) else "false"


def _number(text: str) -> str:
    try:
        return f"{float(text):g}"
    except ValueError:
        return "0"
