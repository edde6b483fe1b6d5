"""The options that say which policy plays and how it is opened."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from trainers.options.arguments import read_object


@dataclass
class OpeningArguments:
    """How a policy is opened, whichever it is.

    Attributes:
        dtype: the precision a model is loaded in.
        api_model: the model's name on an OpenAI-compatible server; None takes the one it serves.
        api_kwargs: further fields of every request to it, as a JSON object; a null leaves a field
            out.
        max_requests: requests to it under way at once.
        request_timeout: seconds before such a request counts as lost.
    """

    _argument_group_name: ClassVar[str] = "policy"

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
    max_requests: int = field(default=16, metadata={"help": "Requests to it under way at once."})
    request_timeout: float = field(
        default=120.0, metadata={"help": "Seconds before a request to it counts as lost."}
    )

    def __post_init__(self) -> None:
        read_object("api_kwargs", self.api_kwargs)
        if self.max_requests < 1:
            raise ValueError(f"max_requests must be >= 1, got {self.max_requests}")
        if not self.request_timeout > 0:
            raise ValueError(f"request_timeout must be > 0 seconds, got {self.request_timeout}")


@dataclass
class PolicyArguments(OpeningArguments):
    """Who plays, and how it is opened.

    Attributes:
        policy: `"expert"`, `"random"`, `"tiny"`, a Hugging Face id, a local folder, or the address
            of an OpenAI-compatible server.
    """

    policy: str = field(
        default="expert",
        metadata={
            "help": "expert, random, tiny, a Hugging Face id, a local folder, or the address of an "
            "OpenAI-compatible server, http://host:port/v1 (key: OPENAI_API_KEY).",
            "aliases": ["--model"],
        },
    )

    @property
    def is_address(self) -> bool:
        """The policy is asked over HTTP."""
        return self.policy.startswith(("http://", "https://"))
