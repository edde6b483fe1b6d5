"""Solves tasks that ask: counts, extremes and look-ups over several pages."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.gitlab.steps import (
    apply,
    items,
    list_group,
    number_before,
    open_part,
)
from agentgym_envs.webarena.tasks.screen import Screen, first_of
from agentgym_envs.webarena.tasks.solution import Case

EXTREME_REQUEST_RELATIONS = {"opened": "author", "is the reviewer of": "reviewer"}


def extreme_request(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Filter and sort the merge requests; the first one is it."""
    values = case.values
    yield from open_part(screen, values["project"], "Merge requests")
    filters = {
        "State": values["state"].capitalize(),
        EXTREME_REQUEST_RELATIONS[values["relation"]].capitalize(): values["person"],
        "Sort by": values["age"].capitalize(),
    }
    yield from apply(screen, filters)
    first = first_of(items(screen, "Merge requests"))
    yield screen.stop(first.link.name, f"The first one is the {values['age']}.")


MOST_UNASSIGNED_WHAT = {
    "that nobody is assigned to": ("Assignee", "Nobody", "assignee_id IS NULL"),
    "without a milestone": ("Milestone", "No milestone", "milestone_id IS NULL"),
}


def most_unassigned(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Count in each project, and compare."""
    label, option, _ = MOST_UNASSIGNED_WHAT[case.values["what"]]
    numbers: dict[str, int] = {}
    for place in ("first", "second", "third"):
        name = case.values[place]
        yield from open_part(screen, name, "Issues")
        yield from apply(screen, {label: option})
        numbers[name] = int(number_before(screen, "issue"))
    best = max(numbers, key=lambda name: numbers[name])
    yield screen.stop(best, f"{best} has the most, namely {numbers[best]}.")


def stars_together(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """List the projects and add up."""
    yield from list_group(screen, case.notes, "Most stars")
    matches = [re.search(r"([\d,]+) stars?", item.text) for item in items(screen, "Projects")]
    stars = [int(match[1].replace(",", "")) for match in matches if match]
    sums = " + ".join(map(str, stars))
    yield screen.stop(f"{sum(stars)} stars", f"The stars are {sums}.")
