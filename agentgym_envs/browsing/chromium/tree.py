"""Turns Chromium's accessibility tree into the lines of the text browser.

Takes what the DevTools protocol answers: the accessibility tree with roles, names and states,
and the document with the white space and the elements around a text. The pages in frames stand
where their frames are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from agentgym_envs.browsing import tree_rules
from agentgym_envs.browsing.page import Node
from agentgym_envs.browsing.tree_rules import Item, Text

_TEXT_NODE = 3
_DROPPED = frozenset({"InlineTextBox", "ListMarker", "RubyAnnotation"})
_FRAME = "Iframe"
_RICH = "richtext"
_GAUGES = frozenset({"meter", "progressbar"})
_WITH_VALUE = tree_rules.TEXT_FIELDS | {"combobox", "slider"}
_OF_PARTS = frozenset({"Date", "DateTime", "InputTime"})  # the focus is in one of their parts
_WITH_STATE = tree_rules.LEAVES | {"listbox"}

AxNode = Mapping[str, Any]
Property = tuple[str, str]


class Source(NamedTuple):
    """A text of the document.

    Attributes:
        text: as it stands there, after the white space between it and the text before.
        block: index of the block that it is part of.
    """

    text: str
    block: int


class Document(NamedTuple):
    """Properties that the accessibility tree lacks.

    Attributes:
        texts: by backend id.
        required: the backend ids of the controls that must be filled in.
        frames: of each element that holds a frame, by backend id, the frame's id.
    """

    texts: Mapping[int, Source]
    required: frozenset[int]
    frames: Mapping[int, str]


def read_document(root: Mapping[str, Any]) -> Document:
    """Read the answer of `DOM.getDocument`."""
    texts: dict[int, Source] = {}
    required: set[int] = set()
    frames: dict[int, str] = {}
    is_spaced = False
    waiting = [(root, 0)]
    while waiting:
        node, block = waiting.pop()
        backend = node["backendNodeId"]
        if node["nodeType"] == _TEXT_NODE:
            text = node["nodeValue"]
            if text.strip():
                texts[backend] = Source(f" {text}" if is_spaced else text, block)
            is_spaced = not text.strip()
            continue
        if node["nodeName"].lower() not in tree_rules.INLINE_TAGS:
            block = backend
        if "required" in node.get("attributes", ())[::2]:
            required.add(backend)
        inner = [*node.get("children", ()), *node.get("shadowRoots", ())]
        if "contentDocument" in node:
            frames[backend] = node["frameId"]
            inner.append(node["contentDocument"])
        waiting += [(child, block) for child in reversed(inner)]
    return Document(texts, frozenset(required), frames)


def build_tree(
    ax_nodes: Sequence[AxNode],
    document: Document,
    canonical: Callable[[str], str],
    frames: Mapping[str, Sequence[AxNode]] | None = None,
) -> tuple[Node, list[int]]:
    """Build the tree of a page.

    Args:
        ax_nodes: the nodes of `Accessibility.getFullAXTree`.
        document: what it does not tell.
        canonical: writes addresses as the sites' canonical ones.
        frames: the nodes of the pages in frames, by the frames' ids.

    Returns:
        The root, and the backend ids of all nodes in document order; 0 where there is none.
    """
    return _Builder(ax_nodes, document, canonical, frames or {}).build()


class _Builder:
    def __init__(
        self,
        ax_nodes: Sequence[AxNode],
        document: Document,
        canonical: Callable[[str], str],
        frames: Mapping[str, Sequence[AxNode]],
    ) -> None:
        # A page and those in its frames are of one process, which gives each node an id of its own.
        everything = [*ax_nodes, *(node for nodes in frames.values() for node in nodes)]
        self._nodes = {node["nodeId"]: node for node in everything}
        self._top = ax_nodes[0]
        self._frames = {
            backend: frames[frame][0]
            for backend, frame in document.frames.items()
            if frames.get(frame)
        }
        self._document = document
        self._canonical = canonical
        self._backends: dict[int, int] = {}
        self._naming = {
            related["backendDOMNodeId"]
            for node in everything
            for entry in node.get("properties", ())
            if entry["name"] == "labelledby"
            for related in entry["value"].get("relatedNodes", ())
        }

    def build(self) -> tuple[Node, list[int]]:
        node = self._node(self._top, tree_rules.ROOT)
        node.properties = {}
        root = tree_rules.root(node, self._below(self._top))
        return root, [self._backends.get(id(inner), 0) for inner, _ in root.walk()]

    def _items(self, ax: AxNode) -> list[Item]:
        role = _role(ax)
        if role in _DROPPED:
            return []
        if role == _FRAME:
            page = self._frames.get(ax.get("backendDOMNodeId", 0))
            return [] if page is None else self._below(page)
        if ax["ignored"]:
            return self._below(ax)
        if role == "generic" and self._is_editor(ax):
            return [self._editor(ax)]
        if role == "LineBreak":
            return [Text(Node(tree_rules.TEXT, ""), -int(ax["backendDOMNodeId"]))]
        if role == tree_rules.TEXT:
            # White space alone is part of the text that follows.
            return [self._text(ax)] if _value(ax, "name").strip() else []
        if role == "LabelText" and ax["backendDOMNodeId"] in self._naming:
            # What names a control is not told twice; links in a label are.
            return [item for item in self._below(ax) if isinstance(item, Node)]
        return tree_rules.place(self._node(ax, role), self._below(ax))

    def _below(self, ax: AxNode) -> list[Item]:
        items: list[Item] = []
        for child in ax.get("childIds", ()):
            if child in self._nodes:
                items += self._items(self._nodes[child])
        return items

    def _text(self, ax: AxNode) -> Text:
        backend = ax.get("backendDOMNodeId", 0)
        source = self._document.texts.get(backend) or Source(_value(ax, "name"), -backend)
        node = Node(tree_rules.TEXT, self._canonical(source.text))
        self._backends[id(node)] = backend
        return Text(node, source.block)

    def _node(self, ax: AxNode, role: str) -> Node:
        node = Node(role, self._canonical(_value(ax, "name")))
        backend = ax.get("backendDOMNodeId", 0)
        self._backends[id(node)] = backend
        if role in _WITH_STATE:
            properties = {p["name"]: p["value"].get("value") for p in ax.get("properties", ())}
            node.properties.update(self._contents(ax, role, properties))
            if _value(ax, "role") in _OF_PARTS:
                properties["focused"] = properties.get("focused") or self._holds_focus(ax)
            if backend in self._document.required:
                properties["required"] = True
            node.properties.update(_states(role, properties))
        return node

    def _contents(self, ax: AxNode, role: str, properties: Mapping[str, Any]) -> Iterator[Property]:
        """Yield a control's value and its possible values."""
        value = properties.get("valuetext") or _value(ax, "value")
        if role in _GAUGES and value:
            yield "value", f"{float(value):g}"
        elif role in _WITH_VALUE and value:
            yield "value", tree_rules.value_property(self._canonical(value))
        options = self._options(ax) if role == "combobox" else []
        if options:
            yield "options", tree_rules.options_property(options)

    def _is_editor(self, ax: AxNode) -> bool:
        """Return whether this is where an editable part of the page begins."""
        outer = self._nodes.get(ax.get("parentId", ""))
        return _property(ax, "editable") == _RICH and (
            outer is None or _property(outer, "editable") != _RICH
        )

    def _editor(self, ax: AxNode) -> Node:
        """Return an editable part of the page as the text field that it is."""
        node = self._node(ax, "textbox")
        texts = [_value(inner, "name") for inner in self._all(ax) if _role(inner) == "StaticText"]
        if text := tree_rules.collapse(self._canonical(" ".join(texts))):
            node.properties = {"value": tree_rules.value_property(text), **node.properties}
        return node

    def _all(self, ax: AxNode) -> Iterator[AxNode]:
        for child in ax.get("childIds", ()):
            if child in self._nodes:
                yield self._nodes[child]
                yield from self._all(self._nodes[child])

    def _holds_focus(self, ax: AxNode) -> bool:
        inner = [self._nodes[child] for child in ax.get("childIds", ()) if child in self._nodes]
        return any(_is_focused(child) or self._holds_focus(child) for child in inner)

    def _options(self, ax: AxNode) -> list[str]:
        options: list[str] = []
        for child in ax.get("childIds", ()):
            inner = self._nodes.get(child)
            if inner is not None:
                is_option = not inner["ignored"] and _role(inner) == "option"
                options += [_value(inner, "name")] if is_option else self._options(inner)
        return options


def _property(ax: AxNode, name: str) -> Any:
    entries = ax.get("properties", ())
    return next((e["value"].get("value") for e in entries if e["name"] == name), None)


def _is_focused(ax: AxNode) -> bool:
    return _property(ax, "focused") is True


def _states(role: str, properties: Mapping[str, Any]) -> Iterator[Property]:
    for name in tree_rules.PROPERTIES:
        value = str(properties.get(name, "")).lower()
        if name in ("checked", "pressed", "expanded"):
            is_shown = value in ("true", "false", "mixed") and role != "combobox"
        elif name == "readonly":
            is_shown = value == "true" and role in tree_rules.TEXT_FIELDS
        else:
            is_shown = value == "true"
        if is_shown:
            yield name, value


def _role(ax: AxNode) -> str:
    role = _value(ax, "role")
    return tree_rules.RENAMED.get(role, role)


def _value(ax: AxNode, name: str) -> str:
    value = ax.get(name, {}).get("value", "")
    return value if isinstance(value, str) else str(value)
