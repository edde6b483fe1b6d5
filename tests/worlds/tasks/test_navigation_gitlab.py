"""The code host's tasks of arriving somewhere: one page is right, and no other is taken for it."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace

import pytest

from agentgym_envs.sites.people import AGENT, PASSWORD
from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.tasks.files import WebTask
from tests.worlds.tasks.arriving import case_at
from tests.worlds.tasks.gitlab_tasks import FEW, gold, project_of, score, tasks, values
from worlds.tasks.drawing import TEMPLATES
from worlds.tasks.screen import ElementNotFound, Screen
from worlds.tasks.template import World

FORM, LIST, PEOPLE, MISSING, TAKE = 125, 126, 127, 128, 129


def opened(world: World, task: WebTask) -> list[tuple[str, int, str | None, str, int]]:
    """The open issues that fit the condition of a goal, read out of its words."""
    project, _ = project_of(world, task)
    condition = values(task)["condition"]
    name = condition.removeprefix("are assigned to ")
    quoted = re.search('"(.*)"', condition)
    name = quoted[1] if quoted else name
    kind = next(
        word for word in ("label", "milestone", "assigned") if f" {word} " in f" {condition}"
    )
    named = {
        "assigned": "SELECT i.id FROM issues i, users u WHERE u.id = i.assignee_id AND u.name = ?",
        "milestone": "SELECT i.id FROM issues i NATURAL JOIN (SELECT id AS milestone_id, title AS "
        "called FROM milestones) WHERE called = ?",
        "label": "SELECT issue_id FROM issue_labels WHERE label_id IN "
        "(SELECT id FROM labels WHERE name = ?)",
    }[kind]
    rows = world.rows(
        "gitlab",
        "SELECT substr(created_at, 1, 10), iid, due_on, title, confidential FROM issues "
        f"WHERE project_id = ? AND closed_at IS NULL AND id IN ({named})",
        project,
        name,
    )
    return [tuple(row) for row in rows]


def test_the_form_is_that_of_the_one_issue_that_stands_out(world: World) -> None:
    kinds = set()
    for task in tasks(FORM):
        fitting, (_, address) = opened(world, task), project_of(world, task)
        assert len(fitting) > 1 and not any(row[4] for row in fitting)
        which = values(task)["which"]
        days = {row[1]: row[2] if "due" in which else row[0] for row in fitting}
        best = (max if "last" in which else min)(filter(None, days.values()))
        (iid,) = (iid for iid, day in days.items() if day == best)  # no tie
        assert gold(task) == f"{address}/issues/{iid}/edit", task.intent
        kinds.add((which, values(task)["condition"].split()[1]))
    assert len(kinds) > 6


def test_what_is_missing_is_missing(world: World) -> None:
    conditions = [values(task)["condition"].split()[1] for task in tasks(MISSING)]
    assert len(set(conditions)) == 3 and all(conditions.count(kind) >= 2 for kind in conditions)
    assert not any(opened(world, task) for task in tasks(MISSING))


def test_its_twin_is_about_the_same_projects(world: World) -> None:
    roles = {
        tuple(
            world.rows(
                "gitlab",
                "SELECT role FROM members WHERE user_id = 1 AND project_id = ?",
                project_of(world, task)[0],
            )[0]
        )
        for template in (FORM, MISSING)
        for task in tasks(template)
    }
    assert roles == {(role,) for role in ("Reporter", "Developer", "Maintainer", "Owner")}


@pytest.mark.parametrize("instance", FEW)
def test_only_the_form_of_this_very_issue_will_do(env: WebArenaEnv, instance: int) -> None:
    task = tasks(FORM)[instance]
    form = gold(task)
    issue = form.removesuffix("/edit")
    iid = int(issue.rpartition("/")[2])
    other = issue.removesuffix(str(iid))
    wrong = [issue, other, f"{other}{iid}1/edit", f"{other}1{iid}/edit", f"{other}{iid - 1}/edit"]
    for address in [*wrong, f"{other.removesuffix('/issues/')}/new-issue"]:
        assert score(env, task, address) == 0.0, address
    assert score(env, task, form, issue) == 0.0  # having been there is not enough


def test_the_people_are_those_of_the_one_request_that_stands_out(world: World) -> None:
    seen = set()
    for task in tasks(PEOPLE):
        given, (project, _) = values(task), project_of(world, task)
        words = given["which"].split()
        is_open = "open" in words
        state = "open" if is_open else words[1]
        column = "created_at" if is_open else "finished_at"
        rows = world.rows(
            "gitlab",
            f"SELECT date(r.{column}), u.username, u.id FROM merge_requests r LEFT JOIN users u "
            f"ON u.id = r.{given['role']}_id WHERE r.project_id = ? AND r.state = ? ORDER BY 1",
            project,
            state,
        )
        first, second = rows[:2] if "first" in words else rows[:-3:-1]
        assert first[0] != second[0], task.intent
        page = "followers" if given["people"] == "who follow" else "following"
        assert gold(task) == f"http://gitlab.test/~{first['username']}/{page}", task.intent
        column = "followed_id" if page == "followers" else "follower_id"
        assert 1 <= world.value(
            "gitlab", f"SELECT count(*) FROM follows WHERE {column} = ?", first["id"]
        )
        seen.add((given["role"], given["which"], page))
    assert len(seen) > 10


@pytest.mark.parametrize("instance", FEW)
def test_neither_the_person_nor_the_other_list_will_do(env: WebArenaEnv, instance: int) -> None:
    task = tasks(PEOPLE)[instance]
    profile, _, page = gold(task).rpartition("/")
    other = {"followers": "following", "following": "followers"}[page]
    for address in (profile, f"{profile}/{other}", f"http://gitlab.test/~mira.halden/{page}"):
        assert score(env, task, address) == 0.0, address


@pytest.mark.parametrize("template", [FORM, LIST, PEOPLE])
def test_the_pages_are_there(env: WebArenaEnv, template: int) -> None:
    result = tasks(template)
    env.reset(options={"task_id": result[0].task_id})
    for task in result[::7]:
        observation, *_, info = env.step(f"goto [{gold(task)}]")
        assert info["url"] == gold(task) and "Something is missing" not in observation


def test_the_issue_to_take_stands_out_and_its_taker_may_take_it(world: World) -> None:
    for task in tasks(TAKE):
        given, (project, _) = values(task), project_of(world, task)
        assert not task.require_login
        (user,) = world.rows(
            "gitlab",
            "SELECT u.id, m.role FROM users u LEFT JOIN members m ON m.user_id = u.id "
            "AND m.project_id = ? WHERE u.username = ? AND u.password = ?",
            project,
            given["username"],
            given["password"],
        )
        assert user["role"] not in (None, "Guest") and user["id"] != 1
        rows = world.rows(
            "gitlab",
            "SELECT id, substr(created_at, 1, 10) AS day, confidential FROM issues WHERE "
            "project_id = ? AND closed_at IS NULL AND ifnull(assignee_id, 0) = 0 ORDER BY 2",
            project,
        )
        first, second = rows[:2] if given["age"] == "oldest" else rows[:-3:-1]
        assert first["day"] != second["day"] and not any(row["confidential"] for row in rows)
        (way,) = task.eval["state_change"]
        assert way == {
            "gitlab": {"issues": {"changed": [{"id": first["id"], "assignee_id": user["id"]}]}}
        }


@pytest.mark.parametrize(
    ("account", "is_in"),
    [({}, True), ({"password": "wrong"}, False)]
    + [({"username": AGENT.username, "password": PASSWORD}, True)],
    ids=["the one", "nobody", "another"],
)
@pytest.mark.parametrize("instance", FEW)
def test_an_issue_is_taken_by_nobody_but_who_was_named(
    env: WebArenaEnv, instance: int, account: dict[str, str], is_in: bool
) -> None:
    task = tasks(TAKE)[instance]
    case = case_at(task.task_id)
    assert "link 'Sign in'" in env.reset(options={"task_id": task.task_id})[0]
    other = replace(case, values={**case.values, **account})
    with contextlib.suppress(ElementNotFound):
        for move in TEMPLATES[TAKE].solve(other, Screen(env.browser.page)):
            if not move.action.startswith("stop"):
                assert env.step(move.action)[-1]["is_valid_action"], move
    page = "\n".join(env.browser.page().lines())
    assert ("button 'Sign out'" in page) == is_in
    assert env.step("stop []")[-1]["score"] == float(not account)
