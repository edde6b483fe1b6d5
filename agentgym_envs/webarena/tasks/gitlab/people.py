"""Tasks about people: members, roles, following, one's own profile and to-dos."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.filters import day
from agentgym_envs.webarena.sites.people import AGENT, TOWNS
from agentgym_envs.webarena.tasks.gitlab.template_helpers import (
    MANAGING,
    SITE,
    apply,
    cells,
    draw_day,
    draw_project,
    find_person,
    items,
    members_of,
    one_more,
    open_part,
    quoted,
    same,
    strangers_of,
)
from agentgym_envs.webarena.tasks.screen import Screen, enter
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed, state_of

_STATUSES = (
    "Out of office until Tuesday", "Reviewing merge requests", "Writing the release notes",
    "In a workshop all day", "Please ask somebody else", "Back in April", "Focusing on the beta",
    "Moving to a new flat",
)  # fmt: skip
_ROLES = ("Guest", "Reporter", "Developer", "Maintainer")


class InviteMember(Template):
    """Invite somebody for a while."""

    number = 105
    sites = (SITE,)
    intent = (
        "Make {person} a member of {project} with the role {role}; their access should end on "
        "{until}."
    )
    split = "test"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a project that the agent manages, and somebody who is not in it."""
        project = draw_project(world, rng, MANAGING)
        person = rng.choice(strangers_of(world, project["id"]))
        role, until = rng.choice(_ROLES), draw_day(rng)
        return Case(
            values={
                "person": person["name"],
                "project": project["name"],
                "role": role,
                "until": day(until),
            },
            evaluation=changed(
                state_of(
                    SITE,
                    "SELECT role, expires_on FROM members "
                    f"WHERE project_id = {project['id']} AND user_id = {person['id']}",
                    [[role, until]],
                ),
                one_more(world, "members"),
            ),
            notes={"until": until},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the user name, then invite."""
        person = case.values["person"]
        yield from find_person(screen, person)
        result = next(item for item in items(screen, "Results") if item.link.name == person)
        username = result.text.removeprefix(person).split("·")[0].split()[-1]
        yield from open_part(screen, case.values["project"], "Members")
        yield screen.fill("textbox", "User name or e-mail", username, "I found the user name.")
        yield screen.choose("Role", case.values["role"])
        yield screen.fill("textbox", "Access ends on", case.notes["until"])
        yield screen.click("button", "Invite")
        yield screen.stop()


class ChangeRoles(Template):
    """Give everybody of one role another one."""

    number = 116
    sites = (SITE,)
    intent = "In {project}, change the role of every member who is a {old} to {new}."
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a role that one to three members have."""
        project = draw_project(world, rng, MANAGING)
        old, new = rng.sample(_ROLES, 2)
        members = members_of(world, project["id"])
        chosen = [row["id"] for row in members if row["role"] == old]
        # The agent may be a maintainer and would take their own role away.
        if old == "Maintainer" or not 1 <= len(chosen) <= 3:
            return None
        expected = [
            [row["id"], new if row["id"] in chosen else row["role"], row["expires_on"]]
            for row in members
        ]
        return Case(
            values={"project": project["name"], "old": old, "new": new},
            evaluation=changed(
                state_of(
                    SITE,
                    "SELECT user_id, role, expires_on FROM members "
                    f"WHERE project_id = {project['id']} AND user_id <> 1 ORDER BY user_id",
                    expected,
                ),
                same(
                    world,
                    "SELECT role, count(*) FROM members "
                    f"WHERE project_id <> {project['id']} OR user_id = 1 GROUP BY role",
                ),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the table, then change one member after the other."""
        values = case.values
        yield from open_part(screen, values["project"], "Members")
        names = [row[0] for row in cells(screen) if row[1] == values["old"]]
        for name in names:
            yield screen.click("link", f"Change {name}", f"{name} is a {values['old']}.")
            yield screen.choose("Role", values["new"])
            yield screen.click("button", "Save member")
        yield screen.stop("", f"Nobody is a {values['old']} any more.")


class UpdateProfile(Template):
    """Change one's own status and location."""

    number = 106
    sites = (SITE,)
    intent = (
        'Set my status to "{status}" and my location to {town}, and leave the rest of my profile '
        "as it is."
    )
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a status and a town."""
        status, town = rng.choice(_STATUSES), rng.choice(TOWNS)
        query = "SELECT status_text, location, name, bio, email FROM users WHERE id = 1"
        before = world.rows(SITE, query)[0]
        if before["location"] == town:
            return None
        return Case(
            values={"status": status, "town": town},
            evaluation=changed(
                state_of(SITE, query, [[status, town, *tuple(before)[2:]]]),
                same(world, "SELECT count(*) FROM users"),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open the profile and edit it."""
        yield from enter(screen, SITE)
        yield screen.click("link", AGENT.name, "My name leads to my profile.")
        yield screen.click("link", "Edit profile")
        yield screen.fill("textbox", "Status", case.values["status"])
        yield screen.fill("textbox", "Location", case.values["town"])
        yield screen.click("button", "Save profile")
        yield screen.stop()


class FollowAuthor(Template):
    """Follow whoever opened a merge request."""

    number = 122
    sites = (SITE,)
    intent = 'Follow the person who opened the {state} merge request "{title}" in {project}.'
    split = "train"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a merge request of somebody whom the agent does not follow."""
        project = draw_project(world, rng)
        rows = world.rows(
            SITE,
            "SELECT title, state, author_id FROM merge_requests WHERE project_id = ? "
            "AND author_id <> 1 AND author_id NOT IN "
            "(SELECT followed_id FROM follows WHERE follower_id = 1) ORDER BY id",
            project["id"],
        )
        if not rows:
            return None
        request = rng.choice(rows)
        return Case(
            values={
                "state": request["state"],
                "title": request["title"],
                "project": project["name"],
            },
            evaluation=changed(
                state_of(
                    SITE,
                    "SELECT count(*) FROM follows WHERE follower_id = 1 "
                    f"AND followed_id = {request['author_id']}",
                    [[1]],
                ),
                one_more(world, "follows"),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go from the merge request to its author."""
        values = case.values
        yield from open_part(screen, values["project"], "Merge requests")
        if values["state"] != "open":
            yield from apply(screen, {"State": values["state"].capitalize()})
        yield screen.click("link", values["title"], "There is the merge request.")
        names = [node.name for node in screen.page.nodes]
        place = next(i for i, name in enumerate(names) if ", opened " in name)
        author = next(node for node in screen.page.nodes[place:] if node.role == "link")
        yield screen.click_node(author, f"{author.name} opened it.")
        yield screen.click("button", "Follow")
        yield screen.stop()


class FinishTodos(Template):
    """Mark all to-dos of a project as done."""

    number = 118
    sites = (SITE,)
    intent = "Mark {which} to-dos about {project} as done."
    split = "train"

    _REASONS = {
        "all my": "",
        'all my "mentioned"': "mentioned",
        'all my "assigned"': "assigned",
        'all my "review requested"': "review requested",
    }

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a project and a reason with one to four to-dos."""
        rows = world.rows(
            SITE,
            "SELECT DISTINCT p.id, p.name FROM todos t JOIN projects p ON p.id = t.project_id "
            "WHERE t.user_id = 1 AND t.state = 'pending' ORDER BY p.id",
        )
        project, which = rng.choice(rows), rng.choice(tuple(self._REASONS))
        reason = self._REASONS[which]
        where = f"user_id = 1 AND project_id = {project['id']}"
        where += f" AND action = {quoted(reason)}" if reason else ""
        number = world.value(
            SITE, f"SELECT count(*) FROM todos WHERE state = 'pending' AND {where}"
        )
        if not 1 <= number <= 4:
            return None
        return Case(
            values={"which": which, "project": project["name"]},
            evaluation=changed(
                state_of(SITE, f"SELECT DISTINCT state FROM todos WHERE {where}", [["done"]]),
                same(world, f"SELECT state, count(*) FROM todos WHERE NOT ({where}) GROUP BY 1"),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter the to-dos until none is left."""
        filters = {"Project": case.values["project"]}
        if reason := self._REASONS[case.values["which"]]:
            filters["Reason"] = reason.capitalize()
        yield from enter(screen, SITE)
        yield screen.click("link", "To-dos")
        while True:
            yield from apply(screen, filters)
            buttons = [b for b in screen.all("button") if b.name.startswith("Done: ")]
            if not buttons:
                break
            yield screen.click_node(buttons[0], f"{len(buttons)} to go; I mark the first as done.")
        yield screen.stop("", "Nothing of this kind is left.")
