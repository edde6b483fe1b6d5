"""Applies clicks, typing, choosing and keys to a page.

Each action changes what the document's controls hold, and returns what the browser is to open, if
anything.
"""

from __future__ import annotations

from itertools import chain

from lxml.etree import _Element as Element

from agentgym_envs.browsing import refusals
from agentgym_envs.browsing.addresses import resolved
from agentgym_envs.browsing.keys import read_keys
from agentgym_envs.browsing.page import Node
from agentgym_envs.browsing.text.document import (
    Document,
    is_text_field,
    option_text,
    owner_select,
    submits,
)
from agentgym_envs.browsing.text.forms import (
    Submission,
    default_button,
    document_base,
    sends_by_enter,
    submission,
)
from agentgym_envs.browsing.text.keyboard import (
    LINE_BREAK,
    press_in_field,
    press_in_list,
    press_in_radios,
)
from agentgym_envs.browsing.text.roles import input_type, is_list_box
from agentgym_envs.browsing.tree_rules import collapse
from agentgym_envs.browsing.typing_rules import SET_AT_ONCE, typed_text

Demand = Submission | str | None
"""A navigation that the browser is to make: to a sent form, to an address, or None."""

_CONTROLS = frozenset({"a", "button", "input", "select", "textarea", "label", "option"})
_STOPS = frozenset({"a", "button", "input", "select", "textarea"})
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
        self._document.hovered = element

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
        self._document.pointed = element
        return self._activate(control)

    def type(self, node: Node, element: Element, text: str, *, press_enter: bool) -> Demand:
        """Replace a field's text, then press Enter if asked.

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
        position = _position(names, collapse(text))
        if position is None or "disabled" in options[position].attrib:
            raise refusals.no_option(node, text, names)
        document.choose(options[position])
        document.focused = element

    def press(self, text: str) -> Demand:
        """Press a key on the control that has the focus.

        Raises:
            InvalidAction: no key is called so, or it would do here what this browser cannot do.
        """
        keys = read_keys(text)
        document, focused = self._document, self._document.focused
        kind = "" if focused is None or focused.tag != "input" else input_type(focused)
        if keys.key == "Tab" and set(keys.modifiers) <= {"Shift"}:
            if kind in SET_AT_ONCE - {"color", "range"}:
                raise refusals.key_does_more(
                    text, "goes through the parts of this field; use click"
                )
            self._move_focus(-1 if keys.modifiers else 1)
        elif focused is None:
            return None
        elif keys.key == "Enter":
            if not keys.modifiers or (keys.modifiers == ("Shift",) and focused.tag == "textarea"):
                return self._enter(focused)
            if focused.tag in ("a", "button"):
                raise refusals.key_does_more(text, "may open a window; press Enter alone")
        elif is_text_field(focused):
            press_in_field(document, focused, keys)
        elif focused.tag == "select":
            press_in_list(document, focused, keys)
        elif keys.key == "Space" and focused.tag in ("button", "input"):
            return self._activate(focused)
        elif kind == "radio":
            press_in_radios(document, focused, keys)
        return None

    # What controls do -------------------------------------------------------------------------

    def _control_at(self, element: Element) -> Element | None:
        around = chain([element], element.iterancestors())
        return next((candidate for candidate in around if candidate.tag in _CONTROLS), None)

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
            document.focused = owner_select(control)
            return None
        document.focused = control
        if is_text_field(control):
            end = len(document.value(control))
            document.select(control, end, end)
            return None
        if control.tag == "input" and input_type(control) in _CHECKABLE:
            document.tick(control)
            return None
        form = document.form_owner(control)
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
            press_in_field(document, control, LINE_BREAK)
            return None
        if control.tag == "select" and not is_list_box(control):
            return None
        is_button = control.tag == "button" or submits(control)
        if control.tag == "a" or is_button or input_type(control) in ("button", "reset"):
            return self._activate(control)
        form = document.form_owner(control)
        if form is None or not sends_by_enter(document, form):
            return None
        return submission(document, form, default_button(document, form))

    def _move_focus(self, by: int) -> None:
        document = self._document
        around = document.pointed if document.focused is None else document.focused
        stops = [e for e in document.body.iter() if e is around or self._is_stop(e)]
        if by < 0:
            stops.reverse()
        if around in stops:
            place = stops.index(around)
            after = stops[place + 1 :]
            # Tab leaves the page behind the last control, but not behind the last text.
            goes_round = by > 0 and not after and document.focused is None
            stops = stops[:place] if goes_round else after
        document.pointed = None
        document.focused = stops[0] if stops else None
        if stops and is_text_field(stops[0]) and stops[0].tag == "input":
            document.select(stops[0], 0, len(document.value(stops[0])))

    def _is_stop(self, element: Element) -> bool:
        if element.tag not in _STOPS:
            return False
        if element.tag == "a":
            can_focus = "href" in element.attrib
        elif element.tag == "input" and input_type(element) == "radio":
            can_focus = not self._document.is_disabled(element) and self._leads_group(element)
        else:
            can_focus = not self._document.is_disabled(element) and not (
                element.tag == "input" and input_type(element) == "hidden"
            )
        around = chain([element], element.iterancestors())
        return can_focus and not any(
            "hidden" in each.attrib or self._document.is_closed(each) for each in around
        )

    def _leads_group(self, radio: Element) -> bool:
        """Return whether Tab stops at a radio button: at the ticked one alone, if one is."""
        group = self._document.radios(radio)
        ticked = [other for other in group if self._document.is_checked(other)]
        return not ticked or ticked[0] is radio


def _position(names: list[str], expected: str) -> int | None:
    """Return the place of a name in a list, written exactly so or else in other case."""
    if expected in names:
        return names.index(expected)
    folded = [name.lower() for name in names]
    return folded.index(expected.lower()) if expected.lower() in folded else None
