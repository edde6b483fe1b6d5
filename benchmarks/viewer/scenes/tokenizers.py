"""Finds the tokenizer of an episode's ids, and cuts their text into one piece per id.

Reads `tokenizer.json` files that are on this machine; nothing is downloaded. A tokenizer counts
only if it turns the recorded ids into the recorded text, so no text that is shown is a guess.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from agentgym_envs.actions import strip_thinking
from agentgym_envs.errors import pip_install
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.models.fetched import smollm2_folder, tiny_folder
from trainers.options.models import SMOLLM2, SMOLLM2_TEXTCRAFT, TINY
from trainers.runs.checkpoints import checkpoints
from trainers.runs.folder import read_run

TOKENIZER_FILE = "tokenizer.json"
_WINDOW = 6
"""Ids that a character can be cut into at most, and some to spare."""

_BROKEN = "\ufffd"


class Reader:
    """Turns ids into text by a `tokenizers.Tokenizer`."""

    def __init__(self, name: str, tokenizer: Any) -> None:
        self.name = name
        self._tokenizer = tokenizer

    def text(self, ids: list[int]) -> str:
        """Return the text of ids, markup included."""
        return str(self._tokenizer.decode(ids, skip_special_tokens=False))

    def pieces(self, ids: list[int]) -> list[str]:
        """Return each id's part of the text. A character stands at the last of its ids."""
        pieces = []
        start = 0  # what is decoded again, for the text of an id depends on the one before
        done = 0  # ids whose text has been given out
        for end in range(1, len(ids) + 1):
            before = self.text(ids[start:done])
            after = self.text(ids[start:end])
            is_cut = after.endswith(_BROKEN) and end - done < _WINDOW and end < len(ids)
            if is_cut or len(after) < len(before):
                pieces.append("")
                continue
            pieces.append(after[len(before) :])
            start, done = done, end
        return pieces

    def reads(self, trajectory: Trajectory) -> bool:
        """Return whether the ids of an episode's first turn are its completion."""
        ids = _first_sampled(trajectory)
        if not ids or not trajectory.turns:
            return False
        completion = trajectory.turns[0].completion
        answer = strip_thinking(completion)
        # The id that ends a turn is sampled, and not part of the completion.
        for text in (self.text(ids), self.text(ids[:-1])):
            # A thought's beginning may be the chat template's, and its markup the model's own.
            if text and (completion.endswith(text) or (answer and text.endswith(answer))):
                return True
        return False


def find_reader(
    trajectory: Trajectory, folder: str | Path | None
) -> tuple[Reader | None, str | None]:
    """Return the reader of an episode's ids, or None and why there is none."""
    tried = []
    for place in dict.fromkeys(_places(trajectory, folder)):
        file = _file(place)
        if file is None:
            continue
        reader = _read(str(file), place, file.stat().st_mtime_ns)
        if reader is None:
            remedy = pip_install("tokenizers")
            return None, f"The tokens are shown as ids; their text needs: {remedy}"
        if reader.reads(trajectory):
            return reader, None
        tried.append(place)
    if not _first_sampled(trajectory):
        return (
            None,
            "The tokens are shown as ids; none was sampled, so no tokenizer can be checked on them",
        )
    if tried:
        return None, (
            "The tokens are shown as ids; they are not of the tokenizers that were found: "
            f"{', '.join(tried)}"
        )
    return None, "The tokens are shown as ids; the model's tokenizer is not on this machine"


def _first_sampled(trajectory: Trajectory) -> list[int]:
    trace = trajectory.traces[0]
    ids: list[int] = []
    for id_, sampled in zip(trace.completion_ids, trace.action_mask, strict=True):
        if sampled:
            ids.append(id_)
        elif ids:
            break
    return ids


def _places(trajectory: Trajectory, folder: str | Path | None) -> Iterator[str]:
    """Yield where the tokenizer may be: folders, hub ids and names of ours."""
    if folder is not None:
        for place in (Path(folder), Path(folder).parent):
            yield str(place)
            yield str(place / "model")
            yield from map(str, list(checkpoints(place).values())[-1:])
            yield from _models_of(place)
    if trajectory.policy:
        yield trajectory.policy
    yield TINY


def _models_of(folder: Path) -> Iterator[str]:
    """Yield the models that a run's `run.json` names."""
    with contextlib.suppress(OSError, ValueError):
        for part in read_run(folder).values():
            if isinstance(part, dict):
                for key in ("model_name_or_path", "model"):
                    if isinstance(part.get(key), str):
                        yield part[key]


def _file(place: str) -> Path | None:
    """Return the `tokenizer.json` of a folder, of a model of ours, or of a hub id in the cache."""
    if place == TINY:
        return Path(tiny_folder()) / TOKENIZER_FILE
    folder = smollm2_folder() if place in (SMOLLM2, SMOLLM2_TEXTCRAFT) else Path(place)
    file = folder / TOKENIZER_FILE
    with contextlib.suppress(OSError):
        if file.is_file():
            return file
    with contextlib.suppress(ImportError, ValueError):
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(place, TOKENIZER_FILE)
        return Path(cached) if isinstance(cached, str) else None
    return None


@lru_cache(maxsize=8)
def _read(file: str, name: str, _changed: int) -> Reader | None:
    try:
        from tokenizers import Tokenizer
    except ImportError:
        return None
    return Reader(name, Tokenizer.from_file(file))
