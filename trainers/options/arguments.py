"""What the commands can be told, as dataclasses: environments, rollouts, evaluation, the model.

Holds our defaults for everything that is not a training option (those are in `configs`). Knows
neither torch nor TRL's trainers.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, ClassVar

from agentgym_envs import resolve_env_id
from agentgym_envs.actions import ACTION_FORMATS
from wrappers import FailureRules, HorizonSchedule, parse_schedule
from wrappers.vector.env import Backend


def read_object(name: str, text: str | None) -> dict[str, Any]:
    """Read an option that holds a JSON object.

    Args:
        name: the option's, for the message.
        text: what it was given; None means an empty object.

    Raises:
        ValueError: it is not a JSON object.
    """
    if text is None:
        return {}
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"{name} must be a JSON object, got {text!r} ({error})") from None
    if not isinstance(values, dict):
        raise ValueError(f"{name} must be a JSON object, got {text!r}")
    return values


@dataclass
class MakeArguments:
    """How environments are made and run, whichever they are.

    Attributes:
        action_format: how the policy writes actions.
        env_backend: `"sync"`, `"thread"` or `"process"`.
        step_timeout: seconds before a slow environment counts as failed (thread and process).
        wrapper: Gymnasium wrappers as `module:Class`, the first one innermost.
        env_kwargs: further keyword arguments of the environments, as a JSON object.
    """

    _argument_group_name: ClassVar[str] = "environment"

    action_format: str = field(
        default="react",
        metadata={"help": "How the policy writes actions.", "choices": list(ACTION_FORMATS)},
    )
    env_backend: Backend = field(default="sync", metadata={"help": "Where environments run."})
    step_timeout: float | None = field(
        default=None, metadata={"help": "Seconds before a slow environment counts as failed."}
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
        _ = self.extra_kwargs

    @property
    def extra_kwargs(self) -> dict[str, Any]:
        """`env_kwargs` as a dict.

        Raises:
            ValueError: it is not a JSON object.
        """
        return read_object("env_kwargs", self.env_kwargs)


@dataclass
class EnvArguments(MakeArguments):
    """Which environments are played, and how they are run.

    Attributes:
        env: registered ids or short names; several mean mixed training.
        split: the split that training episodes come from.
        eval_split: the split that evaluation during training plays.
        tasks: subtasks, depths or ids that training is narrowed to.
        max_turns: turns before an episode is truncated; None takes each environment's own.
        num_envs: episodes advanced together, per environment; None takes one per episode of a
            batch, at most 64.
        overlap: sample for the episodes whose environments have answered while others step (thread
            and process).
    """

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
        default=None, metadata={"help": "Turn limit; by default each environment's own."}
    )
    num_envs: int | None = field(
        default=None,
        metadata={"help": "Episodes advanced together; by default the batch, at most 64."},
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
        self.env = [resolve_env_id(name) for name in self.env]
        for name in ("max_turns", "num_envs"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be >= 1, got {value}")
        if self.overlap and self.env_backend == "sync":
            raise ValueError(
                "overlap needs environments that step by themselves, got --env_backend sync; "
                "pass --env_backend thread or process"
            )


BACKENDS = ("hf", "vllm", "vllm_server")


@dataclass
class BackendArguments:
    """What a model's turns are sampled with.

    Attributes:
        backend: `"hf"` (transformers), `"vllm"` (an engine in this process) or `"vllm_server"`.
        server_url: where the server is, `http://host:port`.
        backend_kwargs: further arguments of the backend, as a JSON object: `vllm.LLM`'s, or the
            server client's `weights_dir`, `timeout`, `retries`, `max_requests`.
    """

    backend: str = field(
        default="hf",
        metadata={"help": "What samples a model's turns.", "choices": list(BACKENDS)},
    )
    server_url: str | None = field(default=None, metadata={"help": "The vLLM server's address."})
    backend_kwargs: str | None = field(
        default=None, metadata={"help": "Further arguments of the backend, as JSON."}
    )

    def __post_init__(self) -> None:
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
        """`backend_kwargs` as a dict.

        Raises:
            ValueError: it is not a JSON object.
        """
        return read_object("backend_kwargs", self.backend_kwargs)


@dataclass
class EpisodeArguments(BackendArguments):
    """The budgets of an episode, and what samples its turns.

    Attributes:
        max_tokens_per_turn: the sampled tokens of a turn.
        max_tokens_per_episode: the whole token sequence of an episode; None takes what the model
            can attend to.
        keep_last_turns: the turns of history that the policy sees; None keeps all.
        max_failed_share: the share of failed episodes that stops the run.
    """

    _argument_group_name: ClassVar[str] = "rollout"

    max_tokens_per_turn: int = field(
        default=256, metadata={"help": "Sampled tokens of one turn, at most."}
    )
    max_tokens_per_episode: int | None = field(
        default=None,
        metadata={"help": "Tokens of one episode, at most; by default the model's context."},
    )
    keep_last_turns: int | None = field(
        default=None, metadata={"help": "Turns of history the policy sees; by default all."}
    )
    max_failed_share: float = field(
        default=0.2, metadata={"help": "Stop when more than this share of episodes failed."}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("max_tokens_per_turn", "max_tokens_per_episode", "keep_last_turns"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} must be >= 1, got {value}")
        if not 0.0 <= self.max_failed_share <= 1.0:
            raise ValueError(f"max_failed_share must be in 0..1, got {self.max_failed_share}")

    @property
    def failure_rules(self) -> FailureRules:
        """When failed episodes stop the run."""
        return FailureRules(max_failed_share=self.max_failed_share)


@dataclass
class RolloutArguments(EpisodeArguments):
    """How training episodes are played and what is kept of them.

    Attributes:
        horizon: the turn-horizon schedule, `"fixed:20"`, `"scaling:6,13,20@100"` or
            `"adaptive:6,13,20@20"`; None plays the environments' own limit.
        mask_truncated_episodes: leave truncated episodes out of the loss; they still count in
            their group's baseline.
        save_trajectories_every: write the episodes of every so many optimizer steps; 0 never.
        compress_trajectories: write them as `.jsonl.gz`, about a third of the size.
        max_trajectory_gb: size of the run's `trajectories/` from which on no more episodes are
            written; 0 is no bound.
    """

    horizon: str | None = field(
        default=None,
        metadata={
            "help": "Turn horizon over training: fixed:20, or scaling:6,13,20@100 for 6 turns, "
            "13 after 100 optimizer steps, 20 after 200; or adaptive:6,13,20@20: a stage ends when "
            "success over 20 steps has levelled off. By default the turn limit alone."
        },
    )
    mask_truncated_episodes: bool = field(
        default=False, metadata={"help": "Leave truncated episodes out of the loss."}
    )
    save_trajectories_every: int = field(
        default=1, metadata={"help": "Write the episodes of every N-th step; 0 never writes."}
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
        if self.save_trajectories_every < 0:
            raise ValueError(
                f"save_trajectories_every must be >= 0, got {self.save_trajectories_every}"
            )

    @property
    def schedule(self) -> HorizonSchedule | None:
        """The schedule that `horizon` names."""
        return None if self.horizon is None else parse_schedule(self.horizon)


@dataclass
class EvaluationArguments:
    """How success is measured during training.

    Attributes:
        num_eval_tasks: tasks of the evaluation split, spread evenly over it; 0 takes all.
        eval_samples: episodes per task.
        eval_temperature: sampling temperature; 0 is greedy.
    """

    _argument_group_name: ClassVar[str] = "evaluation"

    num_eval_tasks: int = field(
        default=40, metadata={"help": "Tasks of the evaluation split to play; 0 plays all."}
    )
    eval_samples: int = field(default=1, metadata={"help": "Episodes per evaluation task."})
    eval_temperature: float = field(
        default=1.0, metadata={"help": "Temperature of evaluations; 0 is greedy."}
    )

    def __post_init__(self) -> None:
        if self.num_eval_tasks < 0:
            raise ValueError(f"num_eval_tasks must be >= 0, got {self.num_eval_tasks}")
        if self.eval_samples < 1:
            raise ValueError(f"eval_samples must be >= 1, got {self.eval_samples}")
        if self.eval_temperature < 0:
            raise ValueError(f"eval_temperature must be >= 0, got {self.eval_temperature}")


@dataclass
class RunArguments:
    """What a training command does besides training.

    Attributes:
        resume: continue from the last checkpoint in the output folder, if there is one.
    """

    _argument_group_name: ClassVar[str] = "run"

    resume: bool = field(
        default=False,
        metadata={"help": "Continue from the last checkpoint in --output_dir, if there is one."},
    )
