from __future__ import annotations

import dataclasses
import json

import pytest

from agentgym_envs import Trajectory
from benchmarks.recorded import saved_env_kwargs
from benchmarks.viewer.scenes import scene
from benchmarks.viewer.scenes.replay import NotReplayed, replay
from tests.benchmarks.viewer.scenes.episodes import PLAYED, expert_episode


@pytest.mark.parametrize("env_id", PLAYED)
@pytest.mark.parametrize("action_format", ["plain", "react", "function_call", "code"])
def test_an_episode_of_any_format_is_played_again(env_id, action_format):
    episode = expert_episode(env_id, action_format=action_format)
    env, seen = replay(episode, None, lambda _, info: info["turn"])
    assert seen == list(range(len(episode.turns) + 1))
    assert env.action_format == action_format


def test_the_originals_mode_is_told_by_its_prompt():
    episode = expert_episode("agentgym/BabyAI-v0", compat="agentgym")
    env, _ = replay(episode, None, lambda *_: None)
    assert env.compat == "agentgym"
    assert scene(episode)["turns"]


def test_an_episode_that_was_cut_short_is_played_to_its_cut():
    episode = expert_episode("agentgym/TextCraft-v0", max_turns=1)
    assert episode.status == "truncated"
    _, seen = replay(episode, None, lambda *_: None)
    assert len(seen) == 2


def test_a_thought_before_the_action_is_left_out_where_the_policy_thinks():
    episode = expert_episode("agentgym/BabyAI-v0", action_format="plain")
    episode.turns[0].completion = f"<think>first</think>\n{episode.turns[0].completion}"
    _, seen = replay(episode, None, lambda *_: None)
    assert len(seen) == len(episode.turns) + 1


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"system_prompt": "Do as you like."}, "system prompt"),
        ({"source": "another/1"}, "'another/1'"),
        ({"final_observation": "The moon rises."}, "answers turn 2 otherwise"),
        ({"task_id": "textcraft_8"}, "begins otherwise"),
        ({"task_id": "textcraft_999999"}, "cannot be played again"),
    ],
)
def test_what_cannot_be_replayed_has_no_scene_and_says_why(changes, told):
    episode = dataclasses.replace(expert_episode("agentgym/TextCraft-v0"), **changes)
    with pytest.raises(NotReplayed, match=told):
        replay(episode, None, lambda *_: None)
    shown = scene(episode)
    assert shown["turns"] is None
    assert told in shown["reason"]


def test_a_record_can_name_no_environment_to_be_imported():
    shown = scene(Trajectory("this.module.does.not:exist/Game-v0", "game_1"))
    assert shown == {"kind": None, "about": {}, "turns": None, "reason": None}


@pytest.mark.parametrize(
    ("file", "record"),
    [
        ("run.json", {"EnvArguments": {"env_kwargs": '{"top_k": 5}'}}),
        ("cell.json", {"settings": {"env_kwargs": '{"top_k": 5}'}}),
    ],
)
def test_what_environments_were_made_with_is_read_from_the_run_or_the_cell(file, record, tmp_path):
    (tmp_path / "trajectories").mkdir()
    (tmp_path / file).write_text(json.dumps(record))
    assert saved_env_kwargs(tmp_path) == saved_env_kwargs(tmp_path / "trajectories") == {"top_k": 5}
    assert saved_env_kwargs(tmp_path / "trajectories" / "deeper") == {}
    assert saved_env_kwargs(None) == {}


@pytest.mark.parametrize("options", ["text", None, {"env_kwargs": 3}, {"env_kwargs": "[[1]]"}])
def test_a_record_of_another_form_holds_no_keyword_arguments(options, tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({"EnvArguments": options}))
    assert saved_env_kwargs(tmp_path, "agentgym/Wordle-v0") == {}


def test_an_environment_of_several_is_made_as_it_was_by_name(tmp_path):
    ids = ["agentgym/TextCraft-v0", "agentgym/SearchQA-v0"]
    kwargs = '{"compat": null, "searchqa": {"top_k": 5}}'
    record = {"EnvArguments": {"env": ids, "env_kwargs": kwargs}}
    (tmp_path / "run.json").write_text(json.dumps(record))
    assert saved_env_kwargs(tmp_path, ids[0]) == {"compat": None}
    assert saved_env_kwargs(tmp_path, ids[1]) == {"compat": None, "top_k": 5}


def test_scenes_are_json():
    for env_id in PLAYED:
        shown = scene(expert_episode(env_id))
        assert json.loads(json.dumps(shown))["kind"] == shown["kind"]
