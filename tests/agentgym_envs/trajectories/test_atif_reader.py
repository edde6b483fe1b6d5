"""ATIF documents of other agents, as its specification has them, are episodes or are refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import Trajectory
from agentgym_envs.trajectories.agenttraj import read_trajectories
from agentgym_envs.trajectories.atif import to_atif
from agentgym_envs.trajectories.atif_reader import from_atif
from tests.agentgym_envs.trajectories.atif_samples import (
    IMAGE,
    agent,
    call,
    document,
    part,
    system,
    user,
    valid,
)
from tests.agentgym_envs.trajectories.test_atif import episode

GET, LOOK = '{"name": "get", "arguments": {"item": "log"}}', '{"name": "look", "arguments": {}}'
TASK = (user("Task."), agent("go", "A room."))


def shape(trajectory: Trajectory) -> list[tuple[str, str]]:
    return [(turn.observation, turn.completion) for turn in trajectory.turns]


def read(*steps: dict[str, Any], **fields: Any) -> Trajectory:
    (trajectory,) = from_atif(valid(document(*steps, **fields)))
    return trajectory


def test_tool_calls_are_written_and_their_results_are_the_next_observation() -> None:
    calls = [call("get", 1, item="log"), call("look", 2)]
    results = [
        {"source_call_id": "call_1", "content": "A log."},
        {"source_call_id": "call_2", "content": [part("A "), part("room.")]},
    ]
    trajectory = read(
        system("Be brief."),
        system("Use tools."),
        user("Task."),
        agent("I try.", tool_calls=calls, observation={"results": results}),
        agent("", "Done.", tool_calls=[call("look")]),
    )
    assert trajectory.system_prompt == "Be brief.\n\nUse tools."
    assert shape(trajectory) == [
        ("Task.", f"I try.\n{GET}\n{LOOK}"),
        ("A log.\nA room.", LOOK),
    ]
    assert trajectory.final_observation == "Done."
    assert (trajectory.source, trajectory.policy) == ("atif", "some-model")
    assert (trajectory.status, trajectory.success, trajectory.score) == ("terminated", True, 1.0)
    assert [turn.reward for turn in trajectory.turns] == [0.0, 1.0]


def test_an_agent_that_goes_on_without_an_observation_read_nothing_new() -> None:
    steps = (user("Task."), agent("think"), agent("act", "A room."), agent("end"))
    assert shape(read(*steps)) == [("Task.", "think"), ("", "act"), ("A room.", "end")]


def test_users_and_systems_may_speak_between_turns() -> None:
    trajectory = read(
        user("Task."),
        user("Soon."),
        agent("go", "A room."),
        system("Time is short.", observation={"results": [{"content": "1 min"}]}),
        user("Go on."),
        agent("end"),
        user("Thanks."),
    )
    assert trajectory.system_prompt == ""
    assert shape(trajectory) == [
        ("Task.\nSoon.", "go"),
        ("A room.\nTime is short.\n1 min\nGo on.", "end"),
    ]
    assert trajectory.final_observation == "Thanks."


def test_reasoning_and_metrics_are_the_call_s() -> None:
    metrics = {"prompt_tokens": 9, "cached_tokens": 3, "cost_usd": 0.5, "completion_tokens": 2}
    (turn,) = read(user("Task."), agent("go", reasoning_content="Hm.", metrics=metrics)).turns
    assert turn.call is not None
    assert (turn.completion, turn.call.reasoning, turn.num_tokens) == ("go", "Hm.", 2)
    assert (turn.call.prompt_tokens, turn.call.cached_tokens, turn.call.cost) == (9, 3, 0.5)
    (plain,) = read(user("Task."), agent("go")).turns
    assert plain.call is None


def test_copied_steps_and_those_without_a_model_are_not_trained_on() -> None:
    trajectory = read(
        user("Task.", is_copied_context=True),
        agent("go", "A room.", is_copied_context=True),
        agent("", "Rules.", llm_call_count=0, tool_calls=[call("look")]),
        agent("end", llm_call_count=2),
    )
    assert [turn.trained for turn in trajectory.turns] == [False, False, True]


def tokens(prompt: list[int], ids: list[int]) -> dict[str, Any]:
    return {"prompt_token_ids": prompt, "completion_token_ids": ids, "logprobs": [-1.0] * len(ids)}


def test_tokens_become_traces_where_every_turn_has_them() -> None:
    first = agent("go", "A room.", metrics=tokens([1, 2], [3, 4]))
    second = agent("look", "A log.", metrics=tokens([1, 2, 3, 4, 5], [6]))
    third = agent("end", metrics=tokens([1, 9], [7]))  # the history was cut
    one, other = read(user("Task."), first, second, third).traces
    assert (one.prompt_ids, one.completion_ids) == ([1, 2], [3, 4, 5, 6])
    assert (one.action_mask, one.logprobs) == ([1, 1, 0, 1], [-1.0, -1.0, 0.0, -1.0])
    assert (other.prompt_ids, other.completion_ids) == ([1, 9], [7])
    assert read(user("Task."), first, agent("end")).traces == []
    joined = agent("end", metrics=tokens([1, 2, 3, 4], [6]))  # nothing stands between the turns
    traces = read(user("Task."), first, joined).traces
    assert [trace.sampled_turns() for trace in traces] == [[[3, 4]], [[6]]]
    twice = {**second, "llm_call_count": 2}
    assert read(user("Task."), first, twice).traces == []


@pytest.mark.parametrize(
    ("extra", "reward"),
    [
        ({"success": False}, 0.0),
        ({"success": True, "reward": 0.2}, 1.0),
        ({"reward": 0.25}, 0.25),
        ({"reward": 7}, 1.0),
        ({"reward": 10**400}, 1.0),
        ({"agentgym": {"success": False}}, 0.0),
        ({"note": "x"}, 1.0),
    ],
)
def test_extra_tells_how_an_episode_ended(extra: dict[str, Any], reward: float) -> None:
    trajectory = read(*TASK, extra=extra)
    assert (trajectory.score, trajectory.success) == (reward, reward == 1.0)
    assert trajectory.episode_return == reward


def test_a_task_and_rewards_may_be_told_as_in_ours() -> None:
    own = {"env_id": "agentgym/TextCraft-v0", "task_id": "textcraft_3"}
    first, second = agent("go", "A room."), agent("end")
    first["extra"] = {"agentgym": {"reward": 0.5, "score": 0.5}}
    trajectory = read(user("Task."), first, second, extra={"agentgym": own, "success": False})
    assert (trajectory.env_id, trajectory.task_id) == ("agentgym/TextCraft-v0", "textcraft_3")
    assert [turn.reward for turn in trajectory.turns] == [0.5, 0.0]
    assert (trajectory.policy, trajectory.success) == ("some-model", False)


def test_subagents_are_episodes_of_their_own_and_end_as_their_parent_does() -> None:
    results = [
        {"content": "It is Paris.", "subagent_trajectory_ref": [{"trajectory_id": "search_1"}]}
    ]
    inner = document(user("Where?"), agent("Paris"), trajectory_id="search_1")
    whole = document(
        user("Task."),
        agent("ask", observation={"results": results}),
        agent("Paris."),
        session_id="run_7",
        subagent_trajectories=[inner, {**inner, "trajectory_id": "b", "extra": {"success": True}}],
        extra={"success": False},
    )
    parent, searched, other = from_atif(valid(whole))
    assert shape(parent) == [("Task.", "ask"), ("It is Paris.", "Paris.")]
    assert shape(searched) == shape(other) == [("Where?", "Paris")]
    names = [one.task_id for one in (parent, searched, other)]
    assert names == ["conversation_run-7", "conversation_search-1", "conversation_b"]
    assert [one.success for one in (parent, searched, other)] == [False, False, True]


REFUSED: list[tuple[str, list[dict[str, Any]], str]] = [
    ("image", [user("T."), agent("go", [part("See"), IMAGE])],
     r"step 2: it holds a part that is no text \('image'\).* put a text part"),
    ("image of a user", [user([IMAGE]), agent("go")], "step 1: it holds a part that is no text"),
    ("subagent unread", [user("T."), agent("a", observation={"results": [
        {"subagent_trajectory_ref": [{"trajectory_path": "sub.json"}]}]})],
     r"step 2: it has a subagent's result without content.*write that into"),
    ("compaction", [*TASK, system("", observation={"results": [{"content": "Summary"}]},
     extra={"context_management": {"type": "compaction", "boundary": "replace"}}), agent("go")],
     r"step 3: it changes what the agent sees.*'replace'.*trajectory of its own"),
    ("no agent", [user("T.")], "no step is the agent's.*leave it out"),
    ("logprobs", [user("T."), agent("a", metrics={**tokens([1], [2, 3]), "logprobs": [-1.0]})],
     "step 2: it has 1 logprobs for 2 completion_token_ids.*leave the logprobs out"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("steps", "problem"), [case[1:] for case in REFUSED], ids=[case[0] for case in REFUSED]
)
def test_what_no_episode_can_hold_is_refused_with_its_step_and_a_remedy(
    steps: list[dict[str, Any]], problem: str
) -> None:
    with pytest.raises(ValueError, match=problem):
        from_atif(valid(document(*steps)))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"step_id": 7}, "step 2: it has the step_id 7; .*put back those that are missing"),
        ({"source": "critic"}, "step 2: source must be system, user or agent, got 'critic'"),
        ({"message": None}, "step 2: it must have a text or a list of parts, got None"),
        ({"video": "x"}, "step 2: it has 'video', which ATIF 1.8 does not know.*into `extra`"),
        ({"observation": []}, "step 2: observation must be an object, got"),
        ({"observation": {"results": {}}}, "step 2: results must be a list, got"),
        ({"observation": {"results": ["A room."]}}, "step 2: it has a result that is no object"),
        ({"tool_calls": [{}]}, "step 2: it has a call without a function_name"),
        ({"source": "user", "tool_calls": []}, "step 2: it is the user's and has tool_calls"),
        (
            {"metrics": {"completion_tokens": "9"}},
            "step 2: .*num_tokens must be a whole number",
        ),
        (
            {"extra": {"agentgym": {"reward": "high"}}},
            "step 2: .*reward must be a number",
        ),
    ],
)
def test_a_step_that_breaks_the_specification_is_named(
    changes: dict[str, Any], problem: str
) -> None:
    whole = document(*TASK)
    whole["steps"][1] |= changes
    with pytest.raises(ValueError, match=problem):
        from_atif(whole)


@pytest.mark.parametrize("version", ["ATIF-v2.0", "ATIF", "ATIF-1.7"])
def test_other_versions_are_refused(version: str) -> None:
    with pytest.raises(ValueError, match=f"schema_version must be ATIF-v1.0 .*'{version}'"):
        from_atif({**document(*TASK), "schema_version": version})


def test_a_subagent_s_fault_is_named_with_it() -> None:
    inner = document(user("T."), agent("a", [IMAGE]), trajectory_id="x")
    with pytest.raises(ValueError, match="subagent 1: step 2: it holds a part that is no text"):
        from_atif(document(*TASK, subagent_trajectories=[inner]))


def test_subagents_without_end_are_refused() -> None:
    whole = document(*TASK)
    for _ in range(2000):
        whole = document(*TASK, subagent_trajectories=[whole])
    with pytest.raises(ValueError, match="subagents lie too deep in each other; take them apart"):
        from_atif(whole)


# Files --------------------------------------------------------------------------------------------

OURS = [episode(task_id=f"textcraft_{number}") for number in range(3)]
DOCUMENTS = [to_atif(one) for one in OURS]


def write(path: Path, text: str) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("one.json", json.dumps(DOCUMENTS[0], indent=2), 1),
        ("one.json.gz", "\ufeff\n" + json.dumps(DOCUMENTS[0], indent=2), 1),
        ("line.json", json.dumps(DOCUMENTS[0]), 1),
        ("list.json", json.dumps(DOCUMENTS), 3),
        ("list.json", json.dumps(DOCUMENTS, indent=2), 3),
        ("lines.jsonl", "\n".join(map(json.dumps, DOCUMENTS)), 3),
        ("lines.jsonl.gz", "\n".join(map(json.dumps, DOCUMENTS)), 3),
        ("reversed.json", json.dumps(dict(reversed(DOCUMENTS[0].items())), indent=2), 1),
    ],
)
def test_the_reader_of_all_trajectories_reads_each_kind_of_file(
    tmp_path: Path, name: str, text: str, count: int
) -> None:
    assert list(read_trajectories(write(tmp_path / name, text))) == OURS[:count]


def test_a_folder_s_documents_are_read_in_order_and_have_different_tasks(tmp_path: Path) -> None:
    for place, whole in enumerate(DOCUMENTS):
        write(tmp_path / f"{place}.json", json.dumps(whole, indent=1))
    (tmp_path / "notes.txt").write_text("no document")
    assert list(read_trajectories(tmp_path)) == OURS
    for place in range(2):
        write(tmp_path / f"{place}.json", json.dumps(document(*TASK)))
    names = [one.task_id for one in read_trajectories(tmp_path)]
    assert names == ["conversation_1", "conversation_2", "textcraft_2"]


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("a.json", json.dumps(document(user("T."), agent("a", [IMAGE])), indent=1),
         "a.json, item 1: step 2: it holds a part"),
        ("a.jsonl", json.dumps(DOCUMENTS[0]) + '\n{"x": 1}\n',
         "a.jsonl, item 2: it is no ATIF trajectory"),
        ("a.json", json.dumps(DOCUMENTS[0], indent=1)[:-9], "a.json"),
        ("a.json", json.dumps({"status": "ended"}, indent=1), "a.json"),
        ("a.txt", "x", "folder without .json files; name its files"),
    ],
)  # fmt: skip
def test_files_that_cannot_be_read_are_named(
    tmp_path: Path, name: str, text: str, problem: str
) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(ValueError, match=problem):
        list(read_trajectories(tmp_path if path.suffix == ".txt" else path))
