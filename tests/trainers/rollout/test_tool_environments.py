"""Environments as TRL's tools: the schemas, the protocol, and one real step of a stock trainer."""

from __future__ import annotations

import inspect
import json
import multiprocessing
import pickle
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import PreTrainedTokenizerFast
from transformers.utils import get_json_schema
from trl import GRPOConfig, GRPOTrainer

from agentgym_envs import EnvFailure, TextEnv, register_env, registered_ids
from agentgym_envs.actions import ActionVerb
from agentgym_envs.registration import registry
from tests.trainers.toys import ENV_ID, LETTERS, LettersEnv, make_model, make_tokenizer
from trainers.rollout.tool_environments import (
    BROKEN,
    OVER,
    ToolEnvironment,
    tool_dataset,
    tool_environment,
)

OURS = [
    pytest.param(
        env_id,
        marks=pytest.mark.skipif(
            "MiniWoB" in env_id and find_spec("miniwob") is None, reason="needs miniwob"
        ),
    )
    for env_id in registered_ids()
    if env_id.startswith("agentgym/")
]
NOT_TOOLS = ("reset", "get_reward")


def tools_of(environment: ToolEnvironment) -> dict[str, Any]:
    """The tools that TRL finds: the public methods of the class."""
    found = inspect.getmembers(type(environment), predicate=inspect.isfunction)
    return {
        name: getattr(environment, name)
        for name, _ in found
        if not name.startswith("_") and name not in NOT_TOOLS
    }


def verbs_of(environment: ToolEnvironment) -> tuple[ActionVerb, ...]:
    env = environment.env_factory().unwrapped
    assert isinstance(env, TextEnv)
    return env.verbs


# Schemas ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("env_id", [*OURS, ENV_ID])
def test_every_verb_is_a_tool_with_a_schema_for_chat_templates(env_id: str) -> None:
    environment = tool_environment(env_id)()
    tools = tools_of(environment)
    verbs = verbs_of(environment)
    assert set(tools) == {verb.name for verb in verbs}
    for verb in verbs:
        schema = get_json_schema(tools[verb.name])["function"]
        assert schema["name"] == verb.name
        assert schema["description"] == verb.description
        parameters = schema["parameters"]
        assert set(parameters["properties"]) == set(verb.parameters)
        needed = [name for name in verb.parameters if name not in verb.defaults]
        assert parameters.get("required", []) == needed
        for name, told in parameters["properties"].items():
            assert told["type"] == ("integer" if name in verb.integers else "string")
            assert (
                told["description"] == verb.notes.get(name) or name.upper() in told["description"]
            )


def test_optional_arguments_of_a_tool_may_be_left_out_and_its_schema_knows_no_brackets() -> None:
    environment = tool_environment("WebArena")()
    tools = tools_of(environment)
    stop = get_json_schema(tools["stop"])["function"]["parameters"]
    assert list(stop["properties"]) == ["answer"] and "required" not in stop
    typing = get_json_schema(tools["type"])["function"]["parameters"]
    assert typing["required"] == ["element", "content"]
    assert not any("[" in json.dumps(tool.__doc__) for tool in tools.values())
    prompt = tool_dataset(type(environment), split="test")[0]["prompt"]
    assert "stop [" not in prompt[0]["content"]
    environment.reset(task_id="webarena_0")
    assert tools["stop"]().endswith(OVER)


def test_an_environment_with_tags_of_its_own_has_one_tool_per_tag() -> None:
    environment = tool_environment("SearchQA")()
    assert set(tools_of(environment)) == {"search", "open", "python", "answer"}
    environment.reset(task_id="searchqa_0")
    tools = tools_of(environment)
    assert "<information>" in tools["search"](query="river")
    assert tools["python"](code="print(6 * 7)").count("42") == 1
    assert tools["answer"](answer="no idea").endswith(OVER)
    assert environment.get_reward() == 0.0


def test_a_verb_whose_name_is_taken_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    taken = (ActionVerb("reset", "reset {letter}", "Say a letter."),)
    monkeypatch.setattr(LettersEnv, "verbs", taken)
    with pytest.raises(ValueError, match="the verb 'reset' cannot be a tool"):
        tool_environment(ENV_ID)


def test_an_unknown_environment_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown environment 'Chess'"):
        tool_environment("Chess")


# Playing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("env_id", "task_id"),
    [("TextCraft", None), ("BabyAI", "babyai_0"), ("SearchQA", None), (ENV_ID, "letters_3")],
)
def test_the_experts_calls_solve_a_task_through_the_tools(env_id: str, task_id: str | None) -> None:
    kind = tool_environment(env_id)
    environment = kind()
    if task_id is None:
        task_id = tool_dataset(kind, split="test")[0]["task_id"]
    text_env = environment.env_factory().unwrapped
    assert isinstance(text_env, TextEnv)
    first = text_env.reset(options={"task_id": task_id})[0]
    assert environment.reset(task_id=task_id, prompt="ignored") == first
    for completion in text_env.expert():
        call = json.loads(completion)
        observation = text_env.step(completion)[0]
        seen = tools_of(environment)[call["name"]](**call["arguments"])
        assert seen.startswith(observation)
    assert seen.endswith(OVER)
    assert environment.get_reward() == 1.0
    assert environment.episode_info["success"]


def test_calls_after_the_end_change_nothing() -> None:
    environment = tool_environment(ENV_ID)()
    tools = tools_of(environment)
    assert tools["say"](letter="b") == OVER  # not begun
    environment.reset(task_id="letters_0")
    assert tools["say"](letter="a") == f"Right.\n{OVER}"
    assert tools["say"](letter="a") == OVER
    assert environment.get_reward() == 1.0
    environment.reset(task_id="letters_0")
    assert environment.get_reward() == 0.0


def test_the_turn_limit_ends_the_episode() -> None:
    environment = tool_environment(ENV_ID, max_turns=2)()
    environment.reset(task_id="letters_0")
    say = tools_of(environment)["say"]
    assert say(letter="c") == "No, try again."
    assert say(letter="c") == f"No, try again.\n{OVER}"
    assert environment.episode_info["truncated_by"] == "max_turns"


def test_wrong_arguments_are_answered_and_cost_a_turn() -> None:
    environment = tool_environment(ENV_ID)()
    environment.reset(task_id="letters_0")
    say = tools_of(environment)["say"]
    assert "say takes say(letter: str)" in say(word="a")
    assert "must be a str" in say(letter=None)
    assert environment.episode_info["turn"] == 2
    assert not environment.episode_info["is_valid_action"]


def test_a_broken_environment_pays_nothing_at_all_and_the_next_episode_is_new() -> None:
    environment = tool_environment(ENV_ID, broken=(0,))()
    environment.reset(task_id="letters_0")
    say = tools_of(environment)["say"]
    assert say(letter="a") == BROKEN
    assert say(letter="a") == BROKEN
    assert environment.failure == "the toy broke"
    assert environment.get_reward() is None
    environment.reset(task_id="letters_1")
    assert say(letter="b") == f"Right.\n{OVER}"
    assert (environment.get_reward(), environment.failure) == (1.0, None)


def test_an_error_of_the_environments_code_is_not_shown_to_the_policy(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def apply(self: LettersEnv, action: str) -> Any:
        raise TypeError("a bug")

    monkeypatch.setattr(LettersEnv, "apply", apply)
    environment = tool_environment(ENV_ID)()
    environment.reset(task_id="letters_0")
    assert tools_of(environment)["say"](letter="a") == BROKEN
    assert str(environment.failure).startswith(
        "the environment raised TypeError: a bug, at rollout/"
    )
    assert environment.get_reward() is None
    assert 'raise TypeError("a bug")' in caplog.text


class BreaksAtReset(LettersEnv):
    """Cannot start."""

    def begin(self, task: Any) -> str:
        raise EnvFailure("no machine")


@pytest.fixture
def broken_env_id() -> Iterator[str]:
    register_env("toy/Broken-v0", BreaksAtReset)
    yield "toy/Broken-v0"
    registry.REGISTERED.remove("toy/Broken-v0")


def test_an_environment_that_cannot_start_is_a_failure_too(broken_env_id: str) -> None:
    environment = tool_environment(broken_env_id)()
    assert environment.reset(task_id="letters_0") == BROKEN
    assert environment.get_reward() is None


def test_wrappers_are_put_around() -> None:
    environment = tool_environment(ENV_ID, wrappers=["tests.trainers.toys:NeverPays"])()
    environment.reset(task_id="letters_0")
    tools_of(environment)["say"](letter="a")
    assert environment.episode_info["success"]
    assert environment.get_reward() == 0.0


# Training data ----------------------------------------------------------------------------------


def test_the_training_data_is_a_conversation_per_task() -> None:
    rows = tool_dataset(tool_environment(ENV_ID), split="validation")
    assert rows.column_names == ["prompt", "task_id"]
    assert rows["task_id"] == ["letters_8", "letters_9"]
    assert rows[0]["prompt"] == [
        {"role": "system", "content": "Say the letter."},
        {"role": "user", "content": ""},
    ]
    assert tool_dataset(tool_environment(ENV_ID), tasks=[3])["task_id"] == ["letters_3"]


def test_mixed_training_data_names_each_rows_environment() -> None:
    mixed = {"letters": tool_environment(ENV_ID), "craft": tool_environment("TextCraft")}
    rows = tool_dataset(mixed, split="test")
    assert set(rows["environment"]) == {"letters", "craft"}
    for row in rows:
        assert row["task_id"].startswith("letters" if row["environment"] == "letters" else "text")


# A stock trainer --------------------------------------------------------------------------------

TOOLS_TEMPLATE = (
    "{% for m in messages %}"
    "{{ '<|im_start|>' + ('user' if m.role == 'tool' else m.role) + '\n' }}"
    "{% if loop.first and tools %}"
    "{% for tool in tools %}{{ (tool | tojson) + '\n' }}{% endfor %}{% endif %}"
    "{% if m.role == 'tool' %}{{ '<tool_response>' + m.content + '</tool_response>' }}"
    "{% else %}{{ m.content }}{% endif %}"
    "{% for call in m.tool_calls or [] %}"
    "{{ '<tool_call>' + (call.function | tojson) + '</tool_call>' }}{% endfor %}"
    "{{ '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""In the manner of Qwen's: tools in the first message, calls and answers between tags."""

RESPONSES = {
    "defaults": {"role": "assistant"},
    "start_anchor": "<|im_start|>assistant\n",
    "fields": {
        "tool_calls": {
            "open": "<tool_call>",
            "close_pattern": r"</tool_call>\s*",
            "repeats": True,
            "content": "json",
            "transform": {"type": "function", "function": "{content}"},
        },
        "content": {"close_pattern": r"<\|im_end\|>\s*", "content": "text"},
    },
}
"""How calls are read out of what was sampled, in transformers' terms."""


SAID = LETTERS[:4]


def call_text(letter: str) -> str:
    return f'<tool_call>{{"name": "say", "arguments": {{"letter": "{letter}"}}}}</tool_call>'


def tools_tokenizer() -> PreTrainedTokenizerFast:
    """The toy tokenizer, with some calls as one token each."""
    tokenizer = make_tokenizer()
    tokenizer.add_tokens([call_text(letter) for letter in SAID])
    tokenizer.chat_template = TOOLS_TEMPLATE
    tokenizer.response_template = RESPONSES
    return tokenizer


def model_that_calls(tokenizer: PreTrainedTokenizerFast, prompts: list[list[int]]) -> Any:
    """A toy model that has learned to make a random call, then to end its turn."""
    model = make_model()
    model.resize_token_embeddings(len(tokenizer), mean_resizing=False)
    calls = tokenizer.convert_tokens_to_ids([call_text(letter) for letter in SAID])
    end = tokenizer.eos_token_id
    rows = [[*prompts[i % len(prompts)], call, end] for i, call in enumerate(calls)]
    ids = torch.tensor(rows)
    labels = ids.clone()
    labels[:, :-2] = -100
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    loss = torch.tensor(float("inf"))
    for _ in range(200):
        if loss < 0.8:  # (ln 4 + 0) / 2 = 0.69 at best
            break
        loss = model(input_ids=ids, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    assert loss < 0.8
    return model


# TRL warns that `environment_factory` is experimental.
@pytest.mark.full
@pytest.mark.filterwarnings("ignore:You are using 'environment_factory'")
def test_a_stock_trainer_trains_on_the_calls_of_a_policy(tmp_path: Path) -> None:
    tokenizer = tools_tokenizer()
    tools = tool_environment(ENV_ID)
    data = tool_dataset(tools, tasks=[0, 1])
    messages = [
        [*row["prompt"][:1], {"role": "user", "content": tools().reset(task_id=row["task_id"])}]
        for row in data
    ]
    schemas = [get_json_schema(tools_of(tools())["say"])]
    prompts = [
        tokenizer.apply_chat_template(
            m, tools=schemas, add_generation_prompt=True, tokenize=True, return_dict=False
        )
        for m in messages
    ]
    args = GRPOConfig(
        output_dir=str(tmp_path), use_cpu=True, bf16=False, gradient_checkpointing=False,
        num_generations=8, per_device_train_batch_size=16, max_steps=1, logging_steps=1,
        max_completion_length=256, max_tool_calling_iterations=1, learning_rate=1e-2,
        save_strategy="no", report_to="none", disable_tqdm=True, dataloader_pin_memory=False,
    )  # fmt: skip
    trainer = GRPOTrainer(
        model=model_that_calls(tokenizer, prompts),
        args=args,
        train_dataset=data,
        environment_factory=tools,
        processing_class=tokenizer,
    )
    before = [parameter.clone() for parameter in trainer.model.parameters()]
    trainer.train()
    logged = trainer.state.log_history[0]
    assert logged["tools/call_frequency"] > 0.5
    assert logged["tools/failure_frequency"] == 0.0
    played = trainer.environments
    assert {type(environment) for environment in played} == {tools}
    paid = [environment.get_reward() for environment in played]
    assert logged["rewards/LettersTools/mean"] == pytest.approx(sum(paid) / len(paid))
    assert 0 < sum(paid) < len(paid)
    assert logged["grad_norm"] > 0
    after = trainer.model.parameters()
    assert any(not torch.equal(one, other) for one, other in zip(before, after, strict=True))


# In worker processes ------------------------------------------------------------------------------


def _play_in_a_worker(kind: type[ToolEnvironment]) -> tuple[str, str]:
    episode = kind()
    return episode.reset(task_id="textcraft_0"), episode.get(count=1, item="oak log")


@pytest.mark.full
def test_the_class_pickles_and_plays_the_same_in_a_spawned_process() -> None:
    kind = tool_environment("TextCraft", max_turns=5)
    copied = pickle.loads(pickle.dumps(kind))
    assert copied.__name__ == kind.__name__ == "TextcraftTools"
    assert copied.env_factory == kind.env_factory
    assert get_json_schema(copied.craft) == get_json_schema(kind.craft)
    with multiprocessing.get_context("spawn").Pool(1) as workers:
        there = workers.apply(_play_in_a_worker, (kind,))
    assert there == _play_in_a_worker(kind)


def test_a_running_episode_pickles() -> None:
    episode = tool_environment("TextCraft")()
    episode.reset(task_id="textcraft_0")
    copied = pickle.loads(pickle.dumps(episode))
    assert copied.inventory() == episode.inventory()


def test_a_class_that_is_written_in_a_module_pickles_by_its_name() -> None:
    assert pickle.loads(pickle.dumps(ToolEnvironment)) is ToolEnvironment
