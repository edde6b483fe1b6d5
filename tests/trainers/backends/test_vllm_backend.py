"""vLLM for real: what it samples, what it forgets, and training through it. `make test-vllm`."""

from __future__ import annotations

import importlib.util
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model

from tests.trainers.backends.vllm_models import make_policy, save_policy
from tests.trainers.tiny_models import forward_logprobs
from tests.trainers.toys import ENV_ID, LARGEST_GAP, make_tokenizer
from trainers.evaluate import EvalResult
from trainers.evaluate import main as evaluate_main
from trainers.options.arguments import EnvArguments, EpisodeArguments
from trainers.policies.model import ModelPolicy
from trainers.rollout.environments import Environments
from trainers.tokens.generation import Generated, Sampling

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.timeout(600),
    pytest.mark.skipif(
        importlib.util.find_spec("vllm") is None,
        reason="vLLM is not installed here; `make test-vllm` installs it and runs these tests",
    ),
    # vLLM 0.31 and what it imports use names that torch and others have deprecated.
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning"),
]
TOLERANCE = 1e-4
"""Nats, float32: the kernels differ from transformers' in the order of their sums."""


def prompts_of(*lengths: int, seed: int = 1) -> list[list[int]]:
    draws = random.Random(seed)
    return [[draws.randrange(256) for _ in range(length)] for length in lengths]


def worst_gap(
    model: Any, prompts: list[list[int]], turns: list[Generated], temperature: float = 1.0
) -> float:
    """The largest difference from the logprobs of one forward pass of the transformers model."""
    gaps = []
    for prompt, turn in zip(prompts, turns, strict=True):
        expected = forward_logprobs(model, prompt + turn.ids, temperature)[len(prompt) - 1 :]
        gaps.append((expected - torch.tensor(turn.logprobs)).abs().max())
    return float(max(gaps))


@pytest.fixture(scope="module")
def model() -> Any:
    return make_policy()


@pytest.fixture(scope="module")
def opened(model: Any) -> Iterator[Any]:
    from trainers.backends.vllm import VLLMBackend

    backend = VLLMBackend.from_model(model, max_length=512)
    yield backend
    backend.close()


@pytest.fixture
def backend(opened: Any, model: Any) -> Any:
    """The engine, with the weights and the random numbers that every test starts from."""
    model.load_state_dict(make_policy().state_dict())
    opened.model = model
    opened.sync_weights(0)
    opened.reseed(0)
    return opened


# Sampling -------------------------------------------------------------------------------------


@pytest.mark.parametrize("temperature", [1.0, 0.7, 1.4, 0.0])
def test_logprobs_are_those_of_one_forward_pass_at_the_temperature(
    backend: Any, model: Any, temperature: float
) -> None:
    prompts = prompts_of(1, 31, 32, 33, 100)
    turns = backend.generate(prompts, Sampling(24, temperature), keys=range(5))
    assert [len(turn.ids) for turn in turns] == [24] * 5
    assert worst_gap(model, prompts, turns, temperature or 1.0) < TOLERANCE


def test_prompts_longer_together_than_a_step_are_sampled_from(backend: Any, model: Any) -> None:
    prompts = prompts_of(*[450] * 20)
    turns = backend.generate(prompts, Sampling(4), keys=range(20))
    assert worst_gap(model, prompts, turns) < TOLERANCE


def test_greedy_takes_the_likeliest_token_of_the_transformers_model(
    backend: Any, model: Any
) -> None:
    prompts = prompts_of(5, 40, 80)
    for prompt, turn in zip(
        prompts, backend.generate(prompts, Sampling(30, 0.0), keys=range(3)), strict=True
    ):
        with torch.no_grad():
            logits = model(torch.tensor([prompt + turn.ids])).logits[0, len(prompt) - 1 : -1]
        taken = logits.gather(-1, torch.tensor(turn.ids)[:, None])[:, 0]
        # Where two tokens tie within rounding, either is the likeliest.
        assert (logits.max(-1).values - taken).max() < TOLERANCE


def test_samples_follow_the_distribution(backend: Any, model: Any) -> None:
    (prompt,) = prompts_of(12)
    num = 2000
    turns = backend.generate([prompt] * num, Sampling(1, 0.3), keys=range(num))
    with torch.no_grad():
        expected = torch.softmax(model(torch.tensor([prompt])).logits[0, -1] / 0.3, -1)
    counts = torch.bincount(torch.tensor([turn.ids[0] for turn in turns]), minlength=260) / num
    likely = expected > 0.02
    spread = (expected * (1 - expected) / num).sqrt()
    assert likely.sum() > 3
    assert ((counts - expected).abs() < 5 * spread)[likely].all()


def test_a_stop_id_ends_the_turn_and_is_its_last_id(backend: Any) -> None:
    prompts = prompts_of(9, 50)
    free = backend.generate(prompts, Sampling(20), keys=[0, 1])
    stops = (free[0].ids[5], free[1].ids[8])
    backend.reseed(0)
    turns = backend.generate(prompts, Sampling(20, 1.0, stops), keys=[0, 1])
    for turn, whole in zip(turns, free, strict=True):
        end = next(place for place, id_ in enumerate(whole.ids) if id_ in stops)
        assert (turn.ids, turn.stopped) == (whole.ids[: end + 1], True)
        assert len(turn.logprobs) == len(turn.ids)


def test_only_the_given_stop_ids_stop_not_the_models_own(backend: Any, model: Any) -> None:
    turns = backend.generate(prompts_of(*[20] * 100), Sampling(30, 2.0), keys=range(100))
    assert all(len(turn.ids) == 30 and not turn.stopped for turn in turns)
    assert any(model.config.eos_token_id in turn.ids[:-1] for turn in turns)


def test_each_row_has_its_own_budget(backend: Any) -> None:
    turns = backend.generate(prompts_of(9, 9, 9), Sampling(8), keys=range(3), budgets=[3, 50, 1])
    assert [len(turn.ids) for turn in turns] == [3, 8, 1]
    assert not any(turn.stopped for turn in turns)


def test_samples_depend_on_seed_row_and_turn_not_on_the_company(backend: Any) -> None:
    prompts = prompts_of(40, 41, 42)
    first = backend.generate(prompts, Sampling(12), keys=[0, 1, 2])
    second = backend.generate(prompts, Sampling(12), keys=[0, 1, 2])
    backend.reseed(0)
    alone = [backend.generate([prompts[1]], Sampling(12), keys=[1])[0] for _ in range(2)]
    assert [alone[0].ids, alone[1].ids] == [first[1].ids, second[1].ids]
    assert first[1].ids != second[1].ids
    backend.reseed(1)
    assert backend.generate([prompts[1]], Sampling(12), keys=[1])[0].ids != first[1].ids


def test_what_vllm_refuses_is_a_value_error(backend: Any) -> None:
    with pytest.raises(ValueError, match="maximum context length is 512"):
        backend.generate(prompts_of(600), Sampling(4), keys=[0])
    with pytest.raises(ValueError, match=r"temperature must be in \[0, 2\]"):
        backend.generate(prompts_of(6), Sampling(4, 2.5), keys=[0])


# What is kept and what is not -----------------------------------------------------------------


def watched(backend: Any, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Record the engine's own outputs."""
    outputs: list[Any] = []
    generate = backend.engine.generate

    def record(*args: Any, **kwargs: Any) -> Any:
        found = generate(*args, **kwargs)
        outputs.extend(found)
        return found

    monkeypatch.setattr(backend.engine, "generate", record)
    return outputs


def test_a_turn_computes_only_what_is_new(
    backend: Any, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = watched(backend, monkeypatch)
    (history,) = prompts_of(70, seed=4)
    for turn in range(3):
        (found,) = backend.generate([history], Sampling(10), keys=[0])
        assert worst_gap(model, [history], [found]) < TOLERANCE
        cached = outputs[-1].num_cached_tokens
        assert cached == (0 if turn == 0 else (len(history) - 31) // 32 * 32)  # whole blocks
        history = history + found.ids + prompts_of(30, seed=turn)[0]


def test_changed_weights_are_followed_and_nothing_old_is_remembered(
    backend: Any, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    outputs = watched(backend, monkeypatch)
    prompts = prompts_of(96, 40)
    before = backend.generate(prompts, Sampling(8), keys=[0, 1])
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape) * 0.02)
    assert worst_gap(model, prompts, before) > 100 * TOLERANCE
    backend.sync_weights(1)
    after = backend.generate(prompts, Sampling(8), keys=[0, 1])
    assert [output.num_cached_tokens for output in outputs[2:]] == [0, 0]
    assert worst_gap(model, prompts, after) < TOLERANCE


def test_weights_are_sent_only_when_they_have_changed(
    backend: Any, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    call = backend.engine.collective_rpc

    def count(method: str, **kwargs: Any) -> Any:
        calls.append(method)
        return call(method, **kwargs)

    monkeypatch.setattr(backend.engine, "collective_rpc", count)
    backend.sync_weights(0)
    assert calls == []
    backend.sync_weights(1)
    backend.sync_weights(1)
    assert len(calls) == 1
    model.load_state_dict(make_policy(seed=3).state_dict())  # as the best checkpoint is
    backend.sync_weights(1)
    assert len(calls) == 2


def test_an_adapters_merged_weights_are_sampled_from(backend: Any) -> None:
    adapter = LoraConfig(task_type="CAUSAL_LM", r=4, target_modules=["q_proj", "down_proj"])
    adapted = get_peft_model(make_policy(), adapter)
    with torch.no_grad():
        for name, parameter in adapted.named_parameters():
            if "lora_" in name:
                parameter.add_(torch.randn(parameter.shape) * 0.2)
    prompts = prompts_of(30, 60)
    old = backend.generate(prompts, Sampling(8), keys=[0, 1])
    backend.model = adapted
    backend.sync_weights(0)
    new = backend.generate(prompts, Sampling(8), keys=[0, 1])
    assert worst_gap(adapted, prompts, new) < TOLERANCE < worst_gap(adapted, prompts, old)


def test_weights_that_do_not_cover_the_model_are_refused(backend: Any, model: Any) -> None:
    weights = [(n, p.detach()) for n, p in model.named_parameters() if "layers.1.mlp" not in n]
    with pytest.raises(RuntimeError, match=r"no weights were given for .*layers\.1\.mlp"):
        backend.engine.collective_rpc("load_policy_weights", args=(iter(weights),))


def test_traces_hold_what_vllm_sampled(backend: Any, model: Any) -> None:
    environments = Environments(EnvArguments(env=[ENV_ID], action_format="plain"), episodes=4)
    budgets = EpisodeArguments(max_tokens_per_turn=6)
    tokenizer = make_tokenizer()
    policy = ModelPolicy.with_budgets(backend, tokenizer, budgets, name="", seed=0)
    player = environments.rollout(policy)
    played = player.run([f"letters_{number % 8}" for number in range(12)], temperature=1.3)
    assert max(len(episode.turns) for episode in played) > 1
    for episode in played:
        trace = episode.trace
        expected = forward_logprobs(model, trace.ids, 1.3)[len(trace.prompt_ids) - 1 :]
        sampled = torch.tensor(trace.action_mask).bool()
        gap = (expected - torch.tensor(trace.logprobs))[sampled].abs().max()
        assert gap < TOLERANCE
        assert int(sampled.sum()) == sum(turn.num_tokens for turn in episode.turns)
    again = player.run([f"letters_{number % 8}" for number in range(12)], temperature=1.3)
    assert [e.trace.completion_ids for e in again] == [e.trace.completion_ids for e in played]


# Engines and commands, each in a process of its own ---------------------------------------------


def run_python(code: str) -> str:
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-6000:]
    return result.stdout


def run_command(module: str, words: str) -> None:
    run_python(
        f"import sys, tests.trainers.toys; from trainers.{module} import main; "
        f"sys.exit(main({words.split()!r}))"
    )


FOLLOWING = """
import json
from pathlib import Path
import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM
from tests.trainers.backends.test_vllm_backend import prompts_of, worst_gap
from trainers.backends.vllm import VLLMBackend
from trainers.tokens.generation import Sampling

base = AutoModelForCausalLM.from_pretrained({folder!r})
config = LoraConfig(
    task_type="CAUSAL_LM", r=4, target_modules=["q_proj", "down_proj"], use_dora={use_dora}
)
model = get_peft_model(base, config).eval()
backend = VLLMBackend.from_model(model, max_length=512, enable_lora=True)
prompts, gaps, old_gaps = prompts_of(30, 60), [], []
for step in range(4):
    backend.sync_weights(step)
    turns = backend.generate(prompts, Sampling(8, 0.7), keys=[0, 1])
    gaps.append(worst_gap(model, prompts, turns, 0.7))
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "lora_" in name:
                weight.add_(torch.randn(weight.shape) * 0.2)
    old_gaps.append(worst_gap(model, prompts, turns, 0.7))
folder = Path(backend._adapters.name) if backend._adapters else Path("none")
kept = len(list(folder.glob("*")))
backend.close()
print(json.dumps([gaps, old_gaps, kept, folder.exists()]))
"""


@pytest.mark.parametrize("use_dora", [False, True], ids=["alone", "merged"])
def test_an_adapter_goes_alone_where_the_engine_computes_it_alike(
    use_dora: bool, tmp_path: Path
) -> None:
    folder = save_policy(tmp_path / "model", "qwen2")
    output = run_python(FOLLOWING.format(folder=folder, use_dora=use_dora))
    gaps, old_gaps, kept, is_left = json.loads(output.splitlines()[-1])
    assert max(gaps) < TOLERANCE < 0.01 < min(old_gaps)
    assert (kept, is_left) == (0 if use_dora else 1, False)


ADAPTER = "--use_peft --lora_r 4 --lora_target_modules q_proj"
ALONE = """ --backend_kwargs {"enable_lora":true}"""


@pytest.mark.parametrize("adapter", ["", ADAPTER, ADAPTER + ALONE])
def test_grpo_trains_through_vllm(adapter: str, tmp_path: Path) -> None:
    folder, out = save_policy(tmp_path / "model", "qwen2"), tmp_path / "out"
    run_command(
        "grpo",
        f"--env {ENV_ID} --model {folder} --backend vllm --output_dir {out} --max_steps 2 "
        "--num_generations 8 --per_device_train_batch_size 16 --gradient_accumulation_steps 1 "
        "--max_tokens_per_turn 4 --action_format plain --learning_rate 2e-3 --temperature 0.8 "
        f"--eval_strategy no --disable_tqdm {adapter}",
    )
    entries = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    gaps = [e[LARGEST_GAP] for e in entries if LARGEST_GAP in e]
    moved = [e["grad_norm"] for e in entries if "grad_norm" in e]
    # The second step samples from weights that the first one has changed by 0.002 each.
    assert len(gaps) == 2
    assert max(gaps) < TOLERANCE
    assert moved[0] > 0


def test_the_command_evaluates_with_vllm_what_it_evaluates_with_transformers(
    tmp_path: Path,
) -> None:
    folder = save_policy(tmp_path / "model", "qwen2")
    words = (
        f"--env {ENV_ID} --model {folder} --samples 2 --temperature 0 --max_tokens_per_turn 6 "
        f"--action_format plain --out {tmp_path}"
    )
    run_command("evaluate", f"{words}/vllm.json --backend vllm")
    assert evaluate_main(f"{words}/hf.json".split()) == 0
    found, expected = (EvalResult.load(tmp_path / f"{name}.json") for name in ("vllm", "hf"))
    assert found.tasks == expected.tasks
    assert found.sampled_tokens == expected.sampled_tokens
