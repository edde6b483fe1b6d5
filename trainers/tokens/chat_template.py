"""Reads a chat template: the text around messages, and whether it leaves history alone."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jinja2.exceptions import TemplateError
from transformers import PreTrainedTokenizerBase

from trainers.tokens.template_settings import read_variables, split_settings, with_settings

_SYSTEM, _POLICY = "Qprobesystem", "Qprobereply"
_USERS = ("Qprobefirst", "Qprobesecond", "Qprobethird")
_THOUGHT = "Qprobethought"
_WRITTEN_THOUGHT = f"<think>\n{_THOUGHT}\n</think>\n\n"
KEYS = ("thinking", "reasoning_content", "reasoning")
"""The entries of a message that templates look for a thought in, besides its content."""
_EMPTY_THOUGHT = re.compile(r"\s*(<think>\s*</think>\s*)?")


class Unsuitable(ValueError):
    """A template cannot be used in this way, for the reason in the message."""


@dataclass(frozen=True)
class TemplateParts:
    """The text around messages: a conversation is these, with the messages in between.

    Attributes:
        system: before the system prompt; None where the template has no system role.
        system_to_user: between the system prompt and the first user message.
        first_user: before the first user message of a conversation without a system prompt.
        user_to_policy: between a user message and the policy's turn.
        policy_to_user: between the policy's turn and the next user message; it starts with the
            token that ends a turn.
        trims_system, trims_user: the template strips white space around these messages.
        template: the Jinja template.
    """

    system: str | None
    system_to_user: str
    first_user: str
    user_to_policy: str
    policy_to_user: str
    trims_system: bool
    trims_user: bool
    template: str

    def render(
        self,
        tokenizer: PreTrainedTokenizerBase,
        system_prompt: str,
        observations: list[str],
        completions: list[str],
    ) -> str:
        """Render a conversation by the template, up to the policy's next turn."""
        if self.system is None and system_prompt:
            observations = [f"{system_prompt}\n\n{observations[0]}", *observations[1:]]
            system_prompt = ""
        replies = [{"content": completion} for completion in completions]
        return render(tokenizer, self.template, conversation(system_prompt, observations, replies))


def probe_template(tokenizer: PreTrainedTokenizerBase, template: str) -> TemplateParts:
    """Find the text around messages of a template, or raise `Unsuitable` if it changes turns."""
    reasons = []
    for variant in _variants(tokenizer, template):
        for key, has_system in itertools.product((None, *KEYS), (True, False)):
            try:
                return _Probe(tokenizer, variant, has_system=has_system, key=key).frames()
            except (Unsuitable, TemplateError) as error:
                reasons.append(str(error))
    raise Unsuitable(reasons[0])


def _variants(tokenizer: PreTrainedTokenizerBase, template: str) -> Iterator[str]:
    """Yield a template, and TRL's variant of it that keeps thoughts, where TRL has one."""
    yield template
    # TRL is loaded only for templates that fail as they are.
    from trl.chat_template_utils import get_training_chat_template

    values, bare = split_settings(template)
    own, tokenizer.chat_template = tokenizer.chat_template, bare
    try:
        variant: str | None = get_training_chat_template(tokenizer)
    except (ValueError, TemplateError):  # TRL knows no variant of this template
        return
    finally:
        tokenizer.chat_template = own
    if variant is not None:
        # A variant that always keeps thoughts does not ask whether to.
        readable = read_variables(variant)
        yield with_settings(variant, {k: v for k, v in values.items() if k in readable})


def conversation(
    system_prompt: str, observations: Sequence[str], replies: Sequence[Mapping[str, str]]
) -> list[dict[str, str]]:
    """Return the messages of a conversation, each reply behind the observation of its place.

    There is no system message for an empty `system_prompt`. Replies have no role yet.
    """
    messages = [{"role": "system", "content": system_prompt}] if system_prompt else []
    for index, observation in enumerate(observations):
        messages.append({"role": "user", "content": observation})
        if index < len(replies):
            messages.append({"role": "assistant", **replies[index]})
    return messages


def render(
    tokenizer: PreTrainedTokenizerBase,
    template: str,
    messages: list[dict[str, str]],
    *,
    is_finished: bool = False,
) -> str:
    """Render messages by a template, up to the policy's next turn unless `is_finished`."""
    text = tokenizer.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=not is_finished, chat_template=template
    )
    return str(text)


class _Probe:
    """Renders conversations of marker words and finds the text between the markers."""

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        template: str,
        *,
        has_system: bool,
        key: str | None,
    ) -> None:
        self.tokenizer = tokenizer
        self.template = template
        self.key = key
        self.has_system = has_system

    def frames(self) -> TemplateParts:
        """Return the template's frames, or raise `Unsuitable` if none can be appended to."""
        start = self._text([], users=1)
        user = _USERS[0]
        before_user, user_to_policy = split_at(start, user)
        system, system_to_user = split_at(before_user, _SYSTEM) if self.has_system else (None, "")
        policy_to_user = self._grow(start, user_to_policy)
        bare = self._bare_start() if self.has_system else start
        return TemplateParts(
            system=system,
            system_to_user=system_to_user,
            first_user=split_at(bare, user)[0],
            user_to_policy=user_to_policy,
            policy_to_user=policy_to_user,
            trims_system=self.has_system and self._trims(start, _SYSTEM),
            trims_user=self._trims(start, user),
            template=self.template,
        )

    def _grow(self, start: str, user_to_policy: str) -> str:
        """Return the text from a policy turn to the next user message, after checking growth."""
        replies = [_POLICY, _WRITTEN_THOUGHT + _POLICY]
        if "</think>" in user_to_policy:  # thinking is turned off
            replies = [_POLICY]
        elif "<think>" in user_to_policy:  # the policy's thought is opened for it
            replies = [_WRITTEN_THOUGHT + _POLICY]
        texts = {self._between(start, user_to_policy, reply) for reply in replies}
        if len(texts) > 1:
            raise Unsuitable("it ends turns with a thought in another way")
        return texts.pop()

    def _between(self, start: str, user_to_policy: str, reply: str) -> str:
        second = self._text([reply], users=2)
        third = self._text([reply, reply], users=3)
        if not second.startswith(start) or not third.startswith(second):
            raise Unsuitable(
                "it renders a conversation, and its continuation with another beginning"
            )
        turn, rest = split_at(second[len(start) :], _POLICY)
        written = start + turn + _POLICY
        filler = written.removesuffix(reply).removeprefix(start)
        if not written.endswith(reply) or not _is_filler(filler, start):
            raise Unsuitable("it does not give earlier policy turns back as they were written")
        between, tail = split_at(rest, _USERS[1])
        if tail != user_to_policy:
            raise Unsuitable("it renders later user messages in another way than the first")
        if third != f"{second}{turn}{_POLICY}{between}{_USERS[2]}{user_to_policy}":
            raise Unsuitable("it renders the third turn in another way than the second")
        return between

    def _bare_start(self) -> str:
        return self._render("", [_USERS[0]], [])

    def _text(self, replies: list[str], *, users: int) -> str:
        return self._render(_SYSTEM if self.has_system else "", list(_USERS[:users]), replies)

    def _trims(self, start: str, marker: str) -> bool:
        padded = f" \n {marker} \n "
        system = (padded if marker == _SYSTEM else _SYSTEM) if self.has_system else ""
        user = padded if marker == _USERS[0] else _USERS[0]
        text = self._render(system, [user], [])
        if text not in (start, start.replace(marker, padded)):
            raise Unsuitable("it changes the white space of messages in its own way")
        return text == start

    def _render(self, system_prompt: str, users: list[str], replies: list[str]) -> str:
        messages = conversation(system_prompt, users, list(map(self._message, replies)))
        return render(self.tokenizer, self.template, messages)

    def _message(self, reply: str) -> dict[str, str]:
        if self.key is not None and reply.startswith(_WRITTEN_THOUGHT):
            return {"content": _POLICY, self.key: _THOUGHT}
        return {"content": reply}


def _is_filler(text: str, start: str) -> bool:
    """Return whether text that the template puts before a policy turn of its own is harmless.

    Either an empty thought (the policy samples its own), or nothing: then `text` is cut within
    `start`, whose end may already hold the beginning of the turn.
    """
    return start.startswith(text) or _EMPTY_THOUGHT.fullmatch(text) is not None


def split_at(text: str, marker: str) -> tuple[str, str]:
    """Return the text before and behind a marker, or raise `Unsuitable` unless it occurs once."""
    parts = text.split(marker)
    if len(parts) != 2:
        raise Unsuitable(f"it renders a message {len(parts) - 1} times instead of once")
    return parts[0], parts[1]
