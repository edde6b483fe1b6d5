"""The options of the policy: who plays, and how it is opened."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from agentgym_envs.machinery.secrets import hide_address, hide_kwargs, masked
from trainers.options.endpoints import FLOOR, Endpoint, read_policies
from trainers.options.errors import UsageError, check_bounds
from trainers.options.models import TemplateArguments, default_dtype
from trainers.options.values import read_object
from trainers.tokens.generation import Sampling

TEXT_POLICIES = ("expert", "expert:privileged", "random")
ADDRESS = ("http://", "https://")
_SPEAKING = (
    *("api_model", "api_kwargs", "chat_template", "chat_template_kwargs"),
    *("top_k", "top_p", "min_p"),
)
_NO_SCHEME = re.compile(r"[\w.-]+:\d+(/.*)?|[\w-]+(\.[\w-]+)+/v\d+/?")
"""An address without its beginning: a host with its port, or one with the path `/v1`."""


def is_text_policy(name: str) -> bool:
    """Return whether a policy has neither tokens nor a server: expert, chance or a floor."""
    return name in TEXT_POLICIES or name.startswith(FLOOR)


def check_floor(policy: str, floors: Mapping[str, Collection[str]]) -> None:
    """Check that every environment has the floor that a policy names, if it names one.

    Args:
        policy: as `--policy` takes it.
        floors: those of each environment, by its name.

    Raises:
        UsageError: one has it not.
    """
    name = policy.removeprefix(FLOOR)
    lacking = [env for env, names in floors.items() if name not in names]
    if policy.startswith(FLOOR) and lacking:
        known = "; ".join(f"{env}: {', '.join(names)}" for env, names in floors.items() if names)
        raise UsageError(
            f"`policy={policy}`: there is no baseline {name!r} in {', '.join(lacking)}, "
            + (f"but {known}" if known else "nor another one")
            + "; `policy=random` plays everywhere"
        )


@dataclass
class PolicyLoadingArguments(TemplateArguments):
    """How a policy is opened, whichever it is."""

    _argument_group_name: ClassVar[str] = "policy"
    common_options: ClassVar[tuple[str, ...]] = ("dtype", "api_model", "policies", "max_cost")

    dtype: str | None = field(
        default=None,
        metadata={
            "help": "Precision of a model's weights; by default bfloat16 where that is faster, and "
            "float32 otherwise.",
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
    policies: str | None = field(
        default=None,
        metadata={
            "help": "YAML file of policies behind servers, each with its name, endpoint, model, "
            "key, sampling and prices; --policy takes the names."
        },
    )
    max_cost: float | None = field(
        default=None,
        metadata={
            "help": "Stop when the answers have cost so much, in the currency of the prices that "
            "--policies lists; what is finished is kept.",
            "above": 0,
        },
    )
    max_requests: int = field(
        default=16, metadata={"help": "Requests to it under way at once, at most.", "min": 1}
    )
    request_timeout: float = field(
        default=120.0,
        metadata={"help": "Seconds before a request to it counts as lost.", "above": 0},
    )

    def __post_init__(self) -> None:
        self.api_kwargs = hide_kwargs(self.api_kwargs)
        read_object("api_kwargs", self.api_kwargs)
        check_bounds(self)
        self.check_template()
        _ = self.named

    @property
    def named(self) -> dict[str, Endpoint]:
        """What `policies` lists, by name.

        Raises:
            ValueError: it is no such file.
        """
        return {} if self.policies is None else read_policies(self.policies)


@dataclass
class PolicyArguments(PolicyLoadingArguments):
    """Who plays, and how it is opened."""

    policy: str = field(
        default="expert",
        metadata={
            "help": "expert, expert:privileged (may use what no observation has shown), random, "
            "floor:NAME (a floor of the environment), tiny, smollm2, a Hugging Face id, a local "
            "folder, a GGUF file, a name of --policies, or the address of an OpenAI-compatible "
            "server, http://host:port/v1 (key: OPENAI_API_KEY).",
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
        named = self.named
        if named and self.policy not in named:
            raise ValueError(
                f"`policies={self.policies}` lists {', '.join(named)}; name one with `policy`, "
                f"got {self.policy}" + ", the default" * (self.policy == "tiny")
            )
        if not named and _NO_SCHEME.fullmatch(self.policy) and not Path(self.policy).exists():
            raise ValueError(
                f"`policy={self.policy}` is no policy; a server's address begins with http:// or "
                f"https://, such as http://{self.policy}"
            )
        if named and self.api_model is not None:
            raise ValueError(f"`api_model={self.api_model}` goes with an address, not `policies`")
        if self.max_cost is not None and not self.is_served:
            raise ValueError(f"`max_cost` needs a policy behind a server, got {self.policy}")
        if Sampling.of(self).is_cut and not self.is_loaded:
            raise ValueError(
                f"`top_k`, `top_p` and `min_p` need a model that is sampled from here, got "
                f"`policy={self.policy}`; a server takes such fields in `api_kwargs`"
            )
        if self.has_template and not self.is_loaded:
            raise ValueError(
                f"`chat_template` and `chat_template_kwargs` need a model that is loaded here, got "
                f"`policy={self.policy}`; a server takes the variables in `api_kwargs`, such as "
                '\'{"chat_template_kwargs": {"enable_thinking": false}}\''
            )
        if self.is_loaded and self.dtype is None:
            self.dtype = default_dtype(self.policy)

    @property
    def settings(self) -> list[tuple[str, Any]]:
        """What decides how the policy speaks, beside its name, where it is not the default."""
        plain = {option.name: option.default for option in fields(self)}
        chosen = [(name, getattr(self, name)) for name in _SPEAKING]
        changed = [(name, value) for name, value in chosen if value != plain[name]]
        if self.is_loaded and self.dtype != "float32":
            changed.insert(0, ("dtype", self.dtype))
        if self.policies:  # not the address, which may move
            entry = self.endpoint
            changed.append(
                ("endpoint", (entry.model, sorted(masked(dict(entry.sampling)).items())))
            )
        return changed

    @property
    def is_served(self) -> bool:
        """The policy is asked over HTTP."""
        return self.policies is not None or self.policy.startswith(ADDRESS)

    @property
    def is_loaded(self) -> bool:
        """The policy is a model that is loaded here."""
        return not self.is_served and not is_text_policy(self.policy)

    @property
    def endpoint(self) -> Endpoint:
        """Where a served policy is asked, and how; `api_kwargs` wins over the file's sampling."""
        entry = self.named.get(self.policy) or Endpoint(self.policy, model=self.api_model)
        further = read_object("api_kwargs", self.api_kwargs)
        return replace(entry, sampling={**entry.sampling, **further})
