"""The options that say which policy plays and how it is opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from agentgym_envs.secrets import hide_address, hide_kwargs
from trainers.options.arguments import read_object
from trainers.options.errors import check_bounds
from trainers.tokens.generation import Sampling

TEXT_POLICIES = ("expert", "random")


@dataclass
class PolicyLoadingArguments:
    """How a policy is opened, whichever it is."""

    _argument_group_name: ClassVar[str] = "policy"
    common_options: ClassVar[tuple[str, ...]] = ("dtype", "api_model")

    dtype: str = field(
        default="float32",
        metadata={
            "help": "Precision of a model's weights.",
            "choices": ["auto", "bfloat16", "float16", "float32"],
        },
    )
    api_model: str | None = field(
        default=None,
        metadata={"help": "The model's name on the server; by default the only one it serves."},
    )
    api_kwargs: str | None = field(
        default=None,
        metadata={
            "help": "Further fields of each request to the server, as JSON; null leaves one out: "
            '\'{"max_tokens": null, "max_completion_tokens": 256}\'.'
        },
    )
    max_requests: int = field(
        default=16, metadata={"help": "Requests to it under way at once.", "min": 1}
    )
    request_timeout: float = field(
        default=120.0,
        metadata={"help": "Seconds before a request to it counts as lost.", "above": 0},
    )

    def __post_init__(self) -> None:
        self.api_kwargs = hide_kwargs(self.api_kwargs)
        read_object("api_kwargs", self.api_kwargs)
        check_bounds(self)


@dataclass
class PolicyArguments(PolicyLoadingArguments):
    """Who plays, and how it is opened."""

    policy: str = field(
        default="expert",
        metadata={
            "help": "expert, random, tiny, a Hugging Face id, a local folder, or the address of an "
            "OpenAI-compatible server, http://host:port/v1 (key: OPENAI_API_KEY).",
            "aliases": ["--model"],
        },
    )
    top_k: int = field(
        default=0, metadata={"help": "Sample among the so many likeliest tokens; 0: among all."}
    )
    top_p: float = field(
        default=1.0,
        metadata={"help": "Sample among the likeliest tokens that have this share."},
    )
    min_p: float = field(
        default=0.0,
        metadata={"help": "Sample among tokens at least so likely as this share of the likeliest."},
    )

    def __post_init__(self) -> None:
        self.policy = hide_address(self.policy)
        super().__post_init__()
        has_tokens = not self.is_address and self.policy not in TEXT_POLICIES
        if Sampling.of(self).is_cut and not has_tokens:
            raise ValueError(
                f"--top_k, --top_p and --min_p need a model that is sampled from here, got "
                f"--policy {self.policy}; a server takes such fields in --api_kwargs"
            )

    @property
    def is_address(self) -> bool:
        """The policy is asked over HTTP."""
        return self.policy.startswith(("http://", "https://"))
