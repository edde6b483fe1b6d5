"""Form submission: entries and target (HTML Standard, 4.10.21 and 4.10.22).

Nothing is validated here: the sites say what is wrong with what they are sent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote_plus

from lxml.etree import _Element as Element

from agentgym_envs.browsing.addresses import resolved, without_fragment
from agentgym_envs.browsing.text.document import (
    Document,
    is_text_field,
    option_value,
    submits,
)
from agentgym_envs.browsing.text.roles import input_type

_ONE_OF_MANY = frozenset({"checkbox", "radio"})
_NOT_SENT = frozenset({"submit", "image", "reset", "button"})


@dataclass(frozen=True)
class Submission:
    """A request that a form makes.

    Attributes:
        url: where to; None if the form leads to no web address.
        form: the fields to post; None for a GET, whose fields are in the address.
    """

    url: str | None
    form: list[tuple[str, str]] | None


def submission(document: Document, form: Element, submitter: Element | None) -> Submission:
    """Return the request that sending a form makes.

    Args:
        document: the page.
        form: one of its forms.
        submitter: the button that sends it, if one does.
    """
    override = submitter.attrib if submitter is not None else {}
    method = (override.get("formmethod") or form.get("method") or "get").strip().lower()
    action = override.get("formaction") or form.get("action") or document.url
    url = resolved(document_base(document), action)
    fields = entries(document, form, submitter)
    if method == "post" or url is None:
        return Submission(url, fields)
    return Submission(f"{without_fragment(url).partition('?')[0]}?{encoded(fields)}", None)


def document_base(document: Document) -> str:
    """Return the address that a page's references are relative to."""
    return (document.base and resolved(document.url, document.base)) or document.url


def entries(document: Document, form: Element, submitter: Element | None) -> list[tuple[str, str]]:
    """List the names and values that a form sends."""
    pairs: list[tuple[str, str]] = []
    for control in document.controls_in(form):
        name = control.get("name")
        if document.is_disabled(control):
            continue
        if control is submitter and input_type(control) == "image":
            prefix = f"{name}." if name else ""
            pairs += [(f"{prefix}x", "0"), (f"{prefix}y", "0")]
        elif name:
            pairs += [(name, value) for value in _values(document, control, submitter)]
    return pairs


def _values(document: Document, control: Element, submitter: Element | None) -> list[str]:
    tag, kind = control.tag, input_type(control)
    if tag == "select":
        chosen = document.chosen(control)
        return [option_value(option) for option in chosen if "disabled" not in option.attrib]
    if tag == "button" or kind in _NOT_SENT:
        return [document.value(control)] if control is submitter else []
    if kind in _ONE_OF_MANY and tag == "input":
        return [document.value(control)] if document.is_checked(control) else []
    if kind == "file":
        return [""]
    value = document.value(control)
    if tag == "textarea":
        return [re.sub(r"\r\n|\r|\n", "\r\n", value)]
    return [re.sub(r"[\r\n]", "", value)]


def default_button(document: Document, form: Element) -> Element | None:
    """Return the button that Enter in a field of this form presses, if it has one."""
    return next((control for control in document.controls_in(form) if submits(control)), None)


def sends_by_enter(document: Document, form: Element) -> bool:
    """Return whether Enter in a field of this form sends it.

    It does if the form has a button for it that is not disabled, or no button and one text field.
    """
    button = default_button(document, form)
    if button is not None:
        return not document.is_disabled(button)
    fields = (c for c in document.controls_in(form) if c.tag == "input" and is_text_field(c))
    return len(list(fields)) == 1


def encoded(fields: list[tuple[str, str]]) -> str:
    """Write names and values as browsers write them into an address."""
    return "&".join(f"{_quoted(name)}={_quoted(value)}" for name, value in fields)


def _quoted(text: str) -> str:
    return quote_plus(text, safe="*").replace("~", "%7E")
