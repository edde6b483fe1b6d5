"""Keeps episodes as `Trajectory` records, one JSON line each. For policies that speak text.

Token traces are recorded where tokens are born, not here.
"""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym

from agentgym_envs.core import JUDGEMENTS_KEY, UNSCORED, UNSCORED_KEY, VERDICT_KEY
from agentgym_envs.errors import EnvFailure, described
from agentgym_envs.trajectories.trajectory import Trajectory, Turn
from wrappers.starts import PREFIX


class TrajectoryWriter:
    """Writes each trajectory it is called with as one line of a JSONL file.

    A line is handed to the system in one write before the call returns, so Ctrl-C, or another
    process that appends to the same file, leaves no half line.

    Args:
        path: the file; its folder is made. One whose name ends in `.gz` is compressed.
        append: keep what the file holds; otherwise it is emptied first.
    """

    def __init__(self, path: str | Path, *, append: bool = True) -> None:
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not append:
            self.path.write_bytes(b"")

    def __call__(self, trajectory: Trajectory) -> None:
        """Append one line."""
        line = trajectory.to_line()
        if self.path.suffix == ".gz":
            line = gzip.compress(line, compresslevel=1)  # such pieces may follow each other
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
        try:
            while line:  # all of it at once, unless the disk is nearly full
                line = line[os.write(descriptor, line) :]
        finally:
            os.close(descriptor)


class RecordTrajectories(gym.Wrapper[str, str, str, str], gym.utils.RecordConstructorArgs):
    """Records the episodes of one environment.

    An episode is recorded when it ends, also when it ends by an `EnvFailure` (status `"failed"`,
    and the failure goes on to the caller). One that `reset` or `close` abandons has no end and is
    not recorded.

    Args:
        env: a text environment, wrapped or not.
        sink: a JSONL file to append to, or a function that takes each trajectory.
        policy: names who plays.
    """

    def __init__(
        self,
        env: gym.Env[str, str],
        sink: str | Path | Callable[[Trajectory], None],
        *,
        policy: str = "",
    ) -> None:
        # A sink belongs to the caller: a copy of it would keep records where nobody looks.
        gym.utils.RecordConstructorArgs.__init__(
            self, sink=sink, policy=policy, _disable_deepcopy=True
        )
        gym.Wrapper.__init__(self, env)
        self._sink = sink if callable(sink) else TrajectoryWriter(sink)
        self._policy = policy
        self._observation = ""
        self._trajectory: Trajectory | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Start an episode and its record.

        The optimizer step that it notes is that of a `HorizonCurriculum` inside, or else
        `options["global_step"]`, 0 by default. A refused reset leaves the episode as it is.
        """
        options = dict(options or {})
        has_schedule = self.env.has_wrapper_attr("global_step")
        step = 0 if has_schedule else options.pop("global_step", 0)
        observation, info = self.env.reset(seed=seed, options=options)
        if has_schedule:
            step = self.env.get_wrapper_attr("global_step")
        spec = self.env.spec
        self._observation = observation
        self._trajectory = Trajectory(
            env_id=type(self.unwrapped).__name__ if spec is None else spec.id,
            task_id=info["task_id"],
            subtask=info["subtask"],
            split=info["split"],
            source=info["source"],
            goal=info["goal"],
            system_prompt=self.env.get_wrapper_attr("system_prompt"),
            policy=self._policy,
            global_step=step,
            env_kwargs=self.env.get_wrapper_attr("env_kwargs"),
            horizon=info.get("horizon"),
            prefix=info.get(PREFIX, []),
        )
        return observation, info

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one turn and note it."""
        trajectory = self._trajectory
        try:
            observation, reward, terminated, truncated, info = self.env.step(action)
        except Exception as error:
            if trajectory is not None:
                is_failure = isinstance(error, EnvFailure)
                trajectory.status = "failed"
                trajectory.error = str(error) if is_failure else described(error)
                self._finish(trajectory, self._observation)
            raise
        if trajectory is not None:
            trajectory.turns.append(
                Turn(
                    observation=self._observation,
                    completion=action,
                    action=action,
                    reward=float(reward),
                    is_valid_action=info["is_valid_action"],
                    score=info["score"],
                )
            )
            self._observation = observation
            if terminated or truncated:
                trajectory.status = "terminated" if terminated else "truncated"
                if not terminated:
                    trajectory.truncated_by = info["truncated_by"] or "time_limit"
                trajectory.success, trajectory.score = info["success"], info["score"]
                trajectory.verdict = info.get(VERDICT_KEY, "")
                trajectory.judgements = info.get(JUDGEMENTS_KEY, "")
                if info.get(UNSCORED_KEY):
                    trajectory.status, trajectory.error = "failed", UNSCORED
                self._finish(trajectory, observation)
        return observation, float(reward), terminated, truncated, info

    def _finish(self, trajectory: Trajectory, observation: str) -> None:
        self._trajectory = None
        trajectory.final_observation = observation
        self._sink(trajectory)
