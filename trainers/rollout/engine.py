"""RolloutEngine: task ids to trajectories with tokens.

Episodes are played by `trainers.rollout.episodes`; here a policy answers with sampled ids and
records them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from agentgym_envs.trajectory import Trajectory
from trainers.rollout.episodes import Episode, EpisodeLoop, Reply, Stop
from trainers.tokens.chat import ChatFormat
from trainers.tokens.generation import GenerationBackend, Sampling
from trainers.tokens.history import TokenHistory
from wrappers import FailureRules, TextVector


class TokenPolicy:
    """Answers observations with sampled tokens.

    Args:
        backend: samples.
        chat: encodes and decodes.
        sampling: how to sample; `stop_ids` left empty are the chat format's.
        max_episode_tokens, keep_last_turns: see `RolloutEngine`.
        name: recorded as the trajectories' policy.
    """

    def __init__(
        self,
        backend: GenerationBackend,
        chat: ChatFormat,
        *,
        sampling: Sampling,
        max_episode_tokens: int | None = None,
        keep_last_turns: int | None = None,
        name: str = "",
    ) -> None:
        self.backend = backend
        self.chat = chat
        self.sampling = sampling if sampling.stop_ids else replace(sampling, stop_ids=chat.stop_ids)
        self.max_episode_tokens = max_episode_tokens
        self.keep_last_turns = keep_last_turns
        self.name = name
        self._histories: dict[int, TokenHistory] = {}

    def act(self, episodes: Sequence[Episode]) -> list[Reply | Stop]:
        """Sample one turn for each episode whose token budget has room."""
        rooms = [self._read(episode) for episode in episodes]
        asked = [episode for episode, room in zip(episodes, rooms, strict=True) if room]
        budgets = [room for room in rooms if room]
        generated = {}
        if asked:
            is_cut = min(budgets) < self.sampling.max_new_tokens
            turns = self.backend.generate(
                [self._histories[episode.key].ids for episode in asked],
                self.sampling,
                keys=[episode.key for episode in asked],
                **({"budgets": budgets} if is_cut else {}),
            )
            generated = {episode.key: turn for episode, turn in zip(asked, turns, strict=True)}
        replies: list[Reply | Stop] = []
        for episode in episodes:
            if episode.key not in generated:
                replies.append(Stop("token_budget"))
                continue
            turn = generated[episode.key]
            self._histories[episode.key].append(turn)
            completion = self.chat.decode(turn.ids)
            replies.append(Reply(completion, self.chat.answer(completion), len(turn.ids)))
        return replies

    def leave(self, episode: Episode) -> None:
        """Put an episode's traces on record, and free its row."""
        history = self._histories.pop(episode.key, None)
        self.backend.finish([episode.key])
        if history is not None and episode.trajectory.turns:
            episode.trajectory.traces = history.traces

    def _read(self, episode: Episode) -> int:
        """Take an episode's observation in; return how many tokens may be sampled."""
        history = self._histories.get(episode.key)
        if history is None:
            history = self._histories[episode.key] = TokenHistory(
                self.chat,
                episode.trajectory.system_prompt,
                episode.observation,
                max_tokens=self.max_episode_tokens,
                keep_last_turns=self.keep_last_turns,
            )
        elif not history.observe(episode.observation):
            return 0
        return history.room(self.sampling.max_new_tokens)


class RolloutEngine:
    """Plays episodes with a policy that samples tokens, and records every token as it was sampled.

    All live episodes advance together, and one that has ended gives its slot to the next task. The
    last token of a trace is always a sampled one: the observation after the last action is recorded
    as text only. A turn that its budget ended is played as it stands, and closed by given tokens.

    Args:
        env: where to play; a mapping from the scenario's name in task ids (`"textcraft"`) to where
            it is played mixes scenarios.
        backend: samples tokens.
        chat: encodes observations and decodes turns.
        sampling: how to sample a turn; `stop_ids` left empty are the chat format's.
        max_episode_tokens: tokens in view at once, the prompt included. An episode whose next turn
            has no room is truncated by `"token_budget"`; one whose first prompt has none has no
            turns and no trace.
        keep_last_turns: played turns in view; each turn beyond starts a trace of its own
            (`trainers.tokens.history`). None keeps all.
        failure_rules: when a task is played again after a failure, and when a run stops.
        policy_name: recorded in the trajectories.
        on_trajectory: called with each trajectory as its episode ends.
        overlap: sample for the episodes whose environments have answered while the others step
            (`trainers.rollout.overlap`); worth it where environments take long, in threads
            or processes.

    Raises:
        ValueError: a bound is below 1.
    """

    def __init__(
        self,
        env: TextVector | Mapping[str, TextVector],
        backend: GenerationBackend,
        chat: ChatFormat,
        *,
        sampling: Sampling,
        max_episode_tokens: int | None = None,
        keep_last_turns: int | None = None,
        failure_rules: FailureRules | None = None,
        policy_name: str = "",
        on_trajectory: Callable[[Trajectory], None] | None = None,
        overlap: bool = False,
    ) -> None:
        for name, bound in (
            ("max_episode_tokens", max_episode_tokens),
            ("keep_last_turns", keep_last_turns),
        ):
            if bound is not None and bound < 1:
                raise ValueError(f"{name} must be >= 1 or None, got {bound}")
        self.env = env
        self.backend = backend
        self.chat = chat
        self.sampling = sampling
        self.max_episode_tokens = max_episode_tokens
        self.keep_last_turns = keep_last_turns
        self.failure_rules = failure_rules or FailureRules()
        self.policy_name = policy_name
        self.on_trajectory = on_trajectory
        self.overlap = overlap

    def run(
        self,
        task_ids: Sequence[str],
        *,
        global_step: int = 0,
        sampling: Sampling | None = None,
        on_trajectory: Callable[[Trajectory], None] | None = None,
    ) -> list[Trajectory]:
        """Play every task once.

        Args:
            task_ids: the tasks; more than there are slots is fine, repetitions are separate
                episodes.
            global_step: optimizer step, for horizon schedules and the record.
            sampling: replaces the engine's for this run.
            on_trajectory: replaces the engine's for this run.

        Returns:
            One trajectory per task, in the same order.

        Raises:
            ValueError: a task belongs to no environment here, or does not exist.
            EnvFailure: more episodes failed than the failure rules allow.
        """
        policy = TokenPolicy(
            self.backend,
            self.chat,
            sampling=self.sampling if sampling is None else sampling,
            max_episode_tokens=self.max_episode_tokens,
            keep_last_turns=self.keep_last_turns,
            name=self.policy_name,
        )
        loop = EpisodeLoop(
            self.env,
            policy,
            failure_rules=self.failure_rules,
            on_trajectory=on_trajectory or self.on_trajectory,
            overlap=self.overlap,
        )
        return loop.run(task_ids, global_step=global_step)
