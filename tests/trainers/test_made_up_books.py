import numpy as np
import pytest

from agentgym_envs.textcraft.env import TextCraftEnv
from trainers.made_up_books import drill, made_up_episode, training_split_episode

KINDS = {
    "drill": lambda rng: drill(rng, 8),
    "made-up": made_up_episode,
    "training split": training_split_episode,
}


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


def test_only_goals_of_the_training_split_are_played():
    env = TextCraftEnv()
    held_out = {
        env.book.goals[number]
        for split in ("validation", "test")
        for number in env.tasks_of.numbers(split)
    }
    rng = np.random.default_rng(0)
    goals = {
        training_split_episode(rng)[1].content.rpartition("Goal: craft ")[2].rstrip(".")
        for _ in range(800)
    }
    assert len(goals) > 200
    assert not goals & held_out


def test_a_drill_quotes_its_book_word_for_word():
    rng = np.random.default_rng(3)
    for _ in range(20):
        _, question, answer = drill(rng, 10)
        listed = question.content.splitlines()
        for line in answer.content.splitlines()[1:]:
            command = line.partition(": ")[2]
            assert command == "get" or command.rpartition(" x")[0] in listed
