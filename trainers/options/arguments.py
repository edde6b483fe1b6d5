"""The commands' options as dataclasses: environments, rollouts, evaluation; our defaults.

Training options are in `configs`. A field's metadata has its `help`, and its bounds: `min` and
`max`, or `above` where the bound itself is not allowed. `common_options` names the fields that
`--help` shows; without it all are.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, ClassVar

from agentgym_envs import resolve_env_id
from agentgym_envs.actions import ACTION_FORMATS
from agentgym_envs.secrets import hide_address, hide_kwargs, masked, reveal
from trainers.options.errors import check_bounds
from wrappers import FailureRules, HorizonSchedule, parse_schedule
from wrappers.vector.env import Backend


def read_object(name: str, text: str | None) -> dict[str, Any]:
    """Read an option that holds a JSON object.

    Args:
        name: the option's, for the message.
        text: what it was given, hidden or not; None means an empty object.

    Raises:
        ValueError: it is not a JSON object.
    """
    if text is None:
        return {}
    try:
        values = json.loads(reveal(text))
    except json.JSONDecodeError as error:
        raise ValueError(f"{name} must be a JSON object, got {masked(text)!r} ({error})") from None
    if not isinstance(values, dict):
        raise ValueError(f"{name} must be a JSON object, got {masked(text)!r}")
    return values


_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def read_seconds(name: str, text: str) -> float:
    """Read an option that holds a length of time, such as `90`, `90s`, `10m` or `2h`.

    Args:
        name: the option's, for the message.
        text: what it was given.

    Returns:
        seconds.

    Raises:
        ValueError: it has another form.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", str(text).strip())
    if match is None:
        raise ValueError(f"{name} must be a time such as 90s, 10m or 2h, got {text!r}")
    return float(match[1]) * _UNITS[match[2]]


@dataclass
class EnvConstructionArguments:
    """How environments are made and run, whichever they are."""

    _argument_group_name: ClassVar[str] = "environment"
    common_options: ClassVar[tuple[str, ...]] = ("action_format",)

    action_format: str = field(
        default="react",
        metadata={"help": "How the policy writes actions.", "choices": list(ACTION_FORMATS)},
    )
    env_backend: Backend = field(default="sync", metadata={"help": "Where environments run."})
    step_timeout: float | None = field(
        default=None,
        metadata={
            "help": "Seconds before a slow environment counts as failed (thread and process)."
        },
    )
    wrapper: list[str] = field(
        default_factory=list,
        metadata={
            "help": "A Gymnasium wrapper as module:Class; repeat for several, innermost first.",
            "action": "extend",
        },
    )
    env_kwargs: str | None = field(
        default=None,
        metadata={
            "help": "Further arguments of the environments, as JSON: '{\"compat\": null}'. "
            'Those of one among several stand under its name: \'{"SearchQA": {"top_k": 3}}\'.'
        },
    )

    def __post_init__(self) -> None:
        if isinstance(self.env_kwargs, dict):  # as Python has them
            self.env_kwargs = json.dumps(self.env_kwargs)
        self.env_kwargs = hide_kwargs(self.env_kwargs)
        check_bounds(self)
        _ = self.extra_kwargs

    @property
    def extra_kwargs(self) -> dict[str, Any]:
        """`env_kwargs` as a dict, with its secrets.

        Raises:
            ValueError: it is not a JSON object.
        """
        return read_object("env_kwargs", self.env_kwargs)


@dataclass
class EnvArguments(EnvConstructionArguments):
    """Which environments are played, and how they are run."""

    common_options: ClassVar[tuple[str, ...]] = ("env", "split", "tasks", "max_turns")

    env: list[str] = field(
        default_factory=list,
        metadata={
            "help": "Environment id or short name, such as TextCraft; repeat for mixed training.",
            "action": "extend",
        },
    )
    split: str = field(default="train", metadata={"help": "Split to draw tasks from."})
    eval_split: str = field(
        default="validation", metadata={"help": "Split played by evaluations during training."}
    )
    tasks: list[str] | None = field(
        default=None, metadata={"help": "Only these subtasks, depths or task ids of the split."}
    )
    max_turns: int | None = field(
        default=None, metadata={"help": "Turn limit; by default each environment's own.", "min": 1}
    )
    num_envs: int | None = field(
        default=None,
        metadata={
            "help": "Episodes advanced together, per environment; by default the batch, at most "
            "64.",
            "min": 1,
        },
    )
    overlap: bool = field(
        default=False,
        metadata={
            "help": "Sample while slow environments step; needs --env_backend thread or process, "
            "and repeats a run up to rounding only."
        },
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [self.env] if isinstance(self.env, str) else self.env
        self.env = [resolve_env_id(name) for name in names]
        if self.tasks is not None:
            self.tasks = [str(label) for label in self.tasks]
        if self.overlap and self.env_backend == "sync":
            raise ValueError(
                "overlap needs environments that step by themselves, got --env_backend sync; "
                "pass --env_backend thread or process"
            )


BACKENDS = ("hf", "vllm", "vllm_server")


@dataclass
class BackendArguments:
    """What a model's turns are sampled with."""

    common_options: ClassVar[tuple[str, ...]] = ("backend",)

    backend: str = field(
        default="hf",
        metadata={
            "help": "What samples a model's turns: transformers, a vLLM engine in this process, or "
            "a vLLM server.",
            "choices": list(BACKENDS),
        },
    )
    server_url: str | None = field(
        default=None, metadata={"help": "The vLLM server's address, http://host:port."}
    )
    backend_kwargs: str | None = field(
        default=None,
        metadata={
            "help": "Further arguments of the backend, as JSON: vllm.LLM's, or weights_dir, "
            "timeout, retries and max_requests of the server's client."
        },
    )

    def __post_init__(self) -> None:
        if self.server_url is not None:
            self.server_url = hide_address(self.server_url)
        self.backend_kwargs = hide_kwargs(self.backend_kwargs)
        check_bounds(self)
        options = self.backend_options
        if (self.backend == "vllm_server") != (self.server_url is not None):
            raise ValueError(
                f"--backend vllm_server and --server_url go together, got --backend {self.backend} "
                f"and --server_url {self.server_url}"
            )
        if options and self.backend == "hf":
            raise ValueError(f"the backend hf takes no further arguments, got {sorted(options)}")

    @property
    def backend_options(self) -> dict[str, Any]:
        """`backend_kwargs` as a dict, with its secrets.

        Raises:
            ValueError: it is not a JSON object.
        """
        return read_object("backend_kwargs", self.backend_kwargs)


@dataclass
class EpisodeArguments(BackendArguments):
    """The budgets of an episode, and what samples its turns."""

    _argument_group_name: ClassVar[str] = "rollout"
    common_options: ClassVar[tuple[str, ...]] = ("max_tokens_per_turn", "max_tokens_per_episode")

    max_tokens_per_turn: int = field(
        default=256, metadata={"help": "Sampled tokens of one turn, at most.", "min": 1}
    )
    max_tokens_per_episode: int | None = field(
        default=None,
        metadata={
            "help": "Tokens of one episode, at most; by default the model's context.",
            "min": 1,
        },
    )
    keep_last_turns: int | None = field(
        default=None,
        metadata={"help": "Turns of history the policy sees; by default all.", "min": 1},
    )
    max_failed_share: float = field(
        default=0.2,
        metadata={
            "help": "Stop when more than this share of episodes failed.",
            "min": 0,
            "max": 1,
        },
    )

    max_outage: str = field(
        default="10m",
        metadata={
            "help": "How long to wait for broken machinery, such as a server that is gone: 90s, "
            "10m, 2h; 0 stops at once."
        },
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        most = self.max_tokens_per_episode
        if most is not None and most <= self.max_tokens_per_turn:
            raise ValueError(
                f"an episode holds the instruction, observations and turns, got "
                f"max_tokens_per_episode={most} with max_tokens_per_turn="
                f"{self.max_tokens_per_turn}; raise the first or lower the second"
            )
        _ = self.failure_rules

    @property
    def failure_rules(self) -> FailureRules:
        """When failed episodes stop the run, and how long broken machinery is waited for."""
        return FailureRules(
            max_failed_share=self.max_failed_share,
            max_outage=read_seconds("max_outage", self.max_outage),
        )


def what_is_played(env: EnvArguments, budgets: EpisodeArguments) -> tuple[Any, ...]:
    """Return the options that decide what episodes are like, and not how they are run."""
    return (
        *(env.env, env.max_turns, env.action_format, env.env_kwargs, env.wrapper),
        *(budgets.max_tokens_per_turn, budgets.max_tokens_per_episode, budgets.keep_last_turns),
    )


@dataclass
class RolloutArguments(EpisodeArguments):
    """How training episodes are played and which of them are written."""

    common_options: ClassVar[tuple[str, ...]] = ("horizon",)

    horizon: str | None = field(
        default=None,
        metadata={
            "help": "Turn horizon over training: fixed:20, or scaling:6,13,20@100 for 6 turns, "
            "13 after 100 optimizer steps, 20 after 200; or adaptive:6,13,20@20: a stage ends when "
            "success over 20 steps has levelled off. By default the turn limit alone."
        },
    )
    mask_truncated_episodes: bool = field(
        default=False,
        metadata={
            "help": "Leave truncated episodes out of the loss; they stay in their group's baseline."
        },
    )
    save_trajectories_every: int = field(
        default=1,
        metadata={"help": "Write the episodes of every N-th step; 0 never writes.", "min": 0},
    )
    compress_trajectories: bool = field(
        default=False,
        metadata={"help": "Write episodes as .jsonl.gz, about a third of the size."},
    )
    max_trajectory_gb: float = field(
        default=0.0,
        metadata={
            "help": "Stop writing episodes, not training, where trajectories/ holds so many GB; "
            "0: no bound."
        },
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.max_trajectory_gb >= 0:
            raise ValueError(
                f"max_trajectory_gb must be >= 0 (0: no bound), got {self.max_trajectory_gb}"
            )
        if self.horizon is not None:
            parse_schedule(self.horizon)

    @property
    def schedule(self) -> HorizonSchedule | None:
        """The schedule that `horizon` names."""
        return None if self.horizon is None else parse_schedule(self.horizon)


@dataclass
class EvaluationArguments:
    """How success is measured during training."""

    _argument_group_name: ClassVar[str] = "evaluation"
    common_options: ClassVar[tuple[str, ...]] = ("num_eval_tasks",)

    num_eval_tasks: int = field(
        default=40,
        metadata={
            "help": "Tasks of the evaluation split, spread evenly over it; 0 plays all.",
            "min": 0,
        },
    )
    eval_samples: int = field(
        default=1, metadata={"help": "Episodes per evaluation task.", "min": 1}
    )
    eval_temperature: float = field(
        default=1.0, metadata={"help": "Temperature of evaluations; 0 is greedy.", "min": 0}
    )

    def __post_init__(self) -> None:
        check_bounds(self)


@dataclass
class RunArguments:
    """What a training command does besides training."""

    _argument_group_name: ClassVar[str] = "run"

    resume: bool = field(
        default=False,
        metadata={"help": "Continue from the last checkpoint in --output_dir, if there is one."},
    )
