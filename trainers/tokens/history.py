"""The token history of one episode: what the policy has in view, and the exact record of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentgym_envs.trajectory import TokenTrace
from trainers.tokens.chat import ChatFormat
from trainers.tokens.generation import Generated
from trainers.tokens.rendered_chat import RenderedChat, grow


@dataclass(frozen=True)
class _Past:
    """A turn that has been played.

    Attributes:
        observation: what the policy read; its text, since a window gives it other borders.
        context_ids: the ids before the sampled ones, the observation's; empty for the first turn.
        sampled: the policy's ids.
    """

    observation: str
    context_ids: list[int]
    sampled: list[int]


class TokenHistory:
    """One episode's tokens, as one trace or as one per window.

    With `keep_last_turns` = k, a turn that would have more than k played turns in view starts a
    new trace. Its `prompt_ids` are the system prompt, the first observation (the task), an empty
    turn of the policy in place of what is left out, the last k turns' ids and the new observation;
    so one forward pass over a trace gives what the policy saw.

    Args:
        chat: encodes observations.
        system_prompt: the instruction text.
        observation: the first observation.
        max_tokens: tokens that may be in view at once, prompt included; None sets no bound.
        keep_last_turns: played turns in view; None keeps all.

    Attributes:
        traces: the record; the last one is what the policy has in view.
    """

    def __init__(
        self,
        chat: ChatFormat,
        system_prompt: str,
        observation: str,
        *,
        max_tokens: int | None = None,
        keep_last_turns: int | None = None,
    ) -> None:
        self.chat = chat
        self.max_tokens = max_tokens
        self.keep_last_turns = keep_last_turns
        self._prompt_ids = chat.prompt_ids(system_prompt, observation)
        self.traces = [TokenTrace(list(self._prompt_ids))]
        self._past: list[_Past] = []
        self._num_in_view = 0
        self._read: tuple[str, list[int]] = (observation, [])

    @property
    def ids(self) -> list[int]:
        """What the policy has in view."""
        return self.traces[-1].ids

    def remaining_tokens(self, max_new_tokens: int) -> int:
        """Return how many tokens may be sampled now, at most `max_new_tokens`; 0 = none."""
        if self.max_tokens is None:
            return max_new_tokens
        return max(0, min(max_new_tokens, self.max_tokens - len(self.traces[-1])))

    def observe(self, observation: str) -> bool:
        """Append an observation.

        Returns:
            False where it leaves no room for an answer; then nothing has been appended.
        """
        last = self._past[-1]
        context_ids = self.chat.observation_ids(
            observation, closed=last.sampled[-1] in self.chat.stop_ids
        )
        keep = self.keep_last_turns
        if keep is not None and self._num_in_view > keep:
            prompt_ids = self._windowed(keep) + context_ids
            if self._overflows(len(prompt_ids)):
                return False
            self.traces.append(TokenTrace(prompt_ids))
            self._num_in_view = keep
        else:
            if self._overflows(len(self.traces[-1]) + len(context_ids)):
                return False
            self.traces[-1].append_given(context_ids)
        self._read = (observation, context_ids)
        return True

    def append(self, generated: Generated) -> None:
        """Append what the policy sampled."""
        self.traces[-1].append_action(generated.ids, generated.logprobs)
        self._past.append(_Past(*self._read, generated.ids))
        self._num_in_view += 1

    @staticmethod
    def of(chat: ChatFormat, system_prompt: str, observation: str, **options: Any) -> TokenHistory:
        """Return the history that a chat format has; the arguments are those of the class."""
        if isinstance(chat, RenderedChat):
            return RenderedHistory(chat, system_prompt, observation, **options)
        return TokenHistory(chat, system_prompt, observation, **options)

    def _overflows(self, num_tokens: int) -> bool:
        return self.max_tokens is not None and num_tokens >= self.max_tokens

    def _windowed(self, keep: int) -> list[int]:
        ids = list(self._prompt_ids)
        for index, past in enumerate(self._past[-keep:]):
            # The first one follows an empty turn, which has to be closed.
            if index:
                ids += past.context_ids
            else:
                ids += self.chat.observation_ids(past.observation, closed=False)
            ids += past.sampled
        return ids


class RenderedHistory(TokenHistory):
    """The tokens of an episode whose chat template changes earlier turns; see `TokenHistory`.

    A turn that the template has changed something for begins a new trace, whose `prompt_ids` are
    the whole conversation as the template renders it.
    """

    def __init__(
        self, chat: RenderedChat, system_prompt: str, observation: str, **options: Any
    ) -> None:
        super().__init__(chat, system_prompt, observation, **options)
        self._rendered = chat
        self._system_prompt = system_prompt
        self._observations = [observation]
        self._completions: list[str] = []

    def observe(self, observation: str) -> bool:
        """Render the conversation with an observation; see `TokenHistory.observe`."""
        ids = self._rendered.conversation_ids(
            self._system_prompt,
            [*self._observations, observation],
            self._completions,
            keep_last_turns=self.keep_last_turns,
        )
        if self._overflows(len(ids)):
            return False
        grow(self.traces, ids)
        self._observations.append(observation)
        return True

    def append(self, generated: Generated) -> None:
        """Append what the policy sampled."""
        self.traces[-1].append_action(generated.ids, generated.logprobs)
        self._completions.append(self.chat.decode(generated.ids))
