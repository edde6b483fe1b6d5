"""What a person's hand does to a page: clicks, typing, choosing, keys.

Each action changes what the document's controls hold, and returns what the browser is to open, if
anything. Knows no requests, no tabs and no history.
"""

from __future__ import annotations

from itertools import chain

from lxml.etree import _Element as Element

from agentgym_envs.webarena.browsers import refusals
from agentgym_envs.webarena.browsers.addresses import resolved
from agentgym_envs.webarena.browsers.keys import Keys, read_keys
from agentgym_envs.webarena.browsers.text.document import (
    Document,
    is_text_field,
    option_text,
    select_of,
    submits,
)
from agentgym_envs.webarena.browsers.text.forms import (
    Submission,
    default_button,
    document_base,
    sends_by_enter,
    submission,
)
from agentgym_envs.webarena.browsers.text.roles import input_type
from agentgym_envs.webarena.browsers.tree_rules import collapse
from agentgym_envs.webarena.browsers.typing_rules import typed_text
from agentgym_envs.webarena.page import Node

Demand = Submission | str | None
"""What the browser is to open: what a form sends, an address, or nothing."""

_CONTROLS = frozenset({"a", "button", "input", "select", "textarea", "label", "option"})
_CHECKABLE = ("checkbox", "radio")


class Input:
    """The hand on one document."""

    def __init__(self, document: Document) -> None:
        self._document = document

    def hover(self, node: Node, element: Element) -> None:
        """Point at an element.

        Raises:
            InvalidAction: it is disabled.
        """
        if self._document.is_disabled(element):
            raise refusals.is_disabled(node)

    def click(self, node: Node, element: Element) -> Demand:
        """Click an element.

        Raises:
            InvalidAction: it is disabled, or leads where this browser does not go.
        """
        control = self._control_at(element)
        if control is not None and control.tag == "label":
            control = self._document.controls_of.get(control)
        if control is not None and control.tag != "option" and self._document.is_disabled(control):
            raise refusals.is_disabled(node)
        return self._activate(control)

    def type(self, node: Node, element: Element, text: str, *, press_enter: bool) -> Demand:
        """Replace the text of a field, and press Enter if told to.

        Raises:
            InvalidAction: the element takes no text, or not this one.
        """
        document = self._document
        if not is_text_field(element):
            raise refusals.takes_no_text(node)
        if document.is_disabled(element):
            raise refusals.is_disabled(node)
        if "readonly" in element.attrib:
            raise refusals.takes_no_text(node)
        kind = "textarea" if element.tag == "textarea" else input_type(element)
        document.fill(element, typed_text(node, kind, text))
        document.focused = element
        return self._enter(element) if press_enter else None

    def select(self, node: Node, element: Element, text: str) -> None:
        """Choose the option of this text.

        Raises:
            InvalidAction: the element has no options, or not this one.
        """
        document = self._document
        if element.tag != "select":
            raise refusals.is_no_list(node)
        if document.is_disabled(element):
            raise refusals.is_disabled(node)
        options = document.options(element)
        names = [option_text(option) for option in options]
        found = _position(names, collapse(text))
        if found is None or "disabled" in options[found].attrib:
            raise refusals.no_option(node, text, names)
        document.choose(options[found])
        document.focused = element

    def press(self, text: str) -> Demand:
        """Press a key on the control that has the focus.

        Raises:
            InvalidAction: no key is called so.
        """
        keys = read_keys(text)
        focused = self._document.focused
        if keys.key == "Tab" and set(keys.modifiers) <= {"Shift"}:
            self._move_focus(-1 if keys.modifiers else 1)
        elif focused is not None and not keys.modifiers:
            if keys.key == "Enter":
                return self._enter(focused)
            return self._key(focused, keys)
        return None

    # What controls do -------------------------------------------------------------------------

    def _control_at(self, element: Element) -> Element | None:
        around = chain([element], element.iterancestors())
        return next((found for found in around if found.tag in _CONTROLS), None)

    def _activate(self, control: Element | None) -> Demand:
        document = self._document
        if control is None:
            document.focused = None
            return None
        if control.tag == "a":
            return self._open_link(control)
        if control.tag == "option":
            if "disabled" not in control.attrib:
                document.choose(control)
            document.focused = select_of(control)
            return None
        document.focused = control
        if control.tag == "input" and input_type(control) in _CHECKABLE:
            document.tick(control)
            return None
        form = document.form_of(control)
        if form is None:
            return None
        if submits(control):
            return submission(document, form, control)
        if control.tag in ("button", "input") and control.get("type", "").lower() == "reset":
            document.reset(form)
        return None

    def _open_link(self, link: Element) -> Demand:
        reference = link.get("href")
        if reference is None:
            self._document.focused = None
            return None
        url = resolved(document_base(self._document), reference)
        if url is None:
            raise refusals.no_web_page(reference)
        self._document.focused = link
        return url

    def _enter(self, control: Element) -> Demand:
        document = self._document
        if control.tag == "textarea":
            document.fill(control, document.value(control) + "\n")
            return None
        is_input = control.tag == "input" and not submits(control)
        if not is_input or input_type(control) in ("button", "reset"):
            return None if control.tag == "select" else self._activate(control)
        form = document.form_of(control)
        if form is None or not sends_by_enter(document, form):
            return None
        return submission(document, form, default_button(document, form))

    def _key(self, control: Element, keys: Keys) -> Demand:
        document = self._document
        if is_text_field(control):
            if "readonly" not in control.attrib:
                text = document.value(control)
                if keys.key == "Backspace":
                    document.fill(control, text[:-1])
                elif keys.key == "Space" or len(keys.key) == 1:
                    document.fill(control, text + (" " if keys.key == "Space" else keys.key))
            return None
        if keys.key == "Space" and control.tag in ("button", "input"):
            return self._activate(control)
        return None

    def _move_focus(self, by: int) -> None:
        document = self._document
        stops = [
            element
            for element in document.body.iter("a", "button", "input", "select", "textarea")
            if self._is_stop(element)
        ]
        if not stops:
            return
        if document.focused in stops:
            index = stops.index(document.focused) + by
        else:
            index = 0 if by > 0 else len(stops) - 1
        document.focused = stops[index] if 0 <= index < len(stops) else None

    def _is_stop(self, element: Element) -> bool:
        if element.tag == "a":
            can_focus = "href" in element.attrib
        else:
            can_focus = not self._document.is_disabled(element) and not (
                element.tag == "input" and input_type(element) == "hidden"
            )
        around = chain([element], element.iterancestors())
        return can_focus and not any("hidden" in found.attrib for found in around)


def _position(names: list[str], wanted: str) -> int | None:
    """Return the place of a name in a list, written exactly so or else in other case."""
    if wanted in names:
        return names.index(wanted)
    folded = [name.lower() for name in names]
    return folded.index(wanted.lower()) if wanted.lower() in folded else None
