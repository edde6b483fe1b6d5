"""AgentEvol: rounds of exploration and of imitation of its successes (arXiv 2406.04151).

The paper's section 4 maximizes the reward-weighted likelihood of a round's episodes together with
the base set's, with rewards 0 or 1, starting from the same initial policy in every round.
Deviations:
1. Without `data` or `expert_episodes` there is no base set: the policy learns from itself alone.
2. Episodes of a task with the same words are learned once.
"""

from __future__ import annotations

import copy
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace

from agentgym_envs.core.text import counted
from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.collect import cached_rollout, expert_episodes, read_data_files
from trainers.command import (
    INTERRUPTED,
    command_to_resume,
    exit_statuses,
    parse_training,
    refusing,
    train_and_save,
)
from trainers.credit.pairs import distinct, distinct_successes
from trainers.evaluation.summary import summarize
from trainers.models.loading import (
    adapter_config,
    load_policy,
    resolve_model,
    save_policy,
)
from trainers.options.arguments import EnvArguments, EvaluationArguments, RolloutArguments
from trainers.options.backends import BackendSpec
from trainers.options.configs import ModelArguments
from trainers.options.errors import UsageError, run_command
from trainers.options.offline import AgentEvolArguments, AgentEvolConfig
from trainers.options.values import all_values, check_names
from trainers.plans import Plan, print_plan
from trainers.policies.model import ModelPolicy
from trainers.policies.open import open_environments
from trainers.rollout.environments import Environments, environment_check
from trainers.runs.card import BaseModel, write_card
from trainers.runs.curve import draw_run_curve
from trainers.runs.folder import end_run, holding, read_run
from trainers.runs.progress_bar import Watch
from trainers.runs.provenance import begin_run
from trainers.runs.rounds import Round, RoundFiles
from trainers.sft import AgentSFTTrainer

_EXPLORATION_STREAM = 5
_ROUND_START = (5**0.5 - 1) / 2
"""Offset of a round's tasks from those of the round before, as a share of all tasks.

Of all multiples, modulo 1, those of the golden section lie furthest apart.
"""


class AgentEvol:
    """Evolves a policy.

    ```python
    AgentEvol("runs/sft", "TextCraft", args=AgentEvolConfig(max_steps=50)).train()
    ```

    Each round has a folder in the output folder: `round_1/` holds its evaluations, metrics,
    checkpoints and model, and at its end `round.json`. Explored episodes are in the output folder's
    `trajectories/`, and the last round's model is the result.

    Args:
        model: the initial policy: a Hugging Face id, a folder, `"tiny"`, `"smollm2"`, or
            `ModelArguments`.
        env: to explore and evaluate: an environment's name, `EnvArguments`, or ready
            `Environments`.
        args: the fine-tuning of one round.
        options: the rounds, and their base set.
        rollout: how episodes are played.
        evaluation: how success is measured.
        backend: samples every round's turns, in place of `rollout.backend`: a name or a
            `BackendSpec`, opened again for each round's model.

    Raises:
        TypeError: the backend is open already.
        ValueError: the horizon is an adaptive one.
    """

    def __init__(
        self,
        model: str | ModelArguments,
        env: str | EnvArguments | Environments,
        *,
        args: AgentEvolConfig | None = None,
        options: AgentEvolArguments | None = None,
        rollout: RolloutArguments | None = None,
        evaluation: EvaluationArguments | None = None,
        backend: str | BackendSpec | None = None,
    ) -> None:
        if isinstance(model, str):
            model = ModelArguments(model_name_or_path=model)
        self.model_args = model
        self.args = AgentEvolConfig() if args is None else args
        self.options = AgentEvolArguments() if options is None else options
        self.rollout = RolloutArguments() if rollout is None else rollout
        if backend is not None:
            self.rollout = replace(self.rollout, backend=backend)
        if not isinstance(self.rollout.backend, str | BackendSpec):
            raise TypeError(
                "AgentEvol opens a backend for the model of every round, so backend must be a name "
                f"or a trainers.BackendSpec, got {self.rollout.backend!r:.60}"
            )
        self.evaluation = EvaluationArguments() if evaluation is None else evaluation
        adaptive = [t for t in all_values(self.rollout.horizon) if t and t.startswith("adaptive")]
        if adaptive:
            raise UsageError(
                f"agentevol cannot follow `horizon={adaptive[0]}`: that goes by the success of "
                f"every optimizer step, and a round plays once; use fixed: or scaling:"
            )
        self.environments = open_environments(env)
        check_names(self.rollout, self.environments.env_ids)
        folder, compress = str(self.args.output_dir), self.rollout.compress_trajectories
        self.files = RoundFiles(folder, compress=compress)

    def train(self, resume_from_checkpoint: bool = False) -> list[Round]:
        """Run the rounds that are left, and save the last one's model, as `run` does.

        With `resume_from_checkpoint`, finished rounds stay and the interrupted one continues.
        """
        return list(self.run(resume=resume_from_checkpoint))

    def run(self, *, resume: bool = False) -> Iterator[Round]:
        """Run the rounds that are left, and save the last one's model.

        Args:
            resume: keep finished rounds and continue the interrupted one; otherwise an earlier
                run's files are set aside.

        Yields:
            Every round at its end, at once where it was finished before.

        Raises:
            Interrupted: a signal came during a round's fine-tuning, and a checkpoint is saved.
            UsageError: a round has nothing to learn from, or another process holds the folder.
        """
        command = "train agentevol"
        with holding(self.files.folder, command) if self._is_main else nullcontext():
            if self._is_main:
                goes_on = resume and read_run(self.files.folder)
                begin_run(
                    self.files.folder,
                    command=command,
                    seed=self.args.seed,
                    configs=[
                        *(self.environments.args, self.rollout, self.evaluation),
                        *(self.options, self.model_args, self.args),
                    ],
                    at_step=self.files.last_step() if goes_on else None,
                    start=self.model_args.model_name_or_path,
                )
            yield from self._rounds(resume=resume)

    def _plan(self) -> Plan:
        options, tasks = self.options, self._explored_ids(1)
        base, count = [*options.data], options.expert_episodes
        if count > 0:
            base.append(f"{counted(count, 'episode')} of the expert")
        elif count:
            base.append("one episode of the expert per task")
        return {
            "policy": str(self.model_args.model_name_or_path),
            "tasks": self.environments.plan(self.environments.args.split, num_tasks=len(tasks)),
            "round": f"{counted(options.num_samples * len(tasks), 'episode')}, imitated where they "
            "succeed",
            "base set": ", ".join(base) or "none",
        }

    def _rounds(self, *, resume: bool) -> Iterator[Round]:
        num_rounds = self.options.rounds(self.args.max_steps)
        if self._is_main:
            title = f"AgentEvol: {num_rounds} rounds, written to {self.files.folder}"
            print_plan(title, self._plan())
        base = self._base_set(resume=resume)
        earlier: list[Trajectory] = []
        steps = 0
        for number in range(1, num_rounds + 1):
            explored = self._explore(number, steps, resume=resume)
            successes = distinct_successes(explored)
            done = self.files.read(number)
            if done is None:
                merged = earlier if self.options.merge == "all" else []
                data = distinct([*base, *merged, *successes])
                done = self._learn(number, explored, successes, data, steps, resume=resume)
            earlier += successes
            steps = done.global_step
            if self._is_main:
                self.files.log(done)
                if importlib.util.find_spec("matplotlib") is not None:
                    draw_run_curve(self.files.folder)
            yield done
        if self._is_main:
            save_policy(*load_policy(self._model_of(number)), self.files.folder)
            end_run(self.files.folder, global_step=steps, weights_step=steps)
            write_card(
                self.files.folder,
                self.files.folder,
                algorithm="agentevol",
                base=BaseModel.from_name(resolve_model(self.model_args.model_name_or_path)),
                global_step=steps,
            )

    @property
    def _is_main(self) -> bool:
        return bool(self.args.process_index == 0)

    def _model_of(self, number: int) -> ModelArguments:
        """Return the model arguments of a round's model. Round 0 has the initial one."""
        if number == 0:
            return self.model_args
        model_args = copy.copy(self.model_args)
        model_args.model_name_or_path = str(self.files.round_folder(number))
        model_args.model_revision = None
        return model_args

    # The steps of a round ---------------------------------------------------------------------

    def _base_set(self, *, resume: bool) -> list[Trajectory]:
        base = read_data_files(self.options.data)
        environment_check(base, self.environments)
        count = self.options.expert_episodes
        if count:
            ids = self.environments.split_ids()
            with self.args.main_process_first(local=False, desc="the expert's episodes"):
                base += cached_rollout(
                    self.files.base,
                    lambda watch: expert_episodes(
                        self.environments,
                        ids,
                        num_episodes=None if count < 0 else count,
                        failure_rules=self.rollout.failure_rules,
                        watch=watch,
                    ),
                    name="expert",
                    total=len(ids) if count < 0 else count,
                    options=(count, ids),
                    reuse=resume or not self._is_main,
                )
        return distinct_successes(base)

    def _explore(self, number: int, global_step: int, *, resume: bool) -> list[Trajectory]:
        """Let the policy of the round before play the training tasks."""
        explored = self._explored_ids(number)
        ids = [task_id for task_id in explored for _ in range(self.options.num_samples)]

        def play(watch: Watch) -> list[Trajectory]:
            policy = ModelPolicy.between_trainings(
                self._model_of(number - 1),
                self.args,
                self.rollout,
                name=str(self.files.round_folder(number - 1)) if number > 1 else "initial",
                seed=self.args.seed,
            )
            rollout = self.environments.rollout(
                policy,
                schedule=self.environments.schedule(self.rollout),
                failure_rules=self.rollout.failure_rules,
            )
            rollout.machinery.has_worked = number > 1
            return rollout.run(
                ids,
                temperature=self.options.exploration_temperature,
                global_step=global_step,
                stream=(_EXPLORATION_STREAM, number),
                on_trajectory=watch,
                finished=watch.finished,
            )

        with self.args.main_process_first(local=False, desc="exploration"):
            return cached_rollout(
                self.files.explored(global_step),
                play,
                name=f"round {number} explores",
                total=len(ids),
                options=ids,
                reuse=resume or not self._is_main,
            )

    def _explored_ids(self, number: int) -> list[str]:
        """Return the tasks of a round."""
        return self.environments.spread(
            self.environments.split_ids(),
            self.options.num_explored_tasks,
            weighted=True,
            start=number * _ROUND_START % 1,
        )

    def _trainer(self, number: int, data: Sequence[Trajectory]) -> AgentSFTTrainer:
        """Return the trainer of a round's initial model on its data."""
        from_current = self.options.start_from == "current"
        model, tokenizer = load_policy(self._model_of(number - 1 if from_current else 0), self.args)
        args = copy.copy(self.args)
        args.output_dir = str(self.files.round_folder(number))
        with refusing():
            return AgentSFTTrainer(
                model,
                data,
                env=self.environments,
                args=args,
                rollout=self.rollout,
                evaluation=self.evaluation,
                processing_class=tokenizer,
                peft_config=adapter_config(self.model_args),
            )

    def _learn(
        self,
        number: int,
        explored: Sequence[Trajectory],
        successes: Sequence[Trajectory],
        data: Sequence[Trajectory],
        steps: int,
        *,
        resume: bool,
    ) -> Round:
        """Fine-tune on a round's data, and leave its model and record in its folder."""
        if not data:
            raise UsageError(
                f"round {number} has nothing to learn from: none of "
                f"{counted(len(explored), 'episode')} succeeded and there is no base set; "
                "raise `num_samples`, pass `data` or `expert_episodes`, or start from a stronger "
                "`model`"
            )
        trainer = self._trainer(number, data)
        train_and_save(
            trainer,
            resume=resume,
            command="train agentevol",
            configs=[self.options, self.model_args],
        )
        exploration = summarize(explored)
        own = {name: result.success for name, result in exploration.environments.items()}
        done = Round.ended(
            trainer,
            explored_at=steps,
            number=number,
            success=exploration.success,
            environments={name: rate for name, rate in own.items() if rate is not None},
            explored=len(explored),
            kept=len(successes),
            trained_on=len(data),
        )
        trainer.accelerator.wait_for_everyone()
        if self._is_main:
            self.files.write(done)
        trainer.accelerator.wait_for_everyone()
        return done


def main(argv: list[str] | None = None) -> int:
    """Run `agentgym train agentevol`."""
    env, rollout, evaluation, run, options, model_args, args = parse_training(
        argv,
        algorithm="agentevol",
        config=AgentEvolConfig,
        description="Let a policy explore, keep what succeeds, and imitate it, in rounds.",
        further=(AgentEvolArguments,),
    )
    command = "train agentevol"
    environments = open_environments(env)
    evolution = AgentEvol(
        model_args, environments, args=args, options=options, rollout=rollout, evaluation=evaluation
    )
    try:
        with exit_statuses(args, command):
            for done in evolution.run(resume=run.resume):
                print(done)
    except KeyboardInterrupt:  # while playing, or a second time while a round trains
        print(
            f"stopped; what is finished is kept in {args.output_dir}. To go on:\n"
            f"  {command_to_resume(command)}",
            flush=True,
        )
        return INTERRUPTED
    finally:
        environments.close()
    return 0


if __name__ == "__main__":
    sys.exit(run_command(main))
