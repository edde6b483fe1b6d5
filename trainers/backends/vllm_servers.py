"""Samples turns from several vLLM servers of one model, as from one.

A row stays with its server, which has its earlier tokens in the prefix cache. A row's samples
follow from its seed, so they do not depend on the server, rounding apart.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import Any

from agentgym_envs.errors import EnvFailure
from trainers.backends.spread import is_spread
from trainers.backends.vllm_server import VLLMServerBackend
from trainers.backends.weights import WeightsFolder
from trainers.options.backends import BACKENDS
from trainers.tokens.generation import Generated, Sampling
from trainers.tokens.seeds import TurnSeeds

logger = logging.getLogger(__name__)


class VLLMServersBackend:
    """`Backend` on several servers that serve the same model.

    A new row goes to the server with the fewest live rows. If a server fails, or has lost the
    weights, its rows continue on the others, which encode them again; it is asked again from the
    next weights on. So is one that does not answer at first, if another one does. If several
    processes train, every server must answer and take the weights.

    Args:
        urls: the servers' addresses.
        weights_dir: as `VLLMServerBackend` has it; all servers read it.
        **options: further ones of each `VLLMServerBackend`.

    Attributes:
        send_again: called when no server is left that has the weights.
        max_length: tokens of a sequence, at most: the smallest of all servers'.

    Raises:
        EnvFailure: no server can be reached, or one of them cannot and several processes train.
        ValueError: they serve different models, or one serves none.
    """

    spec = BACKENDS["vllm_server"]

    def __init__(
        self, urls: Sequence[str], *, weights_dir: str | None = None, **options: Any
    ) -> None:
        folder = None if weights_dir is None else WeightsFolder(weights_dir)
        self._open: Callable[[str], VLLMServerBackend] = partial(
            VLLMServerBackend, weights_dir=folder, **options
        )
        self._servers: dict[str, VLLMServerBackend] = {}
        self._absent = list(urls)  # those that have never answered
        self._up: list[str] = []
        self._server_of: dict[int, str] = {}  # by the row's key
        self._seeds = TurnSeeds()
        self._global_step = 0
        self._threads = ThreadPoolExecutor(len(urls), thread_name_prefix="servers")
        self.send_again: Callable[[], None] = self._send_again
        causes = self._open_absent()
        if not self._servers:
            raise EnvFailure("; ".join(causes))
        self._up = list(self._servers)
        lengths = [one.max_length for one in self._servers.values() if one.max_length is not None]
        self.max_length: int | None = min(lengths, default=None)

    def generate(
        self,
        prompts: Sequence[list[int]],
        sampling: Sampling,
        *,
        keys: Sequence[int],
        budgets: Sequence[int] | None = None,
    ) -> list[Generated]:
        """Continue each prompt, as in `Backend.generate`.

        Raises:
            EnvFailure: no server is left; the message names each one's cause.
            ValueError: a server refused a request, or gives logprobs of another distribution.
        """
        if not self._up:
            self.send_again()
        seeds = self._seeds.next(keys)
        turns: dict[int, Generated] = {}
        causes: list[str] = []
        while len(turns) < len(prompts):
            shares = self._share([row for row in range(len(prompts)) if row not in turns], keys)
            futures: dict[str, Future[list[Generated]]] = {
                url: self._threads.submit(
                    self._servers[url].sample,
                    [prompts[row] for row in rows],
                    sampling,
                    seeds=[seeds[row] for row in rows],
                    budgets=None if budgets is None else [budgets[row] for row in rows],
                    restarts=0,
                )
                for url, rows in shares.items()
            }
            try:
                wait(futures.values())
            except KeyboardInterrupt:
                self.close()  # or the interpreter would wait for all that is to be sent again
                raise
            for url, future in futures.items():
                try:
                    turns |= dict(zip(shares[url], future.result(), strict=True))
                except EnvFailure as failure:
                    causes.append(str(failure))
                    self._give_up(url, failure)
            if not self._up:
                raise EnvFailure("; ".join(causes))
        return [turns[row] for row in range(len(prompts))]

    def finish(self, keys: Sequence[int]) -> None:
        """Forget rows, as in `Backend.finish`."""
        self._seeds.forget(keys)
        for key in keys:
            self._server_of.pop(key, None)

    def reseed(self, seed: int) -> None:
        """Restart the random numbers."""
        self._seeds = TurnSeeds(seed)

    def sync_weights(self, global_step: int) -> None:
        """Send the trained weights to every server that has others.

        A server that does not take them is left out, one that does is asked again.

        Raises:
            EnvFailure: none takes them.
            ValueError: there is no way to send them.
        """
        self._global_step = global_step
        causes = self._open_absent()
        for url, server in self._servers.items():
            try:
                server.sync_weights(global_step)
            except EnvFailure as failure:
                causes.append(str(failure))
                self._give_up(url, failure)
                continue
            if url not in self._up:
                self._up.append(url)
        if not self._up:
            raise EnvFailure("; ".join(causes))

    def has_weights(self) -> bool:
        """Return whether some server has the weights that were sent last."""
        return bool(self._up)

    def close(self) -> None:
        """Close the connections."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for server in self._servers.values():
            server.close()

    def _open_absent(self) -> list[str]:
        """Connect to servers that have never answered, and return the causes of failures."""
        causes = []
        for url in list(self._absent):
            try:
                server = self._open(url)
            except EnvFailure as failure:
                if is_spread():  # the other processes would ask it
                    raise
                causes.append(str(failure))
                logger.warning("%s is left out until the next weights: %s", url, failure)
                continue
            self._absent.remove(url)
            self._servers[url] = server
        names = {url: server.name for url, server in self._servers.items()}
        if len(set(names.values())) > 1:
            listed = ", ".join(f"{url} {name}" for url, name in names.items())
            raise ValueError(f"the servers must serve one model, got {listed}")
        return causes

    def _share(self, rows: Sequence[int], keys: Sequence[int]) -> dict[str, list[int]]:
        """Return the rows that each server continues."""
        live = Counter(dict.fromkeys(self._up, 0))
        live.update(self._server_of.values())
        shares: dict[str, list[int]] = {}
        for row in rows:
            url = self._server_of.get(keys[row])
            if url is None:
                url = min(self._up, key=lambda one: live[one])
                self._server_of[keys[row]] = url
                live[url] += 1
            shares.setdefault(url, []).append(row)
        return shares

    def _give_up(self, url: str, failure: EnvFailure) -> None:
        """Move a server's rows to the others."""
        if url in self._up:
            self._up.remove(url)
            logger.warning("%s is left out until the next weights: %s", url, failure)
        # In place, for a thread that plays may forget rows while the trainer's sends weights.
        for key, home in list(self._server_of.items()):
            if home == url:
                self._server_of.pop(key, None)

    def _send_again(self) -> None:
        self.sync_weights(self._global_step)
