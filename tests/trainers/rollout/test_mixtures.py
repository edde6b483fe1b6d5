"""In which order several environments' tasks are drawn, and how many of each."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import islice, pairwise, product

import pytest

from trainers.rollout.mixtures import Mixture, draw_order, repeated, shares, spread

CRAFT = [f"craft_{n}" for n in range(100)]
GRID = [f"grid_{n}" for n in range(10)]
QA = [f"qa_{n}" for n in range(1000)]


@pytest.mark.parametrize(
    "weights", [*product(range(1, 6), repeat=2), *product((1, 2, 5), repeat=3)]
)
def test_after_any_number_of_draws_each_has_its_share(weights: tuple[int, ...]) -> None:
    total = sum(weights)
    drawn: Counter[int] = Counter()
    for count, chosen in enumerate(islice(draw_order(dict(enumerate(weights))), 3 * total), 1):
        drawn[chosen] += 1
        off = [abs(drawn[i] - Fraction(count * w, total)) for i, w in enumerate(weights)]
        assert max(off) < (1 if len(set(weights)) == 1 or len(weights) == 2 else 1.5)
        if count % total == 0:
            assert max(off) == 0
        assert shares(count, dict(enumerate(weights))) == {i: drawn[i] for i in range(len(weights))}


def test_what_is_left_of_a_share_is_carried_to_the_next_batch() -> None:
    order = draw_order({"a": 1, "b": 1, "c": 1})
    batches = [Counter(islice(order, 4)) for _ in range(3)]
    assert [max(batch, key=batch.__getitem__) for batch in batches] == ["a", "b", "c"]
    assert sum(batches, Counter()) == {"a": 4, "b": 4, "c": 4}


@pytest.mark.parametrize("seed", [0, None])
def test_a_draw_depends_on_its_place_alone(seed: int | None) -> None:
    weights = {"craft": 3, "grid": 2}
    rows = {"craft": range(7), "grid": range(7, 10)}
    whole = Mixture(rows, weights, seed).draw(0, 60)
    for start in (0, 1, 13, 47):
        assert Mixture(rows, weights, seed).draw(start, 13) == whole[start : start + 13]
    for name in rows:
        own = [row for row in whole if row in rows[name]]
        for first in range(0, len(own) - len(rows[name]), len(rows[name])):
            assert sorted(own[first : first + len(rows[name])]) == list(rows[name])
    assert (own[:3] == [7, 8, 9]) == (seed is None)


def test_another_seed_draws_in_another_order_with_the_same_shares() -> None:
    one, other = (Mixture({"a": range(9), "b": range(9, 99)}, {"a": 1, "b": 1}, s) for s in (0, 1))
    assert one.draw(0, 18) != other.draw(0, 18)
    assert [row < 9 for row in one.draw(0, 18)] == [row < 9 for row in other.draw(0, 18)]


def test_an_evaluation_has_as_many_tasks_of_each_environment() -> None:
    chosen = spread(CRAFT + GRID + QA, 12)
    assert Counter(task.partition("_")[0] for task in chosen) == {"craft": 4, "grid": 4, "qa": 4}
    assert chosen[:4] == ["craft_0", "craft_25", "craft_50", "craft_75"]


def test_where_one_has_too_few_tasks_the_others_have_more() -> None:
    chosen = spread(CRAFT + GRID + QA, 60)
    assert Counter(task.partition("_")[0] for task in chosen) == {"craft": 25, "grid": 10, "qa": 25}
    assert len(set(chosen)) == 60


KINDS = ("go", "pick", "open")


def kind_in_turn(task_id: str) -> str:
    return KINDS[int(task_id.partition("_")[2]) % 3]


@pytest.mark.parametrize("count", [*range(1, 100), 333, 334, 500, 999])
def test_each_kind_of_tasks_has_its_share(count: int) -> None:
    chosen = spread(QA, count, task_kind=kind_in_turn)
    numbers = Counter(map(kind_in_turn, chosen))
    of_all = Counter(map(kind_in_turn, QA))
    assert all(abs(numbers[kind] - of_all[kind] * count / len(QA)) < 1 for kind in KINDS)
    assert len(set(chosen)) == count
    assert chosen == sorted(chosen, key=QA.index)


def test_the_tasks_of_a_kind_are_spread_evenly() -> None:
    chosen = [int(task.partition("_")[2]) for task in spread(QA, 30, task_kind=kind_in_turn)]
    for kind in range(3):
        own = [number for number in chosen if number % 3 == kind]
        assert {after - number for number, after in pairwise(own)} <= {99, 102}
        assert 9 <= len(own) <= 11


def test_what_does_not_go_round_is_of_all_kinds_too() -> None:
    chosen = repeated(QA, 1333, task_kind=kind_in_turn)
    numbers = Counter(map(kind_in_turn, chosen[1000:]))
    assert all(abs(numbers[kind] - 111) <= 1 for kind in KINDS)


def test_collected_episodes_go_round_the_tasks_of_each_environment() -> None:
    chosen = repeated(GRID + QA, 45, {"grid": 2, "qa": 1})
    assert Counter(task.partition("_")[0] for task in chosen) == {"grid": 30, "qa": 15}
    assert Counter(chosen)["grid_3"] == 3


def test_the_tasks_of_one_environment_are_chosen_as_ever() -> None:
    assert spread(CRAFT, 3) == ["craft_0", "craft_33", "craft_66"]
    assert repeated(GRID, 12) == [*GRID, "grid_0", "grid_5"]
