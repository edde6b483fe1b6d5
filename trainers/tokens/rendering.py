"""Renders whole conversations, for chat templates that change earlier turns.

Such a template drops the thoughts of earlier turns, or counts messages. So every turn's prompt is
rendered from the messages, as a server does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from jinja2.exceptions import TemplateError
from transformers import PreTrainedTokenizerBase

from trainers.tokens.chat_template import KEYS, Unsuitable, conversation, render, split_at
from trainers.tokens.encoding import Piece, PieceEncoder
from trainers.tokens.replies import (
    CLOSING,
    OPENING,
    Completion,
    ReplyForm,
    opened_by,
)

_BEGIN, _END = "\ufdd0", "\ufdd1"
"""Marks around the content of messages while it is rendered: Unicode noncharacters."""
_HELD = re.compile(f"{_BEGIN}([^{_BEGIN}{_END}]*){_END}")
_USERS = ("Qprobefirst", "Qprobesecond")
_ANSWER, _THOUGHT = "Qprobereply", "Qprobethought"
_SYSTEM = "Qprobesystem"
_INLINE = f"{OPENING}\n{_THOUGHT}\n{CLOSING}\n\n{_ANSWER}"


class Rendering:
    """Whole conversations as a template renders them.

    Args:
        tokenizer: the policy's.
        template: a Jinja template.
        has_system: it has a system role; otherwise the system prompt stands at the beginning of the
            first user message.

    Attributes:
        template: the Jinja template.
        form: how a turn of the policy is written.
        turn_end: what stands behind a turn of the policy, from the token that ends it.

    Raises:
        Unsuitable: a conversation cannot be rendered, or not all that a policy has to read of it.
    """

    def __init__(
        self, tokenizer: PreTrainedTokenizerBase, template: str, *, has_system: bool
    ) -> None:
        self.template = template
        self.has_system = has_system
        self._tokenizer = tokenizer
        self._encoder = PieceEncoder(tokenizer)
        self._key: str | None = None
        try:
            self.form = self._find_form()
            self._key = self.form.key
            self.turn_end = self._find_turn_end()
        except TemplateError as error:
            raise Unsuitable(f"it renders no conversation of turns: {error}") from error

    def pieces(
        self, system_prompt: str, observations: Sequence[str], completions: Sequence[str]
    ) -> list[Piece]:
        """Render a conversation up to the policy's next turn."""
        text = self._render(
            self._marked(system_prompt),
            [self._marked(observation) for observation in observations],
            [self._message(completion) for completion in completions],
        )
        pieces = []
        for number, part in enumerate(_HELD.split(text)):
            part = part.replace(_BEGIN, "").replace(_END, "")
            if part:
                pieces.append(Piece(part, is_content=number % 2 == 1))
        return pieces

    # Rendering --------------------------------------------------------------------------------

    def _render(
        self,
        system_prompt: str,
        observations: Sequence[str],
        replies: Sequence[dict[str, str]],
        *,
        is_finished: bool = False,
    ) -> str:
        if system_prompt and not self.has_system:
            observations = [f"{system_prompt}\n\n{observations[0]}", *observations[1:]]
            system_prompt = ""
        messages = conversation(system_prompt, observations, replies)
        return render(self._tokenizer, self.template, messages, is_finished=is_finished)

    def _marked(self, text: str) -> str:
        """Return a text with marks around it, inside its outer white space.

        A template may strip that.
        """
        text = self._encoder.clean(text)
        text = text.replace(_BEGIN, "\ufffd").replace(_END, "\ufffd")
        core = text.strip()
        if not core:
            return text
        start = text.index(core)
        return f"{text[:start]}{_BEGIN}{core}{_END}{text[start + len(core) :]}"

    def _message(self, completion: str) -> dict[str, str]:
        """Return a turn as the template takes it: its thought's tags are no content."""
        parts = Completion.parse(completion)
        if parts.thought is None:
            return {"content": self._marked(completion)}
        thought, answer = self._marked(parts.thought), self._marked(parts.answer)
        if self._key is not None:
            return {"content": answer.strip(), self._key: thought.strip()}
        return {"content": f"{parts.opening}{thought}{parts.closing}{answer}"}

    # Probes at load ---------------------------------------------------------------------------

    def _find_form(self) -> ReplyForm:
        start = self._probe(users=1)
        if self.has_system:
            split_at(start, _SYSTEM)
        tail = split_at(start, _USERS[0])[1]
        if split_at(self._probe(users=2), _USERS[1])[1] != tail:
            raise Unsuitable("it asks for later turns in another way than for the first")
        bare = self._behind(start, {"content": _ANSWER}).partition(_ANSWER)[0]
        opened = opened_by(tail)
        if not opened and CLOSING in tail:
            return ReplyForm(bare=bare, is_quiet=True)
        inline = self._behind(start, {"content": _INLINE})
        by_key, key = self._thought_of_its_own(start)
        turn = by_key or inline
        if turn.startswith(_INLINE):
            return ReplyForm(bare=bare)
        if _THOUGHT in turn:
            before, rest = split_at(turn, _THOUGHT)
            between = split_at(rest, _ANSWER)[0]
        elif opened:  # the template drops the thought of the last turn too
            before, between = "", f"\n{CLOSING}\n\n" if opened.endswith("\n") else CLOSING
        else:
            return ReplyForm(bare=bare)
        # Where both ways come to one thought, messages have it in their content, as texts do.
        if inline.count(OPENING) == by_key.count(OPENING):
            key = None
        return ReplyForm(bare or between * bool(opened), before, between, opened, key)

    def _thought_of_its_own(self, start: str) -> tuple[str, str | None]:
        """Return a turn whose thought is an entry of the message, and the entry's key."""
        for key in KEYS:
            turn = self._behind(start, {"content": _ANSWER, key: _THOUGHT})
            if _THOUGHT in turn:
                return turn, key
        return "", None

    def _find_turn_end(self) -> str:
        """Return the text behind the last turn, or else behind an earlier one."""
        reply = {"content": _ANSWER}
        finished = self._render(self._system, [_USERS[0]], [reply], is_finished=True)
        behind = split_at(finished, _ANSWER)[1].lstrip()
        return behind or split_at(self._probe(users=2), _ANSWER)[1].lstrip()

    @property
    def _system(self) -> str:
        return _SYSTEM if self.has_system else ""

    def _probe(self, *, users: int) -> str:
        replies = [{"content": _ANSWER}] * (users - 1)
        return self._render(self._system, _USERS[:users], replies)

    def _behind(self, start: str, reply: dict[str, str]) -> str:
        """Return a finished turn behind the generation prompt, empty if it stands elsewhere."""
        finished = self._render(self._system, [_USERS[0]], [reply], is_finished=True)
        return finished.removeprefix(start) if finished.startswith(start) else ""
