"""The teacher of on-policy distillation: the model that scores tokens, and its prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from trl.trainer.grpo_trainer import add_fused_lm_head

from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.models.loading import check_loaded, load_policy, resolve_model
from trainers.options.configs import SELF, ModelArguments
from trainers.options.errors import UsageError
from trainers.tokens.chat import ChatFormat
from trainers.trl_bridge.batch import Rows

KNOWN = "This task is solved by these actions, one a turn:\n{actions}"
"""The end of the instruction of a teacher that knows the expert."""


def open_teacher(trainer: Any, given: Any = None) -> Any:
    """Return a trainer's teacher, ready to score: a model on its device, or the policy itself.

    Args:
        trainer: an `AgentDistillTrainer`, whose `args` name the teacher.
        given: a loaded model in its place.

    Raises:
        TypeError: `given` is no model.
        UsageError: no teacher is named, its tokens are others than the policy's, or the policy is
            split among processes.
    """
    args = trainer.args
    name = args.teacher_model_name_or_path
    if (given is None) == (name is None):
        raise UsageError(
            "distillation needs one teacher; pass `teacher_model_name_or_path` with a model as "
            "`model` takes it, or self, or in Python a loaded one as teacher="
        )
    if name == SELF:
        return trainer.model
    if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
        raise UsageError(
            "the teacher is whole in each process, so DeepSpeed and FSDP are not supported; launch "
            "with plain data parallelism (accelerate's MULTI_GPU), or use "
            "`teacher_model_name_or_path=self`"
        )
    teacher = given
    if teacher is None:
        teacher, tokenizer = load_policy(
            ModelArguments(
                model_name_or_path=resolve_model(name),
                model_revision=args.teacher_model_revision,
                dtype=str(trainer.model.dtype).removeprefix("torch."),
            )
        )
        _check_tokens(name, tokenizer, trainer.processing_class)
    check_loaded(teacher)
    teacher.requires_grad_(False).eval()
    # As TRL prepares its reference, which is scored in the same passes.
    add_fused_lm_head(
        teacher,
        temperature=trainer.temperature,
        cast_lm_head_to_fp32=args.cast_lm_head_to_fp32,
    )
    return trainer.accelerator.prepare_model(teacher, evaluation_mode=True)


def _check_tokens(name: str, tokenizer: Any, policy_tokenizer: Any) -> None:
    """Check that a teacher reads the policy's ids as the same tokens."""
    theirs, own = tokenizer.get_vocab(), policy_tokenizer.get_vocab()
    other = next((token for token, id_ in own.items() if theirs.get(token) != id_), None)
    if other is not None:
        raise UsageError(
            f"the teacher {name} has another tokenizer than the policy: id {own[other]}, "
            f"{other!r} of the policy, is another token there; take a teacher of the policy's "
            "family"
        )


class Knowledge:
    """The prompts of a teacher that knows the expert's actions.

    Args:
        demonstrations: returns an expert's episode for each task, or None.
        chat: encodes prompts.
    """

    def __init__(
        self,
        demonstrations: Callable[[Sequence[str]], list[Trajectory | None]],
        chat: ChatFormat,
    ) -> None:
        self._demonstrations, self._chat = demonstrations, chat

    def prompts(
        self, rows: Rows, trajectories: Sequence[Trajectory]
    ) -> tuple[list[list[int]], float]:
        """Return each row's prompt as ids, and the share of episodes with the expert's actions.

        The actions stand at the end of the instruction. A task without a demonstration has the
        policy's own prompt.

        Raises:
            UsageError: the chat template does not keep the instruction where it was.
        """
        experts = self._demonstrations([one.task_id for one in trajectories])
        told = {
            number: self._first_prompts(trajectory, expert)
            for number, (trajectory, expert) in enumerate(zip(trajectories, experts, strict=True))
            if expert is not None and trajectory.turns
        }
        prompts = [
            exchanged(ids, *told[episode]) if trace is not None and episode in told else ids
            for ids, episode, trace in zip(
                rows.columns["prompt_ids"], rows.episode_of_row, rows.traces, strict=True
            )
        ]
        return prompts, len(told) / max(len(trajectories), 1)

    def _first_prompts(
        self, trajectory: Trajectory, expert: Trajectory
    ) -> tuple[list[int], list[int]]:
        """Return the start of an episode's prompts, without the expert's actions and with them."""
        instruction, first = trajectory.system_prompt, trajectory.whole().turns[0].observation
        actions = "\n".join(turn.action or turn.completion for turn in expert.whole().turns)
        known = f"{instruction}\n\n{KNOWN.format(actions=actions)}".strip()
        return self._chat.prompt_ids(instruction, first), self._chat.prompt_ids(known, first)


def exchanged(ids: list[int], before: list[int], after: list[int]) -> list[int]:
    """Return a prompt that begins as `after` in place of `before`.

    Both may end otherwise than the prompt: it begins as `before` does up to where the two begin to
    end alike.

    Args:
        ids: (P,) the prompt.
        before: (A,) a prompt with the same beginning.
        after: (B,) the same with another beginning.

    Raises:
        UsageError: the prompt begins otherwise.
    """
    shortest = min(len(before), len(after))
    end = next((n for n in range(shortest) if before[-1 - n] != after[-1 - n]), shortest)
    replaced = len(before) - end
    if ids[:replaced] != before[:replaced]:
        raise UsageError(
            "teacher_knows='expert' adds the expert's actions to the instruction, and a prompt of "
            "this chat template and history does not begin with it; pass teacher_knows='nothing', "
            "or a chat template with a system message"
        )
    return after[: len(after) - end] + ids[replaced:]
