from __future__ import annotations

import re
import sys
from typing import Any

import pytest

from agentgym_envs import ExpertMove, ListedTasks, Outcome, TextEnv, register_env
from agentgym_envs.checking import conformance_checks
from agentgym_envs.registration import registry
from benchmarks.cli import check
from tests.helpers import COUNTING_ID, CountingEnv, register_helpers

register_helpers()


class Generous(CountingEnv):
    def reject(self, *args: Any) -> Outcome:
        return super().reject(*args)._replace(reward=0.5)


class Unsplit(CountingEnv):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.task_set = ListedTasks("counting", {"train": {"small": range(5)}})


class Nameless(TextEnv):
    def __init__(self, **kwargs: Any) -> None:
        raise KeyError("table")


class Hesitant(CountingEnv):
    def expert_moves(self) -> Any:
        for _ in range(3):
            yield ExpertMove("add 1")


class Impolite(CountingEnv):
    def apply(self, action: str) -> Outcome:
        if not action.startswith(("add", "double", "say")):
            raise KeyError("no such action")
        return super().apply(action)


class Quitting(CountingEnv):
    def apply(self, action: str) -> Outcome:
        if action == "x":
            sys.exit("bye")
        return super().apply(action)


@pytest.fixture
def registered(request: pytest.FixtureRequest) -> Any:
    env_id = f"tests/{request.param.__name__}-v0"
    register_env(env_id, request.param)
    yield env_id
    registry.REGISTERED.remove(env_id)
    del registry.gym.registry[env_id]


def test_every_check_of_a_sound_environment_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert check.main([COUNTING_ID]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == COUNTING_ID
    names = [line.removeprefix("  passed  ") for line in lines[1:-1]]
    assert names == [entry.name for entry in ran(COUNTING_ID)]
    assert lines[-1] == f"{len(names)} passed, 0 failed"


def ran(env_id: str) -> list[Any]:
    entries = []
    for entry in conformance_checks(env_id):
        entry.run()
        entries.append(entry)
    return entries


@pytest.mark.parametrize("registered", [Generous], indirect=True)
def test_a_breach_is_told_with_its_remedy_and_the_other_checks_go_on(
    registered: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check.main([registered]) == 1
    out = capsys.readouterr().out
    assert "  FAILED  the format react\n" in out
    assert "  FAILED  the format code: as above under 'the format react'\n" in out
    assert "must earn reward 0; found: 0.5\n          remedy: leave system_prompt" in out
    assert "  passed  mistakes of the caller" in out
    assert out.splitlines()[-1] == "14 passed, 3 failed"


@pytest.mark.parametrize("registered", [Impolite], indirect=True)
def test_what_the_environment_raises_is_told_once_with_its_line_and_its_task(
    registered: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check.main([registered]) == 1
    out = capsys.readouterr().out
    assert re.search(
        r"it raised KeyError: 'no such action', at cli/test_check\.py:\d+ in apply \(raised in "
        r"counting_\d+, turn 1: ''\)\n          remedy: mend what raises there",
        out,
    )
    assert out.count("no such action") == 1
    assert "  FAILED  mistakes of the caller: as above under 'the format plain'\n" in out


@pytest.mark.parametrize("registered", [Quitting], indirect=True)
def test_a_game_that_ends_the_program_fails_and_ends_no_check(
    registered: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check.main([registered]) == 1
    out = capsys.readouterr().out
    assert "step('x') must be answered by an observation; it raised SystemExit: bye, at cli/" in out
    assert out.splitlines()[-1] == "15 passed, 2 failed"


@pytest.mark.parametrize(
    ("registered", "told"),
    [
        (Nameless, "0 passed, 1 failed"),
        (Unsplit, "1 passed, 1 failed"),
    ],
    indirect=["registered"],
)
def test_what_needs_an_earlier_check_does_not_come_after_its_failure(
    registered: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check.main([registered]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == told


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["chess"], "unknown environment 'chess'"),
        ([COUNTING_ID, "--num-tasks", "0"], "num_tasks must be >= 1, got 0"),
        ([COUNTING_ID, "--env-kwargs", "["], "env_kwargs must be a JSON object"),
    ],
)
def test_a_mistake_on_the_command_line_is_no_failed_check(
    argv: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        check.main(argv)
    assert stopped.value.code == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("registered", [Hesitant], indirect=True)
def test_an_imperfect_expert_passes_where_that_is_said(
    registered: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert check.main([registered]) == 1
    assert "the expert must solve counting_" in capsys.readouterr().out
    assert check.main([registered, "--imperfect-expert"]) == 0
