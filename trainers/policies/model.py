"""A language model as a policy: it samples turns, and records every token as it was sampled."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from typing import Any

import torch

from agentgym_envs.trajectories.trajectory import CUT, ModelCall, TokenTrace, Trajectory
from trainers.backends.open import load_backend
from trainers.history.views import History
from trainers.models.loading import load_for_playing
from trainers.options.arguments import EpisodeArguments, TokenBudgets
from trainers.options.backends import ModelSource
from trainers.options.configs import ModelArguments
from trainers.rollout.policy import Episode, Policy, Reply, Stop
from trainers.tokens.chat import ALL_TURNS, ChatFormat
from trainers.tokens.generation import Backend, Sampling
from trainers.tokens.history import TokenHistory
from trainers.tokens.seeds import batch_seed
from wrappers.failures import Machinery

logger = logging.getLogger(__name__)

FEW_TOKENS = 1024
"""Tokens of a turn below which a model that thinks seldom comes to its action."""


class ModelPolicy(Policy):
    """Answers observations with sampled tokens.

    The last token of a trace is always a sampled one: the observation after the last action is
    recorded as text only. A turn that its budget ended is played as it stands, unless its thought
    did not end, and closed by given tokens.

    Args:
        backend: samples tokens.
        chat: encodes observations and decodes turns.
        sampling: how to sample a turn; `stop_ids` left empty are the chat format's. A batch may
            have another temperature.
        max_episode_tokens: tokens in view at once, the prompt included; None takes the backend's
            maximum. An episode whose next turn has no room is truncated by `"token_budget"`; one
            whose first prompt has none has no turns and no trace.
        history: selects each turn's view of its episode; by default all turns before it. A turn
            whose view is no continuation starts a trace (`trainers.tokens.history`).
        env_budgets: returns the budgets of an environment's episodes by its id, in place of
            `sampling.max_new_tokens`, `max_episode_tokens` and `history`.
        seed: every batch reseeds the backend by it and the batch's stream, so that samples depend
            on none before; None never reseeds.
        name: recorded as the trajectories' policy.
        records_tokens: episodes keep their token traces; without log-probabilities they have none.

    Raises:
        ValueError: a bound is below 1.
    """

    has_temperature = True

    def __init__(
        self,
        backend: Backend,
        chat: ChatFormat,
        *,
        sampling: Sampling | None = None,
        max_episode_tokens: int | None = None,
        history: History = ALL_TURNS,
        env_budgets: Callable[[str], TokenBudgets] | None = None,
        seed: int | None = None,
        name: str = "",
        records_tokens: bool = True,
    ) -> None:
        limit = backend.max_length if max_episode_tokens is None else max_episode_tokens
        if limit is not None and limit < 1:
            raise ValueError(f"max_episode_tokens must be >= 1 or None, got {limit}")
        sampling = Sampling() if sampling is None else sampling
        self.backend = backend
        self.chat = chat
        self.sampling = sampling if sampling.stop_ids else replace(sampling, stop_ids=chat.stop_ids)
        self._sampling = self.sampling
        same = TokenBudgets(self.sampling.max_new_tokens, limit, history)
        self._env_budgets = env_budgets or (lambda env_id: same)
        self.seed = seed
        self.name = name
        self._records_tokens = records_tokens
        self._histories: dict[int, TokenHistory] = {}

    @classmethod
    def with_budgets(
        cls,
        backend: Backend,
        tokenizer: Any,
        budgets: EpisodeArguments,
        *,
        name: str,
        seed: int,
        sampling: Sampling | None = None,
    ) -> ModelPolicy:
        """Return the policy that samples from a backend within an episode's budgets."""
        chat = ChatFormat.from_tokenizer(tokenizer)
        if chat.thinks and budgets.longest_turn < FEW_TOKENS:
            logger.warning(
                "%s thinks before it acts, by its chat template, and a turn has at most "
                "--max_tokens_per_turn %d tokens. A thought that is cut off there plays no action: "
                "give %d or more, or let it answer at once (--chat_template_kwargs, such as "
                "'{\"enable_thinking\": false}'). episodes/cut_turns is the share of cut turns.",
                *(name or "The model", budgets.longest_turn, FEW_TOKENS),
            )
        return cls(
            backend,
            chat,
            sampling=replace(sampling or Sampling(), max_new_tokens=budgets.longest_turn),
            env_budgets=budgets.env_budgets,
            seed=seed,
            name=name,
            records_tokens=budgets.backend_spec.gives_logprobs,
        )

    @classmethod
    def from_model(
        cls,
        model: Any,
        tokenizer: Any,
        budgets: EpisodeArguments,
        *,
        name: str,
        seed: int,
        sampling: Sampling | None = None,
        autocast: Callable[[], AbstractContextManager[None]] | None = None,
        machinery: Machinery | None = None,
    ) -> ModelPolicy:
        """Return the policy that samples from a loaded model, by the backend that `budgets` name.

        Args:
            model: the policy, on its device; it may be in training.
            tokenizer: the model's.
            budgets: the token budgets of an episode, and its backend.
            name: recorded as the trajectories' policy.
            seed: of the sampling.
            sampling: how tokens are sampled, within the budgets; None samples among all.
            autocast: the context of the trainer's passes.
            machinery: the run's, with the servers that sample; None has not worked yet.
        """
        machinery = Machinery(budgets.failure_rules) if machinery is None else machinery
        source = ModelSource(model, max_length=budgets.longest_episode, autocast=autocast)
        backend = machinery.retry(lambda: load_backend(budgets, source))
        return cls.with_budgets(
            backend, tokenizer, budgets, name=name, seed=seed, sampling=sampling
        )

    of_model = from_model
    """The former name of `from_model`."""

    @classmethod
    def between_trainings(
        cls, model: ModelArguments, args: Any, budgets: EpisodeArguments, *, name: str, seed: int
    ) -> ModelPolicy:
        """Load the policy that plays before a trainer trains, in the precision of `args`."""
        loaded, tokenizer = load_for_playing(model, args)
        lowered = torch.float16 if args.fp16 else torch.bfloat16
        autocast = partial(
            torch.autocast, loaded.device.type, lowered, enabled=bool(args.bf16 or args.fp16)
        )
        return cls.from_model(loaded, tokenizer, budgets, name=name, seed=seed, autocast=autocast)

    def instruction(self, env_id: str, system_prompt: str) -> str:
        """Return the instruction with the history's addition."""
        return self._env_budgets(env_id).history.instruction(system_prompt)

    def encode(self, episode: Trajectory) -> list[TokenTrace] | None:
        """Return the tokens of an episode that another policy played, as this one would read it.

        None if a turn, or the tokens in view, would be beyond this policy's budgets.
        """
        budgets, most = self._env_budgets(episode.env_id), self._most_tokens(episode.env_id)
        traces = self.chat.tokenize_trajectory(episode, budgets.history)
        turns = [turn for trace in traces for turn in trace.sampled_turns()]
        if max(map(len, turns), default=0) > budgets.max_tokens_per_turn:
            return None
        return traces if most is None or max(map(len, traces)) <= most else None

    def _most_tokens(self, env_id: str) -> int | None:
        """Return the most tokens in view at once in an environment's episodes."""
        limits = (self._env_budgets(env_id).max_tokens_per_episode, self.backend.max_length)
        return min((limit for limit in limits if limit is not None), default=None)

    def begin_batch(
        self, *, stream: Sequence[int] = (), temperature: float | None = None, global_step: int = 0
    ) -> None:
        """Reseed the backend, send it the present weights, and set the temperature."""
        if self.seed is not None:
            self.backend.reseed(batch_seed(self.seed, stream))
        self.backend.sync_weights(global_step)
        self._sampling = self.sampling
        if temperature is not None:
            self._sampling = replace(self.sampling, temperature=temperature)

    def act(self, episodes: Sequence[Episode]) -> list[Reply | Stop]:
        """Sample one turn for each episode whose token budget has room.

        Raises:
            ValueError: the backend does not return one turn for each prompt.
        """
        budgets = {episode.key: self._read(episode) for episode in episodes}
        keys = [key for key, budget in budgets.items() if budget]
        generated = {}
        if keys:
            rooms = [budgets[key] for key in keys]
            is_cut = min(rooms) < self._sampling.max_new_tokens
            turns = self.backend.generate(
                [self._histories[key].ids for key in keys],
                self._sampling,
                keys=keys,
                budgets=rooms if is_cut else None,
            )
            if len(turns) != len(keys):
                raise ValueError(
                    f"{type(self.backend).__name__}.generate must return one trainers.Generated "
                    f"for each prompt, got {len(turns)} for {len(keys)}"
                )
            generated = dict(zip(keys, turns, strict=True))
        replies: list[Reply | Stop] = []
        for episode in episodes:
            if episode.key not in generated:
                replies.append(Stop("token_budget"))
                continue
            turn = generated[episode.key]
            tokens = self._histories[episode.key]
            tokens.append(turn)
            text = self.chat.decode(turn.ids)
            replies.append(
                Reply(
                    text,
                    len(turn.ids),
                    call=None if turn.stopped else ModelCall(finish_reason=CUT),
                    weights_step=turn.weights_step,
                    action=tokens.history.action(text),
                )
            )
        return replies

    def suspend(self, episodes: Sequence[Episode]) -> None:
        """Free the rows of episodes that go on with other weights."""
        self.backend.finish([episode.key for episode in episodes])

    def leave(self, episode: Episode) -> None:
        """Record an episode's traces, and free its row."""
        history = self._histories.pop(episode.key, None)
        self.backend.finish([episode.key])
        if history is not None and episode.trajectory.turns and self._records_tokens:
            episode.trajectory.traces = history.traces

    def _read(self, episode: Episode) -> int:
        """Encode the next turn's view of an episode and return the tokens left to sample."""
        budgets = self._env_budgets(episode.trajectory.env_id)
        tokens = self._histories.get(episode.key)
        if tokens is None:
            tokens = self._histories[episode.key] = TokenHistory(
                self.chat,
                budgets.history,
                max_tokens=self._most_tokens(episode.trajectory.env_id),
                traces=episode.trajectory.traces,
                prefix=episode.trajectory.prefix,
            )
        if not tokens.observe(episode.trajectory):
            return 0
        return tokens.remaining_tokens(budgets.max_tokens_per_turn)
