"""`agentgym train distill`: whose log-probabilities credit a token, and what the teacher reads."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from agentgym_envs import ExpertMove, Outcome, Trajectory, register_env
from agentgym_envs.trajectories.trajectory import TokenTrace, read_jsonl
from tests.serving import Failure, serving
from tests.trainers.conftest import NO_EVALUATION
from tests.trainers.policies.chat_server import models, scores_of
from tests.trainers.test_experts import LONE_ID, RIGID_ID
from tests.trainers.toys import (
    ENV_ID,
    FAILED,
    EasyEnv,
    Given,
    episode,
    gradient,
    make_folder,
    make_model,
    make_tokenizer,
    trace,
)
from trainers import AgentDistillConfig, AgentDistillTrainer, task_dataset
from trainers.distill import main
from trainers.history.views import LastTurns, next_view
from trainers.options.arguments import EnvArguments, RolloutArguments
from trainers.options.errors import UsageError
from trainers.runs.folder import read_metrics
from trainers.tokens.chat import ChatFormat
from trainers.trl_bridge.teacher import KNOWN, exchanged

Make = Callable[..., AgentDistillTrainer]
EXACT = {
    "vllm_importance_sampling_correction": False,
    "bf16": False,
    "max_steps": 1,
    "loss_type": "dapo",
}
NO_SYSTEM = (
    "{% for message in messages %}{% if message.role == 'system' %}"
    "{{ raise_exception('no system role') }}{% endif %}"
    "{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


THIRD_ID = "toy/Third-v0"


class ThirdEnv(EasyEnv):
    """Wins at the third turn, whatever is said."""

    def apply(self, action: str) -> Outcome:
        self._said += 1
        won = self._said == 3
        return Outcome("Next.", float(won), terminated=won, info={"success": won})

    def expert_moves(self) -> Iterator[ExpertMove]:
        for letter in "abc":
            yield ExpertMove(letter, "Anything will do.")


register_env(THIRD_ID, ThirdEnv)


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Return a function that makes a small trainer with a teacher, by default another model."""

    def build(
        folder: str = "run",
        *,
        model: Any = None,
        teacher: Any = None,
        env: str = RIGID_ID,
        rollout: dict[str, Any] | None = None,
        tokenizer: Any = None,
        further: dict[str, Any] | None = None,
        **options: Any,
    ) -> AgentDistillTrainer:
        defaults: dict[str, Any] = {
            "per_device_train_batch_size": 4,
            "gradient_accumulation_steps": 1,
            "learning_rate": 1e-2,
            "max_steps": 2,
            "disable_tqdm": True,
            "report_to": "none",
            **NO_EVALUATION,
        }
        if teacher is None and "teacher_model_name_or_path" not in options:
            teacher = make_model(seed=7)
        return AgentDistillTrainer(
            make_model() if model is None else model,
            EnvArguments(env=[env], action_format="plain"),
            args=AgentDistillConfig(output_dir=str(tmp_path / folder), **{**defaults, **options}),
            rollout=RolloutArguments(**{"max_tokens_per_turn": 4, **(rollout or {})}),
            processing_class=make_tokenizer() if tokenizer is None else tokenizer,
            teacher=teacher,
            **(further or {}),
        )

    return build


def logps_of(model: Any, row: TokenTrace, prompt: Sequence[int] | None = None) -> torch.Tensor:
    """Return a model's log-probabilities of a trace's actions, behind another prompt if given."""
    prompt = row.prompt_ids if prompt is None else prompt
    logits = model(torch.tensor([[*prompt, *row.completion_ids]])).logits[0, len(prompt) - 1 : -1]
    actions = torch.tensor(row.action_mask, dtype=torch.bool)
    every = logits.log_softmax(-1).gather(1, torch.tensor(row.completion_ids)[:, None])
    return every[actions, 0]


def sampled_by(model: Any, traces: Sequence[TokenTrace]) -> list[Trajectory]:
    """Return episodes of traces whose log-probabilities are the model's."""
    for row in traces:
        own = iter(logps_of(model, row).tolist())
        row.logprobs = [next(own) if sampled else 0.0 for sampled in row.action_mask]
    return [episode(0.0, traces=[row]) for row in traces]


# The credit -------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", [0.0, 0.15])
def test_loss_and_gradient_are_those_of_the_teachers_log_ratios(bound: float, make: Make) -> None:
    model, teacher = make_model().double(), make_model(seed=7).double()
    reference, judge = copy.deepcopy(model), copy.deepcopy(teacher)
    trainer = make(model=model, teacher=teacher, kl_clip=bound, **EXACT)
    given = sampled_by(
        reference, [trace(3 + n, [1, 1, 0, 1][: 2 + n % 3], seed=n) for n in range(4)]
    )
    trainer.player.rollout = Given(given)
    found = gradient(trainer)
    terms, advantages = [], []
    for one in given:
        own = logps_of(reference, one.trace)
        gap = (logps_of(judge, one.trace) - own).detach()
        advantages.append(gap.clamp(-bound, bound) if bound else gap)
        terms.append((advantages[-1] * (own - own.detach()).exp()).sum())
    every = torch.cat(advantages)
    if bound:
        assert 0 < (every.abs() == bound).sum() < len(every)
    loss = -torch.stack(terms).sum() / len(every)
    loss.backward()
    assert (found - flat_gradient(trainer, reference)).norm() < 1e-5 * found.norm()
    logged = trainer.state.log_history[0]
    assert logged["teacher_kl"] == pytest.approx(-every.mean().item(), rel=1e-5)
    assert logged["teacher_kl_clip_ratio"] == pytest.approx(
        (every.abs() == bound).double().mean().item()
    )
    assert logged["loss"] == pytest.approx(loss.item(), rel=1e-4, abs=1e-6)


def flat_gradient(trainer: Any, model: Any) -> torch.Tensor:
    """Return another model's gradients in the order of a trainer's optimizer."""
    gradients = dict(model.named_parameters())
    names = {id(p): name for name, p in trainer.model.named_parameters()}
    order = [names[id(p)] for group in trainer.optimizer.param_groups for p in group["params"]]
    return torch.cat([gradients[name].grad.flatten() for name in order])


def test_the_mean_gradient_over_all_tokens_is_that_of_the_exact_reverse_kl(make: Make) -> None:
    """A policy whose tokens are equally likely is played exactly by one episode of each."""
    model, teacher = make_model().double(), make_model(seed=7).double()
    with torch.no_grad():
        model.model.norm.weight.zero_()
    reference = copy.deepcopy(model)
    size = model.config.vocab_size
    prompt = [5, 6, 7]
    uniform = [TokenTrace(prompt, [id_], [1], [-math.log(size)]) for id_ in range(size)]
    trainer = make(
        model=model, teacher=copy.deepcopy(teacher), kl_clip=0.0,
        per_device_train_batch_size=size, further={"train_dataset": tasks(size)}, **EXACT,
    )  # fmt: skip
    trainer.player.rollout = Given([episode(0.0, traces=[row]) for row in uniform])
    found = gradient(trainer)
    log_pi = reference(torch.tensor([prompt])).logits[0, -1].log_softmax(-1)
    log_q = teacher(torch.tensor([prompt])).logits[0, -1].log_softmax(-1).detach()
    kl = (log_pi.exp() * (log_pi - log_q)).sum()
    kl.backward()
    expected = flat_gradient(trainer, reference)
    assert expected.norm() > 1e-4
    assert (found - expected).norm() < 1e-5 * expected.norm()
    assert trainer.state.log_history[0]["teacher_kl"] == pytest.approx(kl.item(), rel=1e-3)


def tasks(count: int) -> Any:
    return task_dataset(["letters_0"] * count)


def test_what_was_not_sampled_and_what_failed_has_no_credit(make: Make) -> None:
    model = make_model()
    given = [*sampled_by(model, [trace(3, [1, 1, 0, 0, 1], seed=n) for n in range(3)]), FAILED]
    trainer = make(model=model, max_steps=1)
    trainer.player.rollout = Given(given)
    trainer.train()
    path = Path(trainer.args.output_dir) / "trajectories/train_000001.jsonl"
    written = [one.traces[0].advantages for one in read_jsonl(path) if one.traces]
    assert len(written) == 3
    assert all([bool(a) for a in row] == [True, True, False, False, True] for row in written)


def test_a_policy_that_is_its_teacher_has_no_gradient(make: Make, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "model")
    same = make(model=folder, teacher_model_name_or_path=folder, max_steps=1)
    same.train()
    other = make("other", model=folder, max_steps=1)
    other.train()
    own, moved = (trainer.state.log_history[0] for trainer in (same, other))
    assert own["teacher_kl"] == pytest.approx(0, abs=1e-6)
    assert own["grad_norm"] < 1e-4 * moved["grad_norm"]


def test_the_teacher_is_neither_trained_nor_saved_and_its_dropout_is_off(make: Make) -> None:
    teacher = make_model(seed=7).train()
    before = copy.deepcopy(teacher.state_dict())
    trainer = make(teacher=teacher, save_strategy="steps", save_steps=1)
    trainer.train()
    assert all(torch.equal(before[name], w) for name, w in teacher.state_dict().items())
    assert not teacher.training
    saved = load_file(Path(trainer.args.output_dir) / "checkpoint-2/model.safetensors")
    assert saved.keys() <= trainer.model.state_dict().keys()


# What the teacher reads -------------------------------------------------------------------------


@pytest.mark.parametrize("template", [None, NO_SYSTEM])
@pytest.mark.parametrize("budgets", [{}, {"keep_last_turns": 1}])
def test_the_teacher_reads_the_experts_actions_and_the_policy_does_not(
    budgets: dict[str, Any], template: str | None, make: Make
) -> None:
    tokenizer = make_tokenizer()
    tokenizer.chat_template = template or tokenizer.chat_template
    model, teacher = make_model(), make_model(seed=7)
    judge = copy.deepcopy(teacher)
    trainer = make(
        env=THIRD_ID, model=model, teacher=teacher, teacher_knows="expert", kl_clip=0.0,
        tokenizer=tokenizer, rollout=budgets, max_steps=1,
    )  # fmt: skip
    trainer.train()
    chat = ChatFormat.from_tokenizer(tokenizer)
    assert trainer.state.log_history[0]["teacher_knows"] == 1
    for one in trainer.trajectories:
        assert len(one.turns) == 3 and len(one.traces) == (2 if budgets else 1)
        told = replace(
            one, system_prompt=f"{one.system_prompt}\n\n" + KNOWN.format(actions="a\nb\nc")
        )
        for number, row in enumerate(one.traces):
            own = [p for p, m in zip(row.logprobs, row.action_mask, strict=True) if m]
            prompt = view_of(chat, told, 2 * number, LastTurns(**budgets))
            assert len(prompt) > len(row.prompt_ids)
            expected = logps_of(judge, row, prompt) - torch.tensor(own)
            credited = [a for a, m in zip(row.advantages, row.action_mask, strict=True) if m]
            assert credited == pytest.approx(expected.tolist(), rel=1e-3, abs=1e-4)


def view_of(chat: ChatFormat, told: Trajectory, number: int, history: LastTurns) -> list[int]:
    """Return the ids before a turn of an episode."""
    so_far = replace(
        told, turns=told.turns[:number], final_observation=told.turns[number].observation
    )
    sampled = [turn for row in told.traces for turn in row.sampled_turns()]
    return chat.view_ids(so_far, next_view(history, so_far), sampled)


def test_what_differs_is_exchanged_wherever_the_prompt_goes_on() -> None:
    before, after = [1, 2, 3, 8, 9], [1, 2, 4, 5, 6, 8, 9]
    assert exchanged([1, 2, 3, 8, 9], before, after) == after
    assert exchanged([1, 2, 3, 7, 7, 7], before, after) == [1, 2, 4, 5, 6, 7, 7, 7]
    assert exchanged([1, 2, 8, 9, 9], [1, 2, 8, 9], [1, 2, 2, 8, 9]) == [1, 2, 2, 8, 9, 9]
    with pytest.raises(UsageError, match="does not begin with it; pass teacher_knows='nothing'"):
        exchanged([1, 7, 3, 8, 9], before, after)


def test_actions_are_known_that_are_longer_than_the_policys_turns(make: Make) -> None:
    trainer = make(
        env=THIRD_ID, teacher_knows="expert", rollout={"max_tokens_per_turn": 1}, max_steps=1
    )
    trainer.train()
    assert trainer.state.log_history[0]["teacher_knows"] == 1


def test_a_policy_teaches_itself_what_the_expert_plays(make: Make) -> None:
    """The present weights score, not those of the start."""
    trainer = make(
        teacher_model_name_or_path="self", teacher_knows="expert", env=ENV_ID, learning_rate=5e-2
    )
    trainer.train()
    first, second = (entry for entry in trainer.state.log_history if "teacher_kl" in entry)
    assert first["teacher_kl"] != 0 and second["teacher_kl"] != first["teacher_kl"]
    assert trainer.teacher.model is trainer.model


# A server's teacher -----------------------------------------------------------------------------


def answers_of(model: Any, tokenizer: Any = None) -> dict[str, Any]:
    tokenizer = make_tokenizer() if tokenizer is None else tokenizer
    return {
        "/v1/models": models("judge", max_model_len=2048),
        "/detokenize": lambda body: {"prompt": tokenizer.decode(body["tokens"])},
        "/v1/completions": scores_of(model),
    }


@pytest.mark.parametrize("knows", ["nothing", "expert"])
def test_a_served_teacher_credits_as_a_loaded_one(knows: str, make: Make) -> None:
    loaded = make("loaded", env=THIRD_ID, teacher_knows=knows, max_steps=1)
    loaded.train()
    with serving(answers_of(make_model(seed=7))) as server:
        served = make(
            "served", env=THIRD_ID, teacher_knows=knows, max_steps=1,
            teacher_model_name_or_path=server.url,
        )  # fmt: skip
        served.train()
    for one, other in zip(loaded.trajectories, served.trajectories, strict=True):
        assert one.traces[0].ids == other.traces[0].ids
        assert other.traces[0].advantages == pytest.approx(one.traces[0].advantages, abs=1e-5)
    assert any(served.trajectories[0].traces[0].advantages)


def test_a_servers_outage_is_waited_for_and_its_other_tokenizer_refused(make: Make) -> None:
    answers, missed = answers_of(make_model(seed=7)), []
    score = answers["/v1/completions"]

    def fail_once(body: dict[str, Any]) -> Any:
        missed.append(body)
        return Failure(503) if len(missed) <= 4 else score(body)  # a request and its retries

    with serving({**answers, "/v1/completions": fail_once}) as server:
        trainer = make(
            teacher_model_name_or_path=server.url, max_steps=1, rollout={"max_outage": 30.0},
            per_device_train_batch_size=2,
        )  # fmt: skip
        trainer.train()
        assert trainer.state.global_step == 1 and len(missed) > 4
    shifted = {"/detokenize": lambda body: {"prompt": "others"}}
    with (
        serving({**answers, **shifted}) as server,
        pytest.raises(UsageError, match="the teacher judge has another tokenizer"),
    ):
        make(teacher_model_name_or_path=server.url)
    with pytest.raises(ValueError, match="scores at temperature 1, got temperature=0.7"):
        make(teacher_model_name_or_path="http://localhost:1", temperature=0.7)


# The command ------------------------------------------------------------------------------------


def words(tmp_path: Path, *further: str) -> list[str]:
    return [
        *("--env", ENV_ID, "--model", make_folder(tmp_path / "model"), "--max_steps", "2"),
        *("--output_dir", str(tmp_path / "run"), "--per_device_train_batch_size", "4"),
        *("--gradient_accumulation_steps", "1", "--max_tokens_per_turn", "4"),
        *("--eval_strategy", "no", "--save_steps", "1", "--report_to", "none", *further),
    ]


def test_the_command_trains_by_a_teacher_and_resumes_to_the_bit(tmp_path: Path) -> None:
    teacher = ["--teacher", make_folder(tmp_path / "teacher", seed=7)]
    assert main(words(tmp_path, *teacher, "--horizon", "scaling:1,2@1")) == 0
    whole = load_file(tmp_path / "run/model.safetensors")
    assert all("teacher_kl" in row for row in read_metrics(tmp_path / "run") if "loss" in row)
    card = (tmp_path / "run/README.md").read_text()
    assert "distillation" in card and "teacher" in card
    for name in ("checkpoint-2", "model.safetensors"):
        path = tmp_path / "run" / name
        path.rename(tmp_path / f"kept_{name}")
    assert main(words(tmp_path, *teacher, "--horizon", "scaling:1,2@1", "--resume")) == 0
    again = load_file(tmp_path / "run/model.safetensors")
    assert all(torch.equal(whole[name], again[name]) for name in whole)


def test_a_stronger_teachers_habits_are_learned(make: Make) -> None:
    """The KL to a teacher of the same size falls, by samples of the policy alone."""
    trainer = make(
        max_steps=30, learning_rate=3e-3, per_device_train_batch_size=16,
        gradient_accumulation_steps=1, kl_clip=0.0, num_generations=2,
    )  # fmt: skip
    trainer.train()
    kl = [entry["teacher_kl"] for entry in trainer.state.log_history if "teacher_kl" in entry]
    assert sum(kl[-5:]) < 0.7 * sum(kl[:5])


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"teacher_model_name_or_path": "self"}, "make the policy its own teacher"),
        (
            {
                "teacher_model_name_or_path": "self",
                "teacher_knows": "expert",
                "teacher_model_revision": "v2",
            },
            "teacher_model_revision=v2 is of a hub, got the teacher self",
        ),
        ({"invalid_action_penalty": 0.1}, "the teacher's log-probabilities are the credit"),
        ({"scale_rewards": "none"}, "the teacher's log-probabilities are the credit"),
        ({"expert_episodes": 1}, "the teacher's log-probabilities are the credit"),
        ({"teacher_knows": "everything"}, "teacher_knows must be one of nothing, expert"),
        ({"num_generations": 0}, "num_generations must be >= 2"),
    ],
)
def test_what_cannot_work_is_refused_in_a_sentence(
    options: dict[str, Any], problem: str, make: Make
) -> None:
    with pytest.raises((ValueError, UsageError), match=problem):
        make(**options)


def test_a_teacher_is_needed_of_the_policys_tokens_and_an_expert_where_it_knows_one(
    make: Make, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="needs one teacher; pass `teacher_model_name_or_path`"):
        make(teacher_model_name_or_path=None)
    with pytest.raises(UsageError, match="needs one teacher"):
        make(teacher=make_model(), teacher_model_name_or_path="self", teacher_knows="expert")
    with pytest.raises(UsageError, match="tiny has another tokenizer than the policy"):
        make(teacher_model_name_or_path="tiny")
    with pytest.raises(UsageError, match="`teacher_knows` needs an expert for all tasks"):
        make(env=LONE_ID, teacher_knows="expert")
    model = make_model()
    with pytest.raises(UsageError, match="has weights of the policy itself.*copy.deepcopy"):
        make(model=model, teacher=model)
    assert all(weight.requires_grad for weight in model.parameters())
    with pytest.raises(TypeError, match="model must be .* got 'a teacher'"):
        make(teacher="a teacher")
