"""Policies behind servers: the file of `--policies` that gives each a name."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from agentgym_envs.errors import did_you_mean
from agentgym_envs.machinery.secrets import hide_address, masked
from trainers.options.models import MODEL_NAMES

KEY_VARIABLE = "OPENAI_API_KEY"
"""The environment variable that holds a server's key, where no other is named."""

FLOOR = "floor:"
"""What the name of an environment's floor stands behind."""

_NAME = re.compile(r"[\w.@:+ -]+")
_RESERVED = frozenset({"expert", "expert:privileged", "random", *MODEL_NAMES})
_PER = 1e6
"""Prices are of so many tokens, as the field gives them."""


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, in whatever currency.

    Attributes:
        prompt: tokens that are read.
        completion: tokens that are written, those of the reasoning included.
        cached: tokens that are read from the server's cache; None: as `prompt`.
    """

    prompt: float
    completion: float
    cached: float | None = None

    def cost(self, prompt_tokens: int, cached_tokens: int, completion_tokens: int) -> float:
        """Return what a request cost; `prompt_tokens` includes the cached ones."""
        cached = self.prompt if self.cached is None else self.cached
        read = (prompt_tokens - cached_tokens) * self.prompt + cached_tokens * cached
        return (read + completion_tokens * self.completion) / _PER


@dataclass(frozen=True)
class Endpoint:
    """A policy behind an OpenAI-compatible server.

    Attributes:
        endpoint: the address, which ends in /v1 as a rule, without its secrets.
        name: what the policy is called in results; empty takes the model's name.
        model: the model's name there; None takes the only one that is served.
        key: the environment variable that holds the key.
        sampling: further fields of each request; None leaves one out.
        prices: of its tokens.
    """

    endpoint: str
    name: str = ""
    model: str | None = None
    key: str = KEY_VARIABLE
    sampling: Mapping[str, Any] = field(default_factory=dict)
    prices: Prices | None = None

    @property
    def identity(self) -> str:
        """What makes it another policy: all but its name, key and prices."""
        return repr((self.endpoint, self.model, sorted(masked(dict(self.sampling)).items())))


def read_policies(path: str | Path) -> dict[str, Endpoint]:
    """Read a YAML file that lists policies.

    Returns:
        the policies by name, in the order of the file.

    Raises:
        ValueError: the file is not there, or holds something else.
    """
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
    if not _NAME.fullmatch(name) or name in _RESERVED or name.startswith(FLOOR):
        raise ValueError(
            f"{where}: name must be of letters, digits, spaces and . _ - + @ :, and none of "
            f"{', '.join(sorted(_RESERVED))}, nor begin with {FLOOR}; got {name!r}"
        )
    if not endpoint.startswith(("http://", "https://")):
        raise ValueError(
            f"{where}: endpoint must be an address such as https://host/v1, got {endpoint!r}"
        )
    sampling = values.get("sampling") or {}
    if not isinstance(sampling, dict):
        raise ValueError(f"{where}: sampling must map fields of the request, got {sampling!r:.60}")
    prices = values.get("prices")
    return Endpoint(
        **{
            **values,
            "endpoint": hide_address(endpoint),
            "sampling": sampling,
            "prices": None if prices is None else _prices(prices, where),
        }
    )


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
