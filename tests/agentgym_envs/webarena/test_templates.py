"""Every template keeps the rules, and its expert solves what it draws."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.tasks import catalogue, pin, pins
from agentgym_envs.webarena.tasks.files import read_tasks, write_tasks
from agentgym_envs.webarena.tasks.pins import PAPER_TEST
from agentgym_envs.webarena.tasks.task_set import SPLITS, EmbeddedTasks
from agentgym_envs.webarena.tasks.template import IMPOSSIBLE

ROOT = Path(__file__).parents[3]
NUMBERS = sorted(catalogue.templates())
INSTANCES = (0, 9)

_HASH = "from agentgym_envs.webarena.tasks.pin import content_hash; print(content_hash())"


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


@pytest.mark.parametrize("number", NUMBERS)
def test_the_expert_solves_it_within_the_turns(env: WebArenaEnv, number: int) -> None:
    for instance in INSTANCES:
        info = solve(env, number * catalogue.STRIDE + instance)
        assert info["success"] and info["score"] == 1.0, (info, env.verdict)


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_the_expert_solves_every_instance(env: WebArenaEnv, number: int) -> None:
    for instance in range(catalogue.INSTANCES):
        info = solve(env, number * catalogue.STRIDE + instance)
        assert info["success"], (info, env.verdict)


@pytest.mark.parametrize("number", NUMBERS)
def test_doing_nothing_scores_zero(env: WebArenaEnv, number: int) -> None:
    env.reset(options={"task_id": number * catalogue.STRIDE + INSTANCES[-1]})
    *_, info = env.step("stop []")
    assert (info["success"], info["score"], info["unscored"]) == (False, 0.0, False)


@pytest.mark.parametrize("number", NUMBERS)
def test_its_intents_are_distinct_and_filled(number: int) -> None:
    tasks = [catalogue.task_of(number * catalogue.STRIDE + i) for i in range(catalogue.INSTANCES)]
    assert len({task.intent for task in tasks}) == catalogue.INSTANCES
    for task in tasks:
        assert "{" not in task.intent and task.intent == task.intent.strip()
        assert len(task.intent.splitlines()) == 1
        assert "fuzzy_match" not in (task.eval["reference_answers"] or {})


@pytest.mark.parametrize("number", NUMBERS)
def test_an_impossible_template_wants_na_and_no_other_does(number: int) -> None:
    template = catalogue.templates()[number]
    answers = [
        (catalogue.task_of(number * catalogue.STRIDE + i).eval["reference_answers"] or {})
        for i in range(catalogue.INSTANCES)
    ]
    wants_na = {given.get("exact_match") == IMPOSSIBLE for given in answers}
    assert wants_na == {template.is_impossible}


def test_there_are_enough_tasks_of_every_kind() -> None:
    templates = catalogue.templates().values()
    assert len(templates) >= 60
    assert len(templates) * catalogue.INSTANCES >= 3000
    assert 0.04 <= sum(t.is_impossible for t in templates) / len(templates) <= 0.07
    for site in ("shopping", "shopping_admin", "map", "reddit", "gitlab"):
        splits = Counter(t.split for t in templates if t.sites[0] == site)
        assert splits["train"] > splits["test"] >= 3 and splits["validation"] >= 1
    assert sum(len(t.sites) > 1 for t in templates) >= 5
    assert {t.split for t in templates} == set(SPLITS)
    assert {t.split for t in templates if t.is_impossible} >= {"train", "test"}


@pytest.mark.parametrize("split", SPLITS)
def test_every_split_asks_changes_and_navigates(split: str) -> None:
    result: set[str] = set()
    for number, template in catalogue.templates().items():
        if template.split == split:
            result.update(catalogue.task_of(number * catalogue.STRIDE).eval["eval_types"])
    assert result == {"string_match", "db_state", "url_match"}


def test_some_templates_begin_signed_out() -> None:
    signed_out = [number for number in NUMBERS if not catalogue.templates()[number].signed_in]
    assert len({catalogue.templates()[number].sites[0] for number in signed_out}) >= 3
    assert not any(
        catalogue.task_of(number * catalogue.STRIDE).require_login for number in signed_out
    )


def test_listing_tasks_draws_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def draws(number: int) -> None:
        raise AssertionError(f"task {number} was drawn")

    monkeypatch.setattr(catalogue, "case_of", draws)
    tasks = EmbeddedTasks()
    listed = [task_id for split in SPLITS for task_id in tasks.task_ids(split)]
    assert len(listed) == len(set(listed)) == len(NUMBERS) * catalogue.INSTANCES
    assert tasks.spec(listed[0]).task_id == listed[0]


def test_splits_share_no_template() -> None:
    tasks = EmbeddedTasks()
    of = {split: {n // catalogue.STRIDE for n in tasks.numbers(split)} for split in SPLITS}
    assert sum(len(each) for each in of.values()) == len(set().union(*of.values()))


@pytest.mark.parametrize("number", [-1, 199, 150, 10**6])
def test_a_number_without_a_task_is_unknown(number: int) -> None:
    with pytest.raises(ValueError, match="0 to 49"):
        EmbeddedTasks().spec(number)


def test_the_paper_s_panel_has_its_sizes_and_is_a_part_of_test() -> None:
    tasks = EmbeddedTasks()
    assert Counter(tasks.describe(number)[0] for number in PAPER_TEST) == pin.PAPER_SIZES
    assert set(PAPER_TEST) <= set(tasks.numbers("test"))
    assert list(PAPER_TEST) == pin.draw_panel()
    env = WebArenaEnv(split="paper_test")
    assert env.reset(seed=0)[1]["split"] == "test"


def test_a_template_can_be_chosen(env: WebArenaEnv) -> None:
    number = next(n for n, t in catalogue.templates().items() if t.split == "train")
    chosen = WebArenaEnv(tasks=[f"template_{number}"])
    for seed in range(3):
        task_id = chosen.reset(seed=seed)[1]["task_id"]
        assert int(task_id.removeprefix("webarena_")) // catalogue.STRIDE == number


def test_the_content_is_pinned_under_every_hash_seed() -> None:
    """Fails when sites or tasks change: raise VERSION, then run `webarena.tasks.pin`."""
    run = subprocess.run(
        [sys.executable, "-c", _HASH],
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.strip() == pins.CONTENT_HASH
    assert pins.SOURCE == f"agentgym-sites v{pins.VERSION} ({pins.CONTENT_HASH[:12]})"


def test_embedded_tasks_can_be_written_and_played_from_the_file(tmp_path: Path) -> None:
    numbers = [number * catalogue.STRIDE for number in NUMBERS[:: max(1, len(NUMBERS) // 4)]]
    path = tmp_path / "embedded.json"
    write_tasks(path, (catalogue.task_of(number) for number in numbers))
    assert read_tasks(path) == [catalogue.task_of(number) for number in numbers]
    given, embedded = WebArenaEnv(tasks_file=path, split="test"), WebArenaEnv()
    for number in numbers:
        first, _ = given.reset(options={"task_id": number})
        assert first == embedded.reset(options={"task_id": number})[0]
        for action in embedded.expert():
            embedded.step(action)
            *_, info = given.step(action)
        assert info["success"]
