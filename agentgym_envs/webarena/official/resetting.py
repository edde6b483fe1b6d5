"""Puts a deployment's sites back as they were: by a function, or by addresses that do it."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable, Mapping
from typing import Any

from agentgym_envs.errors import EnvFailure
from agentgym_envs.machinery.secrets import masked, masked_address
from agentgym_envs.webarena.option_values import load_option
from agentgym_envs.webarena.tasks.files import WebTask

ResetHook = Callable[[WebTask], object]
"""Puts the sites back, given the task that has changed them, or may have."""

WHEN = ("changed", "always")
"""Times of a reset: once the task before may have changed a site, or before every task."""

_SECONDS = 900.0
"""Time limit of an address, in seconds. GitLab needs minutes to start."""


class AddressReset:
    """Posts to an address of each site of a task, and waits for its answer.

    Args:
        addresses: `{site: address}`; a site without one stays as it is.
    """

    def __init__(self, addresses: Mapping[str, str]) -> None:
        self._addresses = dict(addresses)

    def __call__(self, task: WebTask) -> None:
        """Put a task's sites back.

        Raises:
            EnvFailure: an address does not answer, or answers with an error.
        """
        for site in task.sites:
            address = self._addresses.get(site)
            if address is None:
                continue
            request = urllib.request.Request(address, data=b"", method="POST")
            try:
                urllib.request.urlopen(request, timeout=_SECONDS).close()
            except OSError as error:
                raise EnvFailure(
                    f"{site} is not put back: {masked_address(address)} answers "
                    f"{masked(str(error))}; check reset_hook="
                ) from error


def read_reset_hook(value: Any, sites: Mapping[str, str]) -> ResetHook | None:
    """Return a hook: a function, one named `"module:function"`, or `{site: address}`.

    Args:
        value: one of them, or a `.json` file of addresses.
        sites: of the deployment.

    Raises:
        ValueError: it is none of them.
    """
    read = load_option("reset_hook", value)
    if isinstance(read, Mapping):
        for site, address in read.items():
            is_address = str(address).startswith(("http://", "https://"))
            if site not in sites or not is_address:
                raise ValueError(
                    f"reset_hook must map sites of {sorted(sites)} to http addresses, got "
                    f"{site!r}: {masked(address)!r:.200}"
                )
        return AddressReset(read)
    if read is not None and not callable(read):
        raise ValueError(
            "reset_hook must be a function, module:function, or addresses by site such as "
            f"{{'shopping': 'http://host:7771/restart?wait=1'}}; got {read!r:.200}"
        )
    hook: ResetHook | None = read
    return hook


def check_when(reset: str) -> bool:
    """Return whether sites are put back before every task.

    Raises:
        ValueError: `reset` is neither of `WHEN`.
    """
    if reset not in WHEN:
        raise ValueError(f"unknown reset {reset!r}; allowed: {', '.join(WHEN)}")
    return reset == "always"
