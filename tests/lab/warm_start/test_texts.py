import re

import numpy as np
import pytest

from agentgym_envs.babyai.env import BabyAIEnv
from agentgym_envs.textcraft.env import TextCraftEnv
from lab.warm_start import GOAL_SHARE
from lab.warm_start.alfworld_play import MAX_TURNS, alfworld_play, alfworld_units
from lab.warm_start.babyai_play import SEEDS, babyai_play
from lab.warm_start.babyai_rooms import mission_actions, rooms_play
from lab.warm_start.deep_play import NUMBERS, deep_play
from lab.warm_start.textcraft_play import drill, made_up_play, training_split_play
from lab.warm_start.texts import encode

KINDS = {
    "drill": lambda rng: drill(rng, 8),
    "made-up": made_up_play,
    "training split": training_split_play,
    "BabyAI": babyai_play,
    "BabyAI, rooms": rooms_play,
    "deep books": deep_play,
    "ALFWorld": alfworld_play,
}

REFUSALS = ("Could not", "There is", "No recipe", "Wrong amount", "Nothing happens")


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_text(kind):
    texts = [KINDS[kind](np.random.default_rng(7)) for _ in range(2)]
    assert texts[0] == texts[1]


@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_a_chat_that_ends_with_the_policy(kind):
    rng = np.random.default_rng(0)
    for _ in range(50):
        roles = [message.role for message in KINDS[kind](rng)]
        assert roles[:2] == ["system", "user"]
        assert roles[1:] == ["user", "assistant"] * (len(roles) // 2)


@pytest.mark.parametrize("kind", KINDS)
def test_only_what_the_policy_does_well_is_imitated(kind):
    rng = np.random.default_rng(1)
    for _ in range(30):
        messages = KINDS[kind](rng)
        for message, answer in zip(messages, messages[1:], strict=False):
            if message.role == "assistant" and answer.content.startswith(REFUSALS):
                assert message.weight == 0.0
        assert all(m.weight < 1.0 for m in messages if m.role != "assistant")
        text = encode(messages)
        assert len(text.ids) == len(text.weights)


def goal_of(question):
    return question.content.rpartition("Goal: craft ")[2].rstrip(".")


@pytest.mark.slow
def test_only_goals_of_the_training_split_are_played():
    env = TextCraftEnv()
    held_out = {
        env.book.goals[number]
        for split in ("validation", "test")
        for number in env.task_set.numbers(split)
    }
    rng = np.random.default_rng(0)
    goals = {goal_of(training_split_play(rng)[1]) for _ in range(800)}
    assert len(goals) > 200
    assert not goals & held_out


def test_no_split_of_babyai_holds_the_rooms_that_are_played():
    env = BabyAIEnv()
    for split in env.task_set.splits:
        seeds = {number // 40 for number in env.task_set.numbers(split)[:4000]}
        assert not seeds & set(range(*SEEDS))


def test_a_drill_quotes_its_book_word_for_word():
    rng = np.random.default_rng(3)
    for _ in range(20):
        _, question, answer = drill(rng, 10)
        listed = question.content.splitlines()
        for line in answer.content.splitlines()[1:]:
            command = line.partition(": ")[2]
            assert command == "get" or command.rpartition(" x")[0] in listed


@pytest.mark.slow
def test_a_player_heeds_the_goal_in_its_share_of_the_plays_and_crafts_what_is_listed():
    rng = np.random.default_rng(5)
    heeded = 0
    for _ in range(300):
        _, question, *turns = training_split_play(rng)
        first = re.search(r"1\. (.+?) [0-9]+: craft", turns[0].content)
        assert first is not None
        heeded += first[1] == goal_of(question)
        assert any(f" {first[1]} using" in line for line in question.content.splitlines())
    # A share of the plays, and what chance adds.
    assert GOAL_SHARE * 300 - 40 < heeded < GOAL_SHARE * 300 + 80


@pytest.mark.parametrize(
    ("goal", "expected"),
    [
        ("go to the red ball", ["go to red ball 1"]),
        ("pick up a box", ["pick up grey box 2", "pick up red box 1"]),
        ("open a grey door", ["open grey closed door 1"]),
        ("go to a key after you pick up the red box", ["pick up red box 1"]),
        ("put the red ball next to the key", []),
    ],
)
def test_the_wanted_actions_do_what_a_part_of_the_mission_says(goal, expected):
    offered = [
        "turn left", "go to red ball 1", "pick up red ball 1", "pick up grey box 2",
        "pick up red box 1", "open grey closed door 1", "go to grey closed door 1",
    ]  # fmt: skip
    assert mission_actions(goal, offered) == expected


def test_in_rooms_all_that_is_learned_was_possible_and_slips_are_only_read():
    rng = np.random.default_rng(3)
    learned = slips = 0
    for _ in range(60):
        messages = rooms_play(rng)
        for answer, action in zip(messages[1::2], messages[2::2], strict=True):
            told = action.content.partition("Action: ")[2]
            if action.weight:
                learned += 1
                assert f'"{told}"' in answer.content
            else:
                slips += 1
    assert 0.02 < slips / (slips + learned) < 0.12


def test_deep_books_that_are_played_are_of_no_split():
    numbers = {
        number
        for split in ("train", "validation", "test")
        for number in TextCraftEnv(book="deep").task_set.numbers(split)
    }
    assert max(numbers) < NUMBERS[0] * 4


def test_plays_of_deep_books_and_houses_end_with_the_goal():
    rng = np.random.default_rng(4)
    for _ in range(30):
        _, question, *turns = deep_play(rng)
        assert f" {goal_of(question)} using " in turns[-1].content.rpartition("\nAction: ")[2]
    lengths = []
    for _ in range(60):
        *_, last = messages = alfworld_play(rng)
        lengths.append(len(messages) // 2)
        ended = re.search(r"Action: (move|use) ", last.content)
        assert ended or lengths[-1] == MAX_TURNS
    assert np.median(lengths) < MAX_TURNS


def test_plays_of_deep_books_slip_and_go_on():
    rng = np.random.default_rng(5)
    shares = [np.mean([move.weight == 0.0 for move in deep_play(rng)[2::2]]) for _ in range(100)]
    assert min(shares) == 0.0
    assert 0.15 < np.mean(shares) < 0.25


@pytest.mark.slow
def test_a_numbered_name_of_alfworld_is_one_unit():
    units = alfworld_units()
    assert {" cabinet 1", " fridge 1", " mug 1"} <= set(units)
    assert len(units) < 2000
