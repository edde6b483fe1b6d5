"""The connection to a Ray cluster, and the errors of dead actors."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from agentgym_envs.errors import needs_extra

SET_UP_SECONDS = 1800.0
"""How long an actor may take to be set up, for which a busy cluster may have no place yet."""


def connect(address: str | None, option: str) -> Any:
    """Return the module `ray`, connected to a cluster. An existing connection stays.

    Args:
        address: of the cluster, as `ray.init` takes it; `"local"` starts one here.
        option: what asked for Ray, for the message.

    Raises:
        MissingExtra: Ray is not installed.
        ConnectionError: there is no cluster at the address.
    """
    with needs_extra("ray", option):
        ray = import_module("ray")
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False)
    return ray


def deaths(ray: Any) -> tuple[type[Exception], ...]:
    """Return the errors of a call whose actor or machine has been lost."""
    errors = ray.exceptions
    # A long answer stays where it was given until it is fetched, and is lost with the machine.
    return errors.RayActorError, errors.ObjectLostError, errors.OutOfMemoryError
