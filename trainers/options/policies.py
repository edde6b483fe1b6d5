"""The options of the policy: its name, how it is opened, and the file of served policies."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar

from agentgym_envs.errors import did_you_mean
from agentgym_envs.machinery.secrets import hide_address, hide_kwargs, masked
from trainers.options.errors import UsageError
from trainers.options.models import MODEL_NAMES, TemplateArguments, default_dtype
from trainers.options.values import ADDRESS, check_bounds, option, read_object
from trainers.tokens.generation import Sampling

KEY_VARIABLE = "OPENAI_API_KEY"
"""The environment variable that holds a server's key, where no other is named."""
BASELINE = "baseline:"
"""The prefix of an environment's baseline as a policy, as in `baseline:NAME`."""
_OLD_BASELINE = "floor:"
TEXT_POLICIES = ("expert", "expert:privileged", "random")
_SPEAKING = (
    *("api_model", "api_kwargs", "chat_template", "chat_template_kwargs"),
    *("top_k", "top_p", "min_p"),
)
_NO_SCHEME = re.compile(r"[\w.-]+:\d+(/.*)?|[\w-]+(\.[\w-]+)+/v\d+/?")
"""An address without its beginning: a host with its port, or one with the path `/v1`."""
_NAME = re.compile(r"[\w.@:+ -]+")
_RESERVED = frozenset({*TEXT_POLICIES, *MODEL_NAMES})
_PER = 1e6
"""Tokens that a price is for."""


@dataclass(frozen=True)
class Prices:
    """The price of a million tokens, in any currency. `cached` is by default as `prompt`."""

    prompt: float
    completion: float
    cached: float | None = None

    def cost(self, prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> float:
        """Return the cost of a request, whose `prompt_tokens` include the cached ones."""
        cached = self.prompt if self.cached is None else self.cached
        read = (prompt_tokens - cached_tokens) * self.prompt + cached_tokens * cached
        return (read + completion_tokens * self.completion) / _PER


@dataclass(frozen=True)
class Endpoint:
    """A policy behind an OpenAI-compatible server."""

    endpoint: str  # the address, which ends in /v1 as a rule, without its secrets
    name: str = ""  # in results; empty takes the model's name
    model: str | None = None  # its name there; None takes the only one
    key: str = KEY_VARIABLE  # the environment variable that holds the key
    sampling: Mapping[str, Any] = field(default_factory=dict)  # of each request; None omits one
    prices: Prices | None = None

    @property
    def identity(self) -> str:
        """The text that tells policies apart: everything but name, key and prices."""
        return repr((self.endpoint, self.model, sorted(masked(dict(self.sampling)).items())))


def read_policies(path: str | Path) -> dict[str, Endpoint]:
    """Return the policies that a YAML file lists, by name, or raise `ValueError`."""
    import yaml  # type: ignore[import-untyped]  # only who has such a file waits for it

    try:
        entries = yaml.safe_load(Path(path).read_text("utf-8-sig"))
    except OSError as error:
        raise ValueError(f"policies: cannot read {path} ({error.strerror})") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"policies: {path} is not YAML: {error}") from None
    if not isinstance(entries, list) or not entries:
        raise ValueError(
            f"policies: {path} must list policies, each with '- name:', 'endpoint:' and 'model:', "
            f"got {type(entries).__name__}"
        )
    policies: dict[str, Endpoint] = {}
    for number, entry in enumerate(entries, 1):
        policy = _endpoint(entry, f"policies: {path}, entry {number}")
        if policy.name in policies:
            raise ValueError(f"policies: {path} lists {policy.name!r} twice")
        policies[policy.name] = policy
    return policies


def _endpoint(entry: Any, where: str) -> Endpoint:
    values = _fields_of(Endpoint, entry, where, needed=("name", "endpoint", "model"))
    for key in ("name", "endpoint", "model", "key"):
        if not isinstance(values.get(key, "-"), str) or not values.get(key, "-").strip():
            raise ValueError(f"{where}: {key} must be a text, got {masked(values[key])!r}")
    name, endpoint = values["name"], values["endpoint"]
    if not _NAME.fullmatch(name) or name in _RESERVED or name.startswith(BASELINE):
        raise ValueError(
            f"{where}: name must be of letters, digits, spaces and . _ - + @ :, and none of "
            f"{', '.join(sorted(_RESERVED))}, nor begin with {BASELINE}; got {name!r}"
        )
    if not endpoint.startswith(ADDRESS):
        raise ValueError(
            f"{where}: endpoint must be an address such as https://host/v1, got {endpoint!r}"
        )
    sampling = values.get("sampling") or {}
    if not isinstance(sampling, dict):
        raise ValueError(f"{where}: sampling must map fields of the request, got {sampling!r:.60}")
    if values.get("prices") is not None:
        values["prices"] = _prices(values["prices"], where)
    return Endpoint(**{**values, "endpoint": hide_address(endpoint), "sampling": sampling})


def _prices(entry: Any, where: str) -> Prices:
    values = _fields_of(Prices, entry, f"{where}, prices", needed=("prompt", "completion"))
    for key, value in values.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not 0 <= value < float("inf"):
            raise ValueError(
                f"{where}, prices: {key} must be a number >= 0, the price of a million tokens, "
                f"got {value!r}"
            )
    return Prices(**values)


def _fields_of(kind: type, entry: Any, where: str, *, needed: tuple[str, ...]) -> dict[str, Any]:
    known = [part.name for part in fields(kind)]
    if not isinstance(entry, dict):
        raise ValueError(f"{where} must map {', '.join(known)}, got {masked(str(entry))!r:.60}")
    for key in entry:
        if key not in known:
            hint = did_you_mean(str(key), known, otherwise=f"allowed: {', '.join(known)}")
            raise ValueError(f"{where}: unknown key {key!r}{hint}")
    for key in needed:
        if key not in entry:
            raise ValueError(f"{where} has no {key}")
    return dict(entry)


def policy_name(policy: str) -> str:
    """Return a policy as results name it: without secrets, and `floor:NAME` as a baseline."""
    if policy.startswith(_OLD_BASELINE):
        policy = BASELINE + policy.removeprefix(_OLD_BASELINE)
    return hide_address(policy)


def is_text_policy(name: str) -> bool:
    """Return whether a policy has neither tokens nor a server: expert, random or a baseline."""
    return name in TEXT_POLICIES or name.startswith(BASELINE)


def check_baseline(policy: str, baselines: Mapping[str, Collection[str]]) -> None:
    """Raise `UsageError` if an environment lacks the baseline that a policy names.

    `baselines` are each environment's, by its name.
    """
    name = policy.removeprefix(BASELINE)
    lacking = [env for env, names in baselines.items() if name not in names]
    if policy.startswith(BASELINE) and lacking:
        known = "; ".join(f"{env}: {', '.join(names)}" for env, names in baselines.items() if names)
        raise UsageError(
            f"`policy={policy}`: there is no baseline {name!r} in {', '.join(lacking)}; allowed: "
            f"{known or 'none'}; `policy=random` plays everywhere"
        )


@dataclass
class PolicyLoadingArguments(TemplateArguments):
    """Loading of a policy."""

    _argument_group_name: ClassVar[str] = "policy"
    common_options: ClassVar[tuple[str, ...]] = ("dtype", "api_model", "policies", "max_cost")

    dtype: str | None = option(
        None,
        "Precision of a model's weights; default: bfloat16 if faster, else float32.",
        choices=["auto", "bfloat16", "float16", "float32"],
    )
    api_model: str | None = option(None, "The model's name on the server; default: the only one.")
    api_kwargs: str | None = option(
        None,
        'Fields of requests, as JSON; null omits one: \'{"max_tokens": null, '
        '"max_completion_tokens": 256}\'.',
    )
    policies: str | None = option(
        None,
        "YAML file of served policies: name, endpoint, model, key, sampling, prices. --policy "
        "takes the names.",
    )
    max_cost: float | None = option(
        None, "Stop at this cost, in the currency of the prices in --policies.", above=0
    )
    max_requests: int = option(16, "Concurrent requests, at most.", min=1)
    request_timeout: float = option(120.0, "Seconds before a request is lost.", above=0)

    def __post_init__(self) -> None:
        self.api_kwargs = hide_kwargs(self.api_kwargs)
        read_object("api_kwargs", self.api_kwargs)
        check_bounds(self)
        self.check_template()
        _ = self.named

    @property
    def named(self) -> dict[str, Endpoint]:
        """The policies of the file `policies`, by name, or a `ValueError`."""
        return {} if self.policies is None else read_policies(self.policies)


@dataclass
class PolicyArguments(PolicyLoadingArguments):
    """The policy's name, and how it is opened."""

    policy: str = option(
        "expert",
        "expert, expert:privileged (uses unobserved facts), random, baseline:NAME, tiny, smollm2,"
        " a Hugging Face id, folder or GGUF file, a name of --policies, or the address of an "
        "OpenAI-compatible server, http://host:port/v1 (key: OPENAI_API_KEY).",
        aliases=["--model"],
    )
    top_k: int = option(0, "Sample among the k likeliest tokens; 0: all.")
    top_p: float = option(
        1.0, "Sample among the likeliest tokens with this share of the probability."
    )
    min_p: float = option(0.0, "Least probability of a token, relative to the likeliest.")

    def __post_init__(self) -> None:
        self.policy = policy_name(self.policy)
        super().__post_init__()
        named = self.named
        if named and self.policy not in named:
            raise ValueError(
                f"`policies={self.policies}` lists {', '.join(named)}; name one with `policy`, "
                f"got {self.policy}" + ", the default" * (self.policy == "tiny")
            )
        if not named and _NO_SCHEME.fullmatch(self.policy) and not Path(self.policy).exists():
            raise ValueError(
                f"unknown `policy={self.policy}`; a server's address begins with http:// or "
                f"https://, such as http://{self.policy}"
            )
        if named and self.api_model is not None:
            raise ValueError(f"`api_model={self.api_model}` goes with an address, not `policies`")
        if self.max_cost is not None and not self.is_served:
            raise ValueError(f"`max_cost` needs a policy behind a server, got {self.policy}")
        if Sampling.from_args(self).is_cut and not self.is_loaded:
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
        """The options beside its name that change the policy, if they are not the defaults."""
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
        """The policy is a server's."""
        return self.policies is not None or self.policy.startswith(ADDRESS)

    @property
    def is_loaded(self) -> bool:
        """The policy is a model that is loaded here."""
        return not self.is_served and not is_text_policy(self.policy)

    @property
    def endpoint(self) -> Endpoint:
        """The served policy's endpoint. `api_kwargs` overrides the file's sampling."""
        entry = self.named.get(self.policy) or Endpoint(self.policy, model=self.api_model)
        further = read_object("api_kwargs", self.api_kwargs)
        return replace(entry, sampling={**entry.sampling, **further})
