"""SearchQA's scene: the documents of each turn, with the accepted answers marked in them.

Documents are read out of the observations' text, so nothing is searched again; the accepted answers
come from the questions that the record's source names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentgym_envs.searchqa.sources import open_source
from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.recorded import saved_env_kwargs
from benchmarks.viewer.scenes.replay import NotReplayed

_BLOCK = re.compile(r"<information>(.*)</information>", re.DOTALL)
_START = re.compile(r"^(?:Doc [0-9]+|Document)\(Title: ", re.MULTILINE)


def scene(trajectory: Trajectory, folder: str | Path | None) -> dict[str, Any]:
    """Return `about`, `turns` and, where no answers are known here, the `reason`."""
    reason = None
    accepted: Sequence[str] = ()
    try:
        accepted = accepted_answers(trajectory, folder)
    except NotReplayed as error:
        reason = str(error)
    read = [turn.observation for turn in trajectory.turns] + [trajectory.final_observation]
    turns = [documents(text, accepted) for text in read]
    about = {"question": trajectory.goal, "accepted": list(accepted) or None}
    return {"about": about, "turns": turns, "reason": reason}


def accepted_answers(trajectory: Trajectory, folder: str | Path | None) -> tuple[str, ...]:
    """Return the accepted answers, the canonical one first, or raise NotReplayed."""
    kwargs = saved_env_kwargs(folder, trajectory.env_id)
    try:
        source = open_source(kwargs.get("data_dir"), kwargs.get("corpus"))
        if source.name != trajectory.source:
            raise NotReplayed(
                f"The accepted answers are those of {trajectory.source!r}, and here is "
                f"{source.name!r}"
            )
        number = source.tasks.spec(trajectory.task_id).number
        question = source.tasks.questions.question(number)
    except (ImportError, OSError, ValueError) as error:
        raise NotReplayed(f"The accepted answers are not to be had here: {error}") from error
    return question.answers


def documents(observation: str, accepted: Sequence[str]) -> dict[str, Any]:
    """Return the documents that an observation shows, with the accepted answers marked."""
    block = _BLOCK.search(observation)
    text = block[1] if block else ""
    starts = list(_START.finditer(text))
    result = []
    for number, start in enumerate(starts, 1):
        end = starts[number].start() if number < len(starts) else len(text)
        title, body = _split_title(text[start.end() : end])
        result.append({"title": title, "parts": marked(body.strip(), accepted)})
    has_answer = any(is_answer for document in result for _, is_answer in document["parts"])
    return {"documents": result, "found": has_answer}


def marked(text: str, accepted: Sequence[str]) -> list[tuple[str, bool]]:
    """Cut a text into (part, is an accepted answer), whatever the case of its letters."""
    # The longest first: "New York City" is not "New York" and something.
    answers = sorted(filter(None, map(str.strip, accepted)), key=len, reverse=True)
    if not answers:
        return [(text, False)] if text else []
    answer = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, answers))})(?!\w)", re.IGNORECASE)
    parts, last = [], 0
    for hit in answer.finditer(text):
        parts += [(text[last : hit.start()], False), (hit[0], True)]
        last = hit.end()
    return [part for part in (*parts, (text[last:], False)) if part[0]]


def _split_title(text: str) -> tuple[str, str]:
    """Split `Some title (film)) text` at the parenthesis that ends the title."""
    depth = 1
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text[:position], text[position + 1 :]
    title, _, rest = text.partition(")")  # a title with a parenthesis of its own
    return title, rest
