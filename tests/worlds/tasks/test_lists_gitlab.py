"""The code host's tasks of arriving at a filtered list: every filter counts, and the order."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest

from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.tasks.files import WebTask
from tests.worlds.tasks.gitlab_tasks import FEW, gold, project_of, score, tasks, values
from worlds.tasks.template import World

LIST = 126


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
