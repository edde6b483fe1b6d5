from __future__ import annotations

import json
from math import log

import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from agentgym_envs import TokenTrace, Trajectory, Turn
from benchmarks.viewer.scenes import tokens
from benchmarks.viewer.scenes.tokens import turn_numbers


def byte_tokenizer():
    """Return a tokenizer of single bytes with the markup of a chat."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={c: n for n, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens(["<|im_start|>", "<|im_end|>"])
    return tokenizer


TOKENIZER = byte_tokenizer()


def encode(text):
    return TOKENIZER.encode(text).ids


def save_tokenizer(folder):
    folder.mkdir(parents=True, exist_ok=True)
    TOKENIZER.save(str(folder / "tokenizer.json"))


def recorded(*completions, policy="", **changes):
    """Return an episode of one trace, as if the toy tokenizer's policy had played it."""
    trace = TokenTrace(encode("<|im_start|>Rules."))
    for number, completion in enumerate(completions):
        if number:
            trace.append_given(encode("<|im_start|>No."))
        ids = encode(f"{completion}<|im_end|>")
        trace.append_action(ids, [log(0.25)] * len(ids))
    turns = [Turn("No.", completion, 0.0, True, 0.0) for completion in completions]
    values = {"turns": turns, "traces": [trace], "policy": policy, **changes}
    return Trajectory("toy/Letters-v0", "letters_0", **values)


@pytest.fixture
def run(tmp_path):
    """Return the folder of a run whose model has the toy tokenizer."""
    save_tokenizer(tmp_path / "start")
    (tmp_path / "run/trajectories").mkdir(parents=True)
    record = {"ModelArguments": {"model_name_or_path": str(tmp_path / "start")}}
    (tmp_path / "run/run.json").write_text(json.dumps(record))
    return tmp_path / "run"


def test_each_token_has_its_text_mask_and_probability(run):
    shown = tokens(recorded("ab", "c"), run / "trajectories")
    (trace,) = shown["traces"]
    assert shown["reason"] is None
    assert "".join(trace["prompt_texts"]) == "<|im_start|>Rules."
    assert trace["texts"][:4] == ["a", "b", "<|im_end|>", "<|im_start|>"]
    assert trace["mask"][:4] == [1, 1, 1, 0]
    assert trace["probabilities"][:4] == [0.25, 0.25, 0.25, None]
    assert trace["turns"] == [0] * 3 + [1] * 6
    assert json.loads(json.dumps(shown)) == shown


@pytest.mark.parametrize(
    ("completion", "sampled"),
    [
        ("<think>\nhm\n</think>\n\ngo", "hm\n</think>\n\ngo"),
        ("<think>\nhm\n</think>\n\ngo", "(analysis)hm(end)(final)go"),
    ],
)
def test_a_thought_that_the_template_opens_or_marks_in_its_own_way_is_found(
    run, completion, sampled
):
    played = recorded(sampled)
    played.turns = [Turn("No.", completion, 0.0, True, 0.0)]
    assert "".join(tokens(played, run)["traces"][0]["texts"]) == sampled + "<|im_end|>"


def test_the_texts_of_the_tokens_are_the_text_whatever_a_character_takes(run):
    completion = "caf\u00e9 \u2192 \U0001f600!"
    (trace,) = tokens(recorded(completion), run)["traces"]
    assert "".join(trace["texts"]) == completion + "<|im_end|>"
    assert len(trace["texts"]) == len(trace["ids"])
    assert trace["texts"][3:5] == ["", "\u00e9"]


def test_bytes_that_are_no_text_are_shown_as_such(run):
    broken = [*encode("a"), *encode("\u00e9")[:1], *encode("b")]
    trace = TokenTrace([1], broken, [1] * 3, [0.0] * 3)
    episode = recorded("a\ufffdb", traces=[trace])
    assert "".join(tokens(episode, run)["traces"][0]["texts"]) == "a\ufffdb"


@pytest.mark.parametrize("place", ["model", "checkpoint-8", "."])
def test_the_runs_own_folder_is_looked_through(tmp_path, place):
    save_tokenizer(tmp_path / place)
    (tmp_path / "trajectories").mkdir()
    assert tokens(recorded("ab"), tmp_path / "trajectories")["traces"][0]["texts"]


def test_the_policys_name_may_be_the_models_folder(tmp_path):
    save_tokenizer(tmp_path / "model")
    shown = tokens(recorded("ab", policy=str(tmp_path / "model")))
    assert shown["tokenizer"] == str(tmp_path / "model")


def test_a_tokenizer_that_reads_otherwise_is_not_believed(run):
    episode = recorded("ab")
    episode.turns[0].completion = "xy"
    shown = tokens(episode, run)
    assert shown["tokenizer"] is None
    assert shown["traces"][0]["texts"] is None
    assert "shown as ids" in shown["reason"]


def test_without_a_tokenizer_there_are_ids():
    shown = tokens(recorded("ab"))
    assert shown["traces"][0]["ids"] == encode("ab<|im_end|>")
    assert shown["traces"][0]["prompt_texts"] is None
    assert "shown as ids" in shown["reason"]


def test_advantages_are_shown_where_they_were_recorded(run):
    episode = recorded("ab", "c")
    assert not tokens(episode, run)["has_advantages"]
    mask = episode.trace.action_mask
    episode.trace.advantages = [0.5 * sampled for sampled in mask]
    shown = tokens(episode, run)
    assert shown["has_advantages"]
    assert shown["traces"][0]["advantages"] == [0.5 if sampled else None for sampled in mask]


def test_a_policy_without_tokens_has_none():
    assert tokens(recorded("ab", traces=[])) is None


@pytest.mark.parametrize(
    ("mask", "first", "expected"),
    [
        ([1, 1, 0, 0, 1], 0, [0, 0, 1, 1, 1]),
        ([1, 0, 1, 0], 2, [2, 3, 3, 4]),
        ([0, 1], 1, [1, 1]),
        ([], 0, []),
    ],
)
def test_given_tokens_belong_to_the_turn_that_reads_them(mask, first, expected):
    assert turn_numbers(mask, first) == expected


def test_windows_go_on_counting_turns():
    trace = TokenTrace([1], [5, 6, 7], [1, 0, 1], [-0.1, 0.0, -0.1])
    shown = tokens(recorded("a", traces=[trace, TokenTrace([1], [5], [1], [-0.1])]))
    assert [trace["turns"] for trace in shown["traces"]] == [[0, 1, 1], [2]]
