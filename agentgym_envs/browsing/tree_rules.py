"""Rules that turn a page's elements into the lines of a view, for every backend.

A backend walks its own tree from the leaves up. For each element it makes a `Node` with the role,
name and properties that the accessibility tree gives it, and calls `place(node, items)` with what
its children left; `place` returns what stands there in the end. A text node is a `Text`. The result
is Chromium's accessibility tree made short, because a policy pays for every line:

- Generic elements, paragraphs, emphasis and nameless forms, groups and regions disappear and pass
  their children up (`SHOWN` and `SHOWN_IF_NAMED` say who stays).
- Texts that meet within one block are one StaticText; `Text.block` says which block that is.
- A text that only separates what is around it, such as `/` or `,`, is dropped.
- Links, buttons, images and form controls are leaves. A text that its parent's name already says
  is dropped; an element without a name whose whole content is one text bears the text as its name.
- A list item, cell, heading, term or definition that only wraps one element passes it up.
- A table row is named by its cells' texts, `'Lamp | $12.00 | Paid'`; only links and controls stay
  below it. A description's term and text are one definition, `'Colour: red'`.
- A combobox lists its options in a property; `select` takes one of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agentgym_envs.browsing.page import Node

ROOT = "RootWebArea"
TEXT = "StaticText"

RENAMED = {
    "image": "img",
    "Date": "textbox",
    "DateTime": "textbox",
    "InputTime": "textbox",
    "ColorWell": "textbox",
    "DisclosureTriangle": "button",
    "LayoutTable": "table",
    "LayoutTableRow": "row",
    "LayoutTableCell": "cell",
    "gridcell": "cell",
    "columnheader": "cell",
    "rowheader": "cell",
    "PopUpButton": "combobox",
    "ListBoxOption": "option",
    "MenuListOption": "option",
}
"""Roles of Chromium under their names here. A backend renames them before `place`."""

TEXT_FIELDS = frozenset({"textbox", "searchbox", "spinbutton"})
"""Roles that take typed text. An editable combobox (an input with a list) does too."""

CONTROLS = TEXT_FIELDS | {
    "link", "button", "checkbox", "radio", "switch", "combobox", "listbox", "option", "slider",
    "tab", "menuitem", "menuitemcheckbox", "menuitemradio", "treeitem",
}  # fmt: skip
"""Roles of elements that actions can use."""

LEAVES = (CONTROLS - {"listbox", "treeitem"}) | {"img", "meter", "progressbar", "scrollbar"}
"""Roles whose children are never shown: the name and the value say it all."""

_WRAPPERS = frozenset({"listitem", "cell", "heading", "term", "definition"})

SHOWN = CONTROLS | LEAVES | _WRAPPERS | {
    ROOT, "banner", "main", "contentinfo", "navigation", "complementary", "article", "list",
    "table", "grid", "treegrid", "row", "alert", "status", "log", "timer", "alertdialog", "dialog",
    "tablist", "tabpanel", "menu", "menubar", "toolbar", "tree", "tooltip", "blockquote",
    "radiogroup", "feed", "DescriptionList",
}  # fmt: skip
"""Roles that stand in the tree."""

SHOWN_IF_NAMED = frozenset({"form", "group", "region", "search", "figure"})
"""Roles that stand in the tree if they have a name."""

PROPERTIES = (
    "value", "options", "checked", "selected", "pressed", "expanded", "required", "readonly",
    "disabled", "focused",
)  # fmt: skip
"""The states that a node's line shows, in this order.

`checked`, `pressed` and `expanded` are shown true or false, the others only where they are true.
"""

INLINE_TAGS = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "button", "cite", "code", "data", "del",
    "dfn", "em", "font", "i", "img", "input", "ins", "kbd", "label", "mark", "meter", "output",
    "progress", "q", "ruby", "s", "samp", "select", "small", "span", "strike", "strong", "sub",
    "sup", "svg", "textarea", "time", "tt", "u", "var", "wbr",
})  # fmt: skip
"""HTML elements that do not begin a block of their own, whatever the style sheet says."""

SEPARATORS = " /|,;:.()<>-\u00b7\u2013\u2014\u2022\u2039\u203a\u00ab\u00bb\u2190\u2192"
"""Characters that separate items. A text of these alone, between other things, is left out."""

MAX_VALUE = 1000
BETWEEN_CELLS = " | "


class Text(NamedTuple):
    """A text node on its way up.

    Attributes:
        node: a StaticText whose name is the text as it stands in the document, white space and all.
            The white space between two elements of a block belongs to the text that follows.
        block: identifies the nearest element around it whose tag is not in `INLINE_TAGS`. A line
            break is an empty text in a block of its own.
    """

    node: Node
    block: int


Item = Node | Text


def collapse(text: str) -> str:
    """Return text with each run of white space replaced by one space, and none at the ends."""
    return " ".join(text.split())


def value_property(value: str) -> str:
    """Return how the value of a control is written."""
    if len(value) > MAX_VALUE:
        value = value[:MAX_VALUE] + "..."
    return repr(collapse(value))


def options_property(options: Sequence[str]) -> str:
    """Return how the options of a combobox are written."""
    return ", ".join(repr(collapse(option)) for option in options)


def place(node: Node, items: list[Item]) -> list[Item]:
    """Return the tree's items for an element.

    Args:
        node: the element, without children; its name as the accessibility tree has it.
        items: what its children left, in document order.
    """
    role = node.role
    if role in LEAVES:
        return leaf(node)
    if role not in SHOWN and not (role in SHOWN_IF_NAMED and node.name.strip()):
        return items
    # A cell's name is its text, which goes to the row; its own name would hold controls' values.
    node.name = "" if role == "cell" else collapse(node.name)
    node.children = settle(items)
    if role == "DescriptionList":
        return list(_pair(node.children))
    if role == "row" and not node.name:
        _fold_cells(node)
    _drop_what_the_name_says(node)
    return list(_what_remains(node))


def leaf(node: Node) -> list[Item]:
    """Return the tree's nodes for one of `LEAVES`."""
    node.name = collapse(node.name)
    return [] if node.role == "img" and not node.name else [node]


def root(node: Node, items: list[Item]) -> Node:
    """Finish the root of a page's tree and return it."""
    node.name = collapse(node.name)
    node.children = settle(items)
    return node


def settle(items: list[Item]) -> list[Node]:
    """Join texts that meet in one block, and drop those that say nothing."""
    nodes: list[Node] = []
    open_block: int | None = None
    has_text = False
    for item in items:
        if isinstance(item, Node):
            nodes.append(item)
            open_block = None
            has_text |= item.role == TEXT
        elif item.block == open_block:
            nodes[-1].name += item.node.name
        else:
            nodes.append(item.node)
            open_block = item.block
            has_text = True
    if not has_text:
        return nodes
    for node in nodes:
        if node.role == TEXT:
            node.name = collapse(node.name)
    remaining = [node for node in nodes if node.role != TEXT or node.name]
    if len(remaining) == 1:
        return remaining
    return [node for node in remaining if node.role != TEXT or node.name.strip(SEPARATORS)]


def _drop_what_the_name_says(node: Node) -> None:
    children = node.children
    if not node.name:
        if len(children) == 1 and children[0].role == TEXT:
            node.name = children[0].name
            node.children = []
    elif node.role in ("heading", "term", "row"):
        node.children = [child for child in children if child.role not in (TEXT, "img")]
    elif children:
        first = children[0]
        is_text = first.role in (TEXT, "heading") and not first.children
        if is_text and first.name == node.name:
            node.children = children[1:]


def _what_remains(node: Node) -> list[Node]:
    children = node.children
    if node.role in _WRAPPERS:
        if len(children) == 1 and node.name in ("", children[0].name):
            return children
        if node.role == "cell" and node.name == "":
            return [node]  # it holds its column
    if not children and not node.name:
        return []
    if node.role == "list" and not node.name:
        # A list whose items were all passed up adds nothing to them.
        return [node] if any(child.role == "listitem" for child in children) else children
    return [node]


def _fold_cells(row: Node) -> None:
    texts: list[str] = []
    children: list[Node] = []
    for cell in row.children:
        texts.append(_words(cell))
        parts = cell.children if cell.role == "cell" else [cell]
        children += [part for part in parts if _has_control(part)]
    while texts and not texts[-1]:
        texts.pop()
    row.name = collapse(BETWEEN_CELLS.join(texts))
    row.children = children


def _words(node: Node) -> str:
    """Return a node's text within its row. Buttons and form controls have none."""
    if node.role in CONTROLS and node.role != "link":
        return ""
    if node.name:
        return node.name
    return " ".join(filter(None, map(_words, node.children)))


def _has_control(node: Node) -> bool:
    return node.role in CONTROLS or any(map(_has_control, node.children))


def _pair(children: list[Node]) -> list[Node]:
    """Join each term with the one text that describes it."""
    nodes: list[Node] = []
    for number, node in enumerate(children):
        follows = children[number + 1].role if number + 1 < len(children) else ""
        is_alone = follows != "definition"
        if (
            nodes
            and nodes[-1].role == "term"
            and not nodes[-1].children
            and node.role == "definition"
            and not node.children
            and is_alone
        ):
            term = nodes.pop()
            node.name = f"{term.name.removesuffix(':')}: {node.name}"
        nodes.append(node)
    return nodes
