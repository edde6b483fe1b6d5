"""Top-k, top-p and min-p on every backend: what is sampled, its logprobs, and what is refused."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any, Literal

import numpy as np
import pytest
import torch

from tests.serving import serving
from tests.trainers.policies.chat_server import completions_of, models
from tests.trainers.tiny_models import tiny_model
from tests.trainers.toys import make_model
from trainers.backends.hf import HFBackend
from trainers.backends.sampler import cut
from trainers.backends.vllm_server import VLLMServerBackend
from trainers.tokens.generation import Sampling

PROMPT = [22, 30, 54, 50, 51, 52]
CUTS: list[dict[str, Any]] = [
    {"top_k": 1},
    {"top_k": 5},
    {"top_k": 10_000},
    {"top_p": 0.6},
    {"top_p": 1e-9},
    {"min_p": 0.3},
    {"min_p": 1.0},
    {"top_k": 12, "top_p": 0.8, "min_p": 0.2},
]


def reference(logits: np.ndarray, sampling: Sampling) -> np.ndarray:
    """Softmax, keep, renormalise; one cut after the other."""
    p = np.exp(logits.astype(np.float64) / sampling.temperature)
    p /= p.sum()
    p *= p >= sampling.min_p * p.max()
    p /= p.sum()
    if sampling.top_k:
        p *= np.argsort(np.argsort(-p)) < sampling.top_k
        p /= p.sum()
    order = np.argsort(-p)
    before = np.cumsum(p[order]) - p[order]  # the share of the likelier ones
    p[order] *= before < sampling.top_p
    return p / p.sum()


def next_logits(model: Any) -> np.ndarray:
    with torch.no_grad():
        logits: np.ndarray = model(torch.tensor([PROMPT])).logits[0, -1].float().numpy()
    return logits


@pytest.mark.parametrize("options", CUTS)
@pytest.mark.parametrize("seed", [None, 5], ids=["generator", "streams"])
def test_samples_and_logprobs_are_of_the_cut_distribution(
    options: dict[str, Any], seed: int | None
) -> None:
    model, num = tiny_model(), 2000
    sampling = Sampling(1, 2.0, **options)
    backend = HFBackend(model)
    backend.seed_rows(seed)
    turns = backend.generate([PROMPT] * num, sampling, keys=list(range(num)))
    expected = reference(next_logits(model), sampling)
    ids = np.array([turn.ids[0] for turn in turns])
    logprobs = np.array([turn.logprobs[0] for turn in turns])
    np.testing.assert_allclose(logprobs, np.log(expected[ids]), atol=1e-5)
    shares = np.bincount(ids, minlength=len(expected)) / num
    spread = np.sqrt(expected * (1 - expected) / num)
    assert np.all(np.abs(shares - expected) <= 5 * spread + 1e-9)


def test_without_a_cut_nothing_is_computed_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trainers.backends.sampler.cut", None)
    for temperature in (0.0, 1.0, 0.7):
        HFBackend(tiny_model()).generate([PROMPT], Sampling(2, temperature))
    greedy = HFBackend(tiny_model()).generate([PROMPT], Sampling(2, 0.0, top_k=3, min_p=0.5))
    assert greedy == HFBackend(tiny_model()).generate([PROMPT], Sampling(2, 0.0))


def test_rows_are_cut_each_for_itself_and_ties_stay() -> None:
    scores = torch.tensor([[0.0, 3.0, 3.0, 1.0], [5.0, 0.0, 0.0, 0.0]])
    left = torch.isfinite(cut(scores, Sampling(top_k=1)))
    assert left.tolist() == [[False, True, True, False], [True, False, False, False]]
    left = torch.isfinite(cut(scores, Sampling(top_p=0.9)))
    assert left.tolist() == [[False, True, True, False], [True, False, False, False]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"top_k": -1}, "top_k must be >= 1, or 0 for all tokens, got -1"),
        ({"top_p": 0.0}, "top_p must be above 0 and at most 1, got 0.0"),
        ({"top_p": 1.1}, "top_p must be above 0 and at most 1, got 1.1"),
        ({"top_p": float("nan")}, "top_p must be above 0"),
        ({"min_p": -0.1}, r"min_p must be in 0\.\.1, got -0.1"),
        ({"min_p": 1.5}, r"min_p must be in 0\.\.1, got 1.5"),
    ],
)
def test_bounds_are_told(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sampling(**options)


# vLLM -----------------------------------------------------------------------------------------

CUT: dict[str, Any] = {"top_k": 7, "top_p": 0.9, "min_p": 0.1}


def test_a_server_is_asked_for_the_cut_distribution_and_its_logprobs() -> None:
    """At temperature 1 a server's raw logprobs are right only where nothing is cut."""
    answers = {"/v1/models": models("toy", max_model_len=300)}
    asked = Sampling(2, 1.0, **CUT)
    with serving({**answers, "/v1/completions": completions_of(make_model())}) as server:
        VLLMServerBackend(server.url, retries=0).generate([[1, 2]], asked, keys=[0])
        sent = server.requests[-1]
    assert {name: sent[name] for name in CUT} == CUT
    raw = completions_of(make_model(), tempers=False)
    with serving({**answers, "/v1/completions": raw}) as server:
        backend = VLLMServerBackend(server.url, retries=0)
        backend.generate([[1, 2]], Sampling(2, 1.0), keys=[0])
        with pytest.raises(ValueError, match="--logprobs-mode processed_logprobs"):
            backend.generate([[1, 2]], asked, keys=[0])


class FakeLLM:
    """Records how vLLM is started and asked."""

    model_config = SimpleNamespace(max_model_len=300)

    def __init__(self, **options: Any) -> None:
        self.options = options

    def generate(
        self, prompts: list[Any], params: list[Any], *, use_tqdm: bool, lora_request: Any
    ) -> list[Any]:
        self.params = params
        output = SimpleNamespace(token_ids=[5], logprobs=[{5: SimpleNamespace(logprob=-0.5)}])
        return [SimpleNamespace(outputs=[output]) for _ in prompts]


def test_the_engine_is_asked_for_the_cut_distribution_and_its_logprobs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fakes: dict[str, dict[str, Any]] = {
        "vllm": {"LLM": FakeLLM, "SamplingParams": SimpleNamespace},
        "vllm.config": {},
        "vllm.config.lora": {"MaxLoRARanks": Literal[8, 16]},
        "vllm.lora": {},
        "vllm.lora.request": {"LoRARequest": SimpleNamespace},
        "vllm.exceptions": {"VLLMValidationError": KeyError},
        "vllm.platforms": {"current_platform": SimpleNamespace(is_cpu=lambda: False)},
    }
    for name, members in fakes.items():
        module = ModuleType(name)
        vars(module).update(members)
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.delitem(sys.modules, "trainers.backends.vllm", raising=False)
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    from trainers.backends.vllm import VLLMBackend

    sys.modules.pop("trainers.backends.vllm")  # made with the fakes
    backend = VLLMBackend("some/model")
    (turn,) = backend.generate([[1, 2]], Sampling(1, 0.7, **CUT), keys=[0])
    (params,) = backend.engine.params
    assert {name: getattr(params, name) for name in CUT} == CUT
    assert (params.temperature, params.logprobs, turn.logprobs) == (0.7, 0, [-0.5])
    assert backend.engine.options["logprobs_mode"] == "processed_logprobs"
