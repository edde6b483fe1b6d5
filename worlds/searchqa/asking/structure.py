"""Questions as trees over the fact graph, and their evaluation.

An `Anchor` is a mention in words; evaluating it resolves the words, so a namesake that fits them
shows. Every node of a question must evaluate to exactly one value.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from worlds.searchqa.naming import Mention, resolve
from worlds.searchqa.values import Entity, Value, World


@dataclass(frozen=True)
class Anchor:
    """An entity that the question names."""

    mention: Mention
    kind: str


@dataclass(frozen=True)
class Step:
    """The value of a relation of the inner node."""

    inner: Node
    relation: str
    kind: str  # of the inner node's entity
    value_kind: str = ""  # where the value is an entity


@dataclass(frozen=True)
class Back:
    """The entity of a kind whose relation is the inner node."""

    inner: Node
    relation: str
    kind: str  # of the entity looked for


@dataclass(frozen=True)
class Kin:
    """The value of two relations in a row that one word names."""

    inner: Node
    word: str
    relations: tuple[str, str]
    kind: str = "person"


@dataclass(frozen=True)
class Join:
    """The entity of a kind of which two relations are known."""

    kind: str
    relations: tuple[str, str]
    branches: tuple[Node, Node]


Node = Anchor | Step | Back | Kin | Join


def evaluate(world: World, node: Node) -> list[Value]:
    """List the different values that a node may have."""
    if isinstance(node, Anchor):
        return list(resolve(world, node.mention))
    if isinstance(node, Join):
        first, second = (
            backwards(world, evaluate(world, branch), relation, node.kind)
            for branch, relation in zip(node.branches, node.relations, strict=True)
        )
        return [value for value in first if value in second]
    inner = evaluate(world, node.inner)
    if isinstance(node, Back):
        return backwards(world, inner, node.relation, node.kind)
    relations = (node.relation,) if isinstance(node, Step) else node.relations
    for relation in relations:
        inner = _forwards(inner, relation)
    return inner


def _forwards(values: list[Value], relation: str) -> list[Value]:
    targets = (
        value.facts[relation]
        for value in values
        if isinstance(value, Entity) and relation in value.facts
    )
    return list(dict.fromkeys(targets))


def backwards(world: World, values: list[Value], relation: str, kind: str) -> list[Value]:
    """List the entities of a kind whose relation is one of some values."""
    targets = (
        entity
        for value in values
        if isinstance(value, Entity)
        for entity in world.linked_from(relation, value)
        if entity.kind == kind
    )
    return list(dict.fromkeys(targets))


def inner_nodes(node: Node) -> tuple[Node, ...]:
    """Return the nodes directly beneath a node."""
    if isinstance(node, Anchor):
        return ()
    return node.branches if isinstance(node, Join) else (node.inner,)


def walk(node: Node) -> Iterator[Node]:
    """Iterate over a tree's nodes, inner nodes first."""
    for inner in inner_nodes(node):
        yield from walk(inner)
    yield node


def signature(node: Node) -> str:
    """Return the reasoning structure as a path of relations, without any entity."""
    if isinstance(node, Anchor):
        return node.kind
    if isinstance(node, Join):
        parts = zip(node.relations, node.branches, strict=True)
        return f"{node.kind}({' & '.join(f'{r}={signature(b)}' for r, b in parts)})"
    if isinstance(node, Back):
        return f"{signature(node.inner)}<{node.kind}.{node.relation}"
    name = node.relation if isinstance(node, Step) else node.word.replace(" ", "_")
    return f"{signature(node.inner)}>{name}"


def sole_values(world: World, node: Node) -> dict[int, Value] | None:
    """Return every node's value by `id`, or None unless each has exactly one.

    A tree in which an entity comes up twice is refused as well: it walks in a circle.
    """
    values: dict[int, Value] = {}
    seen: list[Value] = []
    for part in walk(node):
        results = evaluate(world, part)
        if len(results) != 1 or results[0] in seen:
            return None
        values[id(part)] = results[0]
        seen.append(results[0])
        if isinstance(part, Kin):
            between = values[id(part.inner)]
            assert isinstance(between, Entity)
            seen.append(between.facts[part.relations[0]])
    return values
