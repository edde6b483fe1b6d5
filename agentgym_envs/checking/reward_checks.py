"""Checks that one answer to all tasks, or a turn without an action, earns nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from agentgym_envs.checking.format_checks import MALFORMED
from agentgym_envs.checking.probing import MANY_TURNS, MakeEnv, Probe, Transcript, require
from agentgym_envs.core.tasks import spread_over_kinds
from agentgym_envs.errors import InvalidAction

MOST_TASKS = 20
"""Tasks on which a constant answer is tried."""
MOST_SOLVED = 0.3
"""The share of them that it may solve: some tasks are easy, and some answers frequent."""
_FEWEST_TASKS = 10
"""The number of tasks below which a share says nothing."""
_TURNS = 5


def check_constant_answers(make: MakeEnv, transcripts: Mapping[str, Transcript]) -> None:
    """Check that the same answer in every turn does not solve many tasks.

    The answers are the empty one, and of the `transcripts` the most frequent action and the most
    frequent last one.
    """
    probe = Probe(make, max_turns=_TURNS)
    tasks = probe.env.task_set
    listed = [task_id for split in tasks.splits for task_id in probe.env.task_ids(split)]
    chosen = spread_over_kinds(listed, min(MOST_TASKS, len(listed)), tasks.task_kind)
    is_judged = len(chosen) >= _FEWEST_TASKS
    for answer in _answers(transcripts, probe) if is_judged else ():
        solved = sum(_solves(probe, task_id, answer) for task_id in chosen)
        require(
            solved <= MOST_SOLVED * len(chosen),
            f"the answer {answer!r:.80} in every turn must not solve more than "
            f"{MOST_SOLVED:.0%} of the tasks",
            f"{solved} of {len(chosen)}",
        )
    probe.close()


def check_idle_turns(make: MakeEnv, task_id: str, transcript: Transcript) -> None:
    """Check that a turn without an action changes neither score nor success.

    One is played before each of the transcript's actions.
    """
    probe = Probe(make, max_turns=MANY_TURNS)
    _, info = probe.reset(task_id)
    for place, (action, _) in enumerate(transcript[1:]):
        before = info["score"]
        step = probe.step(MALFORMED[place % 2])
        if not step.info["is_valid_action"]:
            contract = f"an invalid action in turn {2 * place + 1} of {task_id} must not"
            require(step.reward == 0, f"{contract} be paid", step)
            require(not step.info["success"], f"{contract} succeed", step)
            require(step.info["score"] == before, f"{contract} change the score of {before}", step)
        if step.terminated or step.truncated:
            break
        step = probe.step(action)
        info = step.info
        if step.terminated or step.truncated:
            break
    probe.close()


def _answers(transcripts: Mapping[str, Transcript], probe: Probe) -> list[str]:
    """Return the constant answers, each once."""
    played = [[action for action, _ in one[1:]] for one in transcripts.values()]
    counts = [
        Counter(_plain(action, probe) for actions in played for action in actions),
        Counter(_plain(actions[-1], probe) for actions in played if actions),
    ]
    frequent = [action for count in counts for action, _ in count.most_common(1)]
    return ["", *(probe.env.parser.format(action) for action in dict.fromkeys(frequent) if action)]


def _plain(completion: str, probe: Probe) -> str:
    """Return the action of a completion without its thought, or an empty text."""
    try:
        return probe.env.parser.parse(completion)
    except InvalidAction:
        return ""


def _solves(probe: Probe, task_id: str, answer: str) -> bool:
    probe.reset(task_id)
    while True:
        step = probe.step(answer)
        if step.terminated or step.truncated:
            return bool(step.info["success"])
