"""Tasks about people: members, roles, following, one's own profile and to-dos."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.filters import day
from agentgym_envs.sites.people import AGENT, AGENT_ID
from worlds.dice import Dice
from worlds.sites.setting import TOWNS
from worlds.tasks.gitlab.draws import (
    MANAGING,
    address_of,
    draw_day,
    draw_project,
    ids_in,
    members_of,
    strangers_of,
)
from worlds.tasks.gitlab.steps import (
    SITE,
    apply,
    cells,
    find_person,
    items,
    open_part,
)
from worlds.tasks.goals import changes, impossible, row
from worlds.tasks.screen import ElementNotFound, Screen, enter, first_of
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_STATUSES: tuple[str, ...] = WORDS["gitlab"]["statuses"]


_ROLES = ("Guest", "Reporter", "Developer", "Maintainer")


class InviteMember(Template):
    """Invite a person for a limited time."""

    number = 105
    sites = (SITE,)
    intents = (
        "Add {person} to {project} as {role} until {until}.",
        "Add {person} to {project} as a {role} with access until {until}.",
    )
    split = "test"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project that the agent manages, and a person who is no member."""
        project = draw_project(world, dice, MANAGING)
        person = dice.pick(strangers_of(world, project["id"]))
        role, until = dice.pick(_ROLES), draw_day(dice)
        return Case(
            values={
                "person": person["name"],
                "project": project["name"],
                "role": role,
                "until": day(until),
            },
            goal=changes(
                row(
                    "members",
                    project_id=project["id"],
                    user_id=person["id"],
                    role=role,
                    expires_on=until,
                )
            ),
            notes={"until": until},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the user name, then invite."""
        person = case.values["person"]
        yield from find_person(screen, person)
        result = first_of(item for item in items(screen, "Results") if item.link.name == person)
        username = result.text.removeprefix(person).split("·")[0].split()[-1]
        yield from open_part(screen, case.values["project"], "Members")
        yield screen.fill("textbox", "User name or e-mail", username, "I found the user name.")
        yield screen.choose("Role", case.values["role"])
        yield screen.fill("textbox", "Access ends on", case.notes["until"])
        yield screen.click("button", "Invite")
        yield screen.stop()


class ChangeRoles(Template):
    """Change the role of all members with one role."""

    number = 116
    sites = (SITE,)
    intents = (
        "Make every {old} of {project} a {new}.",
        "Change the role of everybody who is a {old} in {project} to {new}.",
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a role that one to three members have."""
        project = draw_project(world, dice, MANAGING)
        old, new = dice.sample(_ROLES, 2)
        members = members_of(world, project["id"])
        chosen = [each["id"] for each in members if each["role"] == old]
        # The agent may be a maintainer and would take their own role away.
        if old == "Maintainer" or not 1 <= len(chosen) <= 3:
            return None
        return Case(
            values={"project": project["name"], "old": old, "new": new},
            goal=changes(
                *(row("members", project_id=project["id"], user_id=u, role=new) for u in chosen)
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
    intents = (
        'Set my status to "{status}" and location to {town}.',
        'Change my profile to the status "{status}" and the location {town}.',
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a status and a town that differ from the profile's."""
        status, town = dice.pick(_STATUSES), dice.pick(TOWNS)
        (before,) = world.rows(SITE, "SELECT * FROM users WHERE id = ?", AGENT_ID)
        if before["location"] == town or before["status_text"] == status:
            return None
        goal = changes(row("users", id=AGENT_ID, status_text=status, location=town))
        return Case({"status": status, "town": town}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Open the profile and edit it."""
        yield from enter(screen, SITE)
        yield screen.click("link", AGENT.name, "My name leads to my profile.")
        yield screen.click("link", "Edit profile")
        yield screen.fill("textbox", "Status", case.values["status"])
        yield screen.fill("textbox", "Location", case.values["town"])
        yield screen.click("button", "Save profile")
        yield screen.stop()


def _open_author(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    values = case.values
    yield from open_part(screen, values["project"], "Merge requests")
    if values["state"] != "open":
        yield from apply(screen, {"State": values["state"].capitalize()})
    yield screen.click("link", values["title"], "There is the merge request.")
    names = [node.name for node in screen.page.nodes]
    place = first_of(i for i, name in enumerate(names) if ", opened " in name)
    author = first_of(node for node in screen.page.nodes[place:] if node.role == "link")
    yield screen.click_node(author, f"{author.name} opened it.")


class FollowAuthor(Template):
    """Follow the author of a merge request."""

    number = 122
    sites = (SITE,)
    intents = (
        'Follow the author of {project}\'s {state} merge request "{title}".',
        'Find out who opened the {state} merge request "{title}" in {project}, and follow that '
        "person.",
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a merge request of a person whom the agent does not follow."""
        project = draw_project(world, dice)
        rows = world.rows(
            SITE,
            "SELECT title, state, author_id FROM merge_requests WHERE project_id = ? "
            "AND author_id <> 1 AND author_id NOT IN "
            "(SELECT followed_id FROM follows WHERE follower_id = 1) ORDER BY id",
            project["id"],
        )
        if not rows:
            return None
        request = dice.pick(rows)
        goal = changes(row("follows", follower_id=AGENT_ID, followed_id=request["author_id"]))
        values = {"state": request["state"], "title": request["title"]}
        return Case(values | {"project": project["name"]}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go from the merge request to its author."""
        yield from _open_author(case, screen)
        yield screen.click("button", "Follow")
        yield screen.stop()


class FollowOneself(Template):
    """Follow the author of a merge request, who is the agent."""

    number = 162
    sites = (SITE,)
    intents = FollowAuthor.intents
    split = "train"
    is_impossible = True

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a merge request of the agent's."""
        project = draw_project(world, dice)
        sql = "SELECT title, state FROM merge_requests WHERE project_id = ? AND author_id = ?"
        rows = world.rows(SITE, f"{sql} ORDER BY id", project["id"], AGENT_ID)
        if not rows:
            return None
        request = dice.pick(rows)
        values = {"state": request["state"], "title": request["title"]}
        pages = [f"{address_of(world, project)}/merges*"]
        about = (request["title"], project["name"])
        goal = impossible(_ONESELF, about=about, pages=pages, also=["button"])
        return Case(values | {"project": project["name"]}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go from the merge request to its author, and meet the own profile."""
        yield from _open_author(case, screen)
        if screen.has("button", "Follow") or not screen.has("link", "Edit profile"):
            raise ElementNotFound("this is somebody else's profile")
        yield screen.give_up("I opened it, and I cannot follow myself.")


_ONESELF = (
    *("myself", "yourself", "oneself", "themselves", "opened by me", "i opened", "i am the author"),
    *("my own", "your own", "is me", "was me", "your account", "my account", "i'm the author"),
    *("same user", "same account", "same person", "mira halden"),
)
"""Words of reasons that somebody is the agent's own user."""


FINISH_TODOS_REASONS = {
    "all my": "",
    'all my "mentioned"': "mentioned",
    'all my "assigned"': "assigned",
    'all my "review requested"': "review requested",
}


class FinishTodos(Template):
    """Mark all to-dos of a project as done."""

    number = 118
    sites = (SITE,)
    intents = (
        "Mark {which} to-dos about {project} as done.",
        "I have too many to-dos. Mark {which} to-dos about {project} as done.",
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project and a reason with one to four to-dos."""
        which = dice.pick(tuple(FINISH_TODOS_REASONS))
        groups = world.rows(
            SITE,
            "SELECT p.name, group_concat(t.id) AS ids FROM todos t "
            "JOIN projects p ON p.id = t.project_id WHERE t.user_id = ? AND t.state = 'pending' "
            "AND ? IN ('', t.action) GROUP BY p.id HAVING count(*) <= 4 ORDER BY p.id",
            AGENT_ID,
            FINISH_TODOS_REASONS[which],
        )
        group = dice.pick(groups)
        done = [row("todos", id=number, state="done") for number in ids_in(group)]
        return Case({"which": which, "project": group["name"]}, changes(*done))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Filter the to-dos until none is left."""
        filters = {"Project": case.values["project"]}
        if reason := FINISH_TODOS_REASONS[case.values["which"]]:
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
