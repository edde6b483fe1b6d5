"""The backends that run the environments of `TextVectorEnv`, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from wrappers.vector.host import EnvFn, InProcessSlot
from wrappers.vector.process import ProcessSlot
from wrappers.vector.ray_slot import RayActors, ray_slots
from wrappers.vector.slots import Slot, ThreadSlot

LocalBackend = Literal["sync", "thread", "process"]
LOCAL_BACKENDS: tuple[LocalBackend, ...] = get_args(LocalBackend)
"""The backends of this machine, which need no extra."""

Backend = Literal[LocalBackend, "ray"]
BACKENDS: tuple[Backend, ...] = get_args(Backend)

_SLOTS: dict[str, type[InProcessSlot] | type[ThreadSlot] | type[ProcessSlot]] = {
    "sync": InProcessSlot,
    "thread": ThreadSlot,
    "process": ProcessSlot,
}


def make_slots(backend: Backend, env_fns: Sequence[EnvFn], ray: RayActors | None) -> Sequence[Slot]:
    """Return a slot for each function that makes an environment, on the cluster of `ray` if any.

    Raises:
        ValueError: there is no such backend, or `ray` came with another.
        MissingExtra: Ray is not installed.
    """
    if backend not in BACKENDS:
        raise ValueError(f"unknown backend {backend!r}; allowed: {', '.join(BACKENDS)}")
    if backend == "ray":
        return ray_slots(env_fns, ray or RayActors())
    if ray is not None:
        raise ValueError(f"ray={ray!r} needs backend='ray', got {backend!r}")
    return [_SLOTS[backend](env_fn) for env_fn in env_fns]
