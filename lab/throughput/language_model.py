"""SmolLM2 here: sampled turns against bare `generate`, and updates against TRL's own.

Both work on TextCraft's expert episodes in the plain format: the histories before each turn are
the prompts, and half of the episodes lose their last turn, so that rewards differ within a group.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from peft import LoraConfig, get_peft_model

from agentgym_envs.trajectories.trajectory import Trajectory
from lab.throughput.measure import Row, Side, Stopwatch, compare
from lab.throughput.updates import Case, compare_updates
from trainers.backends.hf import HFBackend
from trainers.collect import expert_episodes
from trainers.models.loading import load_policy
from trainers.options.arguments import EnvArguments
from trainers.options.configs import ModelArguments
from trainers.options.models import SMOLLM2
from trainers.rollout.environments import Environments
from trainers.tokens.chat import ChatFormat
from trainers.tokens.generation import Sampling

_CASE = Case(goals=4, group=4, turns=8, rows_per_pass=2, model=SMOLLM2, bf16=True)
_PER_TURN = 12
"""Sampled tokens of a turn, about as many as the expert's."""


def language_model_rows(repeats: int, *, case: Case = _CASE) -> Iterator[Row]:
    """Measure sampling, by an adapter, too, then an update, under bfloat16 and in float32."""
    model, tokenizer = load_policy(ModelArguments(model_name_or_path=case.model))
    chat = ChatFormat.from_tokenizer(tokenizer)
    trajectories = _episodes(case, chat)
    for lowered, adapted in ((True, False), (False, False), (True, True)):
        name = f"{case.model}, {'bfloat16' if lowered else 'float32'}"
        if adapted:
            name += ", an adapter"
            # As training keeps them: a frozen base in bfloat16 under an adapter in float32.
            config = LoraConfig(r=16, target_modules="all-linear", init_lora_weights=False)
            model = get_peft_model(model.to(torch.bfloat16), config)
        turns = _Turns(model.eval(), trajectories, lowered=lowered)
        yield compare(
            "language_model",
            Side(f"rollout, {name}", "tokens", turns.ours),
            Side("bare model.generate, the same prompts and lengths", "tokens", turns.bare),
            repeats=min(repeats, case.most_repeats),
            episodes=len(trajectories),
            turns=len(turns.prompts),
            tokens_per_turn=_PER_TURN,
            torch_threads=torch.get_num_threads(),
        )
    for lowered in (True, False):
        name = f"GRPO update, {case.model}, {'bfloat16' if lowered else 'float32'}"
        row = compare_updates(name, trajectories, replace(case, bf16=lowered), repeats)
        yield replace(row, group="language_model")


def _episodes(case: Case, chat: ChatFormat) -> list[Trajectory]:
    """Return the expert's episodes with tokens, every other one without its last turn."""
    environments = Environments(
        EnvArguments(env=["TextCraft"], action_format="plain", max_turns=case.turns)
    )
    goals = environments.spread(environments.task_ids("train"), case.goals)
    try:
        played = expert_episodes(environments, goals)
    finally:
        environments.close()
    grouped = [episode for episode in played for _ in range(case.group)]
    cut = [
        replace(episode, turns=episode.turns[: len(episode.turns) - number % 2])
        for number, episode in enumerate(grouped)
    ]
    return [replace(episode, traces=chat.encode_trajectory(episode)) for episode in cut]


class _Turns:
    """The same turns on both sides.

    Attributes:
        prompts: by turn, the ids of each episode that has it.
    """

    def __init__(self, model: Any, trajectories: Sequence[Trajectory], *, lowered: bool) -> None:
        self._model = model
        self._autocast = partial(torch.autocast, "cpu", torch.bfloat16, enabled=lowered)
        of_episodes = [list(_histories(trajectory)) for trajectory in trajectories]
        longest = max(len(histories) for histories in of_episodes)
        self.prompts = [
            {
                key: histories[turn]
                for key, histories in enumerate(of_episodes)
                if turn < len(histories)
            }
            for turn in range(longest)
        ]

    def ours(self, watch: Stopwatch) -> None:
        """Sample every turn, with the cache of the turns before."""
        backend = HFBackend(self._model, autocast=self._autocast)
        # An id that is never sampled: every turn has its whole length.
        sampling = Sampling(max_new_tokens=_PER_TURN, stop_ids=(self._model.config.vocab_size,))
        with watch.running():
            for prompts in self.prompts:
                backend.generate([*prompts.values()], sampling, keys=[*prompts])
        watch.units += self._num_tokens

    def bare(self, watch: Stopwatch) -> None:
        """Generate every turn from its padded prompt."""
        with watch.running(), torch.no_grad(), self._autocast():
            for prompts in self.prompts:
                rows = [torch.tensor(ids) for ids in prompts.values()]
                masks = [torch.ones_like(ids) for ids in rows]
                pad = partial(
                    torch.nn.utils.rnn.pad_sequence, batch_first=True, padding_side="left"
                )
                self._model.generate(
                    pad(rows),
                    attention_mask=pad(masks),
                    max_new_tokens=_PER_TURN,
                    min_new_tokens=_PER_TURN,
                    do_sample=True,
                    top_k=0,
                    pad_token_id=0,
                )
        watch.units += self._num_tokens

    @property
    def _num_tokens(self) -> int:
        return _PER_TURN * sum(len(prompts) for prompts in self.prompts)


def _histories(trajectory: Trajectory) -> Iterator[list[int]]:
    """Yield the ids before each turn."""
    trace = trajectory.traces[0]
    ids, mask = [*trace.prompt_ids, *trace.completion_ids], [0] * len(trace.prompt_ids)
    mask += trace.action_mask
    for at in range(1, len(ids)):
        if mask[at] and not mask[at - 1]:
            yield ids[:at]
