"""Tasks that ask: counts, extremes and look-ups over several pages."""

from __future__ import annotations

import calendar
import random
import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.filters import MONTHS
from agentgym_envs.webarena.tasks.gitlab.ground import (
    SEEN,
    SITE,
    apply,
    cells,
    draw_group,
    draw_project,
    fact,
    items,
    list_group,
    number_before,
    open_part,
    open_project,
)
from agentgym_envs.webarena.tasks.screen import Screen, first_of
from agentgym_envs.webarena.tasks.template import Case, Template, World, exact_answer

_AUTHORS = (
    "SELECT u.id, u.name, u.email, count(*) AS number FROM commits c "
    "JOIN users u ON u.id = c.author_id WHERE c.project_id = ? AND c.branch = 'main' "
    "GROUP BY u.id ORDER BY number DESC, u.id"
)


class CommitsInMonth(Template):
    """How many commits somebody made in a month."""

    number = 100
    sites = (SITE,)
    intent = (
        "How many commits did {person} make on the main branch of {project} in {month}? "
        "Answer with the number alone."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a person and a month with at least one commit."""
        project = draw_project(world, rng)
        person = rng.choice(world.rows(SITE, _AUTHORS, project["id"]))
        year, month = rng.choice([(2025, m) for m in range(2, 13)] + [(2026, 1), (2026, 2)])
        number = world.value(
            SITE,
            "SELECT count(*) FROM commits WHERE project_id = ? AND branch = 'main' "
            "AND author_id = ? AND created_at LIKE ?",
            project["id"],
            person["id"],
            f"{year}-{month:02}-%",
        )
        if number < 2:
            return None
        first, last = f"{year}-{month:02}-01", calendar.monthrange(year, month)[1]
        return Case(
            values={
                "person": person["name"],
                "project": project["name"],
                "month": f"{MONTHS[month - 1]} {year}",
            },
            evaluation=exact_answer(str(number)),
            notes={"first": first, "last": f"{first[:8]}{last:02}"},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter the commits by author and days, and read their number."""
        yield from open_part(screen, case.values["project"], "Commits")
        filters = {
            "Author": case.values["person"],
            "From day": case.notes["first"],
            "To day": case.notes["last"],
        }
        yield from apply(screen, filters)
        yield screen.stop(number_before(screen, "commit"), "The page says how many are left.")


class TopContributor(Template):
    """The e-mail address of who wrote the most commits."""

    number = 101
    sites = (SITE,)
    intent = (
        "What is the e-mail address of the person with the {rank} commits on the default branch "
        "of {project}? Answer with the address alone."
    )
    split = "test"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a project whose contributors do not tie at the rank."""
        project = draw_project(world, rng)
        rank = rng.choice(("most", "second most"))
        place = int(rank != "most")
        rows = world.rows(SITE, _AUTHORS, project["id"])
        numbers = [row["number"] for row in rows]
        if len(rows) < 3 or numbers.count(numbers[place]) > 1 or numbers.count(numbers[0]) > 1:
            return None
        return Case(
            values={"rank": rank, "project": project["name"]},
            evaluation=exact_answer(rows[place]["email"]),
            notes={"place": place},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Compare the contributors and look at the profile."""
        yield from open_part(screen, case.values["project"], "Contributors")
        rows = sorted(cells(screen), key=lambda row: -int(row[1]))
        name, number = rows[case.notes["place"]][:2]
        rank = case.values["rank"]
        yield screen.click("link", name, f"With {number} commits, {name} has the {rank}.", nth=-1)
        yield screen.stop(fact(screen, "E-mail: "), "The profile has the address.")


class ExtremeRequest(Template):
    """The oldest or newest merge request of somebody."""

    number = 111
    sites = (SITE,)
    intent = (
        "What is the title of the {age} {state} merge request in {project} that {person} "
        "{relation}? Answer with the title alone."
    )
    split = "train"

    _RELATIONS = {"opened": "author", "is the reviewer of": "reviewer"}

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a person with several such merge requests."""
        project = draw_project(world, rng)
        state = rng.choice(("open", "open", "merged"))
        relation = rng.choice(tuple(self._RELATIONS))
        column = f"{self._RELATIONS[relation]}_id"
        people = world.rows(
            SITE,
            f"SELECT u.id, u.name FROM merge_requests r JOIN users u ON u.id = r.{column} "
            "WHERE r.project_id = ? AND r.state = ? AND u.id IN "
            "(SELECT user_id FROM members WHERE project_id = r.project_id) AND u.id <> 1 "
            "GROUP BY u.id HAVING count(*) > 1 ORDER BY u.id",
            project["id"],
            state,
        )
        if not people:
            return None
        person, age = rng.choice(people), rng.choice(("oldest", "newest"))
        titles = world.rows(
            SITE,
            "SELECT title, date(created_at) AS day FROM merge_requests "
            f"WHERE project_id = ? AND state = ? AND {column} = ? ORDER BY created_at, id",
            project["id"],
            state,
            person["id"],
        )
        if titles[0]["day"] == titles[1]["day"] or titles[-1]["day"] == titles[-2]["day"]:
            return None
        values = {"age": age, "state": state, "project": project["name"]}
        return Case(
            values=values | {"person": person["name"], "relation": relation},
            evaluation=exact_answer(titles[0 if age == "oldest" else -1]["title"]),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter and sort the merge requests; the first one is it."""
        values = case.values
        yield from open_part(screen, values["project"], "Merge requests")
        filters = {
            "State": values["state"].capitalize(),
            self._RELATIONS[values["relation"]].capitalize(): values["person"],
            "Sort by": values["age"].capitalize(),
        }
        yield from apply(screen, filters)
        first = first_of(items(screen, "Merge requests"))
        yield screen.stop(first.link.name, f"The first one is the {values['age']}.")


class MostUnassigned(Template):
    """Which of three projects has most open issues that nobody takes."""

    number = 117
    sites = (SITE,)
    intent = (
        "Which of the projects {first}, {second} and {third} has the most open issues {what}? "
        "Answer with the name of the project alone."
    )
    split = "test"

    _WHAT = {
        "that nobody is assigned to": ("Assignee", "Nobody", "assignee_id IS NULL"),
        "without a milestone": ("Milestone", "No milestone", "milestone_id IS NULL"),
    }

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw three projects without a tie at the top, and without confidential issues."""
        what = rng.choice(tuple(self._WHAT))
        rows = world.rows(
            SITE,
            f"SELECT p.id, p.name, sum({self._WHAT[what][2]}) AS number FROM projects p "
            f"JOIN issues i ON i.project_id = p.id AND i.state = 'open' WHERE {SEEN} "
            "GROUP BY p.id HAVING sum(i.confidential) = 0 ORDER BY p.id",
        )
        chosen = rng.sample(rows, 3)
        numbers = [row["number"] for row in chosen]
        if numbers.count(max(numbers)) > 1:
            return None
        names = [row["name"] for row in chosen]
        best = max(chosen, key=lambda row: row["number"])
        return Case(
            values=dict(zip(("first", "second", "third"), names, strict=True)) | {"what": what},
            evaluation=exact_answer(best["name"]),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Count in each project, and compare."""
        label, option, _ = self._WHAT[case.values["what"]]
        found: dict[str, int] = {}
        for place in ("first", "second", "third"):
            name = case.values[place]
            yield from open_part(screen, name, "Issues")
            yield from apply(screen, {label: option})
            found[name] = int(number_before(screen, "issue"))
        best = max(found, key=lambda name: found[name])
        yield screen.stop(best, f"{best} has the most, namely {found[best]}.")


class WhereTheyLive(Template):
    """Where somebody lives who last changed a file."""

    number = 120
    sites = (SITE,)
    intent = (
        "According to their profile, in which town is the person who made the last change to the "
        "file {path} in {project}? Answer with the town alone."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a file whose writer says where they are."""
        project = draw_project(world, rng)
        files = world.rows(
            SITE,
            "SELECT f.path, u.location FROM files f JOIN commits c ON c.id = f.commit_id "
            "JOIN users u ON u.id = c.author_id WHERE f.project_id = ? AND f.branch = 'main' "
            "AND u.location <> '' AND u.id <> 1 ORDER BY f.path",
            project["id"],
        )
        if not files:
            return None
        file = rng.choice(files)
        return Case(
            values={"path": file["path"], "project": project["name"]},
            evaluation=exact_answer(file["location"]),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go through the folders to the file, then to its writer."""
        yield from open_project(screen, case.values["project"])
        *folders, name = case.values["path"].split("/")
        for folder in folders:
            yield screen.click("link", f"{folder}/", "The file lies in this folder.")
        yield screen.click("link", name, "There is the file.")
        heading = next(n.name for n in screen.page.nodes if n.name.startswith("Last changed on"))
        place = [node.name for node in screen.page.nodes].index(heading)
        person = next(node for node in screen.page.nodes[place:] if node.role == "link")
        yield screen.click_node(person, f"{person.name} changed it last.")
        yield screen.stop(fact(screen, "Location: "), "The profile says where they are.")


class StarsTogether(Template):
    """How many stars several projects have together."""

    number = 124
    sites = (SITE,)
    intent = (
        "Add up the stars of all {group}, as far as you can see them. Answer with the sum alone."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a person or a topic with several projects."""
        group = draw_group(world, rng)
        if group is None:
            return None
        return Case(
            values={"group": group.text},
            evaluation=exact_answer(str(sum(row["star_count"] for row in group.projects))),
            notes={"kind": group.kind, "name": group.name},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """List the projects and add up."""
        yield from list_group(screen, case.notes, "Most stars")
        found = [re.search(r"([\d,]+) stars?", item.text) for item in items(screen, "Projects")]
        stars = [int(match[1].replace(",", "")) for match in found if match]
        sums = " + ".join(map(str, stars))
        yield screen.stop(str(sum(stars)), f"The stars are {sums}.")
