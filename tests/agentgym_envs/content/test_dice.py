from agentgym_envs.content.dice import Dice


def test_the_rolls_of_a_key_are_these_for_ever() -> None:
    dice = Dice("a test", 1)
    rolls = [dice.below(6), dice.between(3, 9), dice.chance(0.5), dice.pick("abc")]
    assert [*rolls, dice.sample("abcdef", 3), dice.shuffled("abcd")] == [
        1,
        9,
        False,
        "b",
        ["a", "d", "b"],
        ["b", "d", "c", "a"],
    ]


def test_a_sample_has_no_item_twice_and_no_more_than_there_are() -> None:
    dice = Dice("another")
    assert sorted(dice.sample("abc", 9)) == ["a", "b", "c"]
    assert dice.sample("", 2) == []
