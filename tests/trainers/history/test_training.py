"""Histories in training, with servers, and of turns known as text: what counts is what was seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentgym_envs import Trajectory, Turn
from tests.serving import serving
from tests.trainers.policies.chat_server import message
from tests.trainers.policies.test_openai_api import CHAT, rollout_of
from tests.trainers.toys import LARGEST_GAP, make_tokenizer
from trainers.grpo import AgentGRPOTrainer
from trainers.history.notes import INSTRUCTION, Notes
from trainers.history.summary import Summary
from trainers.history.views import History, LastTurns, View
from trainers.sft import token_rows
from trainers.tokens.chat import ChatFormat
from trainers.tokens.generation import Generated
from trainers.tokens.history import TokenHistory

CHAT_FORMAT = ChatFormat.from_tokenizer(make_tokenizer())


class Countdown(History):
    """A history of a user's own: the task, and how many turns there were."""

    def view(self, episode: Trajectory) -> View:
        turns = len(episode.turns)
        return View((f"{episode.goal}, after {turns} turns: {episode.final_observation}",))


@pytest.mark.parametrize("name", ["summary", "notes", f"{__name__}:Countdown"])
def test_what_is_trained_is_what_was_sampled_behind_what_was_seen(
    trainer_in: Callable[..., AgentGRPOTrainer], name: str
) -> None:
    trainer = trainer_in(rollout={"history": name}, max_steps=1)
    trainer.train()
    assert trainer.state.log_history[0][LARGEST_GAP] < 1e-4
    history = trainer.rollout.policy._env_budgets("").history  # type: ignore[attr-defined]
    episodes = [e for e in trainer.trajectories if len(e.turns) > 1]
    assert episodes
    columns = trainer.rows.columns
    sampled = sum(map(sum, columns["env_mask"]))
    assert sampled == sum(turn.num_tokens for e in trainer.trajectories for turn in e.turns)
    for episode in episodes:
        of_turns = [ids for trace in episode.traces for ids in trace.sampled_turns()]
        starts = _starts(episode)
        for number, (turn, ids) in enumerate(zip(episode.turns, of_turns, strict=True)):
            so_far = _before(episode, number)
            view = history.view(so_far)
            assert starts[number] == CHAT_FORMAT.view_ids(so_far, view, of_turns)
            assert CHAT_FORMAT.decode(ids) == turn.completion
    assert any(len(episode.traces) > 1 for episode in episodes)


def _starts(episode: Trajectory) -> list[list[int]]:
    """What stands in its row before each turn."""
    starts = []
    for trace in episode.traces:
        before = 0
        for place, mask in enumerate(trace.action_mask):
            if mask and not before:
                starts.append(trace.prompt_ids + trace.completion_ids[:place])
            before = mask
    return starts


def _before(episode: Trajectory, number: int) -> Trajectory:
    return Trajectory(
        episode.env_id,
        episode.task_id,
        goal=episode.goal,
        system_prompt=episode.system_prompt,
        turns=episode.turns[:number],
        final_observation=episode.turns[number].observation,
    )


def test_notes_are_explained_in_the_instruction_on_record(
    trainer_in: Callable[..., AgentGRPOTrainer],
) -> None:
    trainer = trainer_in(rollout={"history": "notes"}, max_steps=1)
    trainer.train()
    for episode in trainer.trajectories:
        assert episode.system_prompt.count(INSTRUCTION) == 1
        assert CHAT_FORMAT.tokenize_trajectory(episode) == episode.traces


def test_a_server_is_asked_with_the_notes_and_environments_do_not_read_them() -> None:
    def answer(body: dict[str, Any]) -> dict[str, Any]:
        users = sum(m["role"] == "user" for m in body["messages"])
        return message(f"Memory: said q in message {users}\nq")

    with serving({CHAT: answer}) as server:
        (episode,) = rollout_of(server, history="notes", max_tokens_per_turn=30).run(["letters_0"])
    assert [turn.action for turn in episode.turns] == ["q"] * 3
    first, second, third = (request["messages"] for request in server.requests)
    assert first[0]["content"].endswith(INSTRUCTION)
    assert [m["role"] for m in second] == [m["role"] for m in third]
    assert third[1]["content"] == (
        f"Say a.\n\nYour notes:\n- said q in message 1\n\n{episode.turns[1].observation}"
    )
    assert third[2]["content"] == episode.turns[1].completion


def test_a_server_is_asked_with_a_history_of_ones_own() -> None:
    with serving({CHAT: lambda body: message("q")}) as server:
        (episode,) = rollout_of(server, history=f"{__name__}:Countdown").run(["letters_0"])
    asked = [[m["content"] for m in request["messages"][1:]] for request in server.requests]
    assert asked[2] == [f"a, after 2 turns: {episode.turns[2].observation}"]


def written(*completions: str) -> Trajectory:
    turns = [Turn(f"see {n}", text, 0.0, True, 0.0) for n, text in enumerate(completions)]
    return Trajectory(
        "e", "t_0", system_prompt="Play.", turns=turns, final_observation="end", success=True
    )


@pytest.mark.parametrize("history", [LastTurns(), LastTurns(1), Summary(), Notes(), Countdown()])
def test_turns_known_as_text_are_encoded_as_a_policy_would_see_them(history: History) -> None:
    episode = written("go", "Memory: a\nlook", "look", "take")
    tokens = TokenHistory(CHAT_FORMAT, history)
    for number, turn in enumerate(episode.turns):
        so_far = _before(episode, number)
        so_far.system_prompt = history.instruction(so_far.system_prompt)
        assert tokens.observe(so_far)
        ids = CHAT_FORMAT.action_ids(turn.completion)
        tokens.append(Generated(ids, [0.0] * len(ids), stopped=True))
    assert CHAT_FORMAT.encode_trajectory(episode, history) == tokens.traces
    rows = token_rows([episode], CHAT_FORMAT, env_history=lambda env_id: history)
    assert [row["input_ids"] for row in rows] == [trace.ids for trace in tokens.traces]


def test_what_comes_next_is_what_the_history_shows() -> None:
    episode = written("go", "look")
    episode.traces = CHAT_FORMAT.encode_trajectory(episode)
    view = Summary().view(episode)
    expected = CHAT_FORMAT.prompt_ids("Play.", view.observations[0])
    assert CHAT_FORMAT.ids_after(episode, Summary()) == expected
    whole = CHAT_FORMAT.ids_after(episode)
    assert whole[: len(episode.trace)] == episode.trace.ids
