"""Builds the accessibility tree of a document, in one walk."""

from __future__ import annotations

from lxml.etree import _Element as Element

from agentgym_envs.browsing.page import Node
from agentgym_envs.browsing.text.document import Document, option_text
from agentgym_envs.browsing.text.names import accessible_name, is_named_by_labels
from agentgym_envs.browsing.text.properties import accessibility_properties, option_properties
from agentgym_envs.browsing.text.roles import CLOSED, LEFT_OUT, element_role, is_hidden
from agentgym_envs.browsing.tree_rules import (
    INLINE_TAGS,
    LEAVES,
    ROOT,
    SHOWN,
    SHOWN_IF_NAMED,
    TEXT,
    Item,
    Text,
    leaf,
    place,
    root,
)

_NAMELESS = frozenset({"cell", "row", "listitem", "definition", "DescriptionList"})
_PLAIN = frozenset({"b", "div", "em", "p", "small", "span", "strong", "tbody", "thead"})
_ROLES = SHOWN | SHOWN_IF_NAMED


class Tree:
    """The accessibility tree of a document as it is now.

    Attributes:
        root: of the tree.
    """

    def __init__(self, document: Document) -> None:
        self._document = document
        self._elements: dict[int, Element] = {}
        self._blocks = 0
        self._is_in_label = 0
        items: list[Item] = []
        node = Node(ROOT, document.title)
        self._elements[id(node)] = document.body
        self._visit_children(document.body, 0, items)
        self.root = root(node, items)

    def element(self, node: Node) -> Element:
        """Return the element behind a node. A text's element is the one around it."""
        return self._elements[id(node)]

    def _visit_children(self, element: Element, block: int, items: list[Item]) -> None:
        is_in_label = self._is_in_label
        if (text := element.text) and not is_in_label:
            self._add_text(text, element, block, items)
        for child in element:
            tag = child.tag
            if tag not in LEFT_OUT:
                self._visit(child, tag, block, items)
            if (tail := child.tail) and not is_in_label:
                self._add_text(tail, element, block, items)

    def _add_text(self, text: str, element: Element, block: int, items: list[Item]) -> None:
        if items:
            last = items[-1]
            if isinstance(last, Text) and last.block == block:
                last.node.name += text
                return
        if not text.isspace():
            node = Node(TEXT, text)
            self._elements[id(node)] = element
            items.append(Text(node, block))

    def _visit(self, element: Element, tag: str, block: int, items: list[Item]) -> None:
        given = element.keys()
        if given and (is_hidden(element, given) or self._document.is_closed(element)):
            return
        if tag not in INLINE_TAGS:
            self._blocks += 1
            block = self._blocks
            if tag == "br":
                items.append(Text(Node(TEXT, ""), block))
                return
        role = element_role(element, tag, given) if tag not in _PLAIN or "role" in given else ""
        if role not in _ROLES:
            if tag == "label":
                self._visit_label(element, block, items)
            elif tag != "input" and role != CLOSED:
                self._visit_children(element, block, items)
            return
        is_nameless = role in _NAMELESS and not given
        name = "" if is_nameless else accessible_name(self._document, element, role, given)
        node = Node(role, name)
        self._elements[id(node)] = element
        if role in LEAVES:
            node.properties = accessibility_properties(self._document, element, given)
            items += leaf(node)
            return
        inner: list[Item] = []
        if role == "listbox":
            self._add_options(element, inner)
            node.properties = accessibility_properties(self._document, element, given)
        else:
            self._visit_children(element, block, inner)
        items += place(node, inner)

    def _visit_label(self, label: Element, block: int, items: list[Item]) -> None:
        control = self._document.controls_of.get(label)
        # What names a control is not told twice; links in a label are.
        is_name = control is not None and is_named_by_labels(control)
        self._is_in_label += is_name
        self._visit_children(label, block, items)
        self._is_in_label -= is_name

    def _add_options(self, select: Element, items: list[Item]) -> None:
        chosen = self._document.chosen(select)
        for option in self._document.options(select):
            properties = option_properties(self._document, option, chosen)
            node = Node("option", option_text(option), properties)
            self._elements[id(node)] = option
            items += leaf(node)
