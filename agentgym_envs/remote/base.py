"""The common base of environments that servers play, for every protocol."""

from __future__ import annotations

from typing import Any, ClassVar

from agentgym_envs.arguments import positive_seconds
from agentgym_envs.core import TextEnv
from agentgym_envs.errors import NoExpert
from agentgym_envs.machinery.secrets import masked_address
from agentgym_envs.registration.server_names import read_urls
from agentgym_envs.remote.pool import Pool, shared_pool


class RemoteEnv(TextEnv):
    """An environment of one or several servers.

    A subclass opens sessions and speaks in them.

    `connect_to` comes before `TextEnv`'s own arguments, which depend on what the servers are.

    Attributes:
        protocol: its name before the colon.
    """

    instructions = "You act in an environment by text."
    protocol: ClassVar[str]
    protocol_name: ClassVar[str]

    def connect_to(self, url: str, *, timeout: float, token: str | None) -> Pool:
        """Take the servers' addresses, and return their pool.

        Raises:
            ValueError: an address or the timeout is not allowed.
        """
        self._timeout = positive_seconds("timeout", timeout)
        self._token = token
        self._pool: Pool = shared_pool(self.protocol, read_urls(url))
        self._url = ""
        self._available: list[str] | None = None
        return self._pool

    def available_actions(self) -> list[str] | None:
        """List the actions that the server says are possible, or None where it lists none."""
        _ = self.task
        return None if self._available is None else list(self._available)

    def expert_moves(self) -> Any:
        """Raise NoExpert: the protocols do not ask for one.

        Raises:
            NoExpert: always.
        """
        raise NoExpert(
            f"the environment of {masked_address(self._url or self._pool.urls[0])} has no expert: "
            f"{self.protocol_name}'s protocol has none; play it with a model, or with --policy "
            "random where it lists its actions"
        )
