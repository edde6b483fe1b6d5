"""The teacher of on-policy distillation: the model that scores tokens, and its prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import torch
from trl.trainer.grpo_trainer import add_fused_lm_head

from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.backends.vllm_server import VLLMServerBackend
from trainers.models.loading import check_loaded, describe_policy, load_policy, resolve_model
from trainers.options.configs import SELF, ModelArguments
from trainers.options.errors import UsageError
from trainers.tokens.chat import ChatFormat
from trainers.trl_bridge.batch import Rows
from trainers.trl_bridge.loss import PolicyMeasures

KNOWN = "This task is solved by these actions, one a turn:\n{actions}"
"""The end of the instruction of a teacher that knows the expert."""
_SAMPLE = "Take 2 oak planks, open the red door [7], then search[Zurich 1848]."
"""A text that two tokenizers hardly write with the same ids."""


class Teacher(Protocol):
    """A model that scores the policy's tokens."""

    title: str
    """For the run's plan."""

    def logps(self, batch: dict[str, Any], prompts: Sequence[list[int]] | None) -> torch.Tensor:
        """Return (R, T) nats, the log-probabilities of a batch's completion tokens.

        `prompts` are the ids that it reads in place of the batch's R prompts.
        """


class ModelTeacher:
    """A loaded model as the teacher, or the policy itself."""

    def __init__(self, trainer: Any, model: Any, title: str) -> None:
        self._trainer, self.model, self.title = trainer, model, title

    def logps(self, batch: dict[str, Any], prompts: Sequence[list[int]] | None) -> torch.Tensor:
        """Return (R, T) log-probabilities in nats, as in `Teacher`."""
        measures: PolicyMeasures = self._trainer.measures
        return measures.logps_by(self.model, batch, prompts)


class ServedTeacher:
    """The model of a vLLM server as the teacher. An outage is waited for."""

    def __init__(self, trainer: Any) -> None:
        self._retry = trainer.machinery.retry
        address, tokenizer = trainer.args.teacher_model_name_or_path, trainer.processing_class
        self._server = self._retry(lambda: VLLMServerBackend(address))
        self.title = f"{self._server.name} on a server"
        ids = tokenizer.encode(_SAMPLE, add_special_tokens=False)
        read = self._retry(lambda: self._server.decode(ids))
        _check_tokens(self._server.name, read == tokenizer.decode(ids))

    def logps(self, batch: dict[str, Any], prompts: Sequence[list[int]] | None) -> torch.Tensor:
        """Return (R, T) log-probabilities in nats, as in `Teacher`."""
        if prompts is None:
            prompts = _unpadded(batch["prompt_ids"], batch["prompt_mask"])
        completions = _unpadded(batch["completion_ids"], batch["completion_mask"])
        rows = [prompt + own for prompt, own in zip(prompts, completions, strict=True)]
        logps = torch.zeros_like(batch["completion_ids"], dtype=torch.float32)
        scored = self._retry(lambda: self._server.score(rows))
        for row, (values, own) in enumerate(zip(scored, completions, strict=True)):
            logps[row, : len(own)] = logps.new_tensor(values[len(values) - len(own) :])
        return logps


def _unpadded(ids: torch.Tensor, mask: torch.Tensor) -> list[list[int]]:
    return [row[held.bool()].tolist() for row, held in zip(ids, mask, strict=True)]


def open_teacher(trainer: Any, given: Any = None) -> Teacher:
    """Return a trainer's teacher, ready to score.

    Args:
        trainer: an `AgentDistillTrainer`, whose `args` name the teacher.
        given: a loaded model in its place.

    Raises:
        TypeError: `given` is no model.
        UsageError: no teacher is named, its tokens are others than the policy's, it is the policy
            itself, or the policy is split among processes.
    """
    args = trainer.args
    name = args.teacher_model_name_or_path
    if (given is None) == (name is None):
        raise UsageError(
            "distillation needs one teacher; pass `teacher_model_name_or_path` with a model as "
            "`model` takes it, a vLLM server's address, or self, or in Python a loaded one as "
            "teacher="
        )
    if name == SELF:
        return ModelTeacher(trainer, trainer.model, "the policy as it is")
    if args.has_served_teacher:
        return ServedTeacher(trainer)
    if trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled:
        raise UsageError(
            "a teacher beside the policy is whole in each process, so DeepSpeed and FSDP are not "
            "supported; launch with plain data parallelism (accelerate's MULTI_GPU), or serve the "
            "teacher by `vllm serve` and pass its address"
        )
    model = given
    if model is None:
        model, tokenizer = load_policy(
            ModelArguments(
                model_name_or_path=resolve_model(name),
                model_revision=args.teacher_model_revision,
                dtype=str(trainer.model.dtype).removeprefix("torch."),
            )
        )
        theirs, own = tokenizer.get_vocab(), trainer.processing_class.get_vocab()
        _check_tokens(name, all(theirs.get(token) == id_ for token, id_ in own.items()))
    check_loaded(model)
    if not {*model.parameters()}.isdisjoint(trainer.model.parameters()):
        raise UsageError(
            "teacher has weights of the policy itself, which training changes; pass a copy of the "
            "model (copy.deepcopy), or teacher_model_name_or_path='self' for the policy as it is"
        )
    model.requires_grad_(False).eval()
    # As TRL prepares its reference, which is scored in the same passes.
    add_fused_lm_head(
        model, temperature=trainer.temperature, cast_lm_head_to_fp32=args.cast_lm_head_to_fp32
    )
    title = describe_policy(model)
    prepared = trainer.accelerator.prepare_model(model, evaluation_mode=True)
    return ModelTeacher(trainer, prepared, title)


def _check_tokens(name: str, are_the_policys: bool) -> None:
    if not are_the_policys:
        raise UsageError(
            f"the teacher {name} has another tokenizer than the policy, so it would read other "
            "words; take a teacher of the policy's family"
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
        knowing = {
            number: self._first_prompts(trajectory, expert)
            for number, (trajectory, expert) in enumerate(zip(trajectories, experts, strict=True))
            if expert is not None and trajectory.turns
        }
        prompts = [
            exchanged(ids, *knowing[episode]) if trace is not None and episode in knowing else ids
            for ids, episode, trace in zip(
                rows.columns["prompt_ids"], rows.episode_of_row, rows.traces, strict=True
            )
        ]
        return prompts, len(knowing) / max(len(trajectories), 1)

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
