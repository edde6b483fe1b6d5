from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded

from agentgym_envs import TaskSpec, register_env
from tests.helpers import COUNTING_ID, CountingEnv, FragileEnv, register_helpers
from tests.wrappers.vector.backends import EVERY_BACKEND, RAY, all_end, is_gone
from wrappers import TextVectorEnv
from wrappers.vector.slots import ThreadSlot

register_helpers()


@pytest.fixture(params=EVERY_BACKEND)
def env(request: pytest.FixtureRequest) -> Iterator[TextVectorEnv]:
    with TextVectorEnv([FragileEnv] * 3, backend=request.param) as env:
        yield env


def test_every_slot_plays_its_own_task_and_answers_as_alone(env: TextVectorEnv) -> None:
    singles = [FragileEnv() for _ in range(3)]
    numbers = [3, 20, 55]
    begun = [e.reset(options={"task_id": n}) for e, n in zip(singles, numbers, strict=True)]
    assert env.reset(options={"task_id": numbers}) == tuple(map(list, zip(*begun, strict=True)))
    actions = ["add 4", "double", "no such action"]
    steps = [e.step(a) for e, a in zip(singles, actions, strict=True)]
    assert env.step(actions) == tuple(map(list, zip(*steps, strict=True)))


def test_none_leaves_a_slot_alone(env: TextVectorEnv) -> None:
    env.reset(options={"task_id": [4, 20, 30]})
    first = env.step(["add 5", "add 1", "add 1"])
    second = env.step([None, "add 1", None])
    assert second[1] == [0.0, 0.0, 0.0]
    for column in (0, 2, 3, 4):
        assert second[column][0] == first[column][0]
        assert second[column][2] == first[column][2]
    assert second[0][1] == "The counter is 2."
    assert env.get("counter") == [5, 2, 1]


def test_reset_leaves_slots_alone_whose_task_is_none(env: TextVectorEnv) -> None:
    env.reset(options={"task_id": [4, 20, 30]})
    env.step(["add 5", "add 1", "add 1"])
    observations, infos = env.reset(options={"task_id": [7, None, None]})
    assert (
        observations
        == ["Goal: bring the counter to 8. The counter is 0."] + ["The counter is 1."] * 2
    )
    assert [info["turn"] for info in infos] == [0, 1, 1]
    assert env.step(["add 1"] * 3)[2:4] == ([False] * 3, [False] * 3)


def test_a_slot_that_never_began_says_nothing(env: TextVectorEnv) -> None:
    observations, infos = env.reset(options={"task_id": [7, None, None]})
    assert observations[1:] == ["", ""]
    assert infos[1:] == [{}, {}]
    with pytest.raises(ResetNeeded, match="slot 1 has not begun"):
        env.step(["add 1"] * 3)


def test_a_finished_slot_takes_no_action_and_no_other_slot_moves(env: TextVectorEnv) -> None:
    env.reset(options={"task_id": [4, 20, 30]})
    env.step(["add 5", None, None])
    with pytest.raises(ResetNeeded, match="slot 0 is over"):
        env.step(["add 1", "add 1", "add 1"])
    assert env.get("counter") == [5, 0, 0]


def test_an_int_seed_counts_up_and_a_list_gives_each_its_own(env: TextVectorEnv) -> None:
    alone = [CountingEnv().reset(seed=seed)[0] for seed in (5, 6, 7)]
    assert env.reset(seed=5)[0] == alone
    assert env.reset(seed=[5, 6, 7])[0] == alone
    assert env.reset(seed=[7, None, 5])[0][::2] == alone[::-2]


def test_the_caller_s_mistakes_are_raised_with_their_message(env: TextVectorEnv) -> None:
    env.reset()
    with pytest.raises(ValueError, match="unknown reset options"):
        env.reset(options={"task": 1})
    with pytest.raises(TypeError, match="slot 2 must be a str or None, got 3"):
        env.step(["add 1", None, 3])  # type: ignore[list-item]
    with pytest.raises(AttributeError, match="no_such_name"):
        env.get("no_such_name")


def test_a_refused_reset_leaves_its_slot_as_it_was_and_the_others_begun(env: TextVectorEnv) -> None:
    env.reset(options={"task_id": [4, 20, 30]})
    env.step([None, "add 3", None])
    with pytest.raises(ValueError, match="unknown task_id 'counting_99'.*60 tasks"):
        env.reset(options={"task_id": [7, "counting_99", 9]})
    observations, _, _, _, infos = env.step(["add 1", "add 1", "add 2"])
    assert observations == [f"The counter is {n}." for n in (1, 4, 2)]
    assert [info["task_id"] for info in infos] == ["counting_7", "counting_20", "counting_9"]
    assert [info["turn"] for info in infos] == [1, 2, 1]


def test_an_error_in_one_slot_s_step_is_its_failure_and_loses_no_other_turn(
    env: TextVectorEnv,
) -> None:
    env.reset(options={"task_id": [4, 20, 30]})
    *_, infos = env.step(["say bug", "add 1", None])
    assert infos[0]["failure"].startswith("the environment raised KeyError: 'a bug', at tests/")
    assert 'raise KeyError("a bug")' in infos[0]["traceback"]
    assert "raised in counting_4, turn 1: 'say bug'" in infos[0]["traceback"]
    observations, _, _, _, infos = env.step([None, None, "add 2"])
    assert observations == ["", "The counter is 1.", "The counter is 2."]
    assert infos[1]["turn"] == 1
    assert env.reset(options={"task_id": [4, None, None]})[0][0].startswith("Goal:")


@pytest.mark.parametrize("error", [KeyError, ValueError, TypeError, ImportError, RecursionError])
def test_a_reset_raises_a_caller_s_mistake_and_fails_by_an_error_of_its_code(
    error: type[Exception],
) -> None:
    class Breaking(CountingEnv):
        def begin(self, task: TaskSpec) -> str:
            raise error("no room")

    with TextVectorEnv([Breaking]) as env:
        if error in (ValueError, TypeError, ImportError):
            with pytest.raises(error, match="no room"):
                env.reset()
            return
        _, infos = env.reset(options={"task_id": 4})
    assert "no room" in infos[0]["failure"]
    assert "raised where counting_4 begins" in infos[0]["traceback"]


def test_what_a_caller_writes_into_an_info_stays_there(env: TextVectorEnv) -> None:
    _, infos = env.reset(options={"task_id": [4, 20, 30]})
    infos[0]["task_id"] = "mine"
    assert env.step([None, "add 1", None])[4][0]["task_id"] == "counting_4"


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda env: env.reset(options="counting_1"), "options must be a dict .*'counting_1'"),
        (lambda env: env.reset(options={"task_id": (1, 2, 3)}), "must be one task .*got a tuple"),
        (lambda env: env.step(["add 1"]), "actions must hold one entry for each of the 3 slots"),
        (lambda env: env.step("abc"), "actions must hold one entry"),
        (lambda env: env.reset(seed=[1]), "seed must hold one entry"),
        (lambda env: env.reset(options={"task_id": [1]}), r"options\['task_id'\] must hold"),
        (lambda env: env.expert_actions([True]), "where must hold one entry"),
    ],
)
def test_lists_must_fit_the_slots(call: Any, told: str) -> None:
    with TextVectorEnv([FragileEnv] * 3) as env:
        env.reset()
        with pytest.raises(ValueError, match=told):
            call(env)


@pytest.mark.parametrize(
    ("args", "kwargs", "error", "told"),
    [
        ((COUNTING_ID, 0), {}, ValueError, "num_envs must be >= 1, got 0"),
        (([],), {}, ValueError, "a function per slot"),
        (([CountingEnv, "x"],), {}, ValueError, "a function per slot"),
        ((CountingEnv, 2), {}, ValueError, r"such as \[make_env\] \* 4; got <class"),
        (([CountingEnv] * 2, 3), {}, ValueError, "num_envs=3, but there are 2 env_fns"),
        ((COUNTING_ID, 1), {"backend": "fork"}, ValueError, "'fork'; allowed: sync, thread, proc"),
        ((COUNTING_ID, 1), {"step_timeout": 1}, ValueError, "backend='thread', 'process' or 'ray'"),
        ((COUNTING_ID,), {"backend": "thread", "step_timeout": 0}, ValueError, "must be > 0"),
        (("Nowhere", 1), {}, ValueError, "unknown environment 'Nowhere'"),
        ((COUNTING_ID, 1), {"split": "dev"}, ValueError, "unknown split 'dev'"),
        ((COUNTING_ID, 1), {"spilt": "test"}, TypeError, "spilt"),
        (([CountingEnv],), {"split": "test"}, TypeError, r"\['split'\] need an env id"),
    ],
)
def test_impossible_arguments_are_refused(
    args: Any, kwargs: Any, error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        TextVectorEnv(*args, **kwargs)


def test_a_mistake_in_a_worker_s_env_arguments_is_raised_here(tmp_path: Path) -> None:
    def make() -> FragileEnv:
        (tmp_path / str(os.getpid())).touch()
        return FragileEnv(split="train" if len(list(tmp_path.iterdir())) == 1 else "dev")

    with pytest.raises(ValueError, match="unknown split 'dev'") as caught:
        TextVectorEnv([make] * 3, backend="process")
    assert "In the worker process" in caught.value.__notes__[0]
    pids = [int(path.name) for path in tmp_path.iterdir()]
    assert len(pids) == 3
    assert all(is_gone(pid) for pid in pids)


class HereEnv(CountingEnv):
    source = "here/1"


register_env("tests/Here-v0", HereEnv)


@pytest.mark.parametrize("backend", ["sync", "process", RAY])
@pytest.mark.parametrize("name", ["tests/Here-v0", "here", f"{__name__}:tests/Here-v0"])
def test_ids_registered_here_work_in_workers_too(name: str, backend: Any) -> None:
    with TextVectorEnv(name, backend=backend, split="test") as env:
        assert env.num_envs == 1
        assert env.get("source") == ["here/1"]
        assert env.reset()[1][0]["split"] == "test"


def test_get_and_call_reach_the_innermost_env(env: TextVectorEnv) -> None:
    env.reset(options={"task_id": [1, 2, 3]})
    assert env.get("goal") == [f"bring the counter to {n}" for n in (2, 3, 4)]
    assert env.call("task_ids", split="validation")[2][0] == "counting_40"


class Prompting(gym.Wrapper[str, str, str, str]):
    system_prompt = "Count well."


@pytest.mark.parametrize("backend", EVERY_BACKEND)
def test_a_wrapper_s_prompt_goes_before_the_environment_s(backend: Any) -> None:
    with TextVectorEnv([lambda: Prompting(CountingEnv())], backend=backend) as env:
        assert env.get("system_prompt") == ["Count well."]


def test_experts_play_through_every_backend(env: TextVectorEnv) -> None:
    env.reset(options={"task_id": [4, 20, 39]})
    asked = env.expert_actions([True, False, True])
    assert asked == ["add 5", None, "add 9"]
    rewards = env.step(asked)[1]
    actions = env.expert_actions()
    while any(action is not None for action in actions):
        rewards = [a + b for a, b in zip(rewards, env.step(actions)[1], strict=True)]
        actions = env.expert_actions()
    assert rewards == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("backend", ["process", RAY])
def test_what_cannot_leave_a_worker_is_told(backend: Any) -> None:
    with TextVectorEnv([FragileEnv], backend=backend) as env:
        env.reset()
        with pytest.raises(TypeError, match="gave a generator, which cannot leave its worker"):
            env.call("expert")
        assert env.get("counter") == [0]


@pytest.mark.parametrize("backend", ["process", RAY])
def test_workers_play_at_the_same_time(backend: Any) -> None:
    with TextVectorEnv([FragileEnv] * 4, backend=backend) as env:
        env.reset(options={"task_id": 30})
        begun = time.monotonic()
        env.step(["say nap 0.5"] * 4)
        assert time.monotonic() - begun < 1.5


def test_workers_import_what_the_env_needs_and_no_more() -> None:
    with TextVectorEnv([FragileEnv], backend="process") as env:
        (loaded,) = env.call("loaded_modules", "torch", "transformers", "pytest", "gymnasium")
    assert loaded == ["gymnasium"]


@pytest.mark.parametrize("backend", ["process", RAY])
def test_a_long_action_reaches_its_worker(backend: Any) -> None:
    with TextVectorEnv([FragileEnv], backend=backend) as env:
        env.reset(options={"task_id": 30})
        *_, infos = env.step(["say " + "é" * 2_000_000])
        assert infos[0]["is_valid_action"]


def test_close_leaves_neither_process_nor_thread_and_ends_the_env(env: TextVectorEnv) -> None:
    env.reset()
    pids = set(env.call("pid")) - {os.getpid()}
    threads = [slot.thread for slot in env.slots if isinstance(slot, ThreadSlot)]
    env.close()
    env.close()
    all_end(pids)
    for thread in threads:
        assert thread is not None
        thread.join(5)
        assert not thread.is_alive()
    with pytest.raises(ClosedEnvironmentError, match="closed"):
        env.reset()


class ClosesBadly(FragileEnv):
    def close(self) -> None:
        super().close()
        raise RuntimeError("cannot close")


@pytest.mark.parametrize("backend", EVERY_BACKEND)
def test_one_env_that_closes_badly_keeps_no_other_from_closing(backend: Any) -> None:
    before = FragileEnv.closed
    env = TextVectorEnv([ClosesBadly, FragileEnv], backend=backend)
    pids = set(env.call("pid")) - {os.getpid()}
    with pytest.raises(RuntimeError, match="cannot close"):
        env.close()
    all_end(pids)
    if backend not in ("process", "ray"):
        assert FragileEnv.closed == before + 1


def test_a_forgotten_env_is_closed_when_it_is_collected() -> None:
    before = FragileEnv.closed
    env = TextVectorEnv([FragileEnv] * 2)
    del env
    assert FragileEnv.closed == before + 2


SCRIPT = """
from wrappers import TextVectorEnv
import torch_stand_in
from agentgym_envs import register_env
from tests.helpers import CountingEnv

class Mine(CountingEnv):
    source = "script/1"

register_env("script/Mine-v0", Mine)
env = TextVectorEnv("mine", 2, backend="process")
print(env.get("source"), env.reset(seed=0)[1][0]["task_id"])
"""


def test_a_script_needs_no_main_guard_and_no_close(tmp_path: Path) -> None:
    (tmp_path / "torch_stand_in.py").write_text("print('imported')")
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    result = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={"PYTHONPATH": ":".join(path for path in sys.path if path)},
    )
    assert result.stderr == ""
    assert result.stdout.splitlines() == ["imported", "['script/1', 'script/1'] counting_34"]
