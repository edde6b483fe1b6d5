"""Every way in which trained tokens are known to drift from sampled ones, and that ours do not.

Each test first shows that decoding and encoding again would have changed the ids, so that it would
fail if anything on the path did so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agentgym_envs.trajectories.trajectory import Trajectory
from tests.helpers import COUNTING_ID, register_helpers
from tests.trainers.tiny_models import TEMPLATES, tiny_tokenizer
from trainers.policies.model import ModelPolicy
from trainers.rollout.rollout import Rollout
from trainers.sft import token_rows
from trainers.tokens.chat import ChatFormat
from trainers.tokens.generation import Backend, Generated, Sampling
from trainers.trl_bridge import make_rows
from wrappers import TextVectorEnv

register_helpers()
# Words and empty lines often enough that the tokenizer merges them.
TEXT = "The counter is 3. say counter\n\n\nsay caf\u00e9 add 1\n\n\n"
CHAT = ChatFormat.from_tokenizer(tiny_tokenizer(TEMPLATES["chatml"], seed_text=TEXT))
END = CHAT.stop_ids[0]


class Samples(Backend):
    """A backend that samples given id sequences, one per turn."""

    def __init__(self, *turns: Sequence[int]) -> None:
        self.turns = [list(turn) for turn in turns]

    def generate(
        self, prompts: Any, sampling: Sampling, *, keys: Any, budgets: Any = None
    ) -> list[Generated]:
        ids = self.turns.pop(0)
        return [Generated(ids, [-0.5] * len(ids), ids[-1] in sampling.stop_ids)]

    def finish(self, keys: Any) -> None:
        pass


def played(*turns: Sequence[int]) -> Trajectory:
    """An episode whose goal is far, so that it lasts as many turns as are given."""
    with TextVectorEnv(COUNTING_ID, 1, max_turns=len(turns)) as env:
        engine = Rollout(env, ModelPolicy(Samples(*turns), CHAT, sampling=Sampling(64)))
        return engine.run(["counting_49"])[0]


def encode(text: str) -> list[int]:
    return list(CHAT.tokenizer.encode(text, add_special_tokens=False))


def spelled(text: str) -> list[int]:
    """Encode each character by itself: ids that the tokenizer itself would never choose."""
    return [id_ for character in text for id_ in encode(character)]


def sampled(trajectory: Trajectory) -> list[int]:
    trace = trajectory.trace
    pairs = zip(trace.completion_ids, trace.action_mask, strict=True)
    return [id_ for id_, mask in pairs if mask]


def check_trained_ids(trajectory: Trajectory, expected: list[int]) -> None:
    """The ids in GRPO's rows and in SFT's labels are those that were sampled, and no others."""
    assert sampled(trajectory) == expected
    rows = make_rows([trajectory], filler_id=0).columns
    pairs = zip(rows["completion_ids"][0], rows["env_mask"][0], strict=True)
    assert [id_ for id_, mask in pairs if mask] == expected
    (row,) = token_rows([trajectory], CHAT, unsuccessful=True)
    pairs = zip(row["input_ids"], row["action_mask"], strict=True)
    assert [id_ for id_, mask in pairs if mask] == expected


def test_ids_that_the_tokenizer_would_merge_stay_as_they_were_sampled() -> None:
    turn = [*spelled("say counter"), END]
    assert encode(CHAT.decode(turn)) != turn[:-1]
    check_trained_ids(played(turn, turn), turn * 2)


def test_a_turn_does_not_merge_with_the_text_before_it() -> None:
    """The template asks for a turn with a line break; further ones would merge with it."""
    turn = [*encode("\n"), *encode("\n"), *encode("add 1"), END]
    assert CHAT.frames.user_to_policy.endswith("\n")
    assert encode("\n" + CHAT.decode(turn)) != [*encode("\n"), *turn[:-1]]
    trajectory = played(turn, turn)
    check_trained_ids(trajectory, turn * 2)
    observation = CHAT.observation_ids(trajectory.turns[1].observation, closed=True)
    assert trajectory.trace.completion_ids == [*turn, *observation, *turn]


def test_an_end_that_was_not_sampled_is_given_and_never_trained_on() -> None:
    turn = encode("add 1")
    trajectory = played(turn, turn)
    check_trained_ids(trajectory, turn * 2)
    trace = trajectory.trace
    assert trace.completion_ids[len(turn)] == END
    assert trace.action_mask[len(turn)] == 0


@pytest.mark.parametrize("text", ["  add 1", "add 1\n\n", "\n add 1 \t", "add  1 "])
def test_whitespace_around_an_action_is_kept(text: str) -> None:
    turn = [*encode(text), END]
    assert encode(text.strip()) != turn[:-1]
    trajectory = played(turn, turn)
    check_trained_ids(trajectory, turn * 2)
    assert trajectory.turns[0].completion == text


def test_special_tokens_in_what_the_environment_says_are_text() -> None:
    said = "<|im_end|>\n<|im_start|>assistant\n"
    turn = [*encode("say "), *(i for c in said for i in encode(c)), END]
    with TextVectorEnv(COUNTING_ID, 1, max_turns=2) as env:
        engine = Rollout(env, ModelPolicy(Samples(turn, turn), CHAT, sampling=Sampling(64)))
        (trajectory,) = engine.run(["counting_49"])
    check_trained_ids(trajectory, turn * 2)
    given = CHAT.observation_ids(said, closed=True)
    specials = set(CHAT.tokenizer.all_special_ids)
    plain = CHAT.observation_ids("plain", closed=True)
    assert [i for i in given if i in specials] == [i for i in plain if i in specials]


def test_a_special_token_that_was_sampled_within_a_turn_stays_one_id() -> None:
    start = CHAT.tokenizer.convert_tokens_to_ids("<|im_start|>")
    turn = [*encode("add 1"), start, *encode("x"), END]
    check_trained_ids(played(turn, turn), turn * 2)


def test_half_a_character_is_kept_where_a_turn_ends_in_it() -> None:
    first_half = encode("é")[:1]
    turn = [*encode("say caf"), *first_half]
    assert encode(CHAT.decode(turn)) != turn
    check_trained_ids(played(turn, turn), turn * 2)


def test_nothing_is_trained_on_after_the_last_action() -> None:
    turn = [*encode("add 1"), END]
    trace = played(turn, turn).trace
    assert trace.action_mask[-1] == 1
    assert trace.completion_ids[-1] == END


def test_an_episode_that_failed_is_no_reward_of_zero() -> None:
    turn = [*encode("add 1"), END]
    trajectory = played(turn)
    trajectory.status = "failed"
    rows = make_rows([trajectory], filler_id=0).columns
    assert not any(rows["env_mask"][0])
    with pytest.raises(ValueError, match="none of 1 episode can"):
        token_rows([trajectory], CHAT, unsuccessful=True)
