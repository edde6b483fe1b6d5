"""Tasks about files and merge requests."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.gitlab.merging import APPROVE_ALL_RELATIONS, raised
from agentgym_envs.webarena.tasks.gitlab.steps import (
    SITE,
)
from worlds.dice import Dice
from worlds.tasks.gitlab.draws import DEVELOPING, draw_project, one_more, parts_of, quoted, same
from worlds.tasks.template import Case, Template, World, changed, state_of
from worlds.tasks.words import WORDS

_REMARKS: tuple[str, ...] = WORDS["gitlab"]["review_remarks"]

_MESSAGES = ("Prepare the next release", "Raise the version", "New release")


class CommentOnRequest(Template):
    """Comment on the merge request about a subject."""

    number = 110
    sites = (SITE,)
    intent = (
        'Leave the comment "{remark}" on the open merge request of {project} that is about the '
        "{part}."
    )
    split = "test"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a subject that one open merge request has."""
        project = draw_project(world, dice)
        part, remark = dice.pick(parts_of(project["name"])), dice.pick(_REMARKS)
        rows = world.rows(
            SITE,
            "SELECT id FROM merge_requests WHERE project_id = ? AND state = 'open' "
            "AND instr(lower(title), lower(?))",
            project["id"],
            part,
        )
        if len(rows) != 1:
            return None
        return Case(
            values={"remark": remark, "project": project["name"], "part": part},
            evaluation=changed(
                state_of(
                    SITE,
                    f"SELECT author_id FROM notes WHERE merge_request_id = {rows[0]['id']} "
                    f"AND body = {quoted(remark)}",
                    [[1]],
                ),
                one_more(world, "notes"),
            ),
        )


class RaiseVersion(Template):
    """Raise the version that a file holds."""

    number = 112
    sites = (SITE,)
    intent = (
        "Raise the version in the file VERSION of {project} to the next {kind} release (as 1.4.2 "
        'would become {example}). Commit it to the branch main with the message "{message}".'
    )
    split = "train"

    _EXAMPLES = {"major": "2.0.0", "minor": "1.5.0", "patch": "1.4.3"}

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a project in which the agent may commit."""
        project, kind = draw_project(world, dice, DEVELOPING), dice.pick(tuple(self._EXAMPLES))
        message = dice.pick(_MESSAGES)
        where = f"project_id = {project['id']} AND branch = 'main' AND path = 'VERSION'"
        version = world.value(SITE, f"SELECT content FROM files WHERE {where}").strip()
        return Case(
            values={
                "project": project["name"],
                "kind": kind,
                "example": self._EXAMPLES[kind],
                "message": message,
            },
            evaluation=changed(
                state_of(
                    SITE,
                    f"SELECT trim(content, ' ' || char(10)) FROM files WHERE {where}",
                    [[raised(version, kind)]],
                ),
                state_of(
                    SITE,
                    "SELECT project_id, branch, message, author_id FROM commits "
                    "ORDER BY id DESC LIMIT 1",
                    [[project["id"], "main", message, 1]],
                ),
                one_more(world, "commits"),
                same(world, "SELECT count(*) FROM files"),
            ),
        )


class ApproveAll(Template):
    """Approve all open merge requests that somebody opened, or is to review."""

    number = 121
    sites = (SITE,)
    intent = "Approve every open merge request in {project} that {person} {relation}."
    split = "train"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a person with one to four, none of which the agent has approved."""
        project = draw_project(world, dice, DEVELOPING)
        relation = dice.pick(tuple(APPROVE_ALL_RELATIONS))
        rows = world.rows(
            SITE,
            "SELECT u.name, group_concat(r.id) AS ids FROM merge_requests r "
            f"JOIN users u ON u.id = r.{APPROVE_ALL_RELATIONS[relation]}_id "
            "JOIN members m ON m.user_id = u.id AND m.project_id = r.project_id "
            "WHERE r.project_id = ? AND r.state = 'open' "
            "AND u.id <> 1 GROUP BY u.id HAVING count(*) <= 4 AND NOT sum(EXISTS (SELECT 1 FROM "
            "approvals a WHERE a.merge_request_id = r.id AND a.user_id = 1)) ORDER BY u.id",
            project["id"],
        )
        if not rows:
            return None
        person = dice.pick(rows)
        ids = person["ids"]
        number = len(ids.split(","))
        return Case(
            values={
                "project": project["name"],
                "person": person["name"],
                "relation": relation,
            },
            evaluation=changed(
                state_of(
                    SITE,
                    "SELECT count(*) FROM approvals WHERE user_id = 1 "
                    f"AND merge_request_id IN ({ids})",
                    [[number]],
                ),
                state_of(
                    SITE,
                    "SELECT count(*) FROM approvals",
                    [[world.value(SITE, "SELECT count(*) FROM approvals") + number]],
                ),
                same(world, "SELECT state, count(*) FROM merge_requests GROUP BY state"),
            ),
        )
