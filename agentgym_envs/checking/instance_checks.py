"""Checks that an episode is the same in other instances, in copies and in another process.

Each takes what `check_task` saw, and plays it again.
"""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

from agentgym_envs.checking.probing import (
    MANY_TURNS,
    MakeEnv,
    Probe,
    Step,
    Transcript,
    expect_no_error,
    require_equal,
)
from agentgym_envs.checking.second_process import replay_in_subprocess


def check_side_by_side(make: MakeEnv, transcripts: dict[str, Transcript]) -> None:
    """Check that two instances share nothing, and that a reset leaves nothing behind.

    Two tasks are played at the same time, turn about; then each where the other one was.
    """
    probes = [Probe(make, max_turns=MANY_TURNS) for _ in range(2)]
    pair = [list(transcripts.items())[place] for place in (0, -1)]
    for order in (pair, pair[::-1]):
        for turn in range(max(len(rows) for _, rows in pair)):
            for probe, (task_id, rows) in zip(probes, order, strict=True):
                if turn >= len(rows):
                    continue
                action, before = rows[turn]
                answer = probe.step(action) if turn else probe.reset(task_id)
                call = f"step({action!r:.80})" if turn else "reset"
                require_equal(
                    f"instances must share nothing, and a reset leave nothing behind: in {task_id} "
                    f"{call} must be answered as it was alone",
                    before,
                    answer,
                )
    for probe in probes:
        probe.close()


def check_copies(make: MakeEnv, task_id: str, transcript: Transcript) -> None:
    """Check that copies made within an episode play on as the episode did."""
    first, second = (Probe(make, max_turns=MANY_TURNS) for _ in range(2))
    first.reset(task_id)
    middle = (len(transcript) + 1) // 2
    for action, _ in transcript[1:middle]:
        first.step(action)
    with expect_no_error("copy.deepcopy(env)", "must copy the episode"):
        copied = copy.deepcopy(first.env)
    with expect_no_error("restore(snapshot())", "must copy the episode"):
        second.env.restore(pickle.loads(pickle.dumps(first.env.snapshot())))
    for name, env in (("copy.deepcopy(env)", copied), ("restore(snapshot())", second.env)):
        for action, expected in transcript[middle:]:
            require_equal(f"{name} must play on as the original", expected, Step(*env.step(action)))
        env.close()
    first.close()


def check_second_process(
    entry: str | MakeEnv, env_kwargs: dict[str, Any], transcripts: dict[str, Transcript]
) -> None:
    """Check that a replay under another PYTHONHASHSEED gives identical steps."""
    kwargs = {**env_kwargs, "max_turns": MANY_TURNS}
    episodes = [
        (task_id, [action for action, _ in rows[1:]]) for task_id, rows in transcripts.items()
    ]
    with expect_no_error("a second process with another PYTHONHASHSEED", "must play the same"):
        replays = replay_in_subprocess(entry, kwargs, episodes)
    if replays is None:
        return
    for (task_id, rows), episode in zip(transcripts.items(), replays, strict=True):
        for (action, here), there in zip(rows, episode, strict=True):
            call = "reset" if rows[0][1] is here else f"step({action!r:.80})"
            here = json.loads(json.dumps(here))
            contract = (
                f"{task_id}: {call} must be answered the same in every process and under every "
                "PYTHONHASHSEED, so nothing may follow the order of a set"
            )
            require_equal(contract, here, there)
