"""The rounds of AgentEvol: their folders and records."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from agentgym_envs.content.files import COMPRESSED
from agentgym_envs.core.text import counted
from trainers.options.configs import SUCCESS_METRIC
from trainers.runs.folder import (
    EPISODES,
    TRAJECTORIES,
    read_json,
    read_metrics,
    write_json,
    write_metrics,
)
from trainers.runs.records import weights_step
from trainers.runs.success import FRESH

ROUND_FILE = "round.json"
"""In a round's folder: the round is finished."""


@dataclass(frozen=True)
class Round:
    """A finished round.

    Attributes:
        number: counted from 1.
        explored_at: optimizer steps of the rounds before.
        success: of the exploration, by the policy that the round began with.
        explored: episodes played.
        kept: successes among them, equal ones counted once.
        trained_on: episodes imitated, the base set included.
        global_step: optimizer steps of all rounds up to this one's end.
        eval_success: the validation success of the round's model, in fresh episodes where several
            evaluations chose it; None without evaluations.
        environments: the exploration's success in each of several environments.
        eval_environments: the same of the validation.
    """

    number: int
    explored_at: int
    success: float
    explored: int
    kept: int
    trained_on: int
    global_step: int
    eval_success: float | None
    environments: dict[str, float] = field(default_factory=dict)
    eval_environments: dict[str, float] = field(default_factory=dict)

    @classmethod
    def ended(cls, trainer: Any, *, explored_at: int, **explored: Any) -> Round:
        """Return the record of a round after its fine-tuning.

        `explored` are the attributes that the exploration and its data decide.
        """
        validation = _measured_at_end(trainer)
        return cls(
            explored_at=explored_at,
            global_step=explored_at + trainer.state.global_step,
            eval_success=validation.pop("", None),
            eval_environments=validation,
            **explored,
        )

    def __str__(self) -> str:
        validation = ""
        if self.eval_success is not None:
            own = _per_environment(self.eval_environments)
            validation = f"; then {self.eval_success:.1%}{own} on validation"
        own = _per_environment(self.environments)
        explored = counted(self.explored, "episode")
        return (
            f"round {self.number}: {self.success:.1%}{own} of {explored} succeeded, "
            f"{self.kept:,} kept, fine-tuned on {self.trained_on}{validation}"
        )


def _per_environment(environments: dict[str, float]) -> str:
    own = ", ".join(f"{name} {success:.1%}" for name, success in environments.items())
    return f" ({own})" if own else ""


class RoundFiles:
    """The files of a run: `round_1/`, `round_2/` and so on, and its common ones.

    A round is finished where its folder holds `round.json`. Its episodes may be compressed.
    """

    def __init__(self, folder: str | Path, *, compress: bool = False) -> None:
        self.folder = Path(folder)
        self._end = EPISODES + compress * COMPRESSED
        self.base = self.folder / TRAJECTORIES / f"base_000000{self._end}"

    def round_folder(self, number: int) -> Path:
        """Return a round's folder."""
        return self.folder / f"round_{number}"

    def explored(self, global_step: int) -> Path:
        """Return the file of the exploration that began at an optimizer step."""
        return self.folder / TRAJECTORIES / f"explored_{global_step:06d}{self._end}"

    def read(self, number: int) -> Round | None:
        """Return a round's record, or None where it is not finished."""
        record = read_json(self.round_folder(number) / ROUND_FILE)
        return Round(**record) if record else None

    def last_step(self) -> int:
        """Return the optimizer steps of the finished rounds."""
        step, number = 0, 1
        while (done := self.read(number)) is not None:
            step, number = done.global_step, number + 1
        return step

    def write(self, done: Round) -> None:
        """Record that a round is finished."""
        write_json(self.round_folder(done.number) / ROUND_FILE, asdict(done))

    def log(self, done: Round) -> None:
        """Write a round's lines to `metrics.jsonl` in place of those from this round on."""
        explored = {"episodes/success": done.success, "explored": done.explored, "kept": done.kept}
        explored |= {f"success/{name}": rate for name, rate in done.environments.items()}
        learned: dict[str, Any] = {"trained_on": done.trained_on}
        for name, rate in done.eval_environments.items():
            learned[f"eval_success/{name}"] = rate
        if done.eval_success is not None:
            learned["eval_success"] = done.eval_success
        entries = [
            {"global_step": done.explored_at, "round": done.number, **explored},
            {"global_step": done.global_step, "round": done.number, **learned},
        ]
        earlier = [entry for entry in read_metrics(self.folder) if entry["round"] < done.number]
        write_metrics(self.folder, [*earlier, *entries])


def _measured_at_end(trainer: Any) -> dict[str, float]:
    """Return the success of the final weights by environment, the mean under an empty name.

    It is that of fresh episodes, where several evaluations chose the weights.
    """
    history = trainer.state.log_history
    step = weights_step(trainer.args, trainer.state, trainer.control)
    own = [entry for entry in history if SUCCESS_METRIC in entry and entry["step"] == step]
    for key, entries in (
        (f"{FRESH}_success", [entry for entry in history if f"{FRESH}_success" in entry]),
        (SUCCESS_METRIC, own or [entry for entry in history if SUCCESS_METRIC in entry]),
    ):
        if entries:
            rates = {name.partition("/"): rate for name, rate in entries[-1].items()}
            return {env: rate for (name, _, env), rate in rates.items() if name == key}
    return {}
