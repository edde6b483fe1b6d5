"""Plays batches of tasks with a model: the rollout engines of one policy, seeded per batch.

Knows models, tokenizers and environments; no losses, no trainer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from agentgym_envs.trajectory import Trajectory
from trainers.backends.open import PolicyBackend, open_on_model
from trainers.options.arguments import EpisodeArguments
from trainers.rollout.engine import RolloutEngine
from trainers.rollout.environments import Environments
from trainers.tokens.chat import ChatFormat
from trainers.tokens.generation import Sampling
from trainers.tokens.seeds import batch_seed
from wrappers.failures import FailureRules
from wrappers.schedules import HorizonSchedule


class PolicyPlayer:
    """A policy that plays: in training under the horizon schedule, in evaluations without it.

    Every batch reseeds the sampler from what the caller names, so what is sampled depends on
    nothing that was sampled before, and a resumed run continues as if it had never stopped.

    Args:
        environments: what is played.
        model: the policy, on its device; None where `backend` holds it.
        tokenizer: the policy's.
        budgets: the token budgets of an episode, what samples its turns, and when failures stop
            the run.
        schedule: the turn horizon of training episodes.
        policy_name: stored in the trajectories.
        seed: the run's seed.
        backend: samples in place of the one that `budgets` name.
        sampling: the tokens that are sampled among, in training and evaluations alike; None
            leaves all.
    """

    has_temperature = True

    def __init__(
        self,
        environments: Environments,
        model: Any,
        tokenizer: Any,
        budgets: EpisodeArguments,
        *,
        schedule: HorizonSchedule | None = None,
        policy_name: str = "",
        seed: int = 0,
        backend: PolicyBackend | None = None,
        sampling: Sampling | None = None,
    ) -> None:
        self.name = policy_name
        self.schedule = schedule
        self._seed = seed
        if backend is None:
            backend = open_on_model(
                budgets,
                model,
                max_length=budgets.max_tokens_per_episode,
                row_streams=environments.args.overlap,
            )
        self._backend = backend
        chat = ChatFormat.from_tokenizer(tokenizer)
        self._sampling = replace(sampling or Sampling(), max_new_tokens=budgets.max_tokens_per_turn)

        def engine(envs: dict[str, Any]) -> RolloutEngine:
            return RolloutEngine(
                envs,
                backend,
                chat,
                sampling=self._sampling,
                max_episode_tokens=backend.max_length,
                keep_last_turns=budgets.keep_last_turns,
                failure_rules=FailureRules(max_failed_share=budgets.max_failed_share),
                policy_name=policy_name,
                overlap=environments.args.overlap,
            )

        self._training = engine(environments.with_horizon(self.schedule))
        self._evaluation = engine(environments.with_horizon(None))

    def play(
        self,
        task_ids: Sequence[str],
        *,
        temperature: float = 1.0,
        global_step: int = 0,
        training: bool = False,
        stream: Sequence[int] = (),
        on_trajectory: Callable[[Trajectory], None] | None = None,
    ) -> list[Trajectory]:
        """Play one episode per task id.

        Args:
            task_ids: the tasks.
            temperature: of the sampling; 0 is greedy.
            global_step: the optimizer step whose weights play; steers the horizon and is stored.
            training: play under the horizon schedule.
            stream: names the batch's random numbers, together with the seed.
            on_trajectory: called with each episode as it ends.
        """
        self._backend.reseed(batch_seed(self._seed, stream))
        self._backend.follow(global_step)
        engine = self._training if training else self._evaluation
        return engine.run(
            list(task_ids),
            global_step=global_step,
            sampling=replace(self._sampling, temperature=temperature),
            on_trajectory=on_trajectory,
        )

    def horizon(self, global_step: int) -> int | None:
        """Return the horizon at a step, or None without a schedule."""
        return None if self.schedule is None else self.schedule(global_step)
