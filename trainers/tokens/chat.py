"""From chat messages to token ids that are only ever appended to.

The template is read once, at load, for the text around messages. From then on a conversation grows
by the ids of its new turn; what the policy sampled is never rendered or encoded again. Templates
that change earlier turns are rendered again in each (`RenderedChat`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from transformers import PreTrainedTokenizerBase

from agentgym_envs.trajectories.trajectory import TokenTrace, Trajectory, Turn
from trainers.history.views import History, LastTurns, View, next_view
from trainers.tokens.chat_template import TemplateParts, Unsuitable, probe_template
from trainers.tokens.encoding import Piece, PieceEncoder
from trainers.tokens.rendering import Rendering
from trainers.tokens.replies import CLOSING, ReplyForm, opened_by
from trainers.tokens.template_settings import read_variables, with_settings

CHATML_TEMPLATE = (
    "{% for message in messages %}"
    "{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
"""A template that leaves every earlier turn as it is, the remedy for one that does not."""

ALL_TURNS = LastTurns()
"""The history in which a turn sees all before it."""

_THINKING = ("enable_thinking", "thinking", "reasoning_effort")
"""Variables of templates that turn thinking on or off."""

REMEDY = (
    "pass `chat_template=FILE`, or in Python set tokenizer.chat_template, e.g. to "
    "trainers.CHATML_TEMPLATE"
)


class ChatFormat:
    """Turns messages into ids, one new turn at a time.

    A turn's text and the template around it are encoded in one go, so that the ids are those of
    `apply_chat_template`. What messages hold never becomes a special id (`encoding`).

    Args:
        tokenizer: the policy's.
        frames: the template's text around messages.
        form: how a turn of the policy is written.

    Attributes:
        template: the Jinja template.
        stop_ids: the ids that end a turn; the first one is the template's own.

    Raises:
        ValueError: the template has no end-of-turn token.
        Unsuitable: new turns cannot be appended as ids.
    """

    rewrites_history = False
    """Earlier turns change as a conversation grows, so that a turn may begin a new trace."""

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerBase,
        frames: TemplateParts,
        form: ReplyForm | None = None,
    ) -> None:
        self.tokenizer = tokenizer
        self.frames = frames
        self.template = frames.template
        self.form = ReplyForm() if form is None else form
        self.encoder = PieceEncoder(tokenizer)
        self.stop_ids = find_stop_ids(self.encoder, frames.policy_to_user)
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
        that keeps them, where TRL has one. Of others that change earlier turns, each turn's prompt
        is rendered again (`RenderedChat`).

        Args:
            tokenizer: the policy's.
            chat_template: use this template in place of the tokenizer's own.
            template_kwargs: variables of the template, e.g. `{"enable_thinking": False}`.

        Raises:
            ValueError: there is no template, it cannot be used, or it reads no such variable.
        """
        template = require_template(tokenizer) if chat_template is None else chat_template
        template = with_settings(template, template_kwargs or {})
        try:
            frames = probe_template(tokenizer, template)
            return ChatFormat(tokenizer, frames, _form_of(tokenizer, frames))
        except Unsuitable as error:
            return RenderedChat.from_template(tokenizer, template, reason=str(error))

    @property
    def thinks(self) -> bool:
        """The template opens a thought, has markup for one, or has a variable to turn it off."""
        if self.form.is_quiet:
            return False
        readable = read_variables(self.template)
        return bool(self.form.opened or self.form.key or readable & set(_THINKING))

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
            pieces = [
                Piece(frames.first_user),
                self.encoder.content(observation, trim=frames.trims_user),
            ]
        else:
            pieces = [
                Piece(frames.system),
                self.encoder.content(system_prompt, trim=frames.trims_system),
                Piece(frames.system_to_user),
                self.encoder.content(observation, trim=frames.trims_user),
            ]
        return self.encoder.encode([*pieces, Piece(frames.user_to_policy)])

    def observation_ids(self, observation: str, *, closed: bool) -> list[int]:
        """Encode the text between the policy's last sampled id and its next one.

        Args:
            observation: the environment's answer.
            closed: the policy's turn ended with a stop id; otherwise the ids that end a turn come
                first, as given tokens.

        Returns:
            (N,) ids.
        """
        frames = self.frames
        content = self.encoder.content(observation, trim=frames.trims_user)
        ids = self.encoder.encode(
            [Piece(frames.policy_to_user), content, Piece(frames.user_to_policy)]
        )
        return ids[1:] if closed else ids

    def action_ids(self, completion: str) -> list[int]:
        """Encode a turn that the policy did not sample, its stop id included.

        A thought that the template opens is closed, and one that the text has is not opened twice.
        """
        written = self.form.write(completion, self.encoder)
        return [*self.encoder.encode(written), self.stop_ids[0]]

    def decode(self, ids: list[int]) -> str:
        """Return the text of a sampled turn without its stop id, with its thought's beginning."""
        end = len(ids)
        if end and ids[-1] in self.stop_ids:
            end -= 1
        text = self.tokenizer.decode(
            ids[:end], skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return self.form.read(str(text))

    def view_ids(
        self, trajectory: Trajectory, view: View, sampled: Sequence[list[int]]
    ) -> list[int]:
        """Encode a turn's view, up to where the policy's turn begins.

        Args:
            trajectory: the episode.
            view: the view.
            sampled: the ids of each turn, its stop id included.

        Returns:
            (P,) ids; those of the turns in view are as they were sampled.
        """
        ids = self.prompt_ids(view.system_prompt(trajectory), view.observations[0])
        for turn, observation in zip(view.turns, view.observations[1:], strict=True):
            if isinstance(turn, str):
                own = self.action_ids(turn)
            else:
                own = [] if turn is None else sampled[turn]
            closed = bool(own) and own[-1] in self.stop_ids
            ids += own + self.observation_ids(observation, closed=closed)
        return ids

    def ids_after(self, trajectory: Trajectory, history: History = ALL_TURNS) -> list[int]:
        """Return the ids of the policy's next view, after an episode with traces."""
        ids, whole = self.turn_ids(trajectory.prefix, trajectory.traces), trajectory.whole()
        return self.view_ids(whole, next_view(history, whole), ids)

    def turn_ids(self, prefix: Sequence[Turn], traces: Sequence[TokenTrace]) -> list[list[int]]:
        """Return the ids of each turn: encoded of an expert's, then as they were sampled."""
        given = [self.action_ids(turn.completion) for turn in prefix]
        return given + [ids for trace in traces for ids in trace.sampled_turns()]

    def encode_trajectory(
        self, trajectory: Trajectory, history: History = ALL_TURNS
    ) -> list[TokenTrace]:
        """Encode an episode whose turns are known as text only, such as an expert's.

        Args:
            trajectory: the episode.
            history: selects views; a view that continues the last trace extends it, another one
                begins a trace.

        Returns:
            The traces in which something is trained, or the first one. `action_mask` is 1 on the
            text and stop id of every turn but those that are not `trained`; logprobs are 0.
        """
        instruction = history.instruction(trajectory.system_prompt)
        traces: list[TokenTrace] = []
        sampled: list[list[int]] = []
        for index, turn in enumerate(trajectory.turns):
            so_far = replace(
                trajectory,
                system_prompt=instruction,
                turns=trajectory.turns[:index],
                final_observation=turn.observation,
            )
            grow(traces, self.view_ids(so_far, next_view(history, so_far), sampled))
            ids = self.action_ids(turn.completion)
            if turn.trained:
                traces[-1].append_action(ids, [0.0] * len(ids))
            else:
                traces[-1].append_given(ids)
            sampled.append(ids)
        if not traces:
            return [TokenTrace(self.prompt_ids(instruction, trajectory.final_observation))]
        return [trace for trace in traces if any(trace.action_mask)] or traces[:1]

    def tokenize_trajectory(
        self, trajectory: Trajectory, history: History = ALL_TURNS
    ) -> list[TokenTrace]:
        """Return an episode's tokens: as recorded, or encoded where there are none of this format.

        An episode with a turn that is not `trained` is encoded too: records have no mask for it.

        Args:
            trajectory: the episode.
            history: what a turn sees of an episode that is encoded.
        """
        trajectory = trajectory.whole()
        traces = trajectory.traces
        if not trajectory.turns or not all(turn.trained for turn in trajectory.turns):
            return self.encode_trajectory(trajectory, history)
        prompt_ids = self.prompt_ids(trajectory.system_prompt, trajectory.turns[0].observation)
        if not traces or traces[0].prompt_ids != prompt_ids:
            return self.encode_trajectory(trajectory, history)
        return list(traces)

    # Checks at load ---------------------------------------------------------------------------

    def _check_appending(self) -> None:
        observations = ["You see a door.", "It is locked."]
        rendered = self.frames.render(self.tokenizer, "Rules.", observations, ["open door"])
        whole = self.encoder.encode_markup(rendered)
        new = self.observation_ids(observations[1], closed=True)
        # The policy's own turn is left out: its ids are sampled, and need not be the tokenizer's.
        if whole[-len(new) :] != new:
            raise Unsuitable(
                f"the tokenizer merges text across the borders of turns: a new turn's ids {new} "
                f"are not the end of the rendered conversation's {whole}"
            )


def grow(traces: list[TokenTrace], prompt_ids: list[int]) -> None:
    """Append to the last trace up to (P,) ids that continue it, or begin a new trace."""
    known = traces[-1].ids if traces else None
    if known is not None and prompt_ids[: len(known)] == known:
        traces[-1].append_given(prompt_ids[len(known) :])
    else:
        traces.append(TokenTrace(list(prompt_ids)))


def require_template(tokenizer: PreTrainedTokenizerBase) -> str:
    """Return a tokenizer's chat template, or raise `ValueError` if it has none."""
    if not tokenizer.chat_template:
        raise ValueError(
            f"the tokenizer has no chat template; {REMEDY}, or load an instruct model's tokenizer"
        )
    return str(tokenizer.get_chat_template())


def find_stop_ids(encoder: PieceEncoder, turn_end: str, *, within: str = "") -> tuple[int, ...]:
    """Return the ids that end a turn: the template's, and the tokenizer's end of text.

    Args:
        encoder: the tokenizer's.
        turn_end: the text behind a turn.
        within: markup within a turn. A token of it ends no turn; then the end of text does.

    Raises:
        ValueError: no special token ends a turn.
    """
    end_of_turn = encoder.starts_with_special(turn_end)
    if end_of_turn in encoder.encode_markup(within):
        end_of_turn = encoder.tokenizer.eos_token_id
    if end_of_turn is None:
        raise ValueError(
            f"the chat template ends a turn with {turn_end!r}, which starts with no special token, "
            f"so a turn's end cannot be sampled; {REMEDY}, which has such a token"
        )
    eos = encoder.tokenizer.eos_token_id
    return (end_of_turn,) if eos is None or eos == end_of_turn else (end_of_turn, eos)


def _form_of(tokenizer: PreTrainedTokenizerBase, frames: TemplateParts) -> ReplyForm:
    """Return how turns are written: as texts have them, unless the template opens a thought."""
    end = frames.user_to_policy
    if not opened_by(end) and CLOSING not in end:
        return ReplyForm()
    has_system = frames.system is not None
    return Rendering(tokenizer, frames.template, has_system=has_system).form


class RenderedChat(ChatFormat):
    """Turns conversations into ids, the whole of them at every turn.

    A turn is recorded as it was sampled, and later turns see its text as the template renders it.
    The trace grows if that is the same; otherwise a new one begins, so that each sampled token is
    trained behind exactly its context when it was sampled.

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
    def from_template(
        cls, tokenizer: PreTrainedTokenizerBase, template: str, *, reason: str
    ) -> RenderedChat:
        """Return the chats of a template to which ids cannot be appended, for this `reason`.

        Raises `ValueError` if conversations cannot be rendered either.
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
        """Encode a conversation up to the policy's next turn, as (P,) ids."""
        pieces = self.rendering.pieces(system_prompt, observations, completions)
        return self.encoder.encode(pieces, cached=not completions)

    def view_ids(
        self, trajectory: Trajectory, view: View, sampled: Sequence[list[int]]
    ) -> list[int]:
        """Render a turn's view, as in `ChatFormat.view_ids`, with the turns' texts."""
        instruction = view.system_prompt(trajectory)
        return self.conversation_ids(instruction, view.observations, view.completions(trajectory))

    def prompt_ids(self, system_prompt: str, observation: str) -> list[int]:
        """Encode the start of a conversation, up to where the policy's first turn begins."""
        return self.conversation_ids(system_prompt, [observation], [])

    def observation_ids(self, observation: str, *, closed: bool) -> list[int]:
        """Raise an error, for `conversation_ids` encodes whole conversations alone."""
        raise TypeError("the chat template rewrites earlier turns, so no ids can be appended")
