"""DPO on episodes: TRL's `DPOTrainer` on pairs of trajectories, and `agentgym train dpo`.

Direct preference optimization (arXiv 2305.18290, eq. 7) over what the policy wrote: of two episodes
of a task, the better one is preferred. Deviations:
1. The turns that both episodes share are context; only the policy's text after them counts.
2. Instructions, observations and template tokens never count.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from trl import DPOConfig

from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.collect import cached_rollout, expert_episodes, read_data_files
from trainers.command import parse_training, refusing, running, train_and_save
from trainers.credit.pairs import Pair, pair_rows, preference_pairs
from trainers.evaluation.offline import watch_by_playing
from trainers.models.loading import (
    adapter_config,
    context_length,
    load_policy,
    with_tokenizer,
)
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.checks import check_given
from trainers.options.configs import ModelArguments, derive_evaluation
from trainers.options.errors import UsageError, check_kind, run_command
from trainers.options.offline import AgentDPOConfig, PairArguments
from trainers.policies.model import ModelPolicy
from trainers.policies.open import open_environments
from trainers.rollout.environments import (
    Environments,
    build_mixture,
    environment_check,
    order_seed,
)
from trainers.runs.folder import PAIRS, holding, set_aside
from trainers.runs.progress_bar import Watch
from trainers.tokens.chat import ChatFormat
from trainers.trl_bridge import PreferenceTrainer

logger = logging.getLogger(__name__)

_SAMPLING_STREAM = 4


def pair_episodes(
    trajectories: Sequence[Trajectory],
    options: PairArguments,
    *,
    against: Sequence[Trajectory] | None = None,
    seed: int,
) -> list[Pair]:
    """Pair episodes by the options of `preference_pairs`."""
    return preference_pairs(
        trajectories,
        against=against,
        max_pairs_per_task=options.max_pairs_per_task,
        min_return_gap=options.min_return_gap,
        compared_turns=options.compared_turns,
        seed=seed,
    )


class AgentDPOTrainer(PreferenceTrainer):
    """`trl.DPOTrainer` on pairs of trajectories, with evaluations that play.

    ```python
    pairs = preference_pairs(read_jsonl("runs/episodes.jsonl"))
    AgentDPOTrainer("runs/sft", pairs, args=AgentDPOConfig(max_steps=100)).train()
    ```

    Args:
        model: a Hugging Face id, a folder, `"tiny"`, `"smollm2"`, or a loaded model.
        pairs: of a preferred and a rejected episode.
        env: what evaluations play: an environment's name, `EnvArguments`, or ready `Environments`;
            without it there are none.
        args: `AgentDPOConfig`, or TRL's own `DPOConfig`.
        rollout: how evaluation episodes are played.
        evaluation: how success is measured during training.
        eval_dataset: rows whose `prompt` is a task id; by default the evaluation split's tasks.
        processing_class: the tokenizer; by default the model's.
        **kwargs: passed to `trl.DPOTrainer`, such as `ref_model`, `peft_config` and `callbacks`.

    Raises:
        ValueError: no pair can be trained on.
    """

    config, takes = AgentDPOConfig, DPOConfig
    replaced = "it learns from the pairs that are its second argument"
    row_name = "pairs of episodes"

    def __init__(
        self,
        model: Any,
        pairs: Sequence[Pair] | None = None,
        *,
        env: str | EnvArguments | Environments | None = None,
        args: DPOConfig | None = None,
        rollout: RolloutArguments | None = None,
        evaluation: EvaluationArguments | None = None,
        eval_dataset: Any = None,
        processing_class: Any = None,
        **kwargs: Any,
    ) -> None:
        args = AgentDPOConfig() if args is None else args
        rollout = RolloutArguments() if rollout is None else rollout
        evaluation = EvaluationArguments() if evaluation is None else evaluation
        check_given(self, args=args, rollout=rollout, evaluation=evaluation, further=kwargs)
        remedy = "make them by trainers.preference_pairs(episodes)"
        if pairs is None:
            raise TypeError(f"AgentDPOTrainer needs pairs, as its second argument; {remedy}")
        for pair in pairs:
            check_kind("an entry of pairs", pair, Pair, remedy=remedy)
        if env is None:
            args.eval_strategy = "no"
            derive_evaluation(args)
        model, processing_class = with_tokenizer(model, processing_class, args)
        rows = pair_rows(
            pairs,
            ChatFormat.from_tokenizer(processing_class),
            max_tokens=context_length(model.config, args.max_length),
            env_history=rollout.env_history,
        )
        super().__init__(
            model=model, rows=rows, args=args, processing_class=processing_class, **kwargs
        )
        environments = None if env is None else open_environments(env)
        scenarios = [row["scenario"] for row in rows]
        self.mixture = build_mixture(scenarios, environments, seed=order_seed(args))
        watch_by_playing(
            self,
            environments,
            rollout,
            evaluation,
            scenarios=scenarios,
            eval_dataset=eval_dataset,
        )


def sampled_pairs(
    environments: Environments,
    model: str | ModelArguments,
    *,
    args: Any,
    rollout: RolloutArguments | None = None,
    pairing: PairArguments | None = None,
    resume: bool = False,
) -> list[Pair]:
    """Prefer the expert's episodes to the policy's own unsuccessful ones, on the training split.

    Both are kept in `pairs/` of the output folder, whose earlier run is set aside. One process
    plays where there are many.

    Args:
        environments: to play.
        model: the policy: a Hugging Face id, a folder, `"tiny"`, `"smollm2"`, or `ModelArguments`.
        args: the training config; `output_dir` and `seed` count.
        rollout: the budgets of the policy's episodes.
        pairing: how many tasks, samples and pairs.
        resume: read the episodes that an interrupted run kept.

    Raises:
        UsageError: no pair came of it, or another process holds the output folder.
    """
    model_args = ModelArguments(model_name_or_path=model) if isinstance(model, str) else model
    rollout = RolloutArguments() if rollout is None else rollout
    pairing = PairArguments() if pairing is None else pairing
    task_ids = environments.spread(environments.split_ids(), pairing.num_tasks, weighted=True)
    expert, sampled = _play_for_pairs(
        environments, model_args, args, rollout, pairing, task_ids, resume=resume
    )
    unsuccessful = [trajectory for trajectory in sampled if not trajectory.success]
    pairs = pair_episodes(expert, pairing, against=unsuccessful, seed=args.seed)
    if not pairs:
        solved = {trajectory.task_id for trajectory in expert if trajectory.success}
        both = solved & {trajectory.task_id for trajectory in unsuccessful}
        raise UsageError(
            f"no pair came of {len(task_ids)} tasks: the expert solved {len(solved)} of them, and "
            f"the policy failed on {len(both)} of these; raise num_tasks, num_samples or max_turns"
        )
    return pairs


def _play_for_pairs(
    environments: Environments,
    model_args: ModelArguments,
    args: Any,
    rollout: RolloutArguments,
    pairing: PairArguments,
    task_ids: Sequence[str],
    *,
    resume: bool,
) -> tuple[list[Trajectory], list[Trajectory]]:
    """Return the expert's and the policy's episodes of the tasks, played or kept in `pairs/`."""
    repeated = [task_id for task_id in task_ids for _ in range(pairing.num_samples)]

    def sample(watch: Watch) -> list[Trajectory]:
        policy = ModelPolicy.between_trainings(
            model_args, args, rollout, name="sampled", seed=args.seed
        )
        return environments.rollout(policy, failure_rules=rollout.failure_rules).run(
            repeated,
            temperature=pairing.sampling_temperature,
            stream=(_SAMPLING_STREAM,),
            on_trajectory=watch,
            finished=watch.finished,
        )

    folder, is_main = Path(args.output_dir), args.process_index == 0
    with (
        args.main_process_first(local=False, desc="playing for pairs"),
        holding(folder, "train dpo") if is_main else nullcontext(),
    ):
        if is_main and not resume:
            set_aside(folder, start=model_args.model_name_or_path)
        expert = cached_rollout(
            folder / PAIRS / "expert.jsonl",
            lambda watch: expert_episodes(
                environments, task_ids, failure_rules=rollout.failure_rules, watch=watch
            ),
            name="expert",
            total=len(task_ids),
            options=task_ids,
            reuse=resume or not is_main,
        )
        sampled = cached_rollout(
            folder / PAIRS / "sampled.jsonl",
            sample,
            name="sampling for pairs",
            total=len(repeated),
            options=(pairing.sampling_temperature, repeated),
            reuse=resume or not is_main,
        )
    return expert, sampled


def main(argv: list[str] | None = None) -> int:
    """Run `agentgym train dpo`.

    Raises:
        UsageError: there is neither `--data` nor `--env`.
    """
    env, rollout, evaluation, run, pairing, model_args, args = parse_training(
        argv,
        algorithm="dpo",
        config=AgentDPOConfig,
        description="Train a policy by DPO to prefer the better of two episodes.",
        further=(PairArguments,),
    )
    environments = open_environments(env) if env.env else None
    if pairing.data:
        episodes = read_data_files(pairing.data)
        if environments is not None:
            environment_check(episodes, environments)
        pairs = pair_episodes(episodes, pairing, seed=args.seed)
    elif environments is not None:
        pairs = sampled_pairs(
            environments,
            model_args,
            args=args,
            rollout=rollout,
            pairing=pairing,
            resume=run.resume,
        )
    else:
        raise UsageError("there are no pairs: pass --data FILE, or --env to play for them")
    logger.info("%d pairs of episodes", len(pairs))
    model, tokenizer = load_policy(model_args, args)
    with refusing():
        trainer = AgentDPOTrainer(
            model,
            pairs,
            env=environments,
            args=args,
            rollout=rollout,
            evaluation=evaluation,
            processing_class=tokenizer,
            peft_config=adapter_config(model_args),
        )
    with running(trainer, "train dpo", environments=environments):
        configs = [pairing, model_args]
        train_and_save(trainer, resume=run.resume, command="train dpo", configs=configs)
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
