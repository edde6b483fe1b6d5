"""Chat templates of the families that think, through training, evaluation and their commands."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoTokenizer

from agentgym_envs import TokenTrace, read_jsonl
from benchmarks.sweep.fingerprints import policy_fingerprint
from tests.trainers.families import FAMILIES
from tests.trainers.toys import EASY_ID, ENV_ID, gradient, make_model, make_tokenizer
from trainers import collect, evaluate, sft
from trainers.agentevol import main as agentevol
from trainers.dpo import AgentDPOConfig, AgentDPOTrainer
from trainers.grpo import AgentGRPOTrainer
from trainers.grpo import main as grpo
from trainers.options.arguments import EnvArguments, RolloutArguments
from trainers.options.configs import AgentGRPOConfig
from trainers.options.errors import UsageError
from trainers.options.models import TemplateArguments
from trainers.options.policies import PolicyArguments
from trainers.tokens.chat import ChatFormat

DROPS = FAMILIES["opens and drops"].template
FEW = ("--max_steps", "2", "--eval_strategy", "no", "--report_to", "none", "--disable_tqdm")
EASY = ("--env", EASY_ID, "--action_format", "plain", "--max_tokens_per_turn", "5")


@pytest.fixture
def folder(tmp_path: Path) -> str:
    """A random model whose template opens thoughts, and drops earlier ones."""
    tokenizer = make_tokenizer()
    tokenizer.add_tokens(["<think>", "</think>"])
    tokenizer.chat_template = DROPS
    model = make_model()
    model.resize_token_embeddings(len(tokenizer))
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    return str(tmp_path / "model")


def make_trainer(folder: str, out: Path, **options: Any) -> AgentGRPOTrainer:
    values: dict[str, Any] = {
        "num_generations": 4,
        "per_device_train_batch_size": 4,
        "gradient_accumulation_steps": 2,
        "max_steps": 2,
        "eval_strategy": "no",
        "save_strategy": "no",
        "disable_tqdm": True,
        **options,
    }
    return AgentGRPOTrainer(
        folder,
        EnvArguments(env=[EASY_ID], action_format="plain"),
        args=AgentGRPOConfig(output_dir=str(out), **values),
        rollout=RolloutArguments(max_tokens_per_turn=6),
        reward_funcs=oddness,
    )


def oddness(completion_ids: list[list[int]], **_: Any) -> list[float]:
    """Pays something else for nearly every episode."""
    return [sum(ids) % 7 / 7 for ids in completion_ids]


def sampled_turns(trace: TokenTrace) -> list[list[int]]:
    """Return the ids of each turn: one whose thought was cut is no reason for another trace."""
    pairs = zip(trace.completion_ids, trace.action_mask, strict=True)
    runs = groupby(pairs, key=lambda pair: pair[1])
    return [[id_ for id_, _ in run] for is_sampled, run in runs if is_sampled]


@pytest.mark.full
def test_an_episode_in_traces_by_turn_has_the_gradient_of_its_sampled_tokens(
    folder: str, tmp_path: Path
) -> None:
    """Eq. 4 of DeepSeekMath (arXiv 2402.03300) at the policy that sampled, without its std."""
    trainer = make_trainer(
        folder,
        tmp_path / "run",
        loss_type="grpo",
        scale_rewards="none",
        max_steps=1,
        learning_rate=1e-6,
        vllm_importance_sampling_correction=False,
    )
    before = make_trainer(folder, tmp_path / "before").model
    result = gradient(trainer)
    episodes = trainer.trajectories
    chat = ChatFormat.from_tokenizer(trainer.processing_class)
    assert all(len(episode.traces) > 1 for episode in episodes)
    returns = torch.tensor(oddness(trainer.rows.completions()))
    advantages = (returns.view(-1, 4) - returns.view(-1, 4).mean(1, keepdim=True)).flatten()
    assert advantages.abs().max() > 0
    loss: Any = 0.0
    for episode, advantage in zip(episodes, advantages, strict=True):
        terms, observations, completions = [], [], []
        sampled = [ids for trace in episode.traces for ids in sampled_turns(trace)]
        for turn, ids in zip(episode.turns, sampled, strict=True):
            observations.append(turn.observation)
            read = chat.conversation_ids(episode.system_prompt, observations, completions)  # type: ignore[attr-defined]
            completions.append(turn.completion)
            logits = before(torch.tensor([read + ids])).logits[0, len(read) - 1 : -1]
            terms.append(logits.log_softmax(-1).gather(1, torch.tensor(ids)[:, None])[:, 0])
        logprobs = torch.cat(terms)
        loss = loss - advantage * (logprobs - logprobs.detach()).exp().mean() / len(episodes)
    parameters = [p for p in before.parameters() if p.requires_grad]
    expected = torch.cat([g.flatten() for g in torch.autograd.grad(loss, parameters)])
    names = {id(p): name for name, p in trainer.model.named_parameters()}
    groups = trainer.optimizer.param_groups
    moved = [names[id(p)] for group in groups for p in group["params"]]
    of = dict(before.named_parameters())
    sizes = {name: p.numel() for name, p in of.items()}
    parts = dict(zip(moved, result.split([sizes[name] for name in moved]), strict=True))
    for name, part in zip(of, expected.split(list(sizes.values())), strict=True):
        assert torch.allclose(parts[name], part, atol=1e-5), name
    assert expected.abs().max() > 1e-3


@pytest.mark.full
def test_grpo_trains_two_steps_and_says_what_it_costs(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "run"
    trainer = make_trainer(folder, out, beta=0.1)
    trainer.train()
    assert "turns are rows of their own: an episode of n" in capsys.readouterr().out
    files = sorted((out / "trajectories").glob("train*"))
    episodes = [episode for path in files for episode in read_jsonl(path)]
    assert len(episodes) == 16
    assert all(len(episode.traces) > 1 for episode in episodes)
    assert all(turn.completion.startswith("<think>\n") for e in episodes for turn in e.turns)
    logged = [entry for entry in trainer.state.log_history if "loss" in entry]
    assert logged[0]["sampling/sampling_logp_difference/max"] < 1e-4


@pytest.mark.full
def test_variables_are_on_record_and_a_saved_model_plays_with_them(
    folder: str, tmp_path: Path
) -> None:
    out = tmp_path / "run"
    words = ("--env", ENV_ID, "--action_format", "plain", "--max_tokens_per_turn", "4")
    assert 0 == grpo(
        [*words, *FEW, "--model", folder, "--output_dir", str(out), "--num_generations", "4"]
        + ["--per_device_train_batch_size", "4", "--gradient_accumulation_steps", "2"]
        + ["--chat_template_kwargs", '{"enable_thinking": false}']
    )
    recorded = json.loads((out / "run.json").read_text())["AgentGRPOConfig"]
    assert recorded["chat_template_kwargs"] == {"enable_thinking": False}
    saved = AutoTokenizer.from_pretrained(out)
    chat = ChatFormat.from_tokenizer(saved)
    assert chat.form.is_quiet
    assert saved.decode(chat.prompt_ids("", "Hi")).endswith("<think>\n\n</think>\n\n")
    result = tmp_path / "eval.json"
    evaluate.main([*words, "--model", str(out), "--out", str(result), "--num_tasks", "2"])
    assert json.loads(result.read_text())["n_tasks"] == 2


def test_collect_eval_and_sft_go_through_a_template_of_a_file(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.jinja"
    file.write_text(FAMILIES["drops on request"].template)
    template = ("--chat_template", str(file))
    out = tmp_path / "played.jsonl"
    collect.main([*EASY, "--policy", folder, "--out", str(out), "--num_episodes", "4", *template])
    episodes = list(read_jsonl(out))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    chat = ChatFormat.from_tokenizer(tokenizer, chat_template=file.read_text())
    for episode in episodes:
        first = chat.prompt_ids(episode.system_prompt, episode.turns[0].observation)
        assert episode.traces[0].prompt_ids == first
        assert chat.tokenize_trajectory(episode) == episode.traces
    run = tmp_path / "sft"
    assert 0 == sft.main(
        ["--data", str(out), "--model", folder, "--output_dir", str(run), *FEW, *template]
    )
    assert "the chat template changes earlier turns" in capsys.readouterr().out
    assert AutoTokenizer.from_pretrained(run).chat_template == file.read_text()
    result = tmp_path / "eval.json"
    words = ["--policy", str(run), "--num_tasks", "2", "--out", str(result)]
    assert 0 == evaluate.main(
        [*EASY, *words, "--chat_template_kwargs", '{"preserve_thinking": true}']
    )
    recorded = json.loads(result.read_text())
    assert '"preserve_thinking": true' in json.dumps(recorded)


def test_the_experts_text_closes_the_thought_that_is_opened(folder: str) -> None:
    environments = EnvArguments(env=[EASY_ID], action_format="plain")
    trainer = sft.AgentSFTTrainer(
        folder,
        sft.expert_demonstrations(sft.open_environments(environments), num_episodes=3),
        args=sft.AgentSFTConfig(output_dir="unused", report_to="none"),
    )
    texts = set()
    for row in trainer.train_dataset:
        learnt = [i for i in row["labels"] if i >= 0]
        texts.add(trainer.processing_class.decode(learnt))
        prompt = trainer.processing_class.decode(row["input_ids"][: -len(learnt)])
        assert prompt.endswith("<|im_start|>assistant\n<think>\n")
    assert texts == {"\n</think>\n\na<|im_end|>", "\n</think>\n\nb<|im_end|>"}


@pytest.mark.full
def test_agentevol_plays_and_learns_with_a_template(folder: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert 0 == agentevol(
        [*EASY, "--model", folder, "--output_dir", str(out), "--num_rounds", "2", *FEW]
        + ["--num_explored_tasks", "2", "--num_samples", "1"]
        + ["--chat_template_kwargs", '{"enable_thinking": false}']
    )
    assert ChatFormat.from_tokenizer(AutoTokenizer.from_pretrained(out)).form.is_quiet


def test_a_config_in_python_gives_the_tokenizer_its_template(folder: str, tmp_path: Path) -> None:
    kwargs = {"enable_thinking": False}
    trainer = make_trainer(folder, tmp_path / "run", chat_template_kwargs=kwargs)
    assert ChatFormat.from_tokenizer(trainer.processing_class).form.is_quiet
    args = AgentDPOConfig(output_dir=str(tmp_path / "dpo"), chat_template_kwargs={"no": 1})
    with pytest.raises(UsageError, match="reads no variable 'no'"):
        AgentDPOTrainer(folder, [], args=args)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--chat_template", "nowhere.jinja"), "chat_template: there is no file nowhere.jinja"),
        (
            ("--chat_template_kwargs", "[1]"),
            "chat_template_kwargs must be a JSON object, got '[1]'",
        ),
        (("--chat_template_kwargs", "{"), "chat_template_kwargs must be a JSON object, got '{'"),
        (
            ("--chat_template_kwargs", '{"think": false}'),
            "reads no variable 'think', so it would do nothing; variables that it reads: "
            "enable_thinking",
        ),
    ],
)
@pytest.mark.parametrize("command", ["grpo", "eval"])
def test_options_that_cannot_be_used_are_refused(
    command: str,
    words: tuple[str, ...],
    message: str,
    folder: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    start = {"grpo": grpo, "eval": evaluate.main}[command]
    further = ["--output_dir", str(tmp_path / "run")] if command == "grpo" else []
    told = ""
    try:
        start(["--env", ENV_ID, "--model", folder, *further, *words])
    except UsageError as error:
        told = str(error)
    except SystemExit:
        told = " ".join(capsys.readouterr().err.split())
    assert message in told


@pytest.mark.parametrize("policy", ["expert", "http://localhost:1/v1"])
def test_a_policy_without_a_model_here_takes_no_template(policy: str) -> None:
    with pytest.raises(ValueError, match="need a model that is loaded here, got `policy"):
        PolicyArguments(policy=policy, chat_template_kwargs='{"enable_thinking": false}')


def test_a_file_that_is_no_template_is_refused_with_its_name(folder: str, tmp_path: Path) -> None:
    file = tmp_path / "broken.jinja"
    file.write_text("{% for m in messages %}")
    with pytest.raises(UsageError, match=r"`chat_template=.*broken\.jinja.* no Jinja template"):
        make_trainer(folder, tmp_path / "run", chat_template=str(file))


def test_the_template_is_part_of_a_policys_fingerprint(folder: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.jinja"
    file.write_text(DROPS)
    asked = [
        TemplateArguments(),
        TemplateArguments(chat_template_kwargs={"enable_thinking": False}),
        TemplateArguments(chat_template_kwargs={"enable_thinking": True}),
        TemplateArguments(chat_template=str(file)),
    ]
    prints = [policy_fingerprint(folder, template=template) for template in asked]
    assert prints[0] == policy_fingerprint(folder)
    assert len(set(prints)) == len(prints)
    file.write_text(FAMILIES["drops on request"].template)
    assert policy_fingerprint(folder, template=asked[-1]) not in prints
    assert policy_fingerprint("expert", template=asked[1]) == ""


def test_a_models_template_of_its_own_is_changed_by_variables_alone(folder: str) -> None:
    make: Callable[..., Any] = AutoTokenizer.from_pretrained
    tokenizer = make(folder)
    quiet = ChatFormat.from_tokenizer(tokenizer, template_kwargs={"enable_thinking": False})
    assert quiet.form.is_quiet and tokenizer.chat_template == DROPS
