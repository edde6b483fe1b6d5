"""A language model judges answers, and the record keeps what it said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import EnvFailure, Trajectory
from agentgym_envs.trajectories.trajectory import read_jsonl, write_jsonl
from agentgym_envs.webarena import llm_judge
from agentgym_envs.webarena.env import WebArenaEnv
from agentgym_envs.webarena.llm_judge import LLMJudge
from agentgym_envs.webarena.option_values import read_judge
from tests.agentgym_envs.webarena import small_tasks
from tests.agentgym_envs.webarena.still import StrictJudge
from tests.serving import Failure, Server, serving
from wrappers import RecordTrajectories


@dataclass
class Model:
    """A model that repeats a word, after as many errors as it is told."""

    says: str = "It fits.\nRIGHT"
    errors: list[int] = field(default_factory=list)

    def answer(self, body: dict[str, Any]) -> dict[str, Any] | Failure:
        if self.errors:
            return Failure(self.errors.pop(0), '{"error": "not now"}')
        return {"choices": [{"message": {"role": "assistant", "content": self.says}}]}


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(llm_judge, "_PAUSES", (0.0, 0.0))
    monkeypatch.setenv("OPENAI_API_KEY", "a-secret-key")
    with serving({"/v1/chat/completions": model.answer}) as server:
        yield server


@pytest.mark.parametrize(
    ("says", "is_right"),
    [("RIGHT", True), ("Not WRONG, so:\nRIGHT", True), ("PARTLY", False), ("WRONG.", False)],
)
def test_the_last_word_counts_and_a_part_is_not_enough(
    server: Server, model: Model, says: str, is_right: bool
) -> None:
    model.says = says
    judge = LLMJudge(
        "m", base_url=f"{server.url}/v1", fields={"max_tokens": 9, "temperature": None}
    )
    ruling = judge.is_equivalent(question="How far?", reference="2 km", answer="2000 metres")
    assert (bool(ruling), ruling.text, ruling.judge) == (is_right, says, "m")
    assert bool(judge.is_same_reason(task="Buy it", reason="sold out", report="none left")) is (
        is_right
    )
    first, second = server.requests
    (message,) = first["messages"]
    assert all(text in message["content"] for text in ("How far?", "2 km", "2000 metres"))
    assert all(text in second["messages"][0]["content"] for text in ("Buy it", "sold out", "left"))
    assert first["max_tokens"] == 9 and "temperature" not in first
    assert server.keys[0] == "Bearer a-secret-key"


def test_passing_errors_are_tried_again_and_others_are_failures(
    server: Server, model: Model
) -> None:
    judge = LLMJudge("m", base_url=f"{server.url}/v1")
    asked = {"question": "q", "reference": "r", "answer": "a"}
    model.errors = [503, 429]
    assert judge.is_equivalent(**asked)
    model.errors = [401]
    with pytest.raises(EnvFailure, match="the judge m at .* fails: 401"):
        judge.is_equivalent(**asked)
    assert len(server.requests) == 4
    model.says = "I cannot say."
    with pytest.raises(EnvFailure, match="neither RIGHT, PARTLY nor WRONG"):
        judge.is_equivalent(**asked)


def test_what_the_judge_said_is_in_the_record(server: Server, tmp_path: Path) -> None:
    episodes: list[Trajectory] = []
    env = WebArenaEnv(
        tasks_file=small_tasks.write(tmp_path / "tasks.json"),
        judge={"model": "m", "base_url": f"{server.url}/v1"},
        split="test",
    )
    recorded = RecordTrajectories(env, episodes.append)
    recorded.reset(options={"task_id": 2})
    *_, info = recorded.step("stop [a drawing of places]")
    assert (info["success"], info["unscored"]) == (True, False)
    recorded.reset(options={"task_id": 0})
    *_, info = recorded.step("stop [42]")
    assert (info["success"], info["judgements"]) == (True, "")
    recorded.close()
    write_jsonl(tmp_path / "episodes.jsonl", episodes)
    judged, plain = read_jsonl(tmp_path / "episodes.jsonl")
    assert json.loads(judged.judgements) == {
        "reference": "a map",
        "answer": "a drawing of places",
        "is_right": True,
        "text": "It fits.\nRIGHT",
        "judge": "m",
    }
    assert plain.judgements == ""


# As an argument ---------------------------------------------------------------------------------


def make_judge() -> StrictJudge:
    return StrictJudge()


def test_a_judge_is_an_object_a_name_or_arguments(tmp_path: Path) -> None:
    judge = StrictJudge()
    assert read_judge(judge) is judge and read_judge(None) is None
    assert isinstance(read_judge(f"{__name__}:make_judge"), StrictJudge)
    path = tmp_path / "judge.json"
    path.write_text('{"model": "m", "base_url": "http://localhost:1/v1"}')
    read = read_judge(str(path))
    assert isinstance(read, LLMJudge) and read.model == "m"


@pytest.mark.parametrize(
    ("judge", "message"),
    [
        ("somebody", "must be module:name or a .json file"),
        ("no_such_module:judge", "cannot import 'no_such_module'"),
        ("json:nobody", "has no 'nobody'"),
        ("none.json", "cannot be read as JSON"),
        ({"model": ""}, "must be a name"),
        ({"model": "m", "base_url": "localhost"}, "must be an address"),
        ({"model": "m", "time": 3}, "unexpected keyword argument 'time'"),
        (42, "must have the methods"),
    ],
)
def test_another_judge_is_refused(judge: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_judge(judge)
