"""Names that distinguish entities: document titles and mentions in a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from worlds.searchqa.values import Entity, Value, World, value_forms

YEAR_OF = {
    "novel": "publication_year",
    "film": "release_year",
    "album": "release_year",
    "painting": "painted_year",
    "opera": "premiere_year",
    "battle": "battle_date",
    "expedition": "departure_year",
    "person": "birth_date",
    "war": "start_year",
    "treaty": "signing_date",
}
"""The relation that dates an entity of a kind."""

WORKS = ("novel", "film", "album", "painting", "opera")
CREATOR_OF = {
    "novel": "author",
    "film": "director",
    "album": "performer",
    "painting": "painter",
    "opera": "composer",
}
PLACES_IN_COUNTRY = ("city", "river", "mountain", "lake")


@dataclass(frozen=True)
class Mention:
    """A way to name an entity.

    Attributes:
        text: the words, such as `"the 1954 film The Silent Bell"`.
        surface: the name in them.
        qualifiers: what else they say, as (field, value): the field is `"kind"`, `"year"`, or a
            relation.
    """

    text: str
    surface: str
    qualifiers: tuple[tuple[str, Value | int], ...] = ()


def resolve(world: World, mention: Mention) -> list[Entity]:
    """List the entities that a mention may mean."""
    return [
        entity
        for entity in world.named(mention.surface)
        if all(_holds(entity, name, value) for name, value in mention.qualifiers)
    ]


def _holds(entity: Entity, name: str, value: Value | int) -> bool:
    if name == "kind":
        return entity.kind == value
    if name == "year":
        relation = YEAR_OF.get(entity.kind)
        return relation is not None and entity.year(relation) == value
    return entity.facts.get(name) == value


def year_of(entity: Entity) -> int | None:
    """Return the year that dates an entity of a dated kind."""
    relation = YEAR_OF.get(entity.kind)
    return None if relation is None else entity.year(relation)


def mentions(entity: Entity) -> list[Mention]:
    """List ways to name an entity, the plainer ones first."""
    name, kind = entity.name, entity.kind
    of_kind = ("kind", kind)
    if kind in WORKS:
        when = year_of(entity)
        assert when is not None
        creator = entity.entity(CREATOR_OF[kind])
        return [
            Mention(f"the {kind} {name}", name, (of_kind,)),
            Mention(f"the {when} {kind} {name}", name, (of_kind, ("year", when))),
            Mention(
                f"the {kind} {name} by {creator.name}",
                name,
                (of_kind, (CREATOR_OF[kind], creator)),
            ),
        ]
    if kind == "person":
        trade, born = entity.text("occupation"), entity.year("birth_date")
        result = [
            Mention(name, name),
            Mention(f"the {trade} {name}", name, (("occupation", trade),)),
            Mention(
                f"the {trade} {name}, who was born in {born}",
                name,
                (("occupation", trade), ("year", born)),
            ),
        ]
        return result + [Mention(alias, alias) for alias in entity.aliases]
    if kind in PLACES_IN_COUNTRY:
        country = entity.entity("country")
        text = {"city": f"the city of {name}", "river": f"the {name}"}.get(kind, name)
        result = [Mention(name, name)] if kind == "city" else []
        result.append(Mention(text, name, (of_kind,)))
        result.append(
            Mention(f"{text} in {country.name}", name, (of_kind, ("country", country))),
        )
        return result
    if kind in ("battle", "expedition"):
        when = year_of(entity)
        assert when is not None
        return [
            Mention(f"the {name}", name),
            Mention(f"the {name} of {when}", name, (("year", when),)),
        ]
    text = with_article(entity)
    result = [Mention(text, name)]
    if kind in ("band", "company", "newspaper"):
        result.append(Mention(f"the {kind} {name}", name, (of_kind,)))
    return result


_NO_ARTICLE = ("person", "continent", "country", "city", "mountain", "lake", "band", "company")


def with_article(entity: Entity) -> str:
    """Return an entity's name with the article that it takes."""
    name = entity.name
    plain = (
        entity.kind in _NO_ARTICLE
        or entity.kind in WORKS
        or (entity.kind == "university" and not name.startswith("University"))
        or (entity.kind == "species" and name.split()[0].endswith(("'s", "s'", "'")))
    )
    return name if plain else f"the {name}"


def give_titles(world: World) -> None:
    """Set each entity's unique document title, with parentheses for namesakes."""
    groups: dict[str, list[Entity]] = {}
    for entity in world.entities:
        groups.setdefault(entity.name.casefold(), []).append(entity)
    for group in groups.values():
        for entity in group:
            entity.title = entity.name if len(group) == 1 else _distinct_title(entity, group)
    titles = [entity.title.casefold() for entity in world.entities]
    assert len(set(titles)) == len(titles), "two documents share a title"


def _distinct_title(entity: Entity, group: list[Entity]) -> str:
    name = entity.name
    for gloss in _glosses(entity):
        if sum(gloss in _glosses(other) for other in group) == 1:
            return f"{name} ({gloss})"
    raise AssertionError(f"nothing tells {entity!r} from its namesakes")


def _glosses(entity: Entity) -> list[str]:
    """List candidates for the parentheses of a title, the plainest first."""
    kind, when = entity.kind, year_of(entity)
    if kind == "person":
        trade = entity.text("occupation")
        return [trade, f"{trade}, born {when}", f"{trade}, born {value_forms(_birth(entity))[0]}"]
    if kind in WORKS:
        creator = entity.entity(CREATOR_OF[kind]).name
        return [kind, f"{when} {kind}", f"{kind} by {creator}"]
    if kind in PLACES_IN_COUNTRY:
        return [entity.entity("country").name]
    return [kind] if when is None else [f"{when}", f"{kind}, {when}"]


def _birth(person: Entity) -> Value:
    return person.facts["birth_date"]
