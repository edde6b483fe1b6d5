from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import Trajectory, Turn, read_jsonl, write_jsonl
from agentgym_envs.trajectories.agenttraj import (
    ACKNOWLEDGEMENT,
    from_item,
    read_agenttraj,
    read_trajectories,
    to_item,
    write_agenttraj,
)
from tests.trainers.toys import ENV_ID, make_tokenizer
from trainers.collect import main as collect
from trainers.sft import token_rows
from trainers.tokens.chat import ChatFormat

CHAT = ChatFormat.from_tokenizer(make_tokenizer())


def human(text: str) -> dict[str, Any]:
    return {"from": "human", "loss": None, "value": text}


def gpt(text: str, loss: bool = True) -> dict[str, Any]:
    return {"from": "gpt", "loss": loss, "value": text}


def item(item_id: str = "babyai_41", **extra: Any) -> dict[str, Any]:
    """An item as published: instruction, acknowledgement, two turns, the last word."""
    conversation = [
        human("You are an exploration master."),
        gpt(ACKNOWLEDGEMENT, False),
        human("Your goal: go to the red ball"),
        gpt("Thought:\nIt is ahead.\n\nAction:\nmove forward"),
        human("In front of you there is a red ball 1."),
        gpt("Thought:\nI am there.\n\nAction:\ngo to red ball 1"),
        human("Well done."),
    ]
    return {"conversations": conversation, "item_id": item_id, **extra}


def write(path: Path, items: list[Any]) -> Path:
    path.write_text(json.dumps(items, indent=4), encoding="utf-8")
    return path


def episode(score: float = 1.0, success: bool = True, task_id: str = "babyai_41") -> Trajectory:
    return Trajectory(
        "agentgym/BabyAI-v0",
        task_id,
        system_prompt="Rules.",
        turns=[Turn("see", "go \ud800 é", 0.0, True, 0.0), Turn("o", "take", score, True, score)],
        final_observation="done",
        status="terminated",
        success=success,
        score=score,
    )


# Reading ----------------------------------------------------------------------------------------


def test_the_instruction_and_its_acknowledgement_become_the_system_prompt() -> None:
    read = from_item(item())
    assert read.system_prompt == "You are an exploration master."
    assert [turn.observation for turn in read.turns] == [
        "Your goal: go to the red ball",
        "In front of you there is a red ball 1.",
    ]
    assert read.turns[1].completion.endswith("go to red ball 1")
    assert read.final_observation == "Well done."
    assert (read.env_id, read.task_id) == ("agentgym/BabyAI-v0", "babyai_41")


def test_a_published_item_is_a_success() -> None:
    read = from_item(item())
    assert read.success
    assert read.score == read.episode_return == 1.0


@pytest.mark.parametrize(
    ("item_id", "reward", "success", "score"),
    [
        ("textcraft_7", 1.0, True, 1.0),
        ("textcraft_7", 0.0, False, 0.0),
        ("searchqa_3", 0.5, False, 0.5),
        ("babyai_41", 0.4, True, 0.4),
        ("babyai_41", 0.0, False, 0.0),
        ("sciworld_120", 100, True, 1.0),
        ("sciworld_120", 62, False, 0.62),
        ("sciworld_120", -100, False, 0.0),
        ("webshop_6", 1.0, True, 1.0),
    ],
)
def test_the_reward_is_read_by_agentgyms_own_rule(
    item_id: str, reward: float, success: bool, score: float
) -> None:
    read = from_item(item(item_id, reward=reward))
    assert read.success is success
    assert read.score == pytest.approx(score)


def test_environments_that_we_lack_can_be_learned_from_too() -> None:
    read = from_item(item("todo_6"))
    assert (read.env_id, read.task_id) == ("todo", "todo_6")
    assert len(token_rows([read], CHAT)) == 1


def test_turns_without_loss_are_read_but_not_trained_on() -> None:
    example = item()
    example["conversations"][3]["loss"] = False
    read = from_item(example)
    assert [turn.trained for turn in read.turns] == [False, True]
    row = token_rows([read], CHAT)[0]
    learned = [i for i, m in zip(row["input_ids"], row["action_mask"], strict=True) if m]
    assert make_tokenizer().decode(learned) == read.turns[1].completion + "<|im_end|>"
    text = make_tokenizer().decode(row["input_ids"])
    assert read.turns[0].completion in text


def test_an_episode_without_any_trained_turn_gives_no_row() -> None:
    example = item()
    for message in example["conversations"][3::2]:
        message["loss"] = False
    with pytest.raises(ValueError, match="can be trained on"):
        token_rows([from_item(example)], CHAT)


def test_a_conversation_without_an_instruction_starts_with_its_first_turn() -> None:
    read = from_item({"item_id": "maze_1", "conversations": [human("Walls."), gpt("up")]})
    assert read.system_prompt == ""
    assert [turn.completion for turn in read.turns] == ["up"]
    assert read.final_observation == ""


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"conversations": None, "item_id": "webshop_5238"}, "AgentEval files name tasks"),
        ({"conversations": [], "item_id": "webshop_1"}, "no turn of the policy"),
        ({"conversations": [human("Only a task.")], "item_id": "w_1"}, "no turn of the policy"),
        ({"conversations": [gpt("up")], "item_id": "w_1"}, "message 1 must be from 'human'"),
        ({"conversations": [human("a"), human("b")], "item_id": "w_1"}, "must be from 'gpt'"),
        ({"conversations": ["a"], "item_id": "w_1"}, "message 1 must be from 'human'"),
        ({"conversations": [{"from": "human"}], "item_id": "w_1"}, "message 1 has no text"),
        ({"conversations": [human("a"), gpt("b")], "id": 0.5}, "item_id must be a string"),
        ({**item(), "reward": "high"}, "reward must be a finite number, got 'high'"),
        ({**item(), "reward": float("nan")}, "reward must be a finite number, got nan"),
        ({**item(), "reward": 10**400}, "reward must be a finite number, got 1000"),
        ("a string", "a JSON object is expected"),
    ],
)
def test_what_is_no_item_is_named(tmp_path: Path, wrong: Any, message: str) -> None:
    path = write(tmp_path / "wrong.json", [item(), wrong])
    with pytest.raises(ValueError, match=rf"wrong.json, item 2: .*{message}"):
        list(read_agenttraj(path))


def test_what_is_no_json_is_named(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text('[{"item_id": ')
    with pytest.raises(ValueError, match="cut.json: not JSON"):
        list(read_agenttraj(path))


# Writing ----------------------------------------------------------------------------------------


def test_a_written_item_has_the_published_keys_and_flags() -> None:
    written = to_item(episode())
    assert set(written) == {"conversations", "item_id", "reward", "success"}
    assert written["item_id"] == "babyai_41"
    assert [(m["from"], m["loss"]) for m in written["conversations"]] == [
        ("human", None),
        ("gpt", False),
        ("human", None),
        ("gpt", True),
        ("human", None),
        ("gpt", True),
        ("human", None),
    ]


@pytest.mark.parametrize("success", [True, False])
@pytest.mark.parametrize("score", [0.0, 0.3, 0.995, 1.0])
@pytest.mark.parametrize("task_id", ["babyai_1", "sciworld_1", "textcraft_1"])
def test_success_survives_agentgyms_rule(task_id: str, score: float, success: bool) -> None:
    assert from_item(to_item(episode(score, success, task_id))).success is success


def test_our_episodes_come_back(tmp_path: Path) -> None:
    original = episode()
    original.turns[0].trained = False
    path = tmp_path / "deep" / "ours.json"
    assert write_agenttraj(path, [original]) == 1
    read = list(read_agenttraj(path))[0]
    original.source = "agenttraj"  # the file does not tell where its ids come from
    assert read == original


def test_published_items_come_back(tmp_path: Path) -> None:
    items = [item(), item("webshop_6"), item("sciworld_3", reward=62.0, success=0)]
    items[1]["conversations"][3]["loss"] = False
    read = read_agenttraj(write(tmp_path / "theirs.json", items))
    write_agenttraj(tmp_path / "back.json", read)
    back = json.loads((tmp_path / "back.json").read_text())
    for one, other in zip(items, back, strict=True):
        assert one["conversations"] == other["conversations"]
        assert one["item_id"] == other["item_id"]
    assert [entry["reward"] for entry in back] == [1.0, 1.0, 62.0]


def test_failed_and_empty_episodes_are_not_written(tmp_path: Path) -> None:
    failed, empty = episode(), Trajectory("agentgym/BabyAI-v0", "babyai_1")
    failed.status = "failed"
    assert write_agenttraj(tmp_path / "few.json", [failed, empty, episode()]) == 1
    with pytest.raises(ValueError, match="babyai_1 has no turns"):
        to_item(empty)


def test_appending_keeps_what_the_file_holds(tmp_path: Path) -> None:
    path = tmp_path / "grown.json"
    write_agenttraj(path, [episode()])
    assert write_agenttraj(path, [episode(task_id="babyai_2")], append=True) == 1
    assert [t.task_id for t in read_agenttraj(path)] == ["babyai_41", "babyai_2"]


# Files of either form ---------------------------------------------------------------------------


def test_the_form_of_a_file_is_seen_by_its_content(tmp_path: Path) -> None:
    listed = write(tmp_path / "list.json", [item()])
    lines = tmp_path / "lines.jsonl"
    lines.write_text(json.dumps(item(reward=0.0)) + "\n\n" + json.dumps(item()) + "\n")
    ours = tmp_path / "ours.jsonl"
    write_jsonl(ours, [episode()])
    (tmp_path / "empty.jsonl").write_text("")
    assert [t.success for t in read_trajectories(listed)] == [True]
    assert [t.success for t in read_trajectories(lines)] == [False, True]
    assert list(read_trajectories(ours)) == [episode()]
    assert list(read_trajectories(tmp_path / "empty.jsonl")) == []


def test_the_command_writes_agentgyms_form_and_converts_it_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    theirs, ours = tmp_path / "theirs.json", tmp_path / "ours.jsonl"
    assert (
        collect(f"--env {ENV_ID} --num-episodes 3 --out {theirs} --format agenttraj".split()) == 0
    )
    assert len(json.loads(theirs.read_text())) == 3
    assert collect(f"--data {theirs} --out {ours}".split()) == 0
    assert "wrote 3 episodes" in capsys.readouterr().out
    assert list(read_jsonl(ours)) == list(read_agenttraj(theirs))
