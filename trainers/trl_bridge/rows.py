"""Trajectories as the rows that TRL takes: plain id lists under TRL's keys.

A trajectory becomes one row per token trace: one where the history only grew, one per window where
old turns were dropped. Environment tokens carry mask 0 from their birth on: no policy gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from datasets import Dataset

from agentgym_envs.trajectories.trajectory import TokenTrace, Trajectory

IGNORED = -100
"""The label of a token that is not trained on."""


@dataclass(frozen=True)
class Rows:
    """The loss's rows, as id lists.

    Attributes:
        columns: `prompt_ids`, `completion_ids`, `logprobs` (nats) and `env_mask` (1 = sampled),
            each a list with one entry per row.
        episode_of_row: the trajectory's index behind each row; -1 for a filler.
        traces: the trace behind each row; None for a filler, also one that stands for an episode.
    """

    columns: dict[str, list[Any]]
    episode_of_row: list[int]
    traces: list[TokenTrace | None]

    def completions(self) -> list[list[int]]:
        """Return one list of completion ids per episode, those of its windows joined."""
        joined: list[list[int]] = [[] for _ in range(max(self.episode_of_row) + 1)]
        for episode, ids in zip(self.episode_of_row, self.columns["completion_ids"], strict=True):
            if episode >= 0:
                joined[episode] += ids
        return joined

    def note_advantages(self, advantages: Sequence[Sequence[float]]) -> None:
        """Write the advantages of its tokens into each trace.

        Args:
            advantages: per row (T,) numbers, with padding behind the trace's end.
        """
        for trace, row in zip(self.traces, advantages, strict=True):
            if trace is not None:
                # Six digits are float32's, and half the length in a file.
                trace.advantages = [
                    float(f"{value:.6g}") if sampled else 0.0
                    for value, sampled in zip(row, trace.action_mask, strict=False)
                ]


def task_dataset(task_ids: Sequence[str]) -> Dataset:
    """Return a dataset of task ids as prompts, which TRL hands to the rollout unchanged."""
    return Dataset.from_dict({"prompt": list(task_ids)})


def labelled_dataset(rows: Sequence[dict[str, Any]]) -> Dataset:
    """Return the pre-tokenized dataset that TRL's SFT takes.

    Args:
        rows: `input_ids` (T,) and `action_mask` (T,); only tokens of mask 1 become labels.
    """
    return Dataset.from_dict(
        {
            "input_ids": [row["input_ids"] for row in rows],
            "labels": [
                [
                    i if m else IGNORED
                    for i, m in zip(row["input_ids"], row["action_mask"], strict=True)
                ]
                for row in rows
            ],
        }
    )


def rows_of(
    trajectories: Sequence[Trajectory],
    *,
    filler_id: int,
    multiple_of: int = 1,
    at_least: int = 0,
    mask_truncated: bool = False,
) -> Rows:
    """Turn trajectories into rows.

    A failed trajectory, or one without a sampled token, becomes a filler: one row of two given
    tokens, since TRL wants a row and cannot take empty completions.

    Args:
        trajectories: the episodes.
        filler_id: the id that fillers hold.
        multiple_of: fillers are added until this divides the number of rows.
        at_least: fillers are added until there are so many rows.
        mask_truncated: truncated episodes get mask 0 throughout.
    """
    filler = TokenTrace([filler_id], [filler_id], [0], [0.0])
    traces: list[TokenTrace | None] = []
    episode_of_row: list[int] = []
    for index, trajectory in enumerate(trajectories):
        own_traces: list[TokenTrace | None] = []
        if trajectory.status != "failed":
            own_traces += _with_actions(trajectory)
        if mask_truncated and trajectory.status == "truncated":
            own_traces = []
        for trace in own_traces or [None]:
            traces.append(trace)
            episode_of_row.append(index)
    while len(traces) % multiple_of or len(traces) < at_least:
        traces.append(None)
        episode_of_row.append(-1)
    rows = [filler if trace is None else trace for trace in traces]
    columns: dict[str, list[Any]] = {
        "prompt_ids": [row.prompt_ids for row in rows],
        "completion_ids": [row.completion_ids for row in rows],
        "logprobs": [row.logprobs for row in rows],
        "env_mask": [row.action_mask for row in rows],
    }
    return Rows(columns, episode_of_row, traces)


def _with_actions(trajectory: Trajectory) -> list[TokenTrace]:
    return [trace for trace in trajectory.traces if any(trace.action_mask)]
