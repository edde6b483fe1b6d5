"""A game small enough for a random model, and random models small enough for tests."""

from __future__ import annotations

import copy
import functools
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gymnasium as gym
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM

from agentgym_envs import (
    EnvFailure,
    ExpertMove,
    ListedTasks,
    Outcome,
    TaskSpec,
    TextEnv,
    TokenTrace,
    Trajectory,
    Turn,
    register_env,
)
from agentgym_envs.actions import ActionVerb
from trainers.options.arguments import EpisodeArguments
from trainers.policies.model import ModelPolicy
from trainers.rollout.environments import Environments
from trainers.rollout.rollout import Rollout

ENV_ID = "toy/Letters-v0"
LETTERS = "abcdefghijkl"
TASKS = ListedTasks(
    "letters",
    {
        "train": {"early": range(8)},
        "validation": {"late": range(8, 10)},
        "test": {"late": range(10, 12)},
    },
)
LARGEST_GAP = "sampling/sampling_logp_difference/max"
CHAT_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


class LettersEnv(TextEnv):
    """Say the asked letter, or anything that begins with an even character: easy to learn.

    Tasks named in `broken` raise `EnvFailure` at every step.
    """

    instructions = "Say the letter."
    verbs = (ActionVerb("say", "{letter}", "Say a letter."),)
    default_max_turns = 3
    source = "toy-1"

    def __init__(self, *, broken: tuple[int, ...] = (), **kwargs: Any) -> None:
        super().__init__(TASKS, **{"turns_left": False, **kwargs})
        self._broken = broken

    def begin(self, task: TaskSpec) -> str:
        self.goal = LETTERS[task.number]
        return f"Say {self.goal}."

    def apply(self, action: str) -> Outcome:
        if self.task.number in self._broken:
            raise EnvFailure("the toy broke")
        won = action == self.goal or (action != "" and ord(action[0]) % 2 == 0)
        if won:
            return Outcome("Right.", 1.0, terminated=True, info={"success": True})
        return Outcome("No, try again.")

    def expert_moves(self) -> Iterator[ExpertMove]:
        yield ExpertMove(self.goal, "The letter is asked for.")


register_env(ENV_ID, LettersEnv)

EASY_ID = "toy/Easy-v0"
EASY_TASKS = ListedTasks(
    "easy",
    {
        "train": {"easy": range(40)},
        "validation": {"easy": range(40, 60)},
        "test": {"easy": range(60, 80)},
    },
)


class EasyEnv(TextEnv):
    """Wins at the second turn, whatever is said, and has many tasks."""

    instructions = "Say anything."
    verbs = LettersEnv.verbs
    default_max_turns = 4
    source = "easy-1"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(EASY_TASKS, **kwargs)

    def begin(self, task: TaskSpec) -> str:
        self.goal = "anything"
        self._said = 0
        return "Say it."

    def apply(self, action: str) -> Outcome:
        self._said += 1
        if self._said == 2:
            return Outcome("Right.", 1.0, terminated=True, info={"success": True})
        return Outcome("Once more.")

    def expert_moves(self) -> Iterator[ExpertMove]:
        yield ExpertMove("a", "Anything will do.")
        yield ExpertMove("b", "Anything will do.")


register_env(EASY_ID, EasyEnv)


def make_tokenizer() -> PreTrainedTokenizerFast:
    """A byte-level tokenizer with chat markup."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {symbol: index for index, symbol in enumerate(alphabet)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    wrapped = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token="<|im_end|>",
        pad_token="<|pad|>",
        additional_special_tokens=["<|im_start|>"],
    )
    wrapped.chat_template = CHAT_TEMPLATE
    return wrapped


def make_model(seed: int = 0) -> Qwen3ForCausalLM:
    """A random model of some ten thousand parameters; torch's generator is as behind its making."""
    torch.manual_seed(seed)  # of every device
    model, state = _random_model(seed)
    torch.set_rng_state(state)
    return copy.deepcopy(model)


@functools.cache
def _random_model(seed: int) -> tuple[Qwen3ForCausalLM, torch.Tensor]:
    """Return a model, and the state of torch's generator behind its making."""
    torch.manual_seed(seed)
    config = Qwen3Config(
        vocab_size=260,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=16,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        eos_token_id=256,
        bos_token_id=None,
        pad_token_id=257,
    )
    return Qwen3ForCausalLM(config).eval(), torch.get_rng_state()


def make_folder(path: Path, seed: int = 0) -> str:
    """Save a random model and its tokenizer as a Hugging Face folder."""
    path.mkdir(parents=True, exist_ok=True)
    for name, content in _saved(seed).items():
        (path / name).write_bytes(content)
    return str(path)


@functools.cache
def _saved(seed: int) -> dict[str, bytes]:
    with TemporaryDirectory() as folder:
        make_model(seed).save_pretrained(folder)
        make_tokenizer().save_pretrained(folder)
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


class NeverPays(gym.RewardWrapper):  # type: ignore[misc]
    """A user's wrapper."""

    def reward(self, reward: Any) -> float:
        return 0.0


class Slow(gym.Wrapper):  # type: ignore[misc]
    """Takes its time."""

    def step(self, action: Any) -> Any:
        time.sleep(0.2)
        return self.env.step(action)


def trace(prompt: int, mask: Sequence[int], seed: int = 0) -> TokenTrace:
    """A trace of random ids with the given action mask."""
    generator = torch.Generator().manual_seed(seed)
    ids = torch.randint(0, 256, (prompt + len(mask),), generator=generator).tolist()
    return TokenTrace(ids[:prompt], ids[prompt:], list(mask), [-1.0 * m for m in mask])


def episode(
    reward: float = 0.0, *, traces: Sequence[TokenTrace] | None = None, status: Any = "terminated"
) -> Trajectory:
    return Trajectory(
        env_id="toy/Letters-v0",
        task_id="letters_0",
        turns=[Turn("say a", "a", reward, True, reward, num_tokens=2)],
        status=status,
        truncated_by="max_turns" if status == "truncated" else None,
        success=reward > 0,
        score=reward,
        traces=[trace(3, [1, 1, 0, 0, 1])] if traces is None else list(traces),
    )


def row_advantages(batch: dict[str, Any]) -> torch.Tensor:
    """Return (R,), the mean advantage of the sampled tokens of each row; 0 for a row without."""
    sampled = (batch["completion_mask"] * batch["tool_mask"]).sum(dim=1)
    means: torch.Tensor = batch["advantages"].sum(dim=1) / sampled.clamp(min=1)
    return means


class Given:
    """A rollout that returns given trajectories, or what a function of the task ids returns."""

    schedule = starts = None

    def __init__(self, given: Any) -> None:
        self.given = given

    def run(self, task_ids: Sequence[str], **_options: Any) -> list[Trajectory]:
        return self.given(list(task_ids)) if callable(self.given) else list(self.given)


def model_rollout(
    environments: Environments, model: Any = None, *, name: str = "", seed: int = 0, **budgets: Any
) -> Rollout:
    """A rollout of a model, by default a random one."""
    policy = ModelPolicy.from_model(
        make_model() if model is None else model,
        make_tokenizer(),
        EpisodeArguments(**{"max_tokens_per_turn": 4, **budgets}),
        name=name,
        seed=seed,
    )
    return environments.rollout(policy)


FAILED = Trajectory("toy/Letters-v0", "letters_0", status="failed", error="broke")


def gradient(trainer: Any) -> torch.Tensor:
    """Return the gradient of a trainer's first step, flat; all that its optimizer moves."""
    steps: list[torch.Tensor] = []
    optimizer = trainer.create_optimizer()
    step = optimizer.step

    def record(*args: Any, **kwargs: Any) -> Any:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        steps.append(torch.cat([grad.flatten().clone() for grad in grads]))
        return step(*args, **kwargs)

    optimizer.step = record
    trainer.args.max_grad_norm = 0.0
    trainer.train()
    return steps[0]
