"""The shipped tasks: how they are numbered and read, and that every template's expert does them."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from agentgym_envs.errors import NoExpert
from agentgym_envs.sites.content import (
    ABOUT_FILE,
    CONTENT_FILE,
    SHIPPED,
    SiteContent,
    TemplateTasks,
    open_content,
)
from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.expert import read_record
from agentgym_envs.webarena.tasks.files import KEYS, read_tasks, write_tasks
from agentgym_envs.webarena.tasks.task_set import SPLITS, EmbeddedTasks

TASKS = EmbeddedTasks(open_content())
TEMPLATES = {each.template: each for each in open_content().templates}


@pytest.fixture(scope="module")
def env() -> WebArenaEnv:
    return WebArenaEnv()


def solve(env: WebArenaEnv, number: int) -> dict[str, object]:
    """Let the expert play a task, and return the last info."""
    observation, info = env.reset(options={"task_id": number})
    for action in env.expert():
        match = re.match(r"(?:click|hover|type|select) (\[\d+\])", action)
        assert match is None or f"\t{match[1]} " in observation, f"{action} is not on the screen"
        observation, _, terminated, truncated, info = env.step(action)
        assert info["is_valid_action"], (number, action)
        if terminated or truncated:
            break
    return info


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_expert_solves_it_within_the_turns(env: WebArenaEnv, template: int) -> None:
    info = solve(env, TEMPLATES[template].task_ids[5])
    assert info["success"] and info["score"] == 1.0, (info, env.verdict)


@pytest.mark.slow
@pytest.mark.parametrize("template", TEMPLATES)
def test_the_expert_solves_every_instance(env: WebArenaEnv, template: int) -> None:
    for number in TEMPLATES[template].task_ids:
        info = solve(env, number)
        assert info["success"], (info, env.verdict)


@pytest.mark.parametrize("template", [0, 23, 129, 143, 148, 191])
def test_at_the_start_the_expert_plays_the_record_alone(env: WebArenaEnv, template: int) -> None:
    """Signed out, a site may lead from the start to another page; one task begins in two tabs."""
    env.reset(options={"task_id": TEMPLATES[template].task_ids[2]})
    moves = (move for move in env.expert_moves() if not move.action.startswith("scroll"))
    assert next(moves).thought == read_record(open_content(), env.web_task)[1][0].thought


@pytest.mark.parametrize("template", TEMPLATES)
def test_doing_nothing_scores_zero(env: WebArenaEnv, template: int) -> None:
    env.reset(options={"task_id": TEMPLATES[template].task_ids[-1]})
    *_, info = env.step("stop []")
    assert (info["success"], info["score"], info["unscored"]) == (False, 0.0, False)


def test_listing_tasks_reads_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def read(self: SiteContent, file: str) -> bytes:
        raise AssertionError(f"{file} was read")

    monkeypatch.setattr(SiteContent, "read", read)
    tasks = EmbeddedTasks(open_content())
    listed = [task_id for split in SPLITS for task_id in tasks.task_ids(split)]
    assert len(listed) == len(set(listed)) == sum(len(t.task_ids) for t in TEMPLATES.values())
    assert tasks.spec(listed[0]).task_id == listed[0]


def test_a_listing_says_of_a_task_what_the_task_does() -> None:
    for number in TASKS.numbers("test")[::25]:
        task = TASKS.task(number)
        assert (task.task_id, task.split) == (number, "test")
        assert f"template_{task.intent_template_id}" in TASKS.labels(TASKS.spec(number))


def test_splits_share_no_template() -> None:
    of = {
        split: {TASKS.task(n).intent_template_id for n in TASKS.numbers(split)[::50]}
        for split in SPLITS
    }
    assert sum(len(each) for each in of.values()) == len(set().union(*of.values()))


@pytest.mark.parametrize("number", [-1, 199, 150, 10**6])
def test_a_number_without_a_task_is_unknown(number: int) -> None:
    with pytest.raises(ValueError, match=r"'webarena_0' to 'webarena_19249', with gaps"):
        TASKS.spec(number)


def test_the_paper_s_panel_is_a_part_of_test() -> None:
    panel = TASKS.numbers("paper_test")
    sizes = {"Shopping": 15, "CMS": 15, "Maps": 10, "GitLab": 5, "Reddit": 5}
    assert Counter(TASKS.describe(number)[0] for number in panel) == sizes
    assert set(panel) <= set(TASKS.numbers("test"))
    env = WebArenaEnv(split="paper_test")
    assert env.reset(seed=0)[1]["split"] == "test"


def test_a_template_can_be_chosen() -> None:
    number = next(n for n, each in TEMPLATES.items() if each.split == "train")
    chosen = WebArenaEnv(tasks=[f"template_{number}"])
    for seed in range(3):
        task_id = chosen.reset(seed=seed)[1]["task_id"]
        assert int(task_id.removeprefix("webarena_")) in TEMPLATES[number].task_ids


def test_embedded_tasks_can_be_written_and_played_from_the_file(tmp_path: Path) -> None:
    numbers = [each.task_ids[0] for each in list(TEMPLATES.values())[:: len(TEMPLATES) // 4]]
    path = tmp_path / "embedded.json"
    write_tasks(path, map(TASKS.task, numbers))
    assert read_tasks(path) == [TASKS.task(number) for number in numbers]
    given = WebArenaEnv(tasks_file=path)
    for number in numbers:
        assert solve(given, number)["success"]
        assert given.task.split == TASKS.task(number).split


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"split": "dev"}, "split must be one of train, validation, test, got 'dev'"),
        ({"notes": ["a"]}, r"notes must be a JSON object, got \['a'\]"),
    ],
)
def test_what_is_added_to_a_task_is_checked(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps({**TASKS.task(0).to_json(), **change}))
    with pytest.raises(ValueError, match=message):
        read_tasks(path)


def test_a_given_task_is_in_its_own_split(tmp_path: Path) -> None:
    paths = tmp_path / "with.json", tmp_path / "without.json"
    write_tasks(paths[0], [TASKS.task(0)])
    bare = {key: value for key, value in TASKS.task(0).to_json().items() if key in KEYS}
    paths[1].write_text(json.dumps(bare))
    env, other = (WebArenaEnv(tasks_file=path) for path in paths)
    assert env.task_ids("train") == ["webarena_0"] and other.task_ids("test") == ["webarena_0"]


def test_a_given_task_has_an_expert_if_the_world_has_it_under_any_number(tmp_path: Path) -> None:
    task = TASKS.task(103)
    others = [
        replace(task, task_id=1, notes=None),
        replace(task, task_id=2, intent=f"{task.intent} Please."),
        replace(task, task_id=3, intent_template_id=2),
        replace(task, task_id=4, start_url="__GITLAB__"),
    ]
    write_tasks(tmp_path / "tasks.json", others)
    env = WebArenaEnv(tasks_file=tmp_path / "tasks.json")
    assert solve(env, 1)["success"] and solve(env, 4)["success"]
    for number in (2, 3):
        env.reset(options={"task_id": number})
        with pytest.raises(NoExpert, match=f"intent of webarena_{number}"):
            next(env.expert())


def test_a_world_without_moves_says_how_they_are_made(tmp_path: Path) -> None:
    for file in (ABOUT_FILE, CONTENT_FILE):
        (tmp_path / file).write_bytes((SHIPPED / file).read_bytes())
    env = WebArenaEnv(sites_dir=tmp_path)
    env.reset(options={"task_id": 0})
    with pytest.raises(ValueError, match=r"moves\.zip cannot be read: .*make it with"):
        next(env.expert())


def test_an_expert_reads_the_moves_of_its_template_when_it_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []

    def read_moves(self: SiteContent, template: TemplateTasks) -> list[bytes]:
        read.append(template.template)
        return original(self, template)

    original = SiteContent.read_moves
    monkeypatch.setattr(SiteContent, "read_moves", read_moves)
    env = WebArenaEnv()
    env.reset(options={"task_id": 1301})
    assert read == []
    next(env.expert())
    assert read == [13]
