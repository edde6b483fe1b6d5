"""Sampled tokens per second of whole rollouts, against transformers' `generate`.

The episodes are TextCraft's with scripted actions, as in `lab.throughput.rollouts`: each
turn samples as many tokens as the expert writes on average, whatever they say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

from lab.gpu.memory import COLUMN, finish_kernels, peak_gigabytes, reset_peak
from lab.gpu.models import Shape, model_folder, shapes
from lab.gpu.parts import Reading, Setting
from lab.throughput.measure import Side, Stopwatch, compare
from lab.throughput.rollouts import Case, expert_completions, script, steered
from trainers.backends.hf import HFBackend
from trainers.policies.model import ModelPolicy
from trainers.rollout.rollout import Rollout
from trainers.tokens.chat import ChatFormat
from trainers.tokens.generation import Backend, Generated, Sampling
from wrappers import TextVectorEnv

TOKENS_PER_SECOND = "sampled tokens/s"


@dataclass(frozen=True)
class Load:
    """The size of a measurement.

    Attributes:
        episodes: that advance together.
        turns: of each.
        tokens: of a turn.
        repeats: timed runs of each side, after one that is not.
    """

    episodes: int = 64
    turns: int = 10
    tokens: int = 40
    repeats: int = 2


SMALL = Load(episodes=4, turns=2, tokens=8, repeats=1)


class GenerateBackend:
    """`Backend` by `generate`, which encodes the complete history again every turn.

    It returns no log-probabilities: those of what it samples are 0.

    Args:
        model: the model.
        pad_id: fills the prompts on the left.
    """

    max_length: int | None = None

    def __init__(self, model: Any, pad_id: int) -> None:
        self._model = model
        self._pad_id = pad_id

    def generate(
        self,
        prompts: Sequence[list[int]],
        sampling: Sampling,
        *,
        keys: Sequence[int],
        budgets: Sequence[int] | None = None,
    ) -> list[Generated]:
        """Continue each prompt by as many tokens as a turn may have."""
        longest = max(map(len, prompts))
        rows = [[self._pad_id] * (longest - len(prompt)) + prompt for prompt in prompts]
        masks = [[0] * (longest - len(prompt)) + [1] * len(prompt) for prompt in prompts]
        device = self._model.device
        config = GenerationConfig(
            do_sample=True,
            top_k=0,
            max_new_tokens=sampling.max_new_tokens,
            pad_token_id=self._pad_id,
        )
        sampled = self._model.generate(
            torch.tensor(rows, device=device),
            attention_mask=torch.tensor(masks, device=device),
            generation_config=config,
        )[:, longest:].tolist()
        return [Generated(ids, [0.0] * len(ids), False) for ids in sampled]

    def finish(self, keys: Sequence[int]) -> None:
        """Do nothing, as there is no cache."""

    def reseed(self, seed: int) -> None:
        """Seed torch's random numbers."""
        torch.manual_seed(seed)

    def sync_weights(self, global_step: int) -> None:
        """Do nothing, as the weights are the model's."""


def rollouts(setting: Setting, _part: str) -> Iterator[Reading]:
    """Yield each shape's rates: rollouts, the same turns by `generate`, and one call of it."""
    load = SMALL if setting.small else Load()
    for shape in shapes(small=setting.small):
        ground = _Ground(shape, setting, load)
        for name, work in ground.sides().items():
            yield ground.measured(name, work)
        ground.close()


def vllm_rollouts(setting: Setting, _part: str) -> Iterator[Reading]:
    """Yield the smaller shape's rate with vLLM."""
    from trainers.backends.vllm import VLLMBackend  # heavy, and seldom installed

    # A second engine would need a second process: vLLM gives no memory back within one, and torch
    # refuses to capture CUDA graphs again.
    shape, _ = shapes(small=setting.small)
    ground = _Ground(shape, setting, SMALL if setting.small else Load())
    backend = VLLMBackend.from_model(ground.model, max_length=4096)
    backend.sync_weights(0)
    reading = ground.measured("rollout, vLLM", partial(ground.play, lambda: backend))
    # The engine takes its share of the memory at once.
    reading.values[COLUMN] = None
    yield reading
    ground.close()


class _Ground:
    """One model and its episodes.

    Attributes:
        model: on its device.
    """

    def __init__(self, shape: Shape, setting: Setting, load: Load) -> None:
        folder = model_folder(shape, setting.shared)
        reset_peak()
        self._name, self._load = shape.name, load
        device = "cuda" if torch.cuda.is_available() else "cpu"
        loaded = AutoModelForCausalLM.from_pretrained(folder, dtype="bfloat16")
        self.model: Any = loaded.to(device).eval()
        self._tokenizer = AutoTokenizer.from_pretrained(folder)
        completions = expert_completions(load.episodes)
        scripts = {task: script(texts, load.turns) for task, texts in completions.items()}
        self._task_ids = list(islice(cycle(scripts), load.episodes))
        self._env = TextVectorEnv([partial(steered, scripts, Case(load.turns))] * load.episodes)
        self._first_prompts: list[list[int]] = []
        # A random model takes it once in as many tokens as there are.
        self._stop = (shape.vocabulary - 1,)

    def close(self) -> None:
        """Free the model and the environments."""
        self._env.close()
        del self.model

    def sides(self) -> dict[str, Callable[[Stopwatch], None]]:
        """Return the functions to measure, by name."""
        hf = partial(self.play, lambda: HFBackend(self.model))
        launched = partial(self.play, lambda: HFBackend(self.model, cuda_graphs=False))
        bare = partial(self.play, self._bare)
        return {
            "rollout, HF backend": hf,
            "rollout, HF backend without CUDA graphs": launched,
            "the same turns by `generate`": bare,
            "one call of `generate`": self._one_call,
        }

    def measured(self, name: str, work: Callable[[Stopwatch], None]) -> Reading:
        """Time one side."""
        reset_peak()
        row = compare("rollout", Side(name, "tokens", work), repeats=self._load.repeats)
        values: dict[str, Any] = {
            TOKENS_PER_SECOND: round(row.rate),
            "episodes": self._load.episodes,
            "turns": self._load.turns,
            COLUMN: peak_gigabytes(),
        }
        return Reading(f"{self._name}, {name}", values)

    def play(self, backend: Callable[[], Backend], watch: Stopwatch) -> None:
        """Play all episodes once."""
        chat = ChatFormat.from_tokenizer(self._tokenizer)
        sampling = Sampling(max_new_tokens=self._load.tokens, stop_ids=self._stop)
        rollout = Rollout(self._env, ModelPolicy(backend(), chat, sampling=sampling))
        with watch.running():
            trajectories = rollout.run(self._task_ids)
            finish_kernels()
        watch.units += sum(turn.num_tokens for played in trajectories for turn in played.turns)
        self._first_prompts = [trajectory.trace.prompt_ids for trajectory in trajectories]

    def _bare(self) -> GenerateBackend:
        return GenerateBackend(self.model, self._tokenizer.pad_token_id)

    def _one_call(self, watch: Stopwatch) -> None:
        """Sample as many tokens as the rollout does after the first prompts, in one go."""
        sampling = Sampling(max_new_tokens=self._load.turns * self._load.tokens)
        with watch.running():
            generated = self._bare().generate(self._first_prompts, sampling, keys=[])
        watch.units += sum(len(row.ids) for row in generated)
