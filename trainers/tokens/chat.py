"""From chat messages to token ids that are only ever appended to.

The template is asked once, at load, for the text around messages. From then on a conversation grows
by the ids of its new turn; what the policy sampled is never rendered or encoded again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from transformers import PreTrainedTokenizerBase

from agentgym_envs.trajectory import TokenTrace, Trajectory
from trainers.tokens.chat_template import TemplateParts, probe_template

CHATML_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""A template that leaves every earlier turn as it is; a remedy for one that does not."""

_MARKUP = re.compile(r"<[^\s<>]+>|\[/?[A-Z_]+\]")


@dataclass(frozen=True)
class _Piece:
    """One stretch of a rendered text.

    Attributes:
        text: the characters.
        is_content: it came from a message; otherwise from the template.
    """

    text: str
    is_content: bool = False


class ChatFormat:
    """Turns messages into ids, one new turn at a time.

    A turn's text and the template around it are encoded in one go, so that the ids are those of
    `apply_chat_template`. Where a message holds the text of a special token (or of markup that the
    tokenizer knows as one token, such as `<think>`), it is cut inside that text and the parts are
    encoded apart: it stays text and never becomes the special id.

    Args:
        tokenizer: the policy's.
        frames: the template's text around messages.

    Raises:
        ValueError: the template has no end-of-turn token, or new turns cannot be appended as ids.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, frames: TemplateParts) -> None:
        self.tokenizer = tokenizer
        self.frames = frames
        added = tokenizer.added_tokens_decoder
        markup = {
            id_: token.content
            for id_, token in added.items()
            if token.special or _MARKUP.fullmatch(token.content)
        }
        # Ordinary words may be unknown; that is no special text.
        self._markup_ids = frozenset(markup) - {tokenizer.unk_token_id}
        texts = sorted({text for text in markup.values() if len(text) > 1}, key=len, reverse=True)
        self._markup = re.compile("|".join(map(re.escape, texts)) or r"(?!)")
        self._single = str.maketrans({t: "\ufffd" for t in markup.values() if len(t) == 1})
        self._encode_cached = lru_cache(maxsize=8192)(self._encode)
        self.stop_ids = self._find_stop_ids(set(added))
        self._check_appending()

    @classmethod
    def from_tokenizer(
        cls,
        tokenizer: PreTrainedTokenizerBase,
        *,
        chat_template: str | None = None,
        template_kwargs: Mapping[str, Any] | None = None,
    ) -> ChatFormat:
        """Read the tokenizer's chat template.

        A template that drops thoughts from earlier turns (Qwen3's) gives way to its variant in TRL
        that keeps them, where TRL has one.

        Args:
            tokenizer: the policy's.
            chat_template: use this template in place of the tokenizer's own.
            template_kwargs: further variables of the template, e.g. `{"enable_thinking": False}`.

        Raises:
            ValueError: there is no template, or it changes earlier turns as a conversation grows.
        """
        return cls(tokenizer, probe_template(tokenizer, chat_template, dict(template_kwargs or {})))

    # What a conversation is made of -----------------------------------------------------------

    def prompt_ids(self, system_prompt: str, observation: str) -> list[int]:
        """Encode the start of a conversation, up to where the policy's first turn begins.

        Args:
            system_prompt: the instruction text; put before the observation, in the same message,
                where the template has no system role.
            observation: the first observation.

        Returns:
            (P,) ids.
        """
        frames = self.frames
        if frames.system is None and system_prompt:
            observation = f"{system_prompt}\n\n{observation}"
        if frames.system is None or not system_prompt:
            pieces = [_Piece(frames.first_user), self._content(observation, trim=frames.trims_user)]
        else:
            pieces = [
                _Piece(frames.system),
                self._content(system_prompt, trim=frames.trims_system),
                _Piece(frames.system_to_user),
                self._content(observation, trim=frames.trims_user),
            ]
        return list(self._encode_cached((*pieces, _Piece(frames.user_to_policy))))

    def observation_ids(self, observation: str, *, closed: bool) -> list[int]:
        """Encode what stands between the policy's last sampled id and its next one.

        Args:
            observation: the environment's answer.
            closed: the policy's turn ended with a stop id; otherwise the ids that end a turn come
                first, as given tokens.

        Returns:
            (N,) ids.
        """
        frames = self.frames
        content = self._content(observation, trim=frames.trims_user)
        ids = self._encode_cached(
            (_Piece(frames.policy_to_user), content, _Piece(frames.user_to_policy))
        )
        return list(ids[1:] if closed else ids)

    def action_ids(self, completion: str) -> list[int]:
        """Encode a turn that somebody else wrote, its stop id included."""
        content = self._content(completion, trim=False)
        return [*self._encode_cached((content,)), self.stop_ids[0]]

    def decode(self, ids: list[int]) -> str:
        """Return the text of a sampled turn without its stop id."""
        end = len(ids)
        if end and ids[-1] in self.stop_ids:
            end -= 1
        text = self.tokenizer.decode(
            ids[:end], skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return str(text)

    def encode_trajectory(self, trajectory: Trajectory) -> TokenTrace:
        """Encode an episode whose turns are known as text only, such as an expert's.

        Returns:
            A trace whose `action_mask` is 1 on the text and stop id of every turn but those that
            are not `trained`; its logprobs are 0.
        """
        turns = trajectory.turns
        first = turns[0].observation if turns else trajectory.final_observation
        trace = TokenTrace(self.prompt_ids(trajectory.system_prompt, first))
        for index, turn in enumerate(turns):
            if index:
                trace.append_given(self.observation_ids(turn.observation, closed=True))
            ids = self.action_ids(turn.completion)
            if turn.trained:
                trace.append_action(ids, [0.0] * len(ids))
            else:
                trace.append_given(ids)
        return trace

    def tokenize_trajectory(self, trajectory: Trajectory) -> list[TokenTrace]:
        """Return an episode's tokens: as recorded, or encoded where there are none of this format.

        An episode with a turn that is not `trained` is encoded too: records have no mask for it.
        """
        traces = trajectory.traces
        if not trajectory.turns or not all(turn.trained for turn in trajectory.turns):
            return [self.encode_trajectory(trajectory)]
        prompt_ids = self.prompt_ids(trajectory.system_prompt, trajectory.turns[0].observation)
        if not traces or traces[0].prompt_ids != prompt_ids:
            return [self.encode_trajectory(trajectory)]
        return list(traces)

    # How it is encoded ------------------------------------------------------------------------

    def _content(self, text: str, *, trim: bool) -> _Piece:
        text = text.translate(self._single)
        # Tokenizers refuse lone surrogates, which decoded web pages can hold.
        text = text.encode("utf-8", "replace").decode("utf-8")
        return _Piece(text.strip() if trim else text, is_content=True)

    def _encode(self, pieces: tuple[_Piece, ...]) -> tuple[int, ...]:
        text = "".join(piece.text for piece in pieces)
        contents: list[tuple[int, int]] = []
        at = 0
        for piece in pieces:
            if piece.is_content:
                contents.append((at, at + len(piece.text)))
            at += len(piece.text)
        ids = self._encode_parts(text, self._cuts(text, contents))
        expected = sum(
            id_ in self._markup_ids
            for piece in pieces
            if not piece.is_content
            for id_ in self._encode_parts(piece.text, [])
        )
        if sum(id_ in self._markup_ids for id_ in ids) != expected:
            # A normalizer made special text out of ordinary characters: encode one by one.
            ids = self._encode_parts(
                text, [i for start, end in contents for i in range(start, end)]
            )
        return tuple(ids)

    def _cuts(self, text: str, contents: list[tuple[int, int]]) -> list[int]:
        cuts = []
        match = self._markup.search(text)
        while match:
            start, end = match.span()
            in_content = any(start < stop and end > begin for begin, stop in contents)
            if in_content:
                cuts.append(start + 1)
            match = self._markup.search(text, start + 1 if in_content else end)
        return cuts

    def _encode_parts(self, text: str, cuts: list[int]) -> list[int]:
        ids: list[int] = []
        for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True):
            if start < end:
                ids += self.tokenizer.encode(text[start:end], add_special_tokens=False)
        return ids

    # Checks at load ---------------------------------------------------------------------------

    def _find_stop_ids(self, added: set[int]) -> tuple[int, ...]:
        end_of_turn = self._encode_parts(self.frames.policy_to_user, [])[0]
        if end_of_turn not in added and end_of_turn not in self.tokenizer.all_special_ids:
            raise ValueError(
                f"the chat template ends a turn with {self.frames.policy_to_user!r}, which starts "
                f"with no special token, so a turn's end cannot be sampled; set "
                f"tokenizer.chat_template to one that does, e.g. trainers.CHATML_TEMPLATE"
            )
        eos = self.tokenizer.eos_token_id
        return (end_of_turn,) if eos is None or eos == end_of_turn else (end_of_turn, eos)

    def _check_appending(self) -> None:
        observations = ["You see a door.", "It is locked."]
        rendered = self.frames.render(self.tokenizer, "Rules.", observations, ["open door"])
        whole = self._encode_parts(rendered, [])
        new = self.observation_ids(observations[1], closed=True)
        # The policy's own turn is left out: its ids are sampled, and need not be the tokenizer's.
        if whole[-len(new) :] != new:
            raise ValueError(
                f"the tokenizer merges text across the borders of the chat template's turns: a new "
                f"turn's ids {new} are not the end of the rendered conversation's {whole}; set "
                f"tokenizer.chat_template to one with special tokens around turns, e.g. "
                f"trainers.tokens.chat.CHATML_TEMPLATE"
            )
