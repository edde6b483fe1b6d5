"""Other people's backends: by a name of theirs, as a spec, and as an object that is open."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs import read_jsonl
from tests.trainers.test_plugins import BACKEND, distribution
from tests.trainers.toys import ENV_ID, make_folder, make_model, make_tokenizer, model_rollout
from trainers import collect, evaluate, grpo
from trainers.agentevol import AgentEvol, AgentEvolConfig
from trainers.backends.hf import HFBackend
from trainers.grpo import AgentGRPOTrainer
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.backends import BACKENDS, BackendSpec, ModelSource
from trainers.options.configs import AgentGRPOConfig
from trainers.options.errors import UsageError
from trainers.options.offline import AgentEvolArguments
from trainers.policies.open import open_environments
from trainers.tokens.generation import Backend, Generated

__all__ = ["distribution"]  # a fixture

PAGE: dict[str, Any] = {"__name__": "page"}
exec(compile(BACKEND, "plugging_in.md", "exec"), PAGE)
PLAIN: BackendSpec = PAGE["PLAIN"]


class Counted(PAGE["PlainBackend"]):  # type: ignore[misc]
    """The page's backend, which counts its turns and notes the steps that it is given."""

    def __init__(self, source: ModelSource) -> None:
        super().__init__(source)
        self.turns = 0
        self.steps: list[int] = []

    def generate(self, prompts: Any, *args: Any, **kwargs: Any) -> Any:
        self.turns += len(prompts)
        return super().generate(prompts, *args, **kwargs)

    def sync_weights(self, global_step: int) -> None:
        self.steps.append(global_step)


class Silent(Counted):
    """Keeps its log-probabilities to itself."""

    def generate(self, prompts: Any, *args: Any, **kwargs: Any) -> Any:
        turns = super().generate(prompts, *args, **kwargs)
        return [replace(turn, logprobs=[math.nan] * len(turn.ids)) for turn in turns]


def make_trainer(folder: Path, model: Any = None, **given: Any) -> AgentGRPOTrainer:
    """Return a trainer of two steps on the toy game, which evaluates after the second one."""
    config = AgentGRPOConfig(
        output_dir=str(folder),
        max_steps=2,
        num_generations=4,
        per_device_train_batch_size=8,
        gradient_accumulation_steps=1,
        eval_strategy="steps",
        eval_steps=2,
        save_strategy="no",
        disable_tqdm=True,
        use_cpu=True,
        bf16=False,
    )
    return AgentGRPOTrainer(
        make_model() if model is None else model,
        EnvArguments(env=[ENV_ID], action_format="plain"),
        args=config,
        evaluation=EvaluationArguments(num_eval_tasks=2),
        processing_class=make_tokenizer(),
        **{"rollout": RolloutArguments(max_tokens_per_turn=4), **given},
    )


def opened(backends: list[Counted]) -> Callable[..., Backend]:
    """Return what opens a counted backend, and puts it on a list."""

    def open_one(source: ModelSource) -> Backend:
        backends.append(Counted(source))
        return backends[-1]

    return open_one


@pytest.mark.parametrize("way", ["spec", "object", "of the rollout"])
def test_a_backend_given_in_python_samples_training_and_evaluations(
    way: str, tmp_path: Path
) -> None:
    model, backends = make_model(), list[Counted]()
    spec = BackendSpec("counted", opened(backends), samples_from_model=True)
    if way == "spec":
        trainer = make_trainer(tmp_path, model, backend=spec)
    elif way == "object":
        one = Counted(ModelSource(model))
        backends.append(one)
        trainer = make_trainer(tmp_path, model, backend=one)
    else:
        rollout = RolloutArguments(max_tokens_per_turn=4, backend=spec)
        trainer = make_trainer(tmp_path, model, rollout=rollout)
    trainer.train()
    (backend,) = backends
    assert backend.model is model
    assert backend.steps == [0, 1, 2]
    files = [*(tmp_path / "trajectories").rglob("*.jsonl")]
    episodes = [episode for path in files for episode in read_jsonl(path)]
    assert backend.turns == sum(len(one.turns) for one in episodes) > 16
    (measured,) = [row for row in trainer.state.log_history if "eval_success" in row]
    assert 0 <= measured["eval_success"] <= 1
    name = "Counted" if way == "object" else "counted"
    assert json.loads((tmp_path / "run.json").read_text())["RolloutArguments"]["backend"] == name


def test_what_another_backend_samples_is_trained_as_our_own(tmp_path: Path) -> None:
    gaps = {
        name: [
            row["sampling/sampling_logp_difference/max"]
            for row in _trained(make_trainer(tmp_path / name, backend=backend))
            if "loss" in row
        ]
        for name, backend in (("hf", "hf"), ("plain", PLAIN))
    }
    assert len(gaps["plain"]) == len(gaps["hf"]) == 2
    assert max(gaps["plain"] + gaps["hf"]) < 1e-4


def _trained(trainer: AgentGRPOTrainer) -> list[dict[str, Any]]:
    trainer.train()
    return list(trainer.state.log_history)


def test_the_command_takes_the_name_of_an_entry_point(
    distribution: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.syspath_prepend(str(distribution))
    with pytest.raises(SystemExit):
        evaluate.main(["--help"])
    assert "--backend {hf,plain,vllm,vllm_server}" in capsys.readouterr().out
    out, model = tmp_path / "run", make_folder(tmp_path / "model")
    common = f"--env {ENV_ID} --action_format plain --model {model} --backend plain"
    options = (
        f"{common} --max_tokens_per_turn 4 --output_dir {out} --max_steps 2 --num_generations 4 "
        "--per_device_train_batch_size 8 --gradient_accumulation_steps 1 --num_eval_tasks 2 "
        "--eval_strategy steps --eval_steps 2 --save_strategy no --disable_tqdm --use_cpu"
    )
    assert grpo.main(options.split()) == 0
    assert json.loads((out / "run.json").read_text())["RolloutArguments"]["backend"] == "plain"
    rows = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    assert any("eval_success" in row for row in rows)
    words = f"{common} --max_tokens_per_turn 4 --num_tasks 2 --out {tmp_path / 'eval.json'}"
    assert evaluate.main(words.split()) == 0
    words = f'{common} --backend_kwargs {{"a":1}} --num_tasks 2 --out {tmp_path / "x.json"}'
    with pytest.raises(TypeError, match="unexpected keyword argument 'a'"):
        evaluate.main(words.split())


def test_an_entry_point_must_be_a_spec(distribution: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = next(distribution.glob("plain_backend*/entry_points.txt"))
    entry.write_text(entry.read_text().replace(":PLAIN", ":PlainBackend"))
    monkeypatch.syspath_prepend(str(distribution))
    with pytest.raises(TypeError, match="plain = plain_backend:PlainBackend .*BackendSpec"):
        RolloutArguments(backend="plain")


def test_an_unknown_backend_is_refused_with_those_that_there_are(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(
        ValueError, match="one of hf, vllm, vllm_server, got 'vlm'; did you mean vllm"
    ):
        RolloutArguments(backend="vlm")
    with pytest.raises(TypeError, match="must be a name .* or an object with generate"):
        RolloutArguments(backend=object())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"not be a class, got Counted; pass .*open=Counted\)"):
        RolloutArguments(backend=Counted)  # type: ignore[arg-type]
    with pytest.raises(SystemExit):
        grpo.main(["--backend", "vlm"])
    assert "(choose from 'hf', 'vllm', 'vllm_server')" in capsys.readouterr().err


def test_training_refuses_a_backend_without_log_probabilities(tmp_path: Path) -> None:
    spec = replace(PLAIN, name="silent", open=Silent, gives_logprobs=False)
    with pytest.raises(UsageError, match="backend 'silent' gives no log-probabilities"):
        make_trainer(tmp_path, backend=spec)
    environments = open_environments(EnvArguments(env=[ENV_ID], action_format="plain"))
    (episode,) = model_rollout(environments, backend=spec).run(["letters_0"])
    (recorded,) = model_rollout(environments, backend=PLAIN).run(["letters_0"])
    assert episode.turns[0].num_tokens and not episode.traces
    assert recorded.traces[0].logprobs


class _Forgetful(Counted):
    """Leaves the last prompt out."""

    def generate(self, prompts: Any, *args: Any, **kwargs: Any) -> Any:
        return super().generate(prompts, *args, **kwargs)[:-1]


def test_a_backend_must_continue_every_prompt() -> None:
    environments = open_environments(EnvArguments(env=[ENV_ID], action_format="plain"))
    spec = replace(PLAIN, open=_Forgetful)
    with pytest.raises(ValueError, match="_Forgetful.generate must return .* got 0 for 1"):
        model_rollout(environments, backend=spec).run(["letters_0"])


def test_only_what_can_be_asked_meanwhile_plays_ahead(tmp_path: Path) -> None:
    env = EnvArguments(env=[ENV_ID], action_format="plain", env_backend="thread")
    with pytest.raises(UsageError, match="weights of its own, got `backend=plain`;"):
        AgentGRPOTrainer(
            make_model(),
            env,
            args=AgentGRPOConfig(str(tmp_path), max_staleness=1, num_generations=8, use_cpu=True),
            backend=PLAIN,
            processing_class=make_tokenizer(),
        )


@pytest.mark.full
def test_agentevol_opens_a_backend_for_each_rounds_model(tmp_path: Path) -> None:
    backends: list[Counted] = []
    spec = BackendSpec("counted", opened(backends), samples_from_model=True)
    args = AgentEvolConfig(
        output_dir=str(tmp_path / "run"),
        max_steps=1,
        eval_strategy="no",
        save_strategy="no",
        disable_tqdm=True,
        use_cpu=True,
        bf16=False,
    )
    model, env = make_folder(tmp_path / "model"), EnvArguments(env=[ENV_ID], action_format="plain")
    evolution = AgentEvol(
        model,
        env,
        args=args,
        options=AgentEvolArguments(num_rounds=2),
        rollout=RolloutArguments(max_tokens_per_turn=4),
        backend=spec,
    )
    assert [done.explored for done in evolution.run()] == [8, 8]
    assert [one.turns > 8 for one in backends] == [True, True]
    assert backends[0].model is not backends[1].model
    with pytest.raises(TypeError, match="a name or a trainers.BackendSpec, got <"):
        AgentEvol(model, env, backend=backends[0])  # type: ignore[arg-type]


def test_an_open_backend_can_do_what_its_class_says() -> None:
    backend = HFBackend(make_model())
    spec = RolloutArguments(backend=backend).backend_spec
    assert spec.samples_from_model and spec.opener()(ModelSource()) is backend
    assert BackendSpec.from_value("vllm_server").can_play_ahead
    assert list(BACKENDS) == ["hf", "vllm", "vllm_server"]


def test_a_backend_on_a_loaded_model_needs_one() -> None:
    from trainers.backends.open import load_backend

    with pytest.raises(ValueError, match="'plain' samples from a loaded model only"):
        load_backend(RolloutArguments(backend=PLAIN), ModelSource(path="tiny"))


IDS = make_tokenizer().encode("a<|im_end|>")


class _Files(Backend):
    """Reads a model's files where nothing is trained."""

    sources: list[ModelSource] = []

    def __init__(self, source: ModelSource, *, size: int = 0) -> None:
        self.sources.append(source)
        self.size = size

    def generate(
        self, prompts: Sequence[list[int]], *_args: Any, **_kwargs: Any
    ) -> list[Generated]:
        return [Generated(IDS, [-1.0] * len(IDS), stopped=True) for _ in prompts]


def test_a_backend_that_reads_files_is_given_their_place_and_its_arguments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import trainers.options.backends as module

    spec = BackendSpec("files", open=_Files)
    monkeypatch.setitem(module._OURS, "files", spec)
    model, out = make_folder(tmp_path / "model"), tmp_path / "episodes.jsonl"
    words = (
        f"--env {ENV_ID} --action_format plain --policy {model} --backend files --num_tasks 1 "
        f'--backend_kwargs {{"size":3}} --out {out} --max_tokens_per_episode 300'
    )
    assert collect.main(words.split()) == 0
    (source,) = _Files.sources
    assert (source.model, source.path, source.max_length) == (None, model, 300)
    assert next(iter(read_jsonl(out))).turns[0].completion == "a"
