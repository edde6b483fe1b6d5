"""Chats whose template changes earlier turns: the prompt of every turn is rendered from messages.

What the policy samples in a turn is recorded as it was sampled; what later turns see of it is what
the template makes of its text. Where that is what stands there already, the trace grows; otherwise
a new one begins, so that each sampled token is trained behind exactly what it was sampled behind.
"""

from __future__ import annotations

from collections.abc import Sequence

from transformers import PreTrainedTokenizerBase

from agentgym_envs.trajectory import Trajectory
from trainers.history.views import View
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
        self.template = rendering.template
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
    ) -> list[int]:
        """Encode a conversation up to where the policy's next turn begins.

        Args:
            system_prompt: the instruction text.
            observations: what the policy has read, one more than `completions`.
            completions: what it has written.

        Returns:
            (P,) ids.
        """
        pieces = self.rendering.pieces(system_prompt, observations, completions)
        return self.encoder.encode(pieces, cached=not completions)

    def view_ids(
        self, trajectory: Trajectory, view: View, sampled: Sequence[list[int]]
    ) -> list[int]:
        """Render what a turn sees; see `ChatFormat.view_ids`. Turns in view are as texts."""
        completions = [
            "" if turn is None else trajectory.turns[turn].completion for turn in view.turns
        ]
        return self.conversation_ids(trajectory.system_prompt, view.observations, completions)

    def prompt_ids(self, system_prompt: str, observation: str) -> list[int]:
        """Encode the start of a conversation, up to where the policy's first turn begins."""
        return self.conversation_ids(system_prompt, [observation], [])

    def observation_ids(self, observation: str, *, closed: bool) -> list[int]:
        """Raise: an observation has no ids of its own here; see `conversation_ids`."""
        raise TypeError("the chat template rewrites earlier turns, so no ids can be appended")
