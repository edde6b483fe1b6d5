"""A server of vLLM in a process of its own, which takes weights and can be killed."""

from __future__ import annotations

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import httpx

from lab.processes import Child, with_checkout

START_SECONDS = 600.0
_ADAPTERS = "--enable-lora --max-lora-rank 16"
_WEIGHTS = "--worker-extension-cls trainers.backends.vllm_worker.PolicyWorker"


class VLLMProcess:
    """`trl vllm-serve`, as `--backend vllm_server` needs it.

    Args:
        model: a folder.
        log: where its output goes.
        port: None takes a free one.
        max_length: tokens of a sequence, at most.
        dtype: of the weights.
        adapters: it takes adapters of rank 16 or less, in place of weights.

    Attributes:
        url: its address.

    Raises:
        RuntimeError: vLLM is not installed beside this interpreter.
    """

    def __init__(
        self,
        model: str | Path,
        log: Path,
        *,
        port: int | None = None,
        max_length: int = 2048,
        dtype: str = "float32",
        adapters: bool = False,
    ) -> None:
        if find_spec("vllm") is None:
            raise RuntimeError(
                "vLLM is not installed here; run this with the interpreter of .venv-vllm, which "
                "`make test-vllm` makes"
            )
        if port is None:
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = int(probe.getsockname()[1])
        self.url = f"http://127.0.0.1:{port}"
        self._log = log
        # Without a GPU: torch would compile a function of vLLM's sampler, with a C++ compiler.
        self._environ = {"VLLM_CPU_KVCACHE_SPACE": "1", "TORCHDYNAMO_DISABLE": "1"}
        if adapters:
            self._environ["VLLM_ALLOW_RUNTIME_LORA_UPDATING"] = "1"
        # vLLM's CPU build ends where a prompt that is sampled by a seed is read in parts (0.31).
        self._words = (
            f"vllm-serve --model {model} --host 127.0.0.1 --port {port} --dtype {dtype} "
            f"--enforce_eager true --enable_prefix_caching true --max_model_len {max_length} "
            f"--block-size 32 --no-enable-chunked-prefill "
            f"{_ADAPTERS if adapters else _WEIGHTS}"
        )
        self.start()

    def start(self) -> None:
        """Start the server, at the same address as before.

        `wait` waits until it answers.
        """
        self.child = Child(
            [str(Path(sys.executable).parent / "trl"), *self._words.split()],
            log=self._log,
            environ={**self._environ, **with_checkout()},
        )

    def wait(self) -> None:
        """Wait until it answers.

        Raises:
            RuntimeError: it has ended, or does not answer in time.
        """
        deadline = time.monotonic() + START_SECONDS
        while not self.is_up():
            if self.child.has_ended or time.monotonic() > deadline:
                raise RuntimeError(f"vLLM's server has not started: {self.child.log_end()}")
            time.sleep(1)

    def is_up(self) -> bool:
        """Return whether the server answers."""
        try:
            return httpx.get(f"{self.url}/health", timeout=5).is_success
        except httpx.TransportError:
            return False

    def kill(self) -> None:
        """End it and all that it has started, at once."""
        self.child.end(grace=0)


@contextmanager
def vllm_servers(model: str | Path, folder: Path, count: int = 1) -> Iterator[list[VLLMProcess]]:
    """Run `count` servers of a model until the end of the `with` block.

    Args:
        model: a folder.
        folder: of their logs.
        count: how many.
    """
    servers: list[VLLMProcess] = []
    try:
        for number in range(count):
            servers.append(VLLMProcess(model, folder / f"vllm_{number}.log"))
        for server in servers:
            server.wait()
        yield servers
    finally:
        for server in servers:
            server.kill()
