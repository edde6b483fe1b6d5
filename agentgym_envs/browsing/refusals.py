"""Messages for actions that a browser cannot do, the same for every backend.

Each function returns the `InvalidAction` to raise.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.errors import InvalidAction

_SHOWN = 8


def no_element(element: int, page: Page) -> InvalidAction:
    """No element of the page has this id."""
    ids = f"ids go from 1 to {len(page.nodes)}" if page.ids is None else "take an id that it shows"
    return InvalidAction(f"There is no element [{element}] on this page; {ids}.")


def is_gone(node: Node) -> InvalidAction:
    """The page changed by itself, and the element is not there any more."""
    return InvalidAction(f"{_shown(node)} is no longer on the page; look at the page again.")


def is_disabled(node: Node) -> InvalidAction:
    """The element takes no input."""
    return InvalidAction(f"{_shown(node)} is disabled.")


def is_not_drawn(node: Node) -> InvalidAction:
    """The element has no place on the page."""
    return InvalidAction(f"{_shown(node)} is not drawn, so the mouse cannot reach it.")


def takes_no_text(node: Node) -> InvalidAction:
    """The element is no text field."""
    return InvalidAction(f"{_shown(node)} takes no text; type works on text fields.")


def is_no_list(node: Node) -> InvalidAction:
    """The element has no options."""
    return InvalidAction(f"{_shown(node)} has no options; select works on list boxes.")


def no_option(node: Node, option: str, options: Sequence[str]) -> InvalidAction:
    """The list box lacks this option."""
    names = ", ".join(repr(name) for name in options[:_SHOWN])
    rest = f" and {len(options) - _SHOWN} more" if len(options) > _SHOWN else ""
    return InvalidAction(f"{_shown(node)} has no option {option!r:.80}. It has {names}{rest}.")


def no_key(keys: str) -> InvalidAction:
    """No key is called so."""
    return InvalidAction(
        f"There is no key {keys!r:.40}. Keys are written like Enter, Tab, ArrowDown or Ctrl+a."
    )


def key_does_more(keys: str, what: str) -> InvalidAction:
    """The key would do something that this browser cannot do."""
    return InvalidAction(f"{keys!r:.40} {what}.")


def no_address(url: str) -> InvalidAction:
    """The text is no address that can be opened."""
    return InvalidAction(f"{url!r:.80} is no address; addresses begin with http:// or https://.")


def long_address(url: str, most: int) -> InvalidAction:
    """The address is longer than any that a person types."""
    return InvalidAction(f"An address has at most {most} characters, yours has {len(url)}.")


def no_web_page(reference: str) -> InvalidAction:
    """The link leads to a mail program and the like."""
    return InvalidAction(f"This link leads to {reference!r:.80}, which is no web page.")


def no_tab(index: int, number: int) -> InvalidAction:
    """No tab has this index."""
    return InvalidAction(f"There is no tab {index}; the tabs are 0 to {number - 1}.")


def nothing_before() -> InvalidAction:
    """The tab's history begins here."""
    return InvalidAction("There is no page to go back to in this tab.")


def nothing_after() -> InvalidAction:
    """The tab's history ends here."""
    return InvalidAction("There is no page to go forward to in this tab.")


def page_ends(direction: str) -> InvalidAction:
    """There is no more of the page in this direction."""
    return InvalidAction(
        "The page ends here; there is nothing below."
        if direction == "down"
        else "This is the top of the page; there is nothing above."
    )


def dialog_waits() -> InvalidAction:
    """A dialog holds the page up until it is answered."""
    return InvalidAction("A dialog waits for an answer; click one of its buttons.")


def dialog_has_opened() -> InvalidAction:
    """A dialog has opened since the page was looked at."""
    return InvalidAction("A dialog has opened meanwhile; answer it first.")


def _shown(node: Node) -> str:
    return f"[{node.element}] {node.role} {node.name[:60]!r}"
