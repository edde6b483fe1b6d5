"""Reads and writes AgentGym's published form of trajectories (arXiv 2406.04151, AgentTraj).

A file is a JSON list of items; an item is an `item_id` and a conversation of alternating `human`
and `gpt` messages with a `loss` flag each. AgentGym's form has no tokens.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from math import isfinite, nan
from pathlib import Path
from typing import Any

from agentgym_envs.content.files import COMPRESSED, open_text, write_atomically
from agentgym_envs.content.row_files import PARQUET, first_row, is_document, read_rows
from agentgym_envs.core.item_ids import own_id
from agentgym_envs.registration.registry import resolve_env_id
from agentgym_envs.trajectories.atif_reader import is_atif, read_atif
from agentgym_envs.trajectories.conversations import UNNAMED, is_conversation, read_conversation
from agentgym_envs.trajectories.trajectory import Trajectory, Turn, read_jsonl

ACKNOWLEDGEMENT = "OK. I'll follow your instructions and try my best to solve the task."
"""The policy's reply to AgentGym's instruction. It is never trained on."""

SOURCE = "agenttraj"
"""`Trajectory.source` of imported episodes: their ids are those of the machine that played."""

_ID_KEYS = ("item_id", "id")
"""AgentGym's name of an item's id, and AgentInstruct's."""

_FULL_REWARD = {"sciworld": 100.0}
_SUCCESS_ABOVE = {"sciworld": 99.0, "babyai": 0.0}
"""The reward above which AgentEvol keeps an episode of AgentGym's, 0.99 elsewhere."""


def from_item(item: dict[str, Any]) -> Trajectory:
    """Turn an AgentTraj item into a trajectory.

    The instruction and its acknowledgement become `system_prompt`, as our policies read it, unless
    the conversation has a system prompt of its own; every further message of the policy whose
    `loss` is false becomes a turn that is not `trained`. An item without a `reward` is a published
    one, hence a success.

    Args:
        item: one entry of an AgentTraj file, or of what AgentGym's evaluation writes.

    Raises:
        ValueError: it is no such item.
    """
    item_id = _item_id(item)
    conversation = read_conversation(item, item_id)
    system_prompt = conversation.system_prompt
    observations, replies = conversation.observations, conversation.replies
    is_acknowledged = "conversations" in item and replies and not replies[0][1]
    if is_acknowledged and not system_prompt:
        system_prompt = observations.pop(0)
        replies.pop(0)
    if not replies:
        raise ValueError(f"{item_id}: the conversation holds no turn of the policy")
    name = _env_name(item_id)
    full = _FULL_REWARD.get(name, 1.0)
    reward = full if item.get("reward") is None else _finite(item["reward"])
    score = min(max(reward / full, 0.0), 1.0)
    turns = [
        Turn(observation, text, 0.0, is_valid_action=True, score=0.0, trained=trained)
        for observation, (text, trained) in zip(observations, replies, strict=False)
    ]
    turns[-1].reward = turns[-1].score = score
    return Trajectory(
        env_id=_env_id(name),
        task_id=item_id,
        source=SOURCE,
        system_prompt=system_prompt,
        turns=turns,
        final_observation=observations[-1] if len(observations) > len(turns) else "",
        status="terminated",
        success=reward > _success_above(name),
        score=score,
    )


def to_item(trajectory: Trajectory) -> dict[str, Any]:
    """Turn a trajectory into an AgentTraj item with AgentGym's `reward` and `success`.

    Args:
        trajectory: an episode with turns.

    Raises:
        ValueError: it has no turns.
    """
    if not trajectory.turns:
        raise ValueError(f"{trajectory.task_id} has no turns, so there is nothing to write")
    conversation: list[dict[str, Any]] = []

    def add_message(sender: str, loss: bool | None, text: str) -> None:
        conversation.append({"from": sender, "loss": loss, "value": text})

    if trajectory.system_prompt:
        add_message("human", None, trajectory.system_prompt)
        add_message("gpt", False, ACKNOWLEDGEMENT)
    for turn in trajectory.whole().turns:
        add_message("human", None, turn.observation)
        add_message("gpt", turn.trained, turn.completion)
    if trajectory.final_observation:
        add_message("human", None, trajectory.final_observation)
    return {
        "conversations": conversation,
        "item_id": trajectory.task_id,
        "reward": _reward(trajectory),
        "success": int(trajectory.success),
    }


def read_agenttraj(path: str | Path) -> Iterator[Trajectory]:
    """Read a file of conversations: a JSON list of items, one item a line, or Parquet.

    Besides AgentTraj's form those of `agentgym_envs.trajectories.conversations` are read.

    Raises:
        ValueError: the file is not JSON, or an entry is no item; the message names it.
    """
    for number, item in enumerate(read_rows(Path(path)), 1):
        try:
            if not isinstance(item, dict):
                raise ValueError(f"a JSON object is expected, got {type(item).__name__}")
            is_named = any(item.get(key) is not None for key in _ID_KEYS)
            yield from_item(item if is_named else {**item, "item_id": number})
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}, item {number}: not an AgentTraj item ({error})") from error


def write_agenttraj(
    path: str | Path, trajectories: Iterable[Trajectory], *, append: bool = False
) -> int:
    """Write an AgentTraj file that AgentGym's trainers read.

    Failed episodes and those without turns are left out.

    Args:
        path: the JSON file.
        trajectories: the episodes.
        append: keep the items that the file holds.

    Returns:
        How many episodes were written.
    """
    path = Path(path)
    earlier = list(read_rows(path)) if append and path.exists() else []
    new = [to_item(t) for t in trajectories if t.turns and t.status != "failed"]
    content = (json.dumps(earlier + new, indent=4) + "\n").encode()
    write_atomically(path, gzip.compress(content) if path.suffix == COMPRESSED else content)
    return len(new)


def read_trajectories(path: str | Path) -> Iterator[Trajectory]:
    """Read trajectories: ours (JSONL), AgentTraj's, other conversations, or ATIF's.

    Args:
        path: the file, or a folder whose `.json` files are ATIF documents.

    Raises:
        ValueError: an entry is no trajectory; the message names it.
    """
    path = Path(path)
    if path.is_dir():
        return read_atif(_documents(path))
    row = first_row(path)
    if is_atif(row):
        return read_atif([path])
    if path.suffix == PARQUET or is_conversation(row) or _is_list(path):
        return read_agenttraj(path)
    return read_jsonl(path)


def _documents(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.iterdir() if is_document(path) and path.is_file())
    if not files:
        raise ValueError(
            f"{folder} is a folder without .json files; name its files, such as {folder}/*.jsonl"
        )
    return files


def _is_list(path: Path) -> bool:
    with open_text(path) as file:
        return next((line for line in file if line.strip()), "").lstrip().startswith("[")


def _item_id(item: dict[str, Any]) -> str:
    """Return an item's id, which is no bare number."""
    item_id = next((item[key] for key in _ID_KEYS if item.get(key) is not None), None)
    if type(item_id) is int or (isinstance(item_id, str) and item_id.isdecimal()):
        item_id = f"{UNNAMED}_{item_id}"
    if not isinstance(item_id, str) or not item_id:
        raise ValueError(f"item_id must be a string such as 'babyai_41', got {item_id!r}")
    return own_id(item_id)


def _finite(reward: Any) -> float:
    try:
        number = float(reward)
    except (TypeError, ValueError, OverflowError):
        number = nan
    if not isfinite(number):
        raise ValueError(f"reward must be a finite number, got {reward!r:.40}")
    return number


def _reward(trajectory: Trajectory) -> float:
    """Return the score in AgentGym's scale, on the side of its threshold where success is."""
    name = _env_name(trajectory.task_id)
    full, above = _FULL_REWARD.get(name, 1.0), _success_above(name)
    reward = full * trajectory.score
    if trajectory.success:
        return reward if reward > above else full
    return min(reward, above)


def _success_above(name: str) -> float:
    return _SUCCESS_ABOVE.get(name, 0.99)


def _env_name(item_id: str) -> str:
    name, _, number = item_id.rpartition("_")
    return name if number.isdigit() else item_id


def _env_id(name: str) -> str:
    """Return the registered id, or the name itself: AgentGym has environments that we do not.

    A conversation that names no task is of no environment: the id is empty.
    """
    if name == UNNAMED:
        return ""
    try:
        return resolve_env_id(name)
    except ValueError:
        return name
