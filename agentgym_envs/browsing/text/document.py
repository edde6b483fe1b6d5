"""A loaded page: its elements and the state of its controls.

The elements themselves are never changed; they hold the values that the page came with.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree
from lxml.etree import _Element as Element

from agentgym_envs.browsing.text.roles import input_type, is_hidden, is_list_box
from agentgym_envs.browsing.tree_rules import collapse

_EMPTY = "<html><head></head><body></body></html>"
_PARSER = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
_MENUS = etree.XPath("//*[@class='submenu']")  # hidden by the embedded sites' style sheet
_WITH_ID = etree.XPath("//*[@id]")
_IN_DISABLED = etree.XPath("//fieldset[@disabled]//*[not(ancestor::legend)]")
_CHECKABLE = frozenset({"checkbox", "radio"})
_DEFAULTS = {"checkbox": "on", "radio": "on", "color": "#000000", "range": "50"}
_BUTTONS = frozenset({"submit", "image", "reset", "button"})
SUBMITS = frozenset({"submit", "image"})


class Document:
    """A page.

    Args:
        url: its address.
        source: its HTML.
        status: HTTP's.

    Attributes:
        title: white space collapsed.
        body: what is shown.
        ids: the first element of each id.
        controls: inputs, buttons, selects and text areas, in document order.
        labels: the labels of each control that has some.
        controls_of: the control of each label that has one.
        focused: the control that has the focus.
        pointed: what was clicked last without taking the focus; Tab goes on from there.
        menus: what is shown while the pointer is over its parent alone.
        hovered: what the pointer is over.
    """

    def __init__(self, url: str, source: str, *, status: int = 200) -> None:
        self.url = url
        self.status = status
        root = _parse(source)
        self.root = root
        self.title = collapse(root.findtext("head/title") or "")
        body = root.find("body")
        self.body = root if body is None else body
        base = root.find(".//base[@href]")
        self.base = "" if base is None else base.get("href")
        self.ids: dict[str, Element] = {}
        for element in _WITH_ID(root):
            self.ids.setdefault(element.get("id"), element)
        self.controls = list(root.iter("input", "button", "select", "textarea"))
        self.labels: dict[Element, list[Element]] = {}
        self.controls_of: dict[Element, Element] = {}
        for label in root.iter("label"):
            if is_hidden(label, label.keys()):
                continue
            control = self._labeled_control(label)
            if control is not None:
                self.labels.setdefault(control, []).append(label)
                self.controls_of[label] = control
        self._disabled = set(_IN_DISABLED(root))
        self._options: dict[Element, list[Element]] = {}
        self._values: dict[Element, str] = {}
        self._checked: dict[Element, bool] = {}
        self._chosen: dict[Element, list[Element]] = {}
        self._selections: dict[Element, tuple[int, int]] = {}
        self.pointed: Element | None = None
        # Most pages have none, and XPath compares every element's class.
        self.menus = frozenset(_MENUS(root) if "submenu" in source else ())
        self.hovered: Element | None = None
        self.focused = next((c for c in self.controls if "autofocus" in c.attrib), None)

    def afresh(self) -> Document:
        """Return the page as it was when it was loaded."""
        source = etree.tostring(self.root, method="html", encoding="unicode")
        return Document(self.url, source, status=self.status)

    # What controls hold -----------------------------------------------------------------------

    def value(self, control: Element) -> str:
        """Return the text of a field, the chosen option's value, or a button's value."""
        if control in self._values:
            return self._values[control]
        if control.tag == "textarea":
            text = control.text or ""
            return str(text.removeprefix("\r\n" if text.startswith("\r\n") else "\n"))
        if control.tag == "select":
            chosen = self.chosen(control)
            return option_value(chosen[0]) if chosen else ""
        default = _DEFAULTS.get(input_type(control), "")
        return str(control.get("value", default))

    def is_checked(self, control: Element) -> bool:
        """Return whether a checkbox or radio button is."""
        return self._checked.get(control, "checked" in control.attrib)

    def options(self, select: Element) -> list[Element]:
        """List the options of a select."""
        options = self._options.get(select)
        if options is None:
            options = [option for option in select.iter("option") if "hidden" not in option.attrib]
            self._options[select] = options
        return options

    def chosen(self, select: Element) -> list[Element]:
        """List the chosen options: one, except in a list that takes several or none."""
        if select in self._chosen:
            return self._chosen[select]
        options = self.options(select)
        chosen = [option for option in options if "selected" in option.attrib]
        if "multiple" in select.attrib:
            return chosen
        if not chosen and not is_list_box(select):
            chosen = [option for option in options if "disabled" not in option.attrib]
            return chosen[:1]
        return chosen[-1:]

    def is_disabled(self, control: Element) -> bool:
        """Return whether a control takes no input and is not sent."""
        return "disabled" in control.attrib or control in self._disabled

    def is_closed(self, element: Element) -> bool:
        """Return whether an element is a menu, and the pointer elsewhere."""
        if element not in self.menus:
            return False
        return self.hovered is None or element.getparent() not in (
            self.hovered,
            *self.hovered.iterancestors(),
        )

    def limit(self, field: Element) -> int | None:
        """Return how many characters a field holds, or None where it does not say."""
        text = field.get("maxlength", "")
        return int(text) if text.isdecimal() and len(text) < 9 else None

    def selection(self, field: Element) -> tuple[int, int]:
        """Return the selection's start and the caret, equal if nothing is selected."""
        return self._selections.get(field, (0, 0))

    def radios(self, radio: Element) -> list[Element]:
        """List the radio buttons of which one can be ticked, this one among them."""
        form, name = self.form_owner(radio), radio.get("name")
        others = (c for c in self.controls if c.tag == "input" and input_type(c) == "radio")
        same = [o for o in others if o.get("name") == name and self.form_owner(o) is form]
        return same if name else [radio]

    # Changes ----------------------------------------------------------------------------------

    def fill(self, control: Element, text: str) -> None:
        """Replace a field's text. The caret moves behind it."""
        self._values[control] = text[: self.limit(control)]
        self.select(control, len(self._values[control]), len(self._values[control]))

    def select(self, field: Element, anchor: int, caret: int) -> None:
        """Select the text between two positions. The second is the caret's."""
        self._selections[field] = (anchor, caret)

    def tick(self, control: Element) -> None:
        """Toggle a checkbox or select a radio button, as a click does."""
        if input_type(control) == "checkbox":
            self._checked[control] = not self.is_checked(control)
            return
        for other in self.radios(control):
            self._checked[other] = False
        self._checked[control] = True

    def choose(self, option: Element) -> None:
        """Choose an option of its select, in addition to others if it is a multiple one."""
        select = owner_select(option)
        if "multiple" in select.attrib:
            chosen = {*self.chosen(select), option}
            self._chosen[select] = [other for other in self.options(select) if other in chosen]
        else:
            self._chosen[select] = [option]

    def reset(self, form: Element) -> None:
        """Reset the controls of a form to the page's initial values."""
        for control in self.controls_in(form):
            for held in (self._values, self._checked, self._chosen, self._selections):
                held.pop(control, None)

    # Forms ------------------------------------------------------------------------------------

    def form_owner(self, control: Element) -> Element | None:
        """Return the form that a control belongs to."""
        named = control.get("form")
        if named is not None:
            form = self.ids.get(named)
            return form if form is not None and form.tag == "form" else None
        return next(control.iterancestors("form"), None)

    def controls_in(self, form: Element) -> Iterator[Element]:
        """Yield the controls of a form, in document order."""
        return (control for control in self.controls if self.form_owner(control) is form)

    def _labeled_control(self, label: Element) -> Element | None:
        named = label.get("for")
        if named is not None:
            target = self.ids.get(named)
            return target if target is not None and _is_labelable(target) else None
        inside = label.iterdescendants("input", "button", "select", "textarea")
        return next((control for control in inside if _is_labelable(control)), None)


def owner_select(option: Element) -> Element:
    """Return the select that an option belongs to."""
    return next(option.iterancestors("select"), option)


def option_text(option: Element) -> str:
    """Return an option's label."""
    return collapse(option.get("label") or "".join(option.itertext()))


def option_value(option: Element) -> str:
    """Return an option's value."""
    return str(option.get("value", option_text(option)))


def is_text_field(control: Element) -> bool:
    """Return whether a control holds text, numbers, dates and colours included."""
    if control.tag == "textarea":
        return True
    other = _CHECKABLE | _BUTTONS | {"hidden", "file"}
    return control.tag == "input" and input_type(control) not in other


def submits(control: Element) -> bool:
    """Return whether a control is a button that sends its form."""
    if control.tag == "button":
        return (control.get("type") or "submit").strip().lower() not in ("button", "reset")
    return control.tag == "input" and input_type(control) in SUBMITS


def _is_labelable(element: Element) -> bool:
    if element.tag == "input":
        return input_type(element) != "hidden"
    return element.tag in ("button", "select", "textarea", "meter", "output", "progress")


def _parse(source: str) -> Element:
    content = source.encode("utf-8", "replace")
    try:
        root = etree.fromstring(content, _PARSER)
    except etree.XMLSyntaxError:  # there is nothing in it
        root = None
    return etree.fromstring(_EMPTY, _PARSER) if root is None or root.tag != "html" else root
