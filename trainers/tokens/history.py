"""The tokens of one episode: the policy's view, and the exact record of it."""

from __future__ import annotations

from collections.abc import Sequence

from agentgym_envs.trajectories.trajectory import TokenTrace, Trajectory, Turn
from trainers.history.views import History, next_view
from trainers.tokens.chat import ALL_TURNS, ChatFormat, grow
from trainers.tokens.generation import Generated


class TokenHistory:
    """One episode's tokens, as one trace or as several.

    A turn whose view begins with the last trace's ids continues it, and another one begins a
    trace, whose `prompt_ids` are the whole view. So one forward pass over a trace sees exactly the
    policy's views.

    Args:
        chat: encodes views.
        history: selects each turn's view.
        max_tokens: tokens that may be in view at once, prompt included; None sets no bound.
        traces: of the turns that an episode begins with, where it branches from another one.
        prefix: an expert's turns before those, which belong to the first view.

    Attributes:
        traces: the record; the policy's view is the last one.
    """

    def __init__(
        self,
        chat: ChatFormat,
        history: History = ALL_TURNS,
        *,
        max_tokens: int | None = None,
        traces: Sequence[TokenTrace] = (),
        prefix: Sequence[Turn] = (),
    ) -> None:
        self.chat = chat
        self.history = history
        self.max_tokens = max_tokens
        self.traces = list(traces)
        self._sampled = chat.turn_ids(prefix, self.traces)

    @property
    def ids(self) -> list[int]:
        """The policy's view."""
        return self.traces[-1].ids

    def remaining_tokens(self, max_new_tokens: int) -> int:
        """Return the tokens that may be sampled now, at most `max_new_tokens`."""
        if self.max_tokens is None:
            return max_new_tokens
        return max(0, min(max_new_tokens, self.max_tokens - len(self.traces[-1])))

    def observe(self, episode: Trajectory) -> bool:
        """Encode the next turn's view, or return False if it leaves no room for an answer."""
        episode = episode.whole()
        ids = self.chat.view_ids(episode, next_view(self.history, episode), self._sampled)
        if self.max_tokens is not None and len(ids) >= self.max_tokens:
            return False
        grow(self.traces, ids)
        return True

    def append(self, generated: Generated) -> None:
        """Append a sampled turn."""
        self.traces[-1].append_action(generated.ids, generated.logprobs)
        self._sampled.append(generated.ids)
