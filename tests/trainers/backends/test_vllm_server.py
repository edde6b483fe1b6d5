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
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import torch
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM

from agentgym_envs import EnvFailure
from tests.serving import Failure, Server, serving
from tests.trainers.backends.test_vllm_backend import TOLERANCE, prompts_of, run_command, worst_gap
from tests.trainers.backends.vllm_models import make_policy, save_policy
from tests.trainers.policies.chat_server import completions_of, models
from tests.trainers.toys import ENV_ID, LARGEST_GAP, make_folder, make_model, make_tokenizer
from trainers.backends.vllm_server import MOST_RESTARTS, VLLMServerBackend
from trainers.backends.weights import WEIGHTS_FILE
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


class Served:
    """A vLLM server's side: a model that takes weights from a folder, and their name.

    Args:
        restart_at: the completion before which it is restarted, from 1; None never does.
        tells: it has the endpoints that name weights.
    """

    def __init__(self, restart_at: int | None = None, *, tells: bool = True) -> None:
        self.model = make_model()
        self.start = {name: value.clone() for name, value in self.model.state_dict().items()}
        self.num_answers, self.num_loads, self.restart_at = 0, 0, restart_at
        self.restart()
        complete = completions_of(self.model)

        def answer(body: dict[str, Any]) -> Any:
            self.num_answers += 1
            if self.num_answers == self.restart_at:
                self.restart()
            return complete(body)

        self.answers = {
            **answers_of(self.model),
            COMPLETIONS: answer,
            "/collective_rpc": self.load,
            "/update_weight_version": self.name,
            "/weight_info": lambda body: {"weight_version": self.version},
        }
        if not tells:
            del self.answers["/update_weight_version"], self.answers["/weight_info"]

    def restart(self) -> None:
        self.model.load_state_dict(self.start)
        self.version = "default"

    def load(self, body: dict[str, Any]) -> dict[str, Any]:
        self.num_loads += 1
        self.model.load_state_dict(load_file(Path(body["args"][0]) / WEIGHTS_FILE), strict=False)
        self.model.tie_weights()
        return {"results": [None]}

    def name(self, body: dict[str, Any]) -> dict[str, Any]:
        self.version = body["new_version"]
        return {"success": True}


def trained() -> Any:
    """A model whose weights are not those that the server was started with."""
    return make_model(seed=5)


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


@pytest.mark.full
def test_logprobs_of_another_distribution_are_refused_where_it_matters() -> None:
    with serving(answers_of(make_model(), tempers=False)) as server:
        backend = backend_of(server)
        backend.generate(prompts_of(5), Sampling(2, 1.0), keys=[0])
        with pytest.raises(ValueError, match="--logprobs-mode processed_logprobs"):
            backend.generate(prompts_of(5), Sampling(2, 0.7), keys=[0])
    with serving(answers_of(make_model())) as server:
        assert backend_of(server).generate(prompts_of(5), Sampling(2, 0.7), keys=[0])


@pytest.mark.full
def test_a_policy_that_is_sure_of_its_first_token_is_no_server_without_a_temperature() -> None:
    model = make_model()
    with torch.no_grad():
        model.lm_head.weight.mul_(200)
        logits = model(torch.tensor(prompts_of(5))).logits[0, -1]
    assert torch.log_softmax(logits, -1).max() > -1e-6
    with serving(answers_of(model)) as server:
        assert backend_of(server).generate(prompts_of(5), Sampling(2, 0.7), keys=[0])
    with serving(answers_of(model, tempers=False)) as server:
        with pytest.raises(ValueError, match="--logprobs-mode processed_logprobs"):
            backend_of(server).generate(prompts_of(5), Sampling(2, 0.7), keys=[0])


@pytest.mark.parametrize("num_equal", [2, 258])
def test_a_policy_of_equally_likely_tokens_is_no_server_without_a_temperature(
    num_equal: int,
) -> None:
    """Logits of bfloat16 are often equal."""
    model, (prompt,) = make_model(), prompts_of(5)
    with torch.no_grad():
        order = model(torch.tensor([prompt])).logits[0, -1].argsort(descending=True)
        model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.clone())
        model.lm_head.weight[order[:num_equal]] = model.lm_head.weight[order[0]].clone()
    with serving(answers_of(model)) as server:
        assert backend_of(server).generate([prompt], Sampling(2, 0.7), keys=[0])


def test_trained_weights_go_through_the_folder_once_per_change(tmp_path: Path) -> None:
    model = make_model()
    with serving(Served().answers) as server:
        backend = backend_of(server, model=model, weights_dir=str(tmp_path / "weights"))
        backend.sync_weights(0)
        backend.sync_weights(0)
        assert len(server.requests) == 3
        backend.sync_weights(1)
        assert len(server.requests) == 6
    assert server.requests[0] == {
        "method": "load_policy_folder",
        "args": [str(tmp_path / "weights")],
    }
    assert (tmp_path / "weights" / WEIGHTS_FILE).is_file()


@pytest.mark.parametrize("restart_at", [None, 1, 2, 3])
def test_a_server_restarted_at_any_moment_samples_from_the_trained_weights(
    tmp_path: Path, restart_at: int | None, caplog: pytest.LogCaptureFixture
) -> None:
    model, prompts = trained(), prompts_of(5, 40, 41)
    served = Served(restart_at)
    with serving(served.answers) as server:
        backend = backend_of(server, model=model, weights_dir=str(tmp_path), max_requests=1)
        backend.sync_weights(3)
        expected = backend_of(server).generate(prompts, Sampling(9), keys=[4, 5, 6])
        served.num_answers = 0
        if restart_at is None:  # between two batches
            served.restart()
            backend.sync_weights(3)
        turns = backend.generate(prompts, Sampling(9), keys=[4, 5, 6])
    assert worst_gap(model, prompts, turns) < TOLERANCE
    assert worst_gap(make_model(), prompts, turns) > 100 * TOLERANCE
    assert served.num_loads == 2
    assert ("was restarted" in caplog.text) == (restart_at is not None)
    if restart_at is None:
        assert turns == expected


def test_a_server_that_is_restarted_again_and_again_is_a_failure(tmp_path: Path) -> None:
    served = Served()

    def crash(body: dict[str, Any]) -> dict[str, Any]:
        served.restart()
        return completions(body)

    completions = served.answers[COMPLETIONS]
    with serving({**served.answers, COMPLETIONS: crash}) as server:
        backend = backend_of(server, model=trained(), weights_dir=str(tmp_path))
        backend.sync_weights(0)
        with pytest.raises(EnvFailure, match=f"{server.url} was restarted within a batch"):
            backend.generate(prompts_of(5), Sampling(2), keys=[0])
    assert served.num_loads == 1 + MOST_RESTARTS + 1


def test_a_server_that_cannot_tell_its_weights_is_warned_of(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with serving(Served(tells=False).answers) as server:
        backend = backend_of(server, model=trained(), weights_dir=str(tmp_path))
        backend.sync_weights(0)
        assert backend.generate(prompts_of(5), Sampling(2), keys=[0])
    assert "has no /update_weight_version" in caplog.text


def test_no_process_asks_a_server_for_a_name_that_it_cannot_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results: list[Any] = []

    def in_first(work: Callable[[], Any]) -> Any:
        results.append(work())
        return results[-1]

    with serving(Served(tells=False).answers) as server:
        for run in (in_first, lambda _work: results.pop(0)):
            monkeypatch.setattr("trainers.backends.vllm_server.from_first", run)
            backend = backend_of(server, model=trained(), weights_dir=str(tmp_path))
            backend.sync_weights(0)
            assert backend.generate(prompts_of(5), Sampling(2), keys=[0])


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
        ({"backend": "vllm_server"}, "`server_url` go together"),
        ({"server_url": "http://x"}, "`server_url` go together"),
        ({"backend_kwargs": '{"a": 1}'}, r"hf takes no further arguments, got \['a'\]"),
        ({"backend": "vllm", "backend_kwargs": "[]"}, "backend_kwargs must be a JSON object"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        EpisodeArguments(**options)


# Adapters alone ---------------------------------------------------------------------------------


class ServedAdapters:
    """A vLLM server's side with `--enable-lora`: its own weights, and adapters by their names.

    Args:
        base: the folder that it serves.
        takes: it has the endpoints of adapters; else those of whole weights.
        restart_at: the completion before which it is restarted, from 1; None never does.
    """

    def __init__(self, base: str, *, takes: bool = True, restart_at: int | None = None) -> None:
        self.base, self.restart_at, self.num_answers = base, restart_at, 0
        self.adapters: dict[str, Any] = {}
        self.most = 0
        self.answers = {
            **answers_of(AutoModelForCausalLM.from_pretrained(base)),
            "/v1/models": lambda body: {"data": [{"id": "toy", "root": base}, *self.listed()]},
            COMPLETIONS: self.complete,
        }
        if takes:
            self.answers |= {
                "/v1/load_lora_adapter": self.load, "/v1/unload_lora_adapter": self.unload
            }  # fmt: skip

    def listed(self) -> list[dict[str, Any]]:
        return [{"id": name, "root": "somewhere"} for name in self.adapters]

    def load(self, body: dict[str, Any]) -> Any:
        if "lora_path" not in body:
            return Failure(422, '{"message": "lora_path: field required"}')
        own = AutoModelForCausalLM.from_pretrained(self.base)
        adapted = PeftModel.from_pretrained(own, body["lora_path"]).merge_and_unload()
        self.adapters[body["lora_name"]] = completions_of(adapted)
        self.most = max(self.most, len(self.adapters))
        return Failure(200, "Success: LoRA adapter added successfully.")

    def unload(self, body: dict[str, Any]) -> Any:
        if self.adapters.pop(body["lora_name"], None) is None:
            return Failure(404, '{"message": "no such adapter"}')
        return Failure(200, "Success: LoRA adapter removed successfully.")

    def complete(self, body: dict[str, Any]) -> Any:
        self.num_answers += 1
        if self.num_answers == self.restart_at:
            self.adapters.clear()
        if body["model"] not in self.adapters:
            return Failure(404, '{"message": "the model does not exist"}')
        return self.adapters[body["model"]](body)


def adapted(folder: str, **further: Any) -> Any:
    """Return a folder's model with an adapter that changes it."""
    torch.manual_seed(1)
    base = AutoModelForCausalLM.from_pretrained(folder)
    options: dict[str, Any] = {"r": 4, "target_modules": "all-linear", "task_type": "CAUSAL_LM"}
    model = get_peft_model(base, LoraConfig(**{**options, **further}))
    move(model)
    return model.eval()


def move(model: Any) -> None:
    """Take a step with the adapter."""
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_" in name:
                weight.add_(0.3 * torch.randn_like(weight))


def test_a_server_that_takes_adapters_gets_nothing_else(tmp_path: Path) -> None:
    folder, prompts = make_folder(tmp_path / "base"), prompts_of(5, 40)
    model, served = adapted(folder), ServedAdapters(folder)
    with serving(served.answers) as server:
        backend = backend_of(server, model=model, weights_dir=str(tmp_path / "weights"))
        for step in range(4):
            backend.sync_weights(step)
            turns = backend.generate(prompts, Sampling(9), keys=[0, 1])
            assert worst_gap(model, prompts, turns) < TOLERANCE
            sent = list(tmp_path.glob("weights/*"))
            backend.sync_weights(step)  # nothing has changed
            assert sent == list(tmp_path.glob("weights/*"))
            move(model)
            assert worst_gap(model, prompts, turns) > 10 * TOLERANCE
    assert len(served.adapters) == 2 and served.most == 3
    assert len(sent) == 2 and all((one / "adapter_model.safetensors").is_file() for one in sent)


def test_a_server_that_was_restarted_gets_the_adapter_again(tmp_path: Path) -> None:
    folder, prompts = make_folder(tmp_path / "base"), prompts_of(5, 40)
    model, served = adapted(folder), ServedAdapters(folder, restart_at=2)
    with serving(served.answers) as server:
        backend = backend_of(server, model=model, weights_dir=str(tmp_path / "weights"))
        backend.sync_weights(0)
        turns = backend.generate(prompts, Sampling(9), keys=[0, 1])
        assert worst_gap(model, prompts, turns) < TOLERANCE
        served.adapters.clear()
        backend.sync_weights(0)
        assert backend.has_weights()
        served.restart_at = served.num_answers + 1
        with pytest.raises(EnvFailure, match="restarted within a batch"):
            backend.sample(prompts, Sampling(9), seeds=[0, 1], restarts=0)


def test_processes_that_load_an_adapter_again_have_it_however_often_and_whoever_is_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, prompts = make_folder(tmp_path / "base"), prompts_of(5)
    served, load = ServedAdapters(folder), ServedAdapters.load

    def load_once(body: dict[str, Any]) -> Any:
        if body.get("lora_name") in served.adapters:
            return Failure(400, '{"message": "The lora adapter has already been loaded."}')
        return load(served, body)

    served.answers["/v1/load_lora_adapter"] = load_once
    with serving(served.answers) as server:
        backend = backend_of(server, model=adapted(folder), weights_dir=str(tmp_path / "weights"))
        backend.sync_weights(0)
        monkeypatch.setattr("trainers.backends.vllm_server.is_spread", lambda: True)
        for _ in range(3):
            served.adapters.clear()
            assert backend.generate(prompts, Sampling(2), keys=[0])
        backend._send_alone()  # another process has loaded it since this one has looked


@pytest.mark.parametrize(
    "case", ["no endpoint", "another base", "dora", "scales", "pissa", "merged base", "resets"]
)
def test_where_an_adapter_alone_would_not_do_merged_weights_are_sent(
    case: str, tmp_path: Path
) -> None:
    folder = make_folder(tmp_path / "base")
    other = make_folder(tmp_path / "other")
    settings: dict[str, dict[str, Any]] = {
        "dora": {"use_dora": True},
        "scales": {"alpha_pattern": {"q_proj": 32}},
        "pissa": {"init_lora_weights": "pissa"},
    }
    model = adapted(folder, **settings.get(case, {}))
    if case == "merged base":
        model.get_base_model().is_merged = True
    if case == "resets":
        model.get_base_model().is_saved_beside = True
    served = ServedAdapters(
        other if case == "another base" else folder, takes=case != "no endpoint"
    )
    calls: list[Any] = []
    served.answers |= {
        "/collective_rpc": lambda body: calls.append(body) or {"results": [None]},
        "/update_weight_version": lambda body: {"success": True},
        "/weight_info": lambda body: {"weight_version": "none"},
    }
    with serving(served.answers) as server:
        backend = backend_of(server, model=model, weights_dir=str(tmp_path / "weights"))
        backend.sync_weights(0)
    assert len(calls) == 1 and (tmp_path / "weights" / WEIGHTS_FILE).is_file()
    assert not served.adapters


def test_an_adapter_that_a_server_refuses_is_named_with_the_remedy(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "base")
    served = ServedAdapters(folder)
    too_large = Failure(400, '{"message": "LoRA rank 4 is greater than max_lora_rank 2."}')
    load = served.load
    served.answers["/v1/load_lora_adapter"] = lambda body: too_large if body else load(body)
    with serving(served.answers) as server:
        backend = backend_of(server, model=adapted(folder), weights_dir=str(tmp_path / "weights"))
        with pytest.raises(EnvFailure, match=r"max_lora_rank 2.*--max-lora-rank 4 or more"):
            backend.sync_weights(0)


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


@contextmanager
def vllm_serving(
    folder: Path | str, log: Path, port: int = 0, *, words: str | None = None, **settings: str
) -> Iterator[str]:
    """Run `trl vllm-serve`, or other words, on a model's folder; give its address when it is up."""
    if not port:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
    words = words or (
        f"trl vllm-serve --model {folder} --host 127.0.0.1 --port {port} --dtype float32 "
        "--enforce_eager true --enable_prefix_caching true --max_model_len 512 --block-size 32 "
        "--worker-extension-cls trainers.backends.vllm_worker.PolicyWorker"
    )
    root = str(Path(__file__).parents[3])
    environment = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "PYTHONPATH": root, **settings}
    program, *options = words.format(folder=folder, port=port).split()
    with log.open("w") as file:
        process = subprocess.Popen(
            [str(Path(sys.executable).parent / program), *options],
            stdout=file, stderr=file, env=environment, start_new_session=True,
        )  # fmt: skip
    try:
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + 500
        while not is_up(url):
            assert process.poll() is None and time.monotonic() < deadline, log.read_text()[-4000:]
            time.sleep(1)
        yield url
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(timeout=60)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    """A server of a model of untied embeddings: its address and the model's folder."""
    folder = save_policy(tmp_path_factory.mktemp("served") / "model", "qwen2")
    with vllm_serving(folder, tmp_path_factory.mktemp("log") / "server.log") as url:
        yield url, folder


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
def test_vllms_server_scores_given_tokens_as_the_model_does(served: tuple[str, str]) -> None:
    model, tokenizer = make_policy("qwen2"), make_tokenizer()
    backend, rows = VLLMServerBackend(served[0]), prompts_of(2, 33, 100)
    for row, scored in zip(rows, backend.score(rows), strict=True):
        with torch.no_grad():
            logps = model(torch.tensor([row])).logits[0, :-1].log_softmax(-1)
        expected = logps.gather(1, torch.tensor(row[1:])[:, None])[:, 0]
        assert (torch.tensor(scored) - expected).abs().max() < TOLERANCE
    ids = tokenizer.encode("Open the red door.", add_special_tokens=False)
    assert backend.decode(ids) == "Open the red door."


@with_vllm
def test_vllms_server_samples_with_an_adapter_that_changes(tmp_path: Path) -> None:
    folder = save_policy(tmp_path / "model", "qwen2")
    model, prompts = adapted(folder), prompts_of(1, 33)
    words = (
        "vllm serve {folder} --host 127.0.0.1 --port {port} --dtype float32 --enforce-eager "
        "--max-model-len 512 --block-size 32 --enable-lora --max-lora-rank 8 "
        "--logprobs-mode processed_logprobs"
    )
    settings = {"VLLM_ALLOW_RUNTIME_LORA_UPDATING": "1"}
    with vllm_serving(folder, tmp_path / "server.log", words=words, **settings) as url:
        backend = VLLMServerBackend(url, model=model, weights_dir=str(tmp_path / "weights"))
        for step in range(3):
            backend.sync_weights(step)
            turns = backend.generate(prompts, Sampling(12, 0.7), keys=[0, 1])
            assert worst_gap(model, prompts, turns, 0.7) < TOLERANCE
            move(model)
            assert worst_gap(model, prompts, turns, 0.7) > 10 * TOLERANCE
    assert not (tmp_path / "weights" / WEIGHTS_FILE).exists()


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


@with_vllm
def test_vllms_server_that_is_restarted_is_given_the_trained_weights(tmp_path: Path) -> None:
    folder = save_policy(tmp_path / "model", "qwen2")
    model, prompts = make_policy("qwen2"), prompts_of(1, 33, 100)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape) * 0.02)
    with vllm_serving(folder, tmp_path / "first.log") as url:
        backend = VLLMServerBackend(url, model=model, weights_dir=str(tmp_path / "weights"))
        backend.sync_weights(1)
        turns = backend.generate(prompts, Sampling(16), keys=range(3))
        assert worst_gap(model, prompts, turns) < TOLERANCE
    with pytest.raises(
        EnvFailure, match="failed 4 times, .* ConnectError.*; is the server running"
    ):
        backend.generate(prompts, Sampling(16), keys=range(3))
    with vllm_serving(folder, tmp_path / "second.log", int(url.rpartition(":")[2])):
        base = VLLMServerBackend(url).generate(prompts, Sampling(16), keys=range(3))
        assert worst_gap(model, prompts, base) > 100 * TOLERANCE
        turns = backend.generate(prompts, Sampling(16), keys=range(3))
    assert worst_gap(model, prompts, turns) < TOLERANCE
