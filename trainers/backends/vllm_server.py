"""Samples turns from a vLLM server, token ids in and out, and sends it the trained weights.

The weights go by NCCL, with TRL's client, from a CUDA device; otherwise through a folder that the
server can read. Of a LoRA adapter on the model that the server was started with, the adapter alone
goes, where the server takes adapters: each version has a name of its own, which requests ask for.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import torch

from agentgym_envs.errors import EnvFailure
from agentgym_envs.machinery.secrets import reveal
from trainers.backends.json_client import JSONClient, RequestFailed, RequestRefused
from trainers.backends.spread import from_first, is_first, is_spread
from trainers.backends.weights import (
    KEPT_ADAPTERS,
    WeightsFolder,
    named_weights,
    servable_base,
    weight_shapes,
    weights_version,
)
from trainers.options.backends import BACKENDS
from trainers.tokens.generation import Generated, Sampling
from trainers.tokens.seeds import TurnSeeds

logger = logging.getLogger(__name__)

MOST_RESTARTS = 2
"""Restarts of the server within one batch of turns, after which the batch fails."""
_NOT_THERE, _NOT_ALLOWED = 404, 405
_COMPARED = 5
"""Likeliest tokens that show whether logprobs are at the temperature."""
_LOAD, _UNLOAD = "/v1/load_lora_adapter", "/v1/unload_lora_adapter"


class VLLMServerBackend:
    """`Backend` on a server started with `vllm serve` or `trl vllm-serve`.

    Each row is a request of its own, since rows differ in budget and seed. Logprobs are asked of
    the sampling distribution; the server must run with `--logprobs-mode processed_logprobs`, which
    is checked before the first sampling at a temperature other than 0 and 1, or with tokens cut.

    Args:
        url: the server's address, such as `http://localhost:8000`.
        model: a model in training whose weights the server follows; None takes the server's.
        max_length: tokens of a sequence, at most; the server's own limit applies too.
        weights_dir: a folder that this process and the server share, for the weights; None sends
            them by NCCL. Several servers are given one `WeightsFolder`.
        timeout: seconds before a request counts as lost.
        retries: of a request, at most.
        max_requests: pending requests at once, at most.

    Attributes:
        send_again: called when the server has lost the weights during a batch.

    Raises:
        EnvFailure: the server cannot be reached.
        ValueError: the server serves no model.
    """

    spec = BACKENDS["vllm_server"]

    def __init__(
        self,
        url: str,
        *,
        model: Any = None,
        max_length: int | None = None,
        weights_dir: str | WeightsFolder | None = None,
        timeout: float = 600.0,
        retries: int = 3,
        max_requests: int = 64,
    ) -> None:
        address = httpx.URL(reveal(url))
        url = str(address.copy_with(path=address.path.rstrip("/").removesuffix("/v1")))
        self._client = JSONClient(url, timeout=timeout, retries=retries, max_requests=max_requests)
        self._model = model
        if isinstance(weights_dir, str):
            weights_dir = WeightsFolder(weights_dir)
        self._folder = weights_dir
        self.send_again: Callable[[], None] = self._send_again
        self._loaded_version: tuple[int, int] | None = None
        self._tag: str | None = None
        self._can_name_weights = True
        self._nccl: Any = None
        self._seeds = TurnSeeds()
        self._is_tempered: bool | None = None
        served = self._ask(lambda: self._client.get("/v1/models"))["data"]
        if not served:
            raise ValueError(f"{self._client.base_url} serves no model")
        self.name: str = served[0]["id"]
        self._root = str(served[0].get("root", self.name))
        self._sends_adapters: bool | None = None  # not known before the first weights
        self._adapter: Path | None = None  # the folder of the last one
        self._adapters: list[str] = []  # the names of those on the server, the last one last
        lengths = [n for n in (max_length, served[0].get("max_model_len")) if n is not None]
        self.max_length: int | None = min(lengths) if lengths else None

    def generate(
        self,
        prompts: Sequence[list[int]],
        sampling: Sampling,
        *,
        keys: Sequence[int] | None = None,
        budgets: Sequence[int] | None = None,
    ) -> list[Generated]:
        """Continue each prompt, as in `Backend.generate`.

        Turns that a server sampled after a restart, from its initial weights, are dropped: it gets
        the trained weights and samples again. By NCCL one of several training processes cannot send
        them alone.

        Raises:
            EnvFailure: the server failed a request, retries included, or was restarted too often.
            ValueError: the server refused a request, or gives logprobs of another distribution.
        """
        seeds = self._seeds.next(range(len(prompts)) if keys is None else keys)
        return self.sample(prompts, sampling, seeds=seeds, budgets=budgets)

    def sample(
        self,
        prompts: Sequence[list[int]],
        sampling: Sampling,
        *,
        seeds: Sequence[int],
        budgets: Sequence[int] | None = None,
        restarts: int = MOST_RESTARTS,
    ) -> list[Generated]:
        """Continue each prompt by a seed of its own, as `generate`, surviving `restarts`.

        Raises:
            EnvFailure: the server was restarted more than `restarts` times within the batch.
        """
        if sampling.temperature not in (0, 1) or sampling.is_cut:
            self._check_logprobs(prompts[0])
        limits = [sampling.max_new_tokens] * len(prompts) if budgets is None else budgets
        for _ in range(restarts + 1):
            bodies = [
                self._body(prompt, sampling, min(limit, sampling.max_new_tokens), seed)
                for prompt, limit, seed in zip(prompts, limits, seeds, strict=True)
            ]
            answers = self._sampled(bodies)
            if answers is not None and self.has_weights():
                return [_turn(answer, sampling) for answer in answers]
            logger.warning(
                "%s was restarted: its samples from other weights are dropped",
                self._client.base_url,
            )
            if not restarts:
                break
            self.send_again()
        raise EnvFailure(
            f"{self._client.base_url} was restarted within a batch and samples from other weights; "
            "the next batch begins with the trained ones"
        )

    def score(self, rows: Sequence[list[int]]) -> list[list[float]]:
        """Return the server's log-probabilities of given tokens, at temperature 1.

        Args:
            rows: ids of each sequence.

        Returns:
            nats for each id but a row's first, which nothing stands before.

        Raises:
            EnvFailure: the server failed a request, retries included.
            ValueError: the server refused a request, as for a row beyond its context.
        """
        bodies = [
            {"model": self.name, "prompt": row, "max_tokens": 1, "prompt_logprobs": 0}
            for row in rows
        ]
        answers = self._ask(lambda: self._client.map(self._complete, bodies))
        return [
            [place[str(id_)]["logprob"] for id_, place in zip(row[1:], scored[1:], strict=True)]
            for row, scored in zip(rows, (one["prompt_logprobs"] for one in answers), strict=True)
        ]

    def decode(self, ids: list[int]) -> str:
        """Return the text of ids by the server's tokenizer."""
        body = {"model": self.name, "tokens": ids}
        return str(self._ask(lambda: self._client.post("/detokenize", body))["prompt"])

    def finish(self, keys: Sequence[int]) -> None:
        """Forget the rows' names. The server itself frees the least recently used blocks."""
        self._seeds.forget(keys)

    def reseed(self, seed: int) -> None:
        """Restart the random numbers."""
        self._seeds = TurnSeeds(seed)

    def sync_weights(self, global_step: int) -> None:
        """Send the trained model's weights, if they have changed or the server has been restarted.

        Several training processes call it together when the weights have changed: the first one
        sends, and all of them have its result. A process that asks for weights sent before is
        alone.

        Raises:
            EnvFailure: the server failed or refused the weights.
            ValueError: there is no way to send them.
        """
        if self._model is None:
            return
        version = (global_step, weights_version(self._model))
        if is_spread() and version == self._loaded_version:
            if not self.has_weights():
                self._send_alone()
            return
        tag = from_first(lambda: self._tag_for(version))
        if tag == self._tag:
            return
        if self._sends_adapters is None:
            self._sends_adapters = from_first(self._takes_adapters)
        with torch.no_grad():
            if self._sends_adapters:
                assert self._folder is not None
                self._adapter = self._folder.write_adapter(self._model, version)
                from_first(lambda: self._load_adapter(tag))
                self._tag, self._loaded_version = tag, version
                return
            if self._folder is None:
                self._send_by_nccl()
            else:
                self._folder.write(self._model, version)
                from_first(self._give_folder)
        self._can_name_weights = from_first(lambda: self._name_weights(tag))
        self._tag, self._loaded_version = tag, version

    def has_weights(self) -> bool:
        """Return whether the server has the weights that it was given last."""
        if self._tag is None or not self._can_name_weights:
            return True
        if self._sends_adapters:
            served = self._ask(lambda: self._client.get("/v1/models"))["data"]
            return self._tag in [one["id"] for one in served]
        return bool(self._present_tag() == self._tag)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    # Sampling ---------------------------------------------------------------------------------

    def _body(
        self, prompt: list[int], sampling: Sampling, max_tokens: int, seed: int = 0
    ) -> dict[str, Any]:
        return {
            "model": self._tag if self._sends_adapters else self.name,
            "prompt": prompt,
            "max_tokens": max_tokens,
            # All of it: the model's generation_config.json must not narrow the distribution.
            **sampling.vllm_options,
            "repetition_penalty": 1.0,
            "seed": seed,
            "stop_token_ids": list(sampling.stop_ids),
            "ignore_eos": True,
            "logprobs": 0,
            "return_token_ids": True,
            "return_tokens_as_token_ids": True,
        }

    def _sampled(self, bodies: Sequence[dict[str, Any]]) -> list[Any] | None:
        """Return the answers, or None of a server that has lost the adapter."""
        try:
            return self._ask(lambda: self._client.map(self._complete, bodies))
        except ValueError as error:
            if self._sends_adapters and getattr(error.__cause__, "status", None) == _NOT_THERE:
                return None
            raise

    def _complete(self, body: dict[str, Any]) -> Any:
        return self._client.post("/v1/completions", body)["choices"][0]

    def _check_logprobs(self, prompt: list[int]) -> None:
        """Compare the distance of the likeliest tokens at two temperatures.

        At half the temperature it is twice as large, however sure of one of them the policy is.
        Two may be equally likely, above all in bfloat16; a prompt after which all are is no proof.
        """
        if self._is_tempered is None:
            apart = []
            for temperature in (1.0, 0.5):
                body = self._body(prompt, Sampling(1, temperature), 1)
                body["logprobs"] = _COMPARED
                answer = self._ask(lambda body=body: self._complete(body))
                logprobs = answer["logprobs"]["top_logprobs"][0].values()
                likeliest = sorted(logprobs, reverse=True)[:_COMPARED]
                apart.append(likeliest[0] - likeliest[-1])
            if apart[0] > 0:
                self._is_tempered = apart[1] > 1.5 * apart[0]
        if self._is_tempered is False:
            raise ValueError(
                f"{self._client.base_url} gives logprobs of the distribution before its "
                f"temperature and cuts; start it with --logprobs-mode processed_logprobs"
            )

    def _ask(self, send: Any) -> Any:
        try:
            return send()
        except RequestFailed as error:
            raise EnvFailure(f"the vLLM server failed: {error}") from error
        except RequestRefused as error:
            raise ValueError(f"the vLLM server refused a request: {error}") from error

    # Weights ----------------------------------------------------------------------------------

    def _tag_for(self, version: tuple[int, int]) -> str:
        """Return the present or the future name of weights on the server."""
        is_restarted = not self.has_weights()
        if is_restarted and self._nccl is not None:
            self._nccl.close_communicator()
            self._nccl = None
        if self._tag is None or is_restarted or version != self._loaded_version:
            return uuid4().hex
        return self._tag

    def _takes_adapters(self) -> bool:
        """Return whether the server adds this model's adapter to its own weights."""
        base = servable_base(self._model)
        if base is None or self._folder is None or not _is_same(base, self._root):
            return False
        try:
            self._client.post(_LOAD, {})
        except RequestRefused as error:
            return error.status not in (_NOT_THERE, _NOT_ALLOWED)
        except RequestFailed as error:
            raise EnvFailure(f"the vLLM server failed: {error}") from error
        return True

    def _load_adapter(self, name: str) -> None:
        """Put the adapter on the server under a name, and take the oldest one from it."""
        call = {"lora_name": name, "lora_path": str(self._adapter)}
        try:
            self._client.post(_LOAD, call, answers_text=True)
            self._adapters = [*(one for one in self._adapters if one != name), name]
            for old in self._adapters[:-KEPT_ADAPTERS]:
                with suppress(RequestRefused):  # of a server that was restarted
                    self._client.post(_UNLOAD, {"lora_name": old}, answers_text=True)
            del self._adapters[:-KEPT_ADAPTERS]
        except (RequestFailed, RequestRefused) as error:
            config = self._model.peft_config[self._model.active_adapters[0]]
            raise EnvFailure(
                f"the server did not take the policy's adapter ({error}); it must be started with "
                f"--enable-lora --max-lora-rank {config.r} or more, and be able to read "
                f"{self._adapter}"
            ) from error

    def _name_weights(self, tag: str) -> bool:
        """Drop the server's cache of older weights, and name the present ones, where it can.

        A restarted server has no name of them.
        """
        answer = self._ask(lambda: self._client.post("/reset_prefix_cache", None))
        if not answer["success"]:
            raise EnvFailure(f"{self._client.base_url} did not drop its prefix cache")
        version = {"new_version": tag}
        try:
            self._ask(lambda: self._client.post("/update_weight_version", version))
        except ValueError as error:
            if getattr(error.__cause__, "status", None) != _NOT_THERE:
                raise
            logger.warning(
                "%s has no /update_weight_version, as vLLM has from 0.31 on: if it is restarted in "
                "training, it will sample from the weights that it starts with, unnoticed",
                self._client.base_url,
            )
            return False
        return True

    def _send_again(self) -> None:
        assert self._loaded_version is not None
        self.sync_weights(self._loaded_version[0])

    def _send_alone(self) -> None:
        """Send the server the last weights again, unless another process has done so.

        A name is that of the weights and, after a dot, of the process that has sent them again:
        turns sampled while another one sends them do not count as those of the weights.
        """
        if self._folder is None:
            raise EnvFailure(
                f"{self._client.base_url} was restarted within a batch, and one of several "
                "training processes cannot send it the weights by NCCL; the next batch begins with "
                "them"
            )
        assert self._tag is not None
        if self._sends_adapters:
            try:
                self._load_adapter(self._tag)
            except EnvFailure:
                if not self.has_weights():  # else another process was faster
                    raise
            return
        name = self._tag.partition(".")[0]
        present = str(self._present_tag())
        if present.partition(".")[0] == name:
            self._tag = present
            return
        tag = f"{name}.{uuid4().hex}"
        self._give_folder()
        self._name_weights(tag)
        self._tag = tag

    def _present_tag(self) -> Any:
        return self._ask(lambda: self._client.get("/weight_info"))["weight_version"]

    def _give_folder(self) -> None:
        assert self._folder is not None
        folder = str(self._folder.path)
        call = {"method": "load_policy_folder", "args": [folder]}
        try:
            self._client.post("/collective_rpc", call)
        except (RequestFailed, RequestRefused) as error:
            raise EnvFailure(
                f"the server did not take the policy's weights ({error}); it must be started with "
                f"VLLM_SERVER_DEV_MODE=1 and --worker-extension-cls "
                f"trainers.backends.vllm_worker.PolicyWorker, and be able to read {folder}"
            ) from error

    def _send_by_nccl(self) -> None:
        device = self._model.device
        if device.type != "cuda":
            raise ValueError(
                f"weights on {device.type} cannot be sent by NCCL; name a folder that the server "
                f'can read: `backend_kwargs=\'{{"weights_dir": "..."}}\'`'
            )
        weights = named_weights(self._model)

        def send() -> None:
            if self._nccl is None:
                from trl.generation.vllm_client import VLLMClient  # needs vllm here, as NCCL does

                self._nccl = VLLMClient(reveal(self._client.base_url))
                self._nccl.init_communicator(device=device)
            self._nccl.update_named_params(weight_shapes(self._model), weights)

        failure: Exception | None = None
        if is_first():
            try:
                send()
            except Exception as error:  # raised in all processes after the gathering
                failure = error
        for _ in weights:  # takes part in gathering them
            pass
        from_first(lambda: _raise(failure))


def _is_same(one: str, other: str) -> bool:
    """Return whether two names are of one model, on the hub or in a folder."""
    return one == other or (Path(one).is_dir() and Path(one).resolve() == Path(other).resolve())


def _raise(failure: Exception | None) -> None:
    if failure is not None:
        raise failure


def _turn(choice: dict[str, Any], sampling: Sampling) -> Generated:
    ids, logprobs = choice["token_ids"], choice["logprobs"]["token_logprobs"]
    if len(ids) != len(logprobs):
        raise ValueError(f"the vLLM server gave {len(logprobs)} logprobs for {len(ids)} tokens")
    return Generated(ids, logprobs, bool(ids) and ids[-1] in sampling.stop_ids)
