"""The client of a vLLM server: against a small server of its protocol, and against vLLM itself."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch

from agentgym_envs import EnvFailure
from tests.trainers.backends.test_vllm_backend import TOLERANCE, prompts_of, run_command, worst_gap
from tests.trainers.backends.vllm_models import make_policy, save_policy
from tests.trainers.policies.chat_server import Failure, Server, completions_of, models, serving
from tests.trainers.toys import ENV_ID, LARGEST_GAP, make_model
from trainers.backends.vllm_server import WEIGHTS_FILE, VLLMServerBackend
from trainers.evaluate import EvalResult
from trainers.evaluate import main as evaluate_main
from trainers.options.arguments import EpisodeArguments
from trainers.tokens.generation import Sampling

COMPLETIONS = "/v1/completions"


def answers_of(model: Any, **options: Any) -> dict[str, Any]:
    return {
        "/v1/models": models("toy", max_model_len=300),
        COMPLETIONS: completions_of(model, **options),
        "/collective_rpc": lambda body: {"results": [None]},
        "/reset_prefix_cache": lambda body: {"success": True},
    }


def backend_of(server: Server, **options: Any) -> VLLMServerBackend:
    return VLLMServerBackend(f"{server.url}/v1/", **{"retries": 0, **options})


def test_turns_come_back_with_their_budgets_seeds_and_logprobs() -> None:
    model, prompts = make_model(), prompts_of(5, 40, 41)
    with serving(answers_of(model)) as server:
        backend = backend_of(server)
        turns = backend.generate(prompts, Sampling(9), keys=[4, 5, 6], budgets=[9, 3, 50])
        backend.reseed(0)
        alone = backend.generate([prompts[1]], Sampling(9), keys=[5], budgets=[3])
    assert [len(turn.ids) for turn in turns] == [9, 3, 9]
    assert worst_gap(model, prompts, turns) < TOLERANCE
    assert alone == [turns[1]]
    assert (backend.name, backend.max_length) == ("toy", 300)
    sent = server.requests[0]
    assert (sent["ignore_eos"], sent["top_p"], sent["top_k"]) == (True, 1.0, 0)


def test_logprobs_of_another_distribution_are_refused_where_it_matters() -> None:
    with serving(answers_of(make_model(), tempers=False)) as server:
        backend = backend_of(server)
        backend.generate(prompts_of(5), Sampling(2, 1.0), keys=[0])
        with pytest.raises(ValueError, match="--logprobs-mode processed_logprobs"):
            backend.generate(prompts_of(5), Sampling(2, 0.7), keys=[0])
    with serving(answers_of(make_model())) as server:
        assert backend_of(server).generate(prompts_of(5), Sampling(2, 0.7), keys=[0])


def test_trained_weights_go_through_the_folder_once_per_change(tmp_path: Path) -> None:
    model = make_model()
    with serving(answers_of(model)) as server:
        backend = backend_of(server, model=model, weights_dir=str(tmp_path / "weights"))
        backend.sync_weights(0)
        backend.sync_weights(0)
        assert len(server.requests) == 2
        backend.sync_weights(1)
        assert len(server.requests) == 4
    assert server.requests[0] == {
        "method": "load_policy_folder",
        "args": [str(tmp_path / "weights")],
    }
    assert (tmp_path / "weights" / WEIGHTS_FILE).is_file()


def test_a_server_that_cannot_take_weights_is_told_how_it_must_be_started(tmp_path: Path) -> None:
    model, answers = make_model(), answers_of(make_model())
    del answers["/collective_rpc"]
    with serving(answers) as server:
        backend = backend_of(server, model=model, weights_dir=str(tmp_path))
        with pytest.raises(EnvFailure, match="--worker-extension-cls"):
            backend.sync_weights(0)
        with pytest.raises(ValueError, match="cannot be sent by NCCL.*weights_dir"):
            backend_of(server, model=model).sync_weights(0)


def test_a_server_that_fails_is_a_failure_and_one_that_refuses_an_error() -> None:
    answers = answers_of(make_model())
    for failure, kind in (
        (Failure(500), EnvFailure),
        (Failure(400, '{"error": "no"}'), ValueError),
    ):
        with serving({**answers, COMPLETIONS: lambda body, failure=failure: failure}) as server:
            with pytest.raises(kind, match=f"{server.url}.*{failure.status}"):
                backend_of(server).generate(prompts_of(5), Sampling(2), keys=[0])
    with pytest.raises(EnvFailure, match="ConnectError"):
        backend_of(server)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "vllm_server"}, "--server_url go together"),
        ({"server_url": "http://x"}, "--server_url go together"),
        ({"backend_kwargs": '{"a": 1}'}, r"hf takes no further arguments, got \['a'\]"),
        ({"backend": "vllm", "backend_kwargs": "[]"}, "backend_kwargs must be a JSON object"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EpisodeArguments(**options)


# vLLM itself ----------------------------------------------------------------------------------

real = [
    pytest.mark.vllm,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        importlib.util.find_spec("vllm") is None,
        reason="vLLM is not installed here; `make test-vllm` installs it and runs these tests",
    ),
]


def with_vllm(function: Any) -> Any:
    for mark in real:
        function = mark(function)
    return function


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """`trl vllm-serve` on a model of untied embeddings: its address and the model's folder."""
    folder = save_policy(tmp_path_factory.mktemp("served") / "model", "qwen2")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    words = (
        f"vllm-serve --model {folder} --host 127.0.0.1 --port {port} --dtype float32 "
        "--enforce_eager true --enable_prefix_caching true --max_model_len 512 --block-size 32 "
        "--worker-extension-cls trainers.backends.vllm_worker.PolicyWorker"
    )
    log = tmp_path_factory.mktemp("log") / "server.log"
    root = str(Path(__file__).parents[3])
    environment = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "PYTHONPATH": root}
    with log.open("w") as file:
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / "trl"), *words.split()],
            stdout=file, stderr=file, env=environment, start_new_session=True,
        )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 500
        while not is_up(url):
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()[-4000:]
            time.sleep(1)
        yield url, folder
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)


def is_up(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health").is_success
    except httpx.TransportError:
        return False


@with_vllm
def test_vllms_server_samples_what_the_model_says_and_follows_its_training(
    served: tuple[str, str], tmp_path: Path
) -> None:
    model = make_policy("qwen2")
    backend = VLLMServerBackend(served[0], model=model, weights_dir=str(tmp_path))
    prompts = prompts_of(1, 33, 100)
    for temperature in (1.0, 0.7, 0.0):
        turns = backend.generate(prompts, Sampling(16, temperature), keys=range(3))
        assert worst_gap(model, prompts, turns, temperature or 1.0) < TOLERANCE
    backend.reseed(0)
    free = backend.generate(prompts, Sampling(16), keys=range(3))
    stop = free[1].ids[6]
    backend.reseed(0)
    stopped = backend.generate(prompts, Sampling(16, 1.0, (stop,)), keys=range(3), budgets=[9] * 3)
    assert stopped[1].ids == free[1].ids[: free[1].ids.index(stop) + 1]
    assert stopped[1].stopped
    assert all(turn.stopped or len(turn.ids) == 9 for turn in stopped)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape) * 0.02)
    assert worst_gap(model, prompts, free) > 100 * TOLERANCE
    backend.sync_weights(1)
    turns = backend.generate(prompts, Sampling(16), keys=range(3))
    assert worst_gap(model, prompts, turns) < TOLERANCE
    model.load_state_dict(make_policy("qwen2").state_dict())
    backend.sync_weights(2)


@with_vllm
def test_grpo_trains_through_a_server(served: tuple[str, str], tmp_path: Path) -> None:
    url, folder = served
    options = json.dumps({"weights_dir": str(tmp_path / "weights")}, separators=(",", ":"))
    run_command(
        "grpo",
        f"--env {ENV_ID} --model {folder} --backend vllm_server --server_url {url} "
        f"--backend_kwargs {options} --output_dir {tmp_path / 'out'} --max_steps 2 "
        "--num_generations 8 --per_device_train_batch_size 16 --gradient_accumulation_steps 1 "
        "--max_tokens_per_turn 4 --action_format plain --learning_rate 2e-3 --temperature 0.8 "
        "--eval_strategy no --disable_tqdm",
    )
    lines = (tmp_path / "out" / "metrics.jsonl").read_text().splitlines()
    entries = [entry for entry in map(json.loads, lines) if LARGEST_GAP in entry]
    assert len(entries) == 2
    assert max(entry[LARGEST_GAP] for entry in entries) < TOLERANCE
    backend = VLLMServerBackend(url, model=make_policy("qwen2"), weights_dir=str(tmp_path))
    backend.sync_weights(0)  # the next test finds the weights as they were


@with_vllm
def test_a_server_is_evaluated_by_tokens_and_by_chat_messages_alike(
    served: tuple[str, str], tmp_path: Path
) -> None:
    url, folder = served
    common = f"--env {ENV_ID} --temperature 0 --max_tokens_per_turn 6 --action_format plain "
    common += f"--max_turns 1 --out {tmp_path}"
    ways = {
        "hf": f"--model {folder}",
        "tokens": f"--model {folder} --backend vllm_server --server_url {url}",
        "chat": f"--policy {url}/v1 --api_model {folder}",
    }
    results = {}
    for name, way in ways.items():
        assert evaluate_main(f"{common}/{name}.json {way}".split()) == 0
        results[name] = EvalResult.load(tmp_path / f"{name}.json")
    for name in ("tokens", "chat"):
        assert results[name].tasks == results["hf"].tasks
        assert results[name].sampled_tokens == results["hf"].sampled_tokens
