"""The code host's tasks of arriving somewhere: one page is right, and no other is taken for it."""

from __future__ import annotations

import contextlib
import re
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest

from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.sites.names import fill_placeholders
from agentgym_envs.webarena.sites.people import AGENT, PASSWORD
from agentgym_envs.webarena.tasks.experts import EXPERTS
from agentgym_envs.webarena.tasks.files import WebTask
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen
from tests.worlds.tasks.arriving import case_at, ends_at, task_of
from worlds.tasks.drawing import STRIDE, TEMPLATES
from worlds.tasks.template import World

FORM, LIST, PEOPLE, MISSING, TAKE = 125, 126, 127, 128, 129
FEW = (0, 17, 33)


def tasks(template: int) -> list[WebTask]:
    first = template * STRIDE
    return [task_of(first + instance) for instance in range(TEMPLATES[template].instances)]


def gold(task: WebTask) -> str:
    (url,) = task.eval["page_shown"]
    return fill_placeholders(url)


def values(task: WebTask) -> dict[str, str]:
    return {name: str(value) for name, value in (task.instantiation_dict or {}).items()}


def project_of(world: World, task: WebTask) -> tuple[int, str]:
    """The project that a goal names: its id and the beginning of its addresses."""
    (row,) = world.rows(
        "gitlab",
        "SELECT p.id, 'http://gitlab.test/~' || u.username || '/' || p.slug "
        "FROM projects p, users u WHERE u.id = p.owner_id AND p.name = ?",
        values(task)["project"],
    )
    return row[0], row[1]


def score(env: WebArenaEnv, task: WebTask, *addresses: str) -> float:
    """What ending on the last of these addresses is worth."""
    return ends_at(env, *divmod(task.task_id, STRIDE), *addresses)


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
    assert score(env, task, form) == 1.0
    wrong = [issue, other, f"{other}{iid}1/edit", f"{other}1{iid}/edit", f"{other}{iid - 1}/edit"]
    for address in [*wrong, f"{other.removesuffix('/issues/')}/new-issue"]:
        assert score(env, task, address) == 0.0, address
    assert score(env, task, form, issue) == 0.0  # having been there is not enough


def test_the_list_is_what_the_goal_says(world: World) -> None:
    seen = set()
    for task in tasks(LIST):
        given, (project, address) = values(task), project_of(world, task)
        place, _, query = gold(task).partition("?")
        asked = {name: value[0] for name, value in parse_qs(query).items()}
        assert place == f"{address}/issues"
        assert asked["state"] == {"closed": "closed", "open and closed": "all"}[given["state"]]
        assert f" {asked['sort']} " in f" {given['order']} "
        both = f"{given['first']} and {given['second']}"
        fields = [name for name in asked if name not in ("state", "sort")]
        assert len(fields) == 2 and {"assignee", "milestone"} & set(fields)
        for field in fields:
            table, column, words = {
                "label": ("labels", "name", 'have the label "{}"'),
                "assignee": ("users", "name", "are assigned to {}"),
                "milestone": ("milestones", "title", 'are in the milestone "{}"'),
            }[field]
            if asked[field] == "none":
                words = {"assignee": "nobody is assigned to", "milestone": "have no milestone"}[
                    field
                ]
                assert words in both
                continue
            where = "" if field == "assignee" else f" AND project_id = {project}"
            name = world.value(
                "gitlab", f"SELECT {column} FROM {table} WHERE id = ?{where}", asked[field]
            )
            assert words.format(name) in both, task.intent
        seen.add((asked["sort"], asked["state"], *fields))
    assert len(seen) > 10


def left(world: World, task: WebTask, *without: str) -> int:
    """How many issues the filters of an address leave, some filters aside."""
    asked = {name: value[0] for name, value in parse_qs(urlsplit(gold(task)).query).items()}
    tests = {
        "state": "state = ? OR ?1 = 'all'",
        "label": "id IN (SELECT issue_id FROM issue_labels WHERE label_id = ?)",
        "assignee": "ifnull(assignee_id, 'none') = ?",
        "milestone": "ifnull(milestone_id, 'none') = ?",
    }
    remaining = [name for name in tests if name in asked and name not in without]
    where = " AND ".join(
        "(" + tests[name].replace("?1", "?").replace("?", repr(asked[name])) + ")"
        for name in remaining
    )
    where = re.sub(r"'(\d+)'", r"\1", where)
    project, _ = project_of(world, task)
    return int(
        world.value(
            "gitlab",
            f"SELECT count(*) FROM issues WHERE project_id = ? AND NOT confidential AND {where}",
            project,
        )
    )


def test_the_list_is_one_page_and_each_filter_tells(world: World) -> None:
    for task in tasks(LIST):
        number = left(world, task)
        assert 2 <= number <= 10, task.intent
        for name in {"label", "assignee", "milestone"} & set(parse_qs(gold(task))):
            assert left(world, task, name) > number, (task.intent, name)


def test_the_order_tells(env: WebArenaEnv) -> None:
    """Sorted as it is by itself, the list begins with another issue."""
    for task in tasks(LIST)[::6]:
        env.reset(options={"task_id": task.task_id})
        first = []
        for address in (gold(task), gold(task).rpartition("&sort=")[0]):
            env.step(f"goto [{address}]")
            listed = env.browser.page().lines()
            place = next(n for n, line in enumerate(listed) if "list 'Issues'" in line)
            first.append(next(line for line in listed[place:] if " link '" in line))
        assert first[0].split("link")[1] != first[1].split("link")[1], task.intent


@pytest.mark.parametrize("instance", FEW)
def test_only_the_list_with_every_filter_will_do(env: WebArenaEnv, instance: int) -> None:
    task = tasks(LIST)[instance]
    place, _, query = gold(task).partition("?")
    asked = query.split("&")
    assert score(env, task, gold(task)) == 1.0
    form = f"{place}?q=&author=&{'&'.join(reversed(asked))}"  # empty fields, another order
    assert score(env, task, form) == 1.0
    for missing in range(len(asked)):
        rest = "&".join(asked[:missing] + asked[missing + 1 :])
        assert score(env, task, f"{place}?{rest}") == 0.0, rest
        name = asked[missing].partition("=")[0]
        assert score(env, task, f"{place}?{rest}&{name}=1") == 0.0, name
    for address in (place, f"{place}/1", place.removesuffix("/issues")):
        assert score(env, task, address) == 0.0
    assert score(env, task, f"{place.removesuffix('issues')}merges?{query}") == 0.0


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
    assert score(env, task, gold(task)) == 1.0
    for address in (profile, f"{profile}/{other}", f"http://gitlab.test/~mira.halden/{page}"):
        assert score(env, task, address) == 0.0, address


@pytest.mark.parametrize("template", [FORM, LIST, PEOPLE])
def test_every_instance_is_another_page_that_is_there(env: WebArenaEnv, template: int) -> None:
    result = tasks(template)
    assert len({gold(task) for task in result}) == len(result)
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
        for move in EXPERTS[TAKE](other, Screen(env.browser.page)):
            if not move.action.startswith("stop"):
                assert env.step(move.action)[-1]["is_valid_action"], move
    page = "\n".join(env.browser.page().lines())
    assert ("button 'Sign out'" in page) == is_in
    assert env.step("stop []")[-1]["score"] == float(not account)
