"""Chats whose template changes earlier turns: the prompt of every turn is rendered from messages.

What the policy samples in a turn is recorded as it was sampled; what later turns see of it is what
the template makes of its text. Where that is what stands there already, the trace grows; otherwise
a new one begins, so that each sampled token is trained behind exactly what it was sampled behind.
"""

from __future__ import annotations

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from agentgym_envs.trajectory import TokenTrace, Trajectory
from trainers.tokens.chat import REMEDY, ChatFormat, find_stop_ids
from trainers.tokens.chat_template import Unsuitable
from trainers.tokens.encoding import PieceEncoder
from trainers.tokens.rendering import Rendering


class RenderedChat(ChatFormat):
    """Turns conversations into ids, the whole of them at every turn.

    Args:
        tokenizer: the policy's.
        rendering: renders conversations.

    Raises:
        ValueError: the template has no end-of-turn token.
    """

    rewrites_history = True

    def __init__(self, tokenizer: PreTrainedTokenizerBase, rendering: Rendering) -> None:
        self.tokenizer = tokenizer
        self.rendering = rendering
        self.form = rendering.form
        self.encoder = PieceEncoder(tokenizer)
        self.stop_ids = find_stop_ids(
            self.encoder, rendering.turn_end, within=f"{self.form.before or ''}{self.form.between}"
        )

    @classmethod
    def of(cls, tokenizer: PreTrainedTokenizerBase, template: str, *, reason: str) -> RenderedChat:
        """Return the chats of a template that cannot be appended to.

        Args:
            tokenizer: the policy's.
            template: a Jinja template.
            reason: why ids cannot be appended.

        Raises:
            ValueError: conversations cannot be rendered either.
        """
        reasons = []
        for has_system in (True, False):
            try:
                return cls(tokenizer, Rendering(tokenizer, template, has_system=has_system))
            except Unsuitable as error:
                reasons.append(str(error))
        raise ValueError(
            f"the chat template cannot be used: {reasons[0]}; ids cannot be appended to it either "
            f"({reason}); {REMEDY}"
        )

    def conversation_ids(
        self,
        system_prompt: str,
        observations: Sequence[str],
        completions: Sequence[str],
        *,
        keep_last_turns: int | None = None,
    ) -> list[int]:
        """Encode a conversation up to where the policy's next turn begins.

        Args:
            system_prompt: the instruction text.
            observations: what the policy has read, one more than `completions`.
            completions: what it has written.
            keep_last_turns: played turns in view; None keeps all. The first observation (the task)
                stays, with an empty turn of the policy in place of what is left out.

        Returns:
            (P,) ids.
        """
        if keep_last_turns is not None and len(completions) > keep_last_turns:
            observations = [observations[0], *observations[-keep_last_turns - 1 :]]
            completions = ["", *completions[-keep_last_turns:]]
        pieces = self.rendering.pieces(system_prompt, observations, completions)
        return self.encoder.encode(pieces, cached=not completions)

    def prompt_ids(self, system_prompt: str, observation: str) -> list[int]:
        """Encode the start of a conversation, up to where the policy's first turn begins."""
        return self.conversation_ids(system_prompt, [observation], [])

    def observation_ids(self, observation: str, *, closed: bool) -> list[int]:
        """Raise: an observation has no ids of its own here; see `conversation_ids`."""
        raise TypeError("the chat template rewrites earlier turns, so no ids can be appended")

    def ids_after(self, trajectory: Trajectory, *, keep_last_turns: int | None = None) -> list[int]:
        """Return what the policy would have in view next, after an episode with traces."""
        observations = [turn.observation for turn in trajectory.turns]
        return self.conversation_ids(
            trajectory.system_prompt,
            [*observations, trajectory.final_observation],
            [turn.completion for turn in trajectory.turns],
            keep_last_turns=keep_last_turns,
        )

    def encode_trajectory(self, trajectory: Trajectory) -> list[TokenTrace]:
        """Encode an episode whose turns are known as text only; see `ChatFormat`.

        Returns:
            The traces in which something is trained, or the first where nothing is.
        """
        traces: list[TokenTrace] = []
        observations: list[str] = []
        completions: list[str] = []
        for turn in trajectory.turns:
            observations.append(turn.observation)
            read = self.conversation_ids(trajectory.system_prompt, observations, completions)
            grow(traces, read)
            ids = self.action_ids(turn.completion)
            if turn.trained:
                traces[-1].append_action(ids, [0.0] * len(ids))
            else:
                traces[-1].append_given(ids)
            completions.append(turn.completion)
        if not traces:
            first = self.prompt_ids(trajectory.system_prompt, trajectory.final_observation)
            return [TokenTrace(first)]
        return [trace for trace in traces if any(trace.action_mask)] or traces[:1]


def grow(traces: list[TokenTrace], prompt_ids: list[int]) -> None:
    """Let the last trace grow to a prompt that continues it; otherwise begin a new one.

    Args:
        traces: an episode's.
        prompt_ids: (P,) what the policy has in view now.
    """
    known = traces[-1].ids if traces else None
    if known is not None and prompt_ids[: len(known)] == known:
        traces[-1].append_given(prompt_ids[len(known) :])
    else:
        traces.append(TokenTrace(list(prompt_ids)))
