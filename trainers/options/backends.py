"""The backends by name, with their capabilities.

Imports no torch: a backend's module is imported when it is opened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from typing import Any

from trainers.options.values import load_attribute
from trainers.tokens.generation import Backend

GROUP = "agentgym.backends"
"""The group of entry points by which a package adds its backends: a `BackendSpec` each."""


@dataclass(frozen=True)
class ModelSource:
    """The model that a backend samples from.

    Attributes:
        model: the loaded policy, whose training the backend follows; None reads the weights at
            `path`.
        path: a Hugging Face id or a folder, without a `model`.
        dtype: the precision of the weights at `path`.
        max_length: tokens of a sequence, at most, the context of a `model` included. None has no
            bound.
        autocast: returns the context of the trainer's passes, for turns in its precision.
    """

    model: Any = None
    path: str = ""
    dtype: str = "auto"
    max_length: int | None = None
    autocast: Callable[[], AbstractContextManager[None]] | None = None


@dataclass(frozen=True)
class BackendSpec:
    """A backend's opener and its capabilities.

    Attributes:
        name: in messages and records.
        open: returns the backend, or names such a function as `module:function`. It is called with
            a `ModelSource`, the `urls` of servers if it takes any, and the `backend_kwargs`.
        samples_from_model: it computes with the loaded model itself, which is loaded for
            evaluations too. Weights that are split over processes are refused.
        can_play_ahead: it samples while the model is trained: see
            `trainers.backends.shared.ServerBackend`.
        gives_logprobs: it returns the log-probabilities of its samples, which training needs.
        takes_server_url: it asks servers, whose addresses are `server_url`.
        takes_kwargs: `open` takes further arguments.
    """

    name: str
    open: str | Callable[..., Backend]
    samples_from_model: bool = False
    can_play_ahead: bool = False
    gives_logprobs: bool = True
    takes_server_url: bool = False
    takes_kwargs: bool = True

    @classmethod
    def from_value(cls, backend: str | BackendSpec | Backend) -> BackendSpec:
        """Return the spec of a backend, by its name, its spec or an open backend.

        The class of an open one may have a `spec` with its capabilities.

        Raises:
            KeyError: there is no backend of this name.
            TypeError: it is something else, such as a class, or an entry point is.
        """
        if isinstance(backend, BackendSpec):
            return backend
        if isinstance(backend, str):
            return BACKENDS[backend]
        if isinstance(backend, type):
            raise TypeError(
                f"backend must not be a class, got {backend.__qualname__}; pass "
                f"trainers.BackendSpec(name, open={backend.__qualname__}), or one that is open"
            )
        if not isinstance(backend, Backend):
            raise TypeError(
                f"backend must be a name ({', '.join(BACKENDS)}), a trainers.BackendSpec, or an "
                f"object with generate, finish, reseed, sync_weights and max_length, got "
                f"{backend!r:.60}"
            )
        kind = type(backend)
        known_spec = getattr(kind, "spec", None) or cls(kind.__qualname__, kind)
        return replace(
            known_spec, open=lambda source: backend, takes_server_url=False, takes_kwargs=False
        )

    def opener(self) -> Callable[..., Backend]:
        """Return the function that opens the backend, imported if need be."""
        function: Callable[..., Backend] = (
            load_attribute(self.open) if isinstance(self.open, str) else self.open
        )
        return function


class _Backends(Mapping[str, BackendSpec]):
    """The specs by name. Entry points are read at each look-up."""

    remedy = (
        "; a package adds one of its own by an entry point of the group agentgym.backends that "
        "names a trainers.BackendSpec, such as mine = my_lab.backends:SPEC in its pyproject.toml "
        "(docs/howto/plugging_in.md)"
    )

    def __getitem__(self, name: str) -> BackendSpec:
        if name in _OURS:
            return _OURS[name]
        for entry in entry_points(group=GROUP, name=name):
            spec = entry.load()
            if not isinstance(spec, BackendSpec):
                raise TypeError(
                    f"the entry point {name} = {entry.value} of {GROUP} must be a "
                    f"trainers.BackendSpec, got {spec!r:.60}"
                )
            return spec
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(sorted({*_OURS, *(entry.name for entry in entry_points(group=GROUP))}))

    def __len__(self) -> int:
        return len(list(iter(self)))


_OURS = {
    spec.name: spec
    for spec in (
        BackendSpec(
            "hf",
            "trainers.backends.open:open_hf",
            samples_from_model=True,
            takes_kwargs=False,
        ),
        BackendSpec("vllm", "trainers.backends.open:open_vllm"),
        BackendSpec(
            "vllm_server",
            "trainers.backends.open:open_vllm_server",
            can_play_ahead=True,
            takes_server_url=True,
        ),
    )
}
BACKENDS: Mapping[str, BackendSpec] = _Backends()
"""Ours and other packages', by the names that `--backend` takes."""
