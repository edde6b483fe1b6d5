"""The quick run of the tests and the full one.

The quick run takes some of a test's many cases, evenly spread over them, and leaves out tests
marked `full`. `--full` takes all; there the other cases are marked `full`, too, as are tests that
draw their examples, of which the quick run takes the same few every day. So `--full -m full` is
what the quick run has left out.
"""

from __future__ import annotations

import json
import os
import resource
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

MOST = {1: 6, 2: 3}
"""Cases of a long table in the quick run, by the number of tables that a test multiplies. A table
with fewer than twice as many is taken whole."""
_MOST_OF_MORE = 2

_APART = {"slow", "science", "gpu", "vllm", "llm", "browser", "ray", "openenv"}
"""Marks of cases that neither run takes, so that none of them is among the few."""

DURATIONS = ".durations.json"
"""What each test took in the last run: node id -> seconds."""

_Case = type(pytest.param())


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="take all cases of all tests")
    parser.addoption(
        "--seconds", type=float, help="fail a test that takes more of the processor's time"
    )


def pytest_configure(config: pytest.Config) -> None:
    # Tests name the examples that a full run draws. The quick run has the same few on every day;
    # a full one prints what reproduces a failure.
    settings.register_profile("quick", deadline=None, derandomize=True, database=None)
    settings.register_profile("full", deadline=None, database=None, print_blob=True)
    settings.load_profile("full" if _is_full(config) else "quick")
    config.pluginmanager.register(_Durations(config), "durations")


def _is_full(config: pytest.Config) -> bool:
    """Return whether all cases are taken, as where somebody names one of them."""
    return bool(config.option.full) or any("::" in word for word in config.args)


def examples(full: int, quick: int = 10) -> int:
    """Return the number of examples that a property draws in this run."""
    return full if settings.get_current_profile_name() == "full" else min(full, quick)


@pytest.hookimpl(tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marks = metafunc.definition.own_markers
    tables = [place for place, mark in enumerate(marks) if mark.name == "parametrize"]
    most = MOST.get(len(tables), _MOST_OF_MORE)
    for place in tables:
        marks[place] = _sampled(marks[place], most, all_of_them=_is_full(metafunc.config))


def _sampled(mark: pytest.Mark, most: int, *, all_of_them: bool) -> pytest.Mark:
    """Return a table with the quick run's cases, or with all and the further ones marked."""
    order = ("argnames", "argvalues", "indirect", "ids", "scope")
    words = {**dict(zip(order, mark.args, strict=False)), **mark.kwargs}
    cases, names, ids = list(words["argvalues"]), words["argnames"], words.get("ids")
    quick = _quick_places(cases, most)
    if all_of_them:
        single = isinstance(names, str) and "," not in names
        words["argvalues"] = [
            case if place in quick else _marked(case, single) for place, case in enumerate(cases)
        ]
    else:
        words["argvalues"] = [cases[place] for place in quick]
        if isinstance(ids, Sequence):
            words["ids"] = [ids[place] for place in quick]
    return pytest.mark.parametrize(**words).mark


def _quick_places(cases: Sequence[Any], most: int) -> list[int]:
    """Return the places of the quick run's cases, and of those that have targets of their own."""
    apart = [place for place, case in enumerate(cases) if _APART & _marks_of(case)]
    others = [place for place in range(len(cases)) if place not in set(apart)]
    return sorted([*apart, *(others[place] for place in evenly(len(others), most))])


def _marks_of(case: Any) -> set[str]:
    return {mark.name for mark in case.marks} if isinstance(case, _Case) else set()


def evenly(count: int, most: int) -> list[int]:
    """Return so many of the places 0 to count - 1, the first and the last among them.

    Fewer than twice as many are all returned.
    """
    if count < 2 * most:
        return list(range(count))
    return [place * (count - 1) // (most - 1) for place in range(most)]


def _marked(case: Any, single: bool) -> Any:
    if isinstance(case, _Case):
        return case._replace(marks=[*case.marks, pytest.mark.full])
    return pytest.param(*((case,) if single else case), marks=pytest.mark.full)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if _is_full(config):
        for item in items:
            if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
                item.add_marker("full")
        return
    left = [item for item in items if item.get_closest_marker("full")]
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if not item.get_closest_marker("full")]


def _seconds() -> float:
    """Return the processor's time that this process and those it has waited for have taken."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _slowness() -> float:
    """Return how many times longer this machine takes now than a quiet one of 2026, at least 1."""
    begun = time.process_time()
    sum(place * place for place in range(2_000_000))
    return max(1.0, (time.process_time() - begun) / 0.08)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    begun, before = time.monotonic(), _seconds()
    result = yield
    # Beside other work a test waits; and one may end a process that others have kept busy.
    took = min(time.monotonic() - begun, _seconds() - before)
    most = item.config.option.seconds
    if most is None or took <= most or item.get_closest_marker("full"):
        return result
    took /= _slowness()
    if took > most:
        pytest.fail(
            f"it took {took:.1f} s of the processor, allowed are {most:g}: make it smaller, or "
            "mark it `full`",
            pytrace=False,
        )
    return result


class _Durations:
    """Collects the tests' durations, of the workers too, and writes them at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seconds: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[report.nodeid] += report.duration

    def pytest_sessionfinish(self) -> None:
        if hasattr(self._config, "workerinput") or not self._seconds:
            return
        rounded = {name: round(took, 2) for name, took in self._seconds.most_common()}
        path = Path(self._config.rootpath) / DURATIONS
        temporary = path.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(rounded, indent=0) + "\n", encoding="utf-8")
        temporary.replace(path)
