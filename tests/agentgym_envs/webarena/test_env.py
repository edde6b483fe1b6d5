from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from gymnasium.error import ResetNeeded

from agentgym_envs import EnvFailure, NoExpert, Trajectory
from agentgym_envs.browsing.text.browser import TextBrowser
from agentgym_envs.sites.people import AGENT
from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.tasks.files import WebTask, read_tasks, write_tasks
from tests.agentgym_envs.webarena import small_tasks
from tests.agentgym_envs.webarena.still import StrictJudge
from tests.helpers import accepted, refused
from wrappers import RecordTrajectories

ROOT = Path(__file__).parents[3]


@pytest.fixture
def env(tmp_path: Path) -> WebArenaEnv:
    return small_tasks.make(tmp_path)


def begin(env: WebArenaEnv, number: int) -> str:
    return env.reset(options={"task_id": number})[0]


def element(env: WebArenaEnv, role: str, name: str) -> int:
    (node,) = [n for n in env.browser.page().nodes if (n.role, n.name) == (role, name)]
    return node.element


def test_the_first_observation_is_the_goal_and_the_first_page(env: WebArenaEnv) -> None:
    observation, info = env.reset(options={"task_id": "webarena_0"})
    lines = observation.splitlines()
    assert lines[:5] == [
        "Goal: What is the answer?",
        "",
        "Tabs: [0] 'Homepage' (current)",
        "URL: http://homepage.test/",
        "[1] RootWebArea 'Homepage'",
    ]
    assert (info["goal"], info["url"]) == ("What is the answer?", "http://homepage.test/")
    assert (info["answer"], info["unscored"]) == ("", False)
    assert (info["subtask"], info["split"]) == ("Maps", "test")


def test_later_observations_show_the_page_alone(env: WebArenaEnv) -> None:
    begin(env, 1)
    observation = accepted(env, f"click [{element(env, 'link', 'Wayfinder')}]")
    assert observation.splitlines()[1] == "URL: http://map.test/"
    assert "Goal" not in observation
    assert accepted(env, "go_back").splitlines()[1] == "URL: http://homepage.test/"


def test_what_went_wrong_comes_first_and_the_page_after_it(env: WebArenaEnv) -> None:
    begin(env, 0)
    for action in ("click [999]", "fly", "", "scroll [up]", "tab_focus [7]"):
        observation = refused(env, action)
        assert observation.startswith("That did not work: ")
        assert "\n\nTabs: [0] 'Homepage' (current)\nURL: http://homepage.test/\n" in observation


def test_stop_ends_the_episode_and_scores_it(env: WebArenaEnv) -> None:
    begin(env, 0)
    observation, reward, terminated, truncated, info = env.step("stop [42]")
    assert (observation, reward, terminated, truncated) == (
        "The task is done.",
        1.0,
        True,
        False,
    )
    assert (info["success"], info["score"], info["answer"]) == (True, 1.0, "42")
    with pytest.raises(ResetNeeded):
        env.step("stop [42]")


def test_a_wrong_answer_ends_it_too_and_the_verdict_says_why(env: WebArenaEnv) -> None:
    begin(env, 0)
    observation, reward, terminated, _, info = env.step("stop [41]")
    assert (observation, reward, terminated) == ("The task is not done.", 0.0, True)
    assert (info["success"], info["score"], info["unscored"]) == (False, 0.0, False)
    assert env.verdict is not None and "'41' is not '42'" in env.verdict.reasons
    assert info["verdict"] == "\n".join(env.verdict.reasons)


def test_the_verdict_is_recorded(tmp_path: Path) -> None:
    records: list[Trajectory] = []
    env = RecordTrajectories(small_tasks.make(tmp_path), records.append)
    for answer in ("41", "42"):
        env.reset(options={"task_id": 0})
        env.step(f"stop [{answer}]")
    assert [record.verdict for record in records] == ["'41' is not '42'", ""]
    assert Trajectory.from_json(records[0].to_json()).verdict == "'41' is not '42'"


def test_the_last_page_s_address_is_judged(env: WebArenaEnv) -> None:
    begin(env, 1)
    assert env.step("stop []")[4]["success"] is False
    begin(env, 1)
    accepted(env, f"click [{element(env, 'link', 'Wayfinder')}]")
    assert env.step("stop []")[4]["success"] is True


def test_the_page_s_content_is_judged(env: WebArenaEnv) -> None:
    begin(env, 3)
    assert env.step("stop []")[4]["success"] is True


def test_every_condition_must_be_met(env: WebArenaEnv) -> None:
    begin(env, 4)
    assert env.step("stop [done]")[4]["success"] is False


def test_without_a_judge_an_answer_is_unscored(env: WebArenaEnv, tmp_path: Path) -> None:
    begin(env, 2)
    observation, reward, terminated, _, info = env.step("stop [A map, I think]")
    assert (reward, terminated, info["success"], info["unscored"]) == (0.0, True, False, True)
    assert "judge" in observation
    judged = small_tasks.make(tmp_path, judge=StrictJudge())
    begin(judged, 2)
    *_, info = judged.step("stop [A map, I think]")
    assert (info["success"], info["unscored"]) == (True, False)


def test_a_new_episode_forgets_the_last_one(env: WebArenaEnv) -> None:
    first = begin(env, 0)
    accepted(env, "new_tab")
    env.step("stop [41]")
    observation, info = env.reset(options={"task_id": 0})
    assert observation == first
    assert (info["answer"], info["unscored"], info["verdict"]) == ("", False, "")
    assert env.verdict is None


def test_a_task_may_begin_with_several_tabs(env: WebArenaEnv) -> None:
    assert "Tabs: [0] 'Homepage' (current), [1] 'Wayfinder" in begin(env, 5)
    assert "(current)\nURL: http://map.test/" in accepted(env, "tab_focus [1]")


def test_the_agent_is_signed_in_where_a_task_says_so(tmp_path: Path) -> None:
    path = small_tasks.write(
        tmp_path / "two.json",
        [
            small_tasks.string_task(0, start_url="http://gitlab.test/profile"),
            small_tasks.string_task(1, start_url="__GITLAB__/profile", require_login=False),
        ],
    )
    env = WebArenaEnv(tasks_file=path, split="test")
    _, info = env.reset(options={"task_id": 0})
    assert info["url"] == "http://gitlab.test/profile"
    assert AGENT.name in env.browser.page().title + str([n.name for n in env.browser.page().nodes])
    _, info = env.reset(options={"task_id": 1})
    assert info["url"].startswith("http://gitlab.test/login")


def test_a_long_page_is_shown_in_parts(tmp_path: Path) -> None:
    env = small_tasks.make(tmp_path, viewport_lines=5)
    whole = small_tasks.make(tmp_path, viewport_lines=None)
    every_line = begin(whole, 0).splitlines()[4:]
    first = begin(env, 0).splitlines()
    assert first[4:] == [*every_line[:5], f"({len(every_line) - 5} lines below: scroll [down])"]
    lines = accepted(env, "scroll [down]").splitlines()
    assert lines[2:8] == ["(5 lines above: scroll [up])", *every_line[5:10]]
    accepted(env, "scroll [up]")
    assert "nothing above" in refused(env, "scroll [up]")
    assert "nothing below" in (begin(whole, 0) and refused(whole, "scroll [down]"))


def test_formats_carry_the_grammar(tmp_path: Path) -> None:
    completions = {
        "plain": "stop [42]",
        "react": "It is known. ```stop [42]```",
        "function_call": '{"name": "stop", "arguments": {"answer": "42"}}',
        "code": "```python\nstop('42')\n```",
    }
    for action_format, completion in completions.items():
        env = small_tasks.make(tmp_path, action_format=action_format)
        begin(env, 0)
        assert not env.step("nothing that is an action")[4]["is_valid_action"]
        assert env.step(completion)[4]["success"] is True, action_format


@pytest.mark.parametrize("action_format", ["function_call", "code"])
def test_formats_that_call_functions_are_taught_no_brackets(
    tmp_path: Path, action_format: str
) -> None:
    env = small_tasks.make(tmp_path, action_format=action_format, viewport_lines=5)
    bracketed = re.compile(r"\b(click|type|stop|scroll|press|goto|tab_focus) ?\[")
    observation = begin(env, 0)
    assert "lines below: scroll down)" in observation
    assert not bracketed.search(env.system_prompt + observation)
    assert "stop(answer: str = '')" in env.system_prompt
    assert "press_enter: int = 1" in env.system_prompt


def test_a_call_without_an_answer_ends_a_task_and_wrong_ones_show_calls(tmp_path: Path) -> None:
    env = small_tasks.make(tmp_path, action_format="function_call")
    begin(env, 0)
    wrong = '{"name": "scroll", "arguments": {"direction": "left"}}'
    assert '{"name": "scroll", "arguments": {"direction": "down"}}' in refused(env, wrong)
    terminated = env.step('{"name": "stop", "arguments": {}}')[2]
    assert terminated


def test_close_releases_the_browser_and_may_be_called_twice(env: WebArenaEnv) -> None:
    begin(env, 0)
    env.close()
    env.close()
    with pytest.raises(ResetNeeded):
        _ = env.browser
    begin(env, 0)


def test_broken_machinery_is_a_failure(env: WebArenaEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_: Any) -> None:
        raise EnvFailure("the browser died")

    begin(env, 0)
    monkeypatch.setattr(TextBrowser, "act", dies)
    with pytest.raises(EnvFailure, match="the browser died"):
        env.step("go_back")
    with pytest.raises(ResetNeeded):
        env.step("go_back")
    begin(env, 0)


@pytest.mark.parametrize("action_format", ["plain", "react", "function_call", "code"])
def test_a_baseline_gives_every_task_up(tmp_path: Path, action_format: str) -> None:
    env = small_tasks.make(tmp_path, action_format=action_format)
    begin(env, 0)
    (action,) = env.baseline("not_applicable")
    *_, terminated, _, info = env.step(action)
    assert terminated and info["answer"].startswith("N/A - ") and not info["success"]


def test_given_tasks_have_no_expert(env: WebArenaEnv) -> None:
    begin(env, 0)
    with pytest.raises(NoExpert, match=r"plays the tasks of agentgym-sites v8 \(\w+\) alone; it"):
        next(env.expert())


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"backend": "lynx"}, "unknown backend 'lynx'; allowed: text, chromium"),
        ({"tree": "html"}, "unknown tree 'html'; allowed: short, webarena"),
        ({"tree": "webarena"}, "needs backend='chromium', got 'text'; the text backend shows"),
        (
            {"viewport_lines": "window"},
            "viewport_lines='window' needs tree='webarena', got 'short'",
        ),
        ({"viewport_lines": 4}, "viewport_lines must be >= 5, or None for whole pages, got 4"),
        ({"viewport_lines": "60"}, "got '60'; give a whole number without quotes"),
        ({"tasks_file": {"dev": "x.json"}}, "unknown splits"),
        ({"render_mode": "rgb_array"}, "render_mode"),
    ],
)
def test_wrong_arguments_are_refused(kwargs: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        WebArenaEnv(**kwargs)


def test_a_task_on_a_site_that_is_not_embedded_says_so(tmp_path: Path) -> None:
    path = small_tasks.write(tmp_path / "x.json", [small_tasks.string_task(sites=["wikipedia"])])
    env = WebArenaEnv(tasks_file=path, split="test")
    with pytest.raises(ValueError, match=r"wikipedia.*WebArenaOfficial-v0.*sites="):
        env.reset(options={"task_id": 0})
    with pytest.raises(ResetNeeded):
        env.step("stop []")


# Task files -------------------------------------------------------------------------------------


def test_a_file_comes_back_as_it_was(tmp_path: Path) -> None:
    path = small_tasks.write(tmp_path / "a.json")
    tasks = read_tasks(path)
    assert [task.to_json() for task in tasks] == small_tasks.TASKS
    write_tasks(tmp_path / "b.json", tasks)
    assert read_tasks(tmp_path / "b.json") == tasks


def test_a_file_may_hold_one_task(tmp_path: Path) -> None:
    path = tmp_path / "0.json"
    path.write_text(json.dumps(small_tasks.TASKS[0]))
    assert [task.task_id for task in read_tasks(path)] == [0]


def test_each_split_may_have_a_file(tmp_path: Path) -> None:
    train = small_tasks.write(tmp_path / "train.json", small_tasks.TASKS[:2])
    test = small_tasks.write(tmp_path / "test.json", small_tasks.TASKS[2:])
    env = WebArenaEnv(tasks_file={"train": train, "test": test})
    assert env.task_ids("train") == ["webarena_0", "webarena_1"]
    assert len(env.task_ids("test")) == 4 and env.task_ids("validation") == []
    assert env.reset(seed=0)[1]["split"] == "train"
    with pytest.raises(ValueError, match="two splits"):
        WebArenaEnv(tasks_file={"train": train, "test": train})


def test_the_source_names_the_file_and_changes_with_it(tmp_path: Path) -> None:
    env = small_tasks.make(tmp_path)
    other = WebArenaEnv(
        tasks_file=small_tasks.write(tmp_path / "small.json", [small_tasks.TASKS[0]])
    )
    assert env.source.startswith("small.json (") and "agentgym-sites v" in env.source
    assert env.source != other.source


def test_an_unknown_task_names_the_numbers_there_are(env: WebArenaEnv) -> None:
    with pytest.raises(ValueError, match=r"webarena_9'.*webarena_0' to 'webarena_5'"):
        env.reset(options={"task_id": 9})


def test_a_template_filters(tmp_path: Path) -> None:
    env = small_tasks.make(tmp_path, tasks=["template_7"])
    assert env.reset(seed=0)[1]["task_id"] in env.task_ids("test")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "no file of WebArena tasks"),
        ("[]", "holds no task"),
        ("[1]", "must be a JSON object"),
        ('[{"task_id": 3}]', "the task 3 lacks sites, start_url, intent, eval"),
        (json.dumps([small_tasks.TASKS[0]] * 2), "twice"),
        (json.dumps([{**small_tasks.TASKS[0], "task_id": "0"}]), "task_id must be int"),
        (json.dumps([{**small_tasks.TASKS[0], "sites": "map"}]), "sites must be a list"),
        (json.dumps([{**small_tasks.TASKS[0], "eval": {}}]), "the task 0: eval_types"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(content)
    with pytest.raises(ValueError, match=message):
        read_tasks(path)


def test_keys_that_webarena_does_not_have_are_read_over() -> None:
    task = WebTask.from_json({**small_tasks.TASKS[0], "string_note": "x"})
    assert "string_note" not in task.to_json()


# Missing packages -------------------------------------------------------------------------------

_WITHOUT = """
import sys
sys.modules["starlette"] = None
import gymnasium, agentgym_envs
try:
    gymnasium.make("agentgym/WebArena-v0")
except ImportError as error:
    print(error)
"""


def test_without_the_extra_the_error_names_the_remedy() -> None:
    run = subprocess.run(
        [sys.executable, "-c", _WITHOUT], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert 'pip install "agentgym-envs[web]"' in run.stdout
