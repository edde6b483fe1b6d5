"""Tasks about people: members, roles, following, one's own profile and to-dos."""

from __future__ import annotations

from agentgym_envs.webarena.sites.filters import day
from agentgym_envs.webarena.tasks.gitlab.people import FINISH_TODOS_REASONS
from agentgym_envs.webarena.tasks.gitlab.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.sites.setting import TOWNS
from worlds.tasks.gitlab.draws import (
    MANAGING,
    draw_day,
    draw_project,
    members_of,
    one_more,
    quoted,
    same,
    strangers_of,
)
from worlds.tasks.template import Case, Template, World, changed, state_of
from worlds.tasks.words import WORDS

_STATUSES: tuple[str, ...] = WORDS["gitlab"]["statuses"]

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

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project that the agent manages, and somebody who is not in it."""
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


class ChangeRoles(Template):
    """Give everybody of one role another one."""

    number = 116
    sites = (SITE,)
    intent = "In {project}, change the role of every member who is a {old} to {new}."
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a role that one to three members have."""
        project = draw_project(world, dice, MANAGING)
        old, new = dice.sample(_ROLES, 2)
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


class UpdateProfile(Template):
    """Change one's own status and location."""

    number = 106
    sites = (SITE,)
    intent = (
        'Set my status to "{status}" and my location to {town}, and leave the rest of my profile '
        "as it is."
    )
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a status and a town."""
        status, town = dice.pick(_STATUSES), dice.pick(TOWNS)
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


class FollowAuthor(Template):
    """Follow whoever opened a merge request."""

    number = 122
    sites = (SITE,)
    intent = 'Follow the person who opened the {state} merge request "{title}" in {project}.'
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a merge request of somebody whom the agent does not follow."""
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


class FinishTodos(Template):
    """Mark all to-dos of a project as done."""

    number = 118
    sites = (SITE,)
    intent = "Mark {which} to-dos about {project} as done."
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project and a reason with one to four to-dos."""
        rows = world.rows(
            SITE,
            "SELECT DISTINCT p.id, p.name FROM todos t JOIN projects p ON p.id = t.project_id "
            "WHERE t.user_id = 1 AND t.state = 'pending' ORDER BY p.id",
        )
        project, which = dice.pick(rows), dice.pick(tuple(FINISH_TODOS_REASONS))
        reason = FINISH_TODOS_REASONS[which]
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
