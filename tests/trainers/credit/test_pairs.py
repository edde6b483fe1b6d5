from __future__ import annotations

from collections.abc import Sequence

import pytest

from agentgym_envs import Trajectory, Turn
from tests.trainers.families import FAMILIES
from tests.trainers.toys import make_tokenizer
from trainers.credit.pairs import Pair, distinct, pair_rows, preference_pairs, shared_turns
from trainers.tokens.chat import ChatFormat

CHAT = ChatFormat.from_tokenizer(make_tokenizer())


def played(
    *actions: str,
    reward: float = 0.0,
    task_id: str = "letters_0",
    observations: Sequence[str] | None = None,
    **values: object,
) -> Trajectory:
    """An episode of these actions; observation n is `"see n"` unless told otherwise."""
    read = observations or [f"see {n}" for n in range(len(actions))]
    turns = [
        Turn(observation, action, 0.0, True, 0.0)
        for observation, action in zip(read, actions, strict=True)
    ]
    if turns:
        turns[-1].reward = reward
    options: dict[str, object] = {"status": "terminated", "success": reward >= 1.0, **values}
    return Trajectory(
        "toy/Letters-v0", task_id, system_prompt="Rules.", turns=turns, **options  # type: ignore[arg-type]
    )  # fmt: skip


def own_text(ids: Sequence[int], mask: Sequence[int]) -> list[str]:
    """Return the text of each run of tokens that counts."""
    runs: list[list[int]] = []
    for index, token in enumerate(ids):
        if mask[index]:
            if not index or not mask[index - 1]:
                runs.append([])
            runs[-1].append(token)
    return [make_tokenizer().decode(run) for run in runs]


# Which episodes make a pair ---------------------------------------------------------------------


def test_success_is_preferred_to_failure_on_the_same_task() -> None:
    good, bad = played("a", reward=1.0), played("b")
    other = played("c", task_id="letters_1")
    assert preference_pairs([bad, good, other]) == [Pair(good, bad, 0)]


def test_the_first_difference_ends_the_shared_turns() -> None:
    good, bad = played("go", "left", "take", reward=1.0), played("go", "right", "take")
    assert preference_pairs([good, bad]) == [Pair(good, bad, 1)]


def test_the_higher_return_is_preferred_where_success_does_not_tell() -> None:
    more, less = played("a", reward=0.6), played("b", reward=0.2)
    assert preference_pairs([less, more]) == [Pair(more, less, 0)]


def test_success_counts_more_than_the_return() -> None:
    good, bad = played("a", reward=0.1, success=True), played("b", reward=0.9, success=False)
    assert preference_pairs([good, bad]) == [Pair(good, bad, 0)]


@pytest.mark.parametrize("gap", [0.0, 0.005])
def test_ties_make_no_pair(gap: float) -> None:
    one, other = played("a", reward=0.5), played("b", reward=0.5 + gap)
    assert preference_pairs([one, other]) == []


def test_failed_episodes_never_enter() -> None:
    good = played("a", reward=1.0)
    assert preference_pairs([good, played("b", status="failed")]) == []
    assert preference_pairs([played("b", reward=1.0, status="failed"), played("c")]) == []


def test_what_was_read_must_be_the_same_up_to_the_difference() -> None:
    good = played("go", "left", reward=1.0)
    bad = played("go", "right", observations=["see 0", "see another room"])
    assert preference_pairs([good, bad]) == []
    assert preference_pairs([good, played("b", observations=["another task"])]) == []


def test_what_is_read_after_the_difference_may_differ() -> None:
    good = played("left", "take", reward=1.0)
    bad = played("right", "take", observations=["see 0", "see a wall"])
    assert preference_pairs([good, bad]) == [Pair(good, bad, 0)]


def test_an_episode_and_its_own_beginning_make_no_pair() -> None:
    whole, cut = played("go", "take", reward=1.0), played("go", status="truncated")
    assert shared_turns(whole, cut) is None
    assert preference_pairs([whole, cut]) == []


def test_equal_episodes_count_once_and_empty_ones_never() -> None:
    good, bad = played("a", reward=1.0), played("b")
    again, empty = played("b"), Trajectory("toy/Letters-v0", "letters_0")
    assert distinct([good, bad, again, empty]) == [good, bad]
    assert len(preference_pairs([good, bad, again, empty])) == 1


def test_episodes_of_other_content_or_instructions_are_not_compared() -> None:
    good = played("a", reward=1.0, source="world-1")
    assert preference_pairs([good, played("b", source="world-2")]) == []
    other = played("b", source="world-1")
    other.system_prompt = "Other rules."
    assert preference_pairs([good, other]) == []


def test_against_names_the_rejected_ones() -> None:
    expert, better, worse = played("a", reward=1.0), played("b", reward=0.5), played("c")
    found = preference_pairs([expert], against=[better, worse])
    assert [pair.rejected for pair in found] == [better, worse]
    assert {id(pair.chosen) for pair in found} == {id(expert)}


def test_the_pairs_of_a_task_are_bounded_and_drawn_by_the_seed() -> None:
    episodes = [played(chr(97 + n), reward=float(n < 5)) for n in range(10)]
    others = [played(chr(97 + n), reward=float(n < 5), task_id="letters_1") for n in range(10)]
    assert len(preference_pairs(episodes, max_pairs_per_task=0)) == 25
    three = preference_pairs(episodes, max_pairs_per_task=3)
    assert len(three) == 3
    assert preference_pairs([*others, *episodes], max_pairs_per_task=3)[3:] == three
    assert preference_pairs(episodes, max_pairs_per_task=3, seed=1) != three


@pytest.mark.parametrize("name", ["max_pairs_per_task", "min_return_gap", "compared_turns"])
def test_negative_bounds_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} must be >= 0, got -1"):
        preference_pairs([], **{name: -1})


# Their tokens -----------------------------------------------------------------------------------


def test_only_what_was_written_after_the_shared_turns_counts() -> None:
    good, bad = played("go", "left", "take", reward=1.0), played("go", "right")
    row = pair_rows(preference_pairs([good, bad]), CHAT)[0]
    assert own_text(row["chosen_ids"], row["chosen_mask"]) == ["left<|im_end|>", "take<|im_end|>"]
    assert own_text(row["rejected_ids"], row["rejected_mask"]) == ["right<|im_end|>"]


@pytest.mark.parametrize(("turns", "chosen"), [(1, ["left"]), (2, ["left", "take"]), (9, None)])
def test_the_first_actions_that_differ_can_be_compared_alone(
    turns: int, chosen: list[str] | None
) -> None:
    good, bad = played("go", "left", "take", "eat", reward=1.0), played("go", "right", "sleep")
    row = pair_rows(preference_pairs([good, bad], compared_turns=turns), CHAT)[0]
    expected = [f"{word}<|im_end|>" for word in chosen or ["left", "take", "eat"]]
    assert own_text(row["chosen_ids"], row["chosen_mask"]) == expected
    assert row["chosen_mask"][-1] == row["rejected_mask"][-1] == 1, "nothing stands behind it"
    assert len(row["chosen_ids"]) == len(row["chosen_mask"])


def test_both_sides_have_the_same_context() -> None:
    good, bad = played("go", "left", reward=1.0), played("go", "right")
    row = pair_rows(preference_pairs([good, bad]), CHAT)[0]
    start = row["chosen_mask"].index(1)
    assert row["rejected_mask"].index(1) == start
    assert row["chosen_ids"][:start] == row["rejected_ids"][:start]


def test_recorded_tokens_are_taken_as_they_were_sampled() -> None:
    good, bad = played("go", "left", reward=1.0), played("go", "right")
    (trace,) = CHAT.encode_trajectory(good)
    first = trace.action_mask.index(1)
    trace.completion_ids[first] = 7  # what was sampled need not be what the tokenizer would say
    good.traces = [trace]
    row = pair_rows(preference_pairs([good, bad]), CHAT)[0]
    assert row["chosen_ids"] == trace.ids[: len(row["chosen_mask"])]
    assert own_text(row["chosen_ids"], row["chosen_mask"]) == ["left<|im_end|>"]


def test_turns_that_are_not_trained_never_count() -> None:
    good, bad = played("go", "left", "take", reward=1.0), played("go", "right")
    good.turns[0].trained = good.turns[2].trained = False
    row = pair_rows([Pair(good, bad, 1)], CHAT)[0]
    assert own_text(row["chosen_ids"], row["chosen_mask"]) == ["left<|im_end|>"]


def test_turns_in_traces_of_their_own_can_be_compared_one_by_one() -> None:
    """A template that drops thoughts gives each turn a trace; one turn lies in one of them."""
    chat = ChatFormat.from_tokenizer(FAMILIES["opens and drops"].tokenizer())
    good, bad = played("go", "left", "take", reward=1.0), played("go", "right", "sleep")
    (row,) = pair_rows(preference_pairs([good, bad], compared_turns=1), chat)
    for side, word in (("chosen", "left"), ("rejected", "right")):
        ids = row[f"{side}_ids"]
        start = row[f"{side}_mask"].index(1)
        assert ids[:start] == chat.conversation_ids("Rules.", ["see 0", "see 1"], ["go"])  # type: ignore[attr-defined]
        assert ids[start:] == chat.action_ids(word)
        assert row[f"{side}_mask"][start:] == [1] * len(chat.action_ids(word))
    with pytest.raises(ValueError, match=r"several token windows.*`compared_turns=1`"):
        pair_rows(preference_pairs([good, bad]), chat)


def test_long_and_windowed_pairs_are_left_out_and_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    good, bad = played("a", reward=1.0), played("b")
    long = played("c" * 200)
    windowed = played("d", "e")
    windowed.traces = CHAT.encode_trajectory(played("d")) * 2
    pairs = preference_pairs([good], against=[bad, long, windowed])
    rows = pair_rows(pairs, CHAT, max_tokens=100)
    assert len(rows) == 1
    assert "left out of 3 pairs: 1 with several token windows, 1 with too many" in caplog.text
    with pytest.raises(ValueError, match="1 found, 1 with too many tokens"):
        pair_rows([Pair(good, long, 0)], CHAT, max_tokens=100)


def test_no_pair_at_all_is_refused_with_the_remedy() -> None:
    with pytest.raises(ValueError, match="Collect several per task"):
        pair_rows([], CHAT)
