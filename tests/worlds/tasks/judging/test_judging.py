"""Whole states decide: any honest way is as good as the expert's, near misses and damage are not.

Of each site there are tables of what may be done to its tasks: damage, harmless actions, other
ways, and near misses. They look into the databases when they are first used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pytest

from tests.worlds.tasks.judging import (
    across_cases,
    gitlab_damage,
    gitlab_ways,
    map_cases,
    reddit_damage,
    reddit_ways,
    shopping_admin_cases,
    shopping_damage,
    shopping_ways,
)
from tests.worlds.tasks.judging.forms import as_if, rows_of
from tests.worlds.tasks.judging.mistaking import unfinished
from tests.worlds.tasks.judging.verdicts import (
    Damage,
    Row,
    after,
    changing,
    reading,
    some,
    verdict,
)
from worlds.tasks.template import Solution


@dataclass(frozen=True, kw_only=True)
class Site:
    """Cases for the tasks that begin on a site.

    Attributes:
        changing: the templates that change something.
        reading: the templates that change nothing.
        damage: returns, by name, the damage that can be done along with a template's task.
        is_damage_shared: whether each template takes a share of the damage, and all of it slowly.
        ways: other ways to do tasks.
        near_misses: ways that do not quite do them.
        instances: the number of tasks of each template that the ways are tried on.
        undone: returns harmless actions, by name.
        undone_in: the templates that they are tried in.
    """

    changing: Sequence[int]
    reading: Sequence[int]
    damage: Callable[[int], Mapping[str, Damage]]
    ways: Sequence[Row]
    near_misses: Sequence[Row]
    is_damage_shared: bool = True
    instances: int = 1
    undone: Callable[[], Mapping[str, Damage]] = dict
    undone_in: Sequence[int] = ()


SITES = {
    "gitlab": Site(
        changing=changing("gitlab"),
        reading=reading("gitlab"),
        damage=gitlab_damage.damage,
        ways=gitlab_ways.WAYS,
        near_misses=gitlab_ways.NEAR_MISSES,
        instances=2,
        undone=gitlab_damage.undone,
        undone_in=[111, 119],
    ),
    "map": Site(
        changing=changing("map"),
        reading=reading("map"),
        damage=map_cases.damage,
        ways=rows_of(map_cases.WAYS),
        near_misses=rows_of(map_cases.NEAR_MISSES),
    ),
    "reddit": Site(
        changing=changing("reddit"),
        reading=reading("reddit"),
        damage=reddit_damage.damage,
        ways=reddit_ways.WAYS,
        near_misses=reddit_ways.NEAR_MISSES,
        instances=2,
        undone=reddit_damage.undone,
        undone_in=[81, 88, 95],
    ),
    "shopping": Site(
        changing=changing("shopping"),
        reading=reading("shopping"),
        damage=shopping_damage.damage,
        ways=shopping_ways.WAYS,
        near_misses=shopping_ways.NEAR_MISSES,
        instances=2,
        undone=shopping_damage.undone,
        undone_in=[1, 7, 13, 14, 22],
    ),
    "shopping_admin": Site(
        changing=changing("shopping_admin"),
        reading=reading("shopping_admin"),
        damage=shopping_admin_cases.damage,
        ways=rows_of(shopping_admin_cases.WAYS),
        near_misses=rows_of(shopping_admin_cases.NEAR_MISSES),
    ),
    "across": Site(
        changing=across_cases.CHANGING,
        reading=across_cases.READING,
        damage=across_cases.damage,
        is_damage_shared=False,
        ways=across_cases.WAYS,
        near_misses=across_cases.NEAR_MISSES,
    ),
}
CHANGING = [(site, number) for site, table in SITES.items() for number in table.changing]
READING = [(site, number) for site, table in SITES.items() for number in table.reading]


def rows_of_template(rows: Sequence[Row], template: int) -> list[tuple[str, Solution]]:
    return [(name, solution) for number, name, solution in rows if number == template]


def with_rows(rows: Callable[[Site], Sequence[Row]]) -> list[tuple[str, int]]:
    """List the sites and templates that a table has rows of."""
    pairs = [(site, number) for site, table in SITES.items() for number, _, _ in rows(table)]
    return list(dict.fromkeys(pairs))


# Damage -----------------------------------------------------------------------------------------


def share(site: Site, templates: Sequence[int], template: int) -> list[tuple[str, Damage]]:
    """Return a template's share of the damage, at least one, dealt out to all templates."""
    damage = list(site.damage(template).items())
    if not site.is_damage_shared:
        return damage
    place = templates.index(template)
    return damage[place :: len(templates)] or [damage[place % len(damage)]]


@pytest.mark.parametrize(("site", "template"), CHANGING)
def test_damage_spoils_what_was_done(site: str, template: int) -> None:
    for name, damage in share(SITES[site], SITES[site].changing, template):
        assert verdict(some(template), after(damage, template)).score == 0.0, name


@pytest.mark.slow
@pytest.mark.parametrize(
    ("site", "template"), [(site, n) for site, n in CHANGING if SITES[site].is_damage_shared]
)
def test_any_damage_spoils_what_was_done(site: str, template: int) -> None:
    for name, damage in SITES[site].damage(template).items():
        assert verdict(some(template), after(damage, template)).score == 0.0, name


@pytest.mark.parametrize(("site", "template"), READING)
def test_whoever_only_looks_may_change_nothing(site: str, template: int) -> None:
    assert verdict(some(template)).score == 1.0
    for name, damage in share(SITES[site], SITES[site].reading, template):
        assert verdict(some(template), after(damage, template)).score == 0.0, name


@pytest.mark.parametrize(("template", "site"), across_cases.ELSEWHERE)
def test_damage_on_a_site_that_a_task_is_not_about_counts(template: int, site: str) -> None:
    place = across_cases.ELSEWHERE.index((template, site))
    damage = across_cases.damage(template)
    elsewhere = [name for name in damage if not name.startswith(site)]
    for name in elsewhere[place % 4 :: 4]:
        assert verdict(some(template), after(damage[name], template)).score == 0.0, name


@pytest.mark.parametrize(
    ("site", "template"),
    [(site, number) for site, table in SITES.items() for number in table.undone_in],
)
def test_what_leaves_all_as_it_was_is_no_damage(site: str, template: int) -> None:
    for name, undone in SITES[site].undone().items():
        assert verdict(some(template), after(undone, template)).score == 1.0, name


# Ways -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("site", "template"), with_rows(lambda site: site.ways))
def test_another_honest_way_is_as_good(site: str, template: int) -> None:
    for name, way in rows_of_template(SITES[site].ways, template):
        for instance in range(SITES[site].instances):
            result = verdict(some(template, instance), way)
            assert result.score == 1.0, (name, instance, result.reasons)


@pytest.mark.parametrize(("site", "template"), with_rows(lambda site: site.near_misses))
def test_a_near_miss_is_not_enough(site: str, template: int) -> None:
    for name, near_miss in rows_of_template(SITES[site].near_misses, template):
        assert verdict(some(template), near_miss).score == 0.0, name


def test_every_task_that_changes_something_can_be_missed() -> None:
    missed = {number for _, number in with_rows(lambda site: site.near_misses)}
    assert missed >= {number for _, number in CHANGING}


@pytest.mark.parametrize("template", sorted({number for _, number in CHANGING}))
def test_all_but_the_last_form_is_not_enough(template: int) -> None:
    assert verdict(some(template), unfinished(template)).score == 0.0


def test_the_other_of_two_products_is_wrong() -> None:
    task = next(t for n in range(50) if "cheaper" in (t := some(148, n)).intent)
    other = as_if(148, which="the more expensive one")
    assert verdict(task).score == 1.0 and verdict(task, other).score == 0.0


def test_a_less_active_community_on_the_subject_is_wrong() -> None:
    task = some(190)
    communities = (task.notes or {})["communities"]
    scores = [verdict(task, as_if(83, community=c, flair="Story")).score for c in communities]
    assert (scores.count(1.0), scores.count(0.0)) == (1, len(communities) - 1)
