"""The quick run and the full one, over small files of tests."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.quick import DURATIONS, evenly

CASES = """
    import pytest
    from hypothesis import given, strategies
    from tests.quick import examples

    @pytest.mark.parametrize("n", range(40), ids=[f"case{n}" for n in range(40)])
    def test_one_table(n): pass

    @pytest.mark.parametrize("a, b", [(a, -a) for a in range(10)])
    @pytest.mark.parametrize("c", [pytest.param(c, id=f"c{c}") for c in "pqrst"])
    def test_two_tables(a, b, c): assert a == -b

    @pytest.mark.parametrize(argnames=["n"], argvalues=[(0,), (1,)])
    def test_few(n): pass

    SLOW = [pytest.param(n, marks=[pytest.mark.slow] if n % 2 else []) for n in range(60)]

    @pytest.mark.parametrize("n", SLOW)
    def test_some_of_them_slow(n): assert n % 2 == 0

    @pytest.mark.full
    def test_full(): pass

    @given(strategies.integers())
    def test_drawn(n): assert examples(50) in (10, 50)
"""


@pytest.fixture
def small(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[1]))
    pytester.makeini("[pytest]\nmarkers =\n    full: x\n    slow: x")
    pytester.makeconftest('pytest_plugins = ["tests.quick"]')
    pytester.makepyfile(CASES)
    return pytester


def counted(small: pytest.Pytester, *words: str) -> int:
    ended = small.runpytest_subprocess(*(words or ("-m", "not slow")))
    return int(ended.parseoutcomes()["passed"])


def test_the_quick_run_takes_a_few_cases_and_leaves_out_what_is_full(
    small: pytest.Pytester,
) -> None:
    assert counted(small) == 6 + 3 * 5 + 2 + 6 + 1
    assert not {"test_full"} & {name.rpartition(":")[2] for name in durations(small)}


def test_the_full_run_takes_all_and_the_rest_is_what_the_quick_one_left(
    small: pytest.Pytester,
) -> None:
    everything = 40 + 50 + 2 + 30 + 1 + 1
    assert counted(small, "--full", "-m", "not slow") == everything
    rest = everything - (6 + 3 * 5 + 2 + 6)  # what is drawn is drawn in both
    assert counted(small, "--full", "-m", "full and not slow") == rest


def test_a_case_that_is_named_is_run(small: pytest.Pytester) -> None:
    name = "test_a_case_that_is_named_is_run.py"
    assert counted(small, f"{name}::test_one_table[case1]", f"{name}::test_full") == 2


def durations(small: pytest.Pytester) -> dict[str, float]:
    seconds: dict[str, float] = json.loads((small.path / DURATIONS).read_text())
    return seconds


def test_what_each_test_took_is_kept_with_the_slowest_first(small: pytest.Pytester) -> None:
    small.makepyfile("import time\ndef test_a(): pass\ndef test_b(): time.sleep(0.05)")
    assert counted(small) == 2
    (slow, took), (quick, _) = durations(small).items()
    assert (slow.rpartition(":")[2], quick.rpartition(":")[2]) == ("test_b", "test_a")
    assert took >= 0.05


def test_a_quick_test_that_takes_long_fails_where_a_limit_is_set(small: pytest.Pytester) -> None:
    busy = "import pytest\ndef busy():\n    for n in range(3_000_000): pass\n"
    small.makepyfile(f"{busy}def test_a(): busy()\n@pytest.mark.full\ndef test_b(): busy()")
    assert counted(small, "--full") == 2
    ended = small.runpytest_subprocess("--full", "--seconds", "0.01")
    assert ended.parseoutcomes() == {"passed": 1, "failed": 1}
    ended.stdout.fnmatch_lines(["*of the processor, allowed are 0.01*mark it `full`*"])


@pytest.mark.parametrize(("count", "most"), [(12, 6), (13, 6), (490, 6), (9, 4)])
def test_places_are_spread_evenly_from_the_first_to_the_last(count: int, most: int) -> None:
    places = evenly(count, most)
    assert len(places) == len(set(places)) == min(count, most)
    assert (places[0], places[-1]) == (0, count - 1)
    gaps = {after - before for before, after in zip(places, places[1:], strict=False)}
    assert max(gaps) - min(gaps) <= 1
