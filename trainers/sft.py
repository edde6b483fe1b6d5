"""Supervised fine-tuning on episodes: TRL's `SFTTrainer`, and `agentgym train sft`.

An episode's sampled or written turns are the labels, stop ids included; instruction, observations
and template tokens never are. Recorded tokens are taken as they were sampled. Episodes known as
text only are encoded once.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from trl import SFTConfig, SFTTrainer

from agentgym_envs.core.tasks import scenario_name
from agentgym_envs.core.text import counted
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.collect import expert_episodes, read_data_files
from trainers.command import parse_training, refusing, running, train_and_save
from trainers.evaluation.offline import watch_by_playing
from trainers.history.views import History
from trainers.models.loading import (
    adapter_config,
    context_length,
    load_policy,
    with_tokenizer,
)
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.checks import check_given
from trainers.options.configs import derive_evaluation
from trainers.options.errors import UsageError, check_kind, run_command
from trainers.options.offline import AgentSFTConfig, DataArguments
from trainers.policies.open import open_environments
from trainers.rollout.environments import (
    Environments,
    build_mixture,
    environment_check,
    order_seed,
)
from trainers.rollout.mixtures import Mixture
from trainers.tokens.chat import ALL_TURNS, ChatFormat
from trainers.trl_bridge import labelled_dataset, saved_order
from trainers.trl_bridge.run import RunMixin
from wrappers import FailureRules

logger = logging.getLogger(__name__)


def token_rows(
    trajectories: Iterable[Trajectory],
    chat: ChatFormat,
    *,
    unsuccessful: bool = False,
    max_tokens: int | None = None,
    env_history: Callable[[str], History] = lambda env_id: ALL_TURNS,
) -> list[dict[str, Any]]:
    """Turn trajectories into rows for `trainers.trl_bridge.labelled_dataset`.

    A row has `input_ids` (T,), `action_mask` (T,), 1 on the policy's own tokens, `scenario`,
    `env_id`, and `episode`, the trajectory's index. An episode whose turns see different histories
    has several. Recorded tokens are used if they are this chat format's; text is encoded otherwise.
    Failed episodes are left out.

    Args:
        trajectories: the episodes.
        chat: the policy's chat format.
        unsuccessful: keep episodes without success.
        max_tokens: leave out longer sequences.
        env_history: returns the history of an environment's episodes, for those that are encoded.

    Raises:
        ValueError: no episode is left.
    """
    rows: list[dict[str, Any]] = []
    total = too_long = 0
    for index, trajectory in enumerate(trajectories):
        remedy = "read a file by list(agentgym_envs.read_jsonl(path))"
        check_kind("an episode of trajectories", trajectory, Trajectory, remedy=remedy)
        total = index + 1
        if trajectory.status == "failed" or not (trajectory.success or unsuccessful):
            continue
        if not trajectory.turns:
            continue
        history = env_history(trajectory.env_id)
        for trace in chat.tokenize_trajectory(trajectory, history):
            if max_tokens is not None and len(trace) > max_tokens:
                too_long += 1
                continue
            mask = [0] * len(trace.prompt_ids) + trace.action_mask
            if not any(mask):
                continue
            row = {"input_ids": trace.ids, "action_mask": mask, "episode": index}
            row |= {"scenario": scenario_name(trajectory.task_id), "env_id": trajectory.env_id}
            rows.append(row)
    if too_long:
        logger.warning("left out %d sequences of more than %s tokens", too_long, max_tokens)
    if not total:
        raise UsageError(
            "there are no episodes to train on: the files, or what was played, hold none"
        )
    if not rows:
        raise UsageError(
            f"none of {counted(total, 'episode')} can be trained on: they failed, had no "
            f"success (pass `unsuccessful` to keep those), or were longer than {max_tokens} tokens"
        )
    return rows


class AgentSFTTrainer(RunMixin, SFTTrainer):  # type: ignore[misc]
    """`trl.SFTTrainer` on trajectories, with evaluations that play.

    ```python
    environments = open_environments("TextCraft")
    episodes = expert_demonstrations(environments)
    AgentSFTTrainer("Qwen/Qwen2.5-3B-Instruct", episodes, env=environments).train()
    ```

    Args:
        model: a Hugging Face id, a folder, `"tiny"`, `"smollm2"`, or a loaded model.
        trajectories: the episodes to imitate.
        env: what evaluations play: an environment's name, `EnvArguments`, or ready `Environments`;
            without it there are none.
        args: `AgentSFTConfig`, or TRL's own `SFTConfig`.
        rollout: how evaluation episodes are played; its history is what turns known as text see.
        evaluation: how success is measured during training.
        unsuccessful: imitate unsuccessful episodes too.
        eval_dataset: rows whose `prompt` is a task id; by default the evaluation split's tasks.
        processing_class: the tokenizer; by default the model's.
        **kwargs: passed to `trl.SFTTrainer`, such as `peft_config` and `callbacks`.

    Raises:
        TypeError: there are no `trajectories`.
    """

    config, takes = AgentSFTConfig, SFTConfig
    replaced = "it learns from the trajectories that are its second argument"
    mixture: Mixture | None = None
    """The rows by environment, or None where there is one, whose order is TRL's own."""

    def __init__(
        self,
        model: Any,
        trajectories: Iterable[Trajectory] | None = None,
        *,
        env: str | EnvArguments | Environments | None = None,
        args: SFTConfig | None = None,
        rollout: RolloutArguments | None = None,
        evaluation: EvaluationArguments | None = None,
        unsuccessful: bool = False,
        eval_dataset: Any = None,
        processing_class: Any = None,
        **kwargs: Any,
    ) -> None:
        args = AgentSFTConfig() if args is None else args
        rollout = RolloutArguments() if rollout is None else rollout
        evaluation = EvaluationArguments() if evaluation is None else evaluation
        check_given(self, args=args, rollout=rollout, evaluation=evaluation, further=kwargs)
        if trajectories is None:
            raise TypeError(
                "AgentSFTTrainer needs the episodes to imitate, as its second argument; read a "
                "file by agentgym_envs.read_jsonl(path), or let the expert play: "
                "trainers.expert_demonstrations(environments)"
            )
        if env is None:
            args.eval_strategy = "no"
            derive_evaluation(args)
        model, processing_class = with_tokenizer(model, processing_class, args)
        rows = token_rows(
            trajectories,
            ChatFormat.from_tokenizer(processing_class),
            unsuccessful=unsuccessful,
            max_tokens=context_length(model.config, None),
            env_history=rollout.env_history,
        )
        _check_rows(rows, args, rollout)
        scenarios = [row["scenario"] for row in rows]
        dataset = labelled_dataset(rows).add_column("scenario", scenarios)
        super().__init__(
            model=model,
            args=args,
            train_dataset=dataset,
            # Trainer insists on a dataset where there are evaluations; ours play episodes instead.
            eval_dataset=None if args.eval_strategy == "no" else dataset.select([0]),
            processing_class=processing_class,
            **kwargs,
        )
        episodes = len({row["episode"] for row in rows})  # else rows are their windows or packs
        is_whole = episodes == len(self.train_dataset)
        self.row_name = "episodes" if is_whole else f"sequences of {episodes} episodes"
        environments = None if env is None else open_environments(env)
        # TRL may have shuffled the rows, and dropped some that max_length leaves nothing of.
        row_scenarios = scenarios if args.packing else self.train_dataset["scenario"]
        self.mixture = build_mixture(row_scenarios, environments, seed=order_seed(args))
        watch_by_playing(
            self, environments, rollout, evaluation, scenarios=scenarios, eval_dataset=eval_dataset
        )

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        return saved_order(self, train_dataset, super()._get_train_sampler)


def _check_rows(rows: Sequence[dict[str, Any]], args: SFTConfig, rollout: RolloutArguments) -> None:
    """Check that rows fit the requested lengths and packing, and warn of long turns."""
    longest = args.max_length
    if longest is not None and not any(
        any(row["action_mask"][-longest:])
        if args.truncation_mode == "keep_end"
        else any(row["action_mask"][:longest])
        for row in rows
    ):
        raise UsageError(
            f"max_length={args.max_length} leaves no turn of any of {len(rows)} episodes, as "
            "instruction and task come first; raise it, or leave it out to cut none"
        )
    scenarios = sorted({row["scenario"] for row in rows})
    if args.packing and len(scenarios) > 1:
        raise UsageError(
            f"packing joins episodes of {', '.join(scenarios)} in one row, so none could have its "
            "share; leave packing out, or train on one environment's"
        )
    _warn_of_cut_turns(rows, rollout)


def _warn_of_cut_turns(rows: Sequence[dict[str, Any]], rollout: RolloutArguments) -> None:
    """Warn where turns that are imitated are longer than the policy's own may be."""
    longest: dict[str, dict[int, int]] = {}
    for row in rows:
        turns = longest.setdefault(row["env_id"], {})
        runs = (sum(1 for _ in run) for sampled, run in groupby(row["action_mask"]) if sampled)
        turns[row["episode"]] = max(turns.get(row["episode"], 0), *runs)
    for env_id, turns in longest.items():
        allowed = rollout.env_budgets(env_id).max_tokens_per_turn
        longer = [count for count in turns.values() if count > allowed]
        if longer:
            logger.warning(
                "%d of %d episodes of %s have a turn longer than --max_tokens_per_turn %d, up to "
                "%d tokens: what is imitated there would be cut in play",
                *(len(longer), len(turns), env_id, allowed, max(longer)),
            )


def expert_demonstrations(
    environments: Environments,
    *,
    num_episodes: int | None = None,
    failure_rules: FailureRules | None = None,
) -> list[Trajectory]:
    """Let the expert play the training split.

    Args:
        environments: to play, narrowed by its `split` and `tasks`.
        num_episodes: how many; None plays each task once.
        failure_rules: what becomes of failures; see `Rollout`.

    Raises:
        NoExpert: an environment has none.
    """
    return expert_episodes(
        environments,
        environments.split_ids(),
        num_episodes=num_episodes,
        failure_rules=failure_rules,
    )


def main(argv: list[str] | None = None) -> int:
    """Run `agentgym train sft`.

    Raises:
        UsageError: there is neither `--data` nor `--env`.
    """
    env, rollout, evaluation, run, data, model_args, args = parse_training(
        argv,
        algorithm="sft",
        config=AgentSFTConfig,
        description="Train a policy to imitate episodes: the expert's, or collected ones.",
        further=(DataArguments,),
    )
    environments = open_environments(env) if env.env else None
    if not data.data and environments is None:
        raise UsageError("there is nothing to imitate: pass --data FILE, or --env for its expert")
    trajectories = read_data_files(data.data)
    if environments is not None:
        environment_check(trajectories, environments)
    model, tokenizer = load_policy(model_args, args)  # before the expert plays, which may take long
    if environments is not None and not data.data:
        trajectories = expert_demonstrations(
            environments, num_episodes=data.num_episodes, failure_rules=rollout.failure_rules
        )
    with refusing():
        trainer = AgentSFTTrainer(
            model,
            trajectories,
            env=environments,
            args=args,
            rollout=rollout,
            evaluation=evaluation,
            unsuccessful=data.unsuccessful,
            processing_class=tokenizer,
            peft_config=adapter_config(model_args),
        )
    with running(trainer, "train sft", environments=environments):
        configs = [data, model_args]
        train_and_save(trainer, resume=run.resume, command="train sft", configs=configs)
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
