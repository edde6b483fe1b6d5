"""Reads a chat template: the text around messages, and whether it leaves history alone."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from jinja2.exceptions import TemplateError
from transformers import PreTrainedTokenizerBase

_SYSTEM, _POLICY = "Qprobesystem", "Qprobereply"
_USERS = ("Qprobefirst", "Qprobesecond", "Qprobethird")
_THOUGHT = "<think>\nQprobethought\n</think>\n\n"
_EMPTY_THOUGHT = re.compile(r"\s*(<think>\s*</think>\s*)?")


class _Unsuitable(ValueError):
    """A template cannot be appended to; the message says why."""


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
        variables: what it is rendered with besides the messages.
    """

    system: str | None
    system_to_user: str
    first_user: str
    user_to_policy: str
    policy_to_user: str
    trims_system: bool
    trims_user: bool
    template: str
    variables: dict[str, Any] = field(default_factory=dict)

    def render(
        self,
        tokenizer: PreTrainedTokenizerBase,
        system_prompt: str,
        observations: list[str],
        completions: list[str],
    ) -> str:
        """Let the template itself render a conversation that waits for the policy's next turn."""
        if self.system is None and system_prompt:
            observations = [f"{system_prompt}\n\n{observations[0]}", *observations[1:]]
            system_prompt = ""
        messages = _conversation(system_prompt, observations, completions)
        return _render(tokenizer, self.template, self.variables, messages)


def probe_template(
    tokenizer: PreTrainedTokenizerBase, chat_template: str | None, variables: dict[str, Any]
) -> TemplateParts:
    """Find the text around messages of a template that leaves earlier turns alone.

    Args:
        tokenizer: gives the template where `chat_template` is None.
        chat_template: a Jinja template.
        variables: further variables of the template.

    Raises:
        ValueError: there is no template, or it changes earlier turns.
    """
    if chat_template is None:
        if not tokenizer.chat_template:
            raise ValueError(
                "the tokenizer has no chat template; set tokenizer.chat_template, e.g. to "
                "trainers.tokens.chat.CHATML_TEMPLATE, or load an instruct model's tokenizer"
            )
        chat_template = tokenizer.get_chat_template()
    reasons = []
    for template in (chat_template, _kept_thoughts(tokenizer, chat_template)):
        for has_system in (True, False):
            if template is None:
                continue
            try:
                return _Probe(tokenizer, template, variables, has_system=has_system).frames()
            except (_Unsuitable, TemplateError) as error:
                reasons.append(str(error))
    raise ValueError(
        f"the chat template changes earlier turns as a conversation grows ({reasons[0]}), so ids "
        f"cannot be appended turn by turn; set tokenizer.chat_template, or pass chat_template=, to "
        f"a variant that leaves earlier turns as they were, e.g. trainers.CHATML_TEMPLATE"
    )


def _kept_thoughts(tokenizer: PreTrainedTokenizerBase, chat_template: str) -> str | None:
    # TRL is loaded only for templates that fail as they are.
    from trl.chat_template_utils import get_training_chat_template

    own, tokenizer.chat_template = tokenizer.chat_template, chat_template
    try:
        variant: str | None = get_training_chat_template(tokenizer)
    except (ValueError, TemplateError):  # TRL knows no variant of this template
        return None
    finally:
        tokenizer.chat_template = own
    return variant


def _conversation(
    system_prompt: str, observations: list[str], completions: list[str]
) -> list[dict[str, str]]:
    messages = [{"role": "system", "content": system_prompt}] if system_prompt else []
    for index, observation in enumerate(observations):
        messages.append({"role": "user", "content": observation})
        if index < len(completions):
            messages.append({"role": "assistant", "content": completions[index]})
    return messages


def _render(
    tokenizer: PreTrainedTokenizerBase,
    template: str,
    variables: dict[str, Any],
    messages: list[dict[str, str]],
) -> str:
    text = tokenizer.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=True, chat_template=template, **variables
    )
    return str(text)


class _Probe:
    """Renders conversations of marker words and finds the text between the markers."""

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        template: str,
        variables: dict[str, Any],
        *,
        has_system: bool,
    ) -> None:
        self.tokenizer = tokenizer
        self.template = template
        self.variables = variables
        self.has_system = has_system

    def frames(self) -> TemplateParts:
        """Return the template's frames.

        Raises:
            _Unsuitable: the template cannot be appended to.
        """
        start = self._text([], users=1)
        user = _USERS[0]
        before_user, user_to_policy = _split(start, user)
        system, system_to_user = _split(before_user, _SYSTEM) if self.has_system else (None, "")
        policy_to_user = self._grow(start, user_to_policy)
        bare = self._bare_start() if self.has_system else start
        return TemplateParts(
            system=system,
            system_to_user=system_to_user,
            first_user=_split(bare, user)[0],
            user_to_policy=user_to_policy,
            policy_to_user=policy_to_user,
            trims_system=self.has_system and self._trims(start, _SYSTEM),
            trims_user=self._trims(start, user),
            template=self.template,
            variables=self.variables,
        )

    def _grow(self, start: str, user_to_policy: str) -> str:
        """Return the text from a policy turn to the next user message, after checking growth."""
        replies = [_POLICY, _THOUGHT + _POLICY]
        if "</think>" in user_to_policy:  # the policy is told not to think
            replies = [_POLICY]
        elif "<think>" in user_to_policy:  # the policy's thought is opened for it
            replies = [_THOUGHT + _POLICY]
        texts = {self._between(start, user_to_policy, reply) for reply in replies}
        if len(texts) > 1:
            raise _Unsuitable("it ends turns with a thought in another way")
        return texts.pop()

    def _between(self, start: str, user_to_policy: str, reply: str) -> str:
        second = self._text([reply], users=2)
        third = self._text([reply, reply], users=3)
        if not second.startswith(start) or not third.startswith(second):
            raise _Unsuitable("what it renders of a conversation is no prefix of the longer one's")
        turn, rest = _split(second[len(start) :], _POLICY)
        written = start + turn + _POLICY
        filler = written.removesuffix(reply).removeprefix(start)
        if not written.endswith(reply) or not _is_filler(filler, start):
            raise _Unsuitable("it does not give earlier policy turns back as they were written")
        between, tail = _split(rest, _USERS[1])
        if tail != user_to_policy:
            raise _Unsuitable("it renders later user messages in another way than the first")
        if third != f"{second}{turn}{_POLICY}{between}{_USERS[2]}{user_to_policy}":
            raise _Unsuitable("it renders the third turn in another way than the second")
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
            raise _Unsuitable("it changes the white space of messages in its own way")
        return text == start

    def _render(self, system_prompt: str, users: list[str], replies: list[str]) -> str:
        messages = _conversation(system_prompt, users, replies)
        return _render(self.tokenizer, self.template, self.variables, messages)


def _is_filler(text: str, start: str) -> bool:
    """Return whether text that the template puts before a policy turn of its own is harmless.

    Either an empty thought (the policy samples its own), or nothing: then `text` is cut within
    `start`, whose end may already hold the beginning of the turn.
    """
    return start.startswith(text) or _EMPTY_THOUGHT.fullmatch(text) is not None


def _split(text: str, marker: str) -> tuple[str, str]:
    parts = text.split(marker)
    if len(parts) != 2:
        raise _Unsuitable(f"it renders a message {len(parts) - 1} times instead of once")
    return parts[0], parts[1]
