"""The policy protocol: live episodes, and the answers to their observations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from agentgym_envs.core import JUDGEMENTS_KEY, VERDICT_KEY
from agentgym_envs.trajectories.trajectory import ModelCall, Trajectory, Turn
from trainers.ledger import Ledger
from wrappers import TextVectorEnv
from wrappers.vector.slots import Waitable


@dataclass(eq=False)
class Episode:
    """A live episode.

    Attributes:
        key: names this attempt among those under way, and its random numbers. It follows from the
            task's index and from the failures that count against it, not from time.
        index: the task's index in the list given to `run`.
        env, slot: where it is played.
        observation: what the policy reads next.
        info: the environment's last info.
        trajectory: the record so far.
    """

    key: int
    index: int
    env: TextVectorEnv
    slot: int
    observation: str
    info: dict[str, Any]
    trajectory: Trajectory

    def record(
        self, reply: Reply, action: str, observation: str, reward: float, info: dict[str, Any]
    ) -> None:
        """Add a turn to the trajectory."""
        turn = Turn(
            observation=self.observation,
            completion=reply.completion,
            action=action,
            reward=float(reward),
            is_valid_action=bool(info["is_valid_action"]),
            score=float(info["score"]),
            num_tokens=reply.num_tokens,
            call=reply.call,
            weights_step=reply.weights_step,
        )
        self.trajectory.turns.append(turn)
        self.trajectory.final_observation = observation
        self.trajectory.success = bool(info["success"])
        self.trajectory.score = turn.score
        self.trajectory.verdict = str(info.get(VERDICT_KEY, ""))
        self.trajectory.judgements = str(info.get(JUDGEMENTS_KEY, ""))
        self.trajectory.info = self.info = info
        self.observation = observation


@dataclass(frozen=True)
class Reply:
    """A policy's turn.

    Attributes:
        completion: what the policy wrote.
        num_tokens: sampled tokens.
        call: what a server reports of it beside the text.
        weights_step: the optimizer step of the weights that sampled it; None where it is unknown.
        action: what the environment reads of it; None is what `strip_thinking` leaves.
    """

    completion: str
    num_tokens: int = 0
    call: ModelCall | None = None
    weights_step: int | None = None
    action: str | None = None


@dataclass(frozen=True)
class Stop:
    """The policy cannot go on, so the episode is truncated.

    Attributes:
        cause: the trajectory's `truncated_by`.
        reason: in words, as a server that refused a prompt gave it.
    """

    cause: str
    reason: str | None = None


@dataclass(frozen=True)
class Failure:
    """The policy's machinery broke, such as its server, so the episode is played again."""

    cause: str


PolicyAnswer = Reply | Stop | Failure


@runtime_checkable
class Policy(Protocol):
    """Answers observations: a model, the expert, a baseline, a function or a server's model.

    A class that derives from it writes `name` and `act`, and what else it needs.
    """

    name: str
    """As it stands in trajectories and results."""

    has_temperature: bool = False
    """It samples, so a temperature changes it."""

    seed: int | None = None
    """The seed of its random numbers, beside a batch's stream. None where it draws none."""

    is_asynchronous: bool = False
    """`act` sends requests and returns the answers that have arrived, without waiting."""

    ledger: Ledger | None = None
    """The costs of its answers, if it has any. A cancelled command keeps them in it."""

    def instruction(self, env_id: str, system_prompt: str) -> str:
        """Return the instruction of an environment's episodes, by default the environment's own."""
        return system_prompt

    def begin_batch(
        self, *, stream: Sequence[int] = (), temperature: float | None = None, global_step: int = 0
    ) -> None:
        """Begin a batch of episodes.

        Args:
            stream: names the batch's random numbers, together with the policy's seed.
            temperature: of the sampling, 0 is greedy; None keeps the policy's own.
            global_step: the optimizer step whose weights play.
        """
        return

    def act(self, episodes: Sequence[Episode]) -> Sequence[PolicyAnswer | None]:
        """Answer each episode's observation.

        Returns:
            An answer per episode; None where it is on its way, which only an asynchronous policy
            may return. It gets the episode again once some answer has arrived.
        """
        raise NotImplementedError

    def pending(self) -> Sequence[Waitable]:
        """List the answers that are on their way, so that the rollout waits for the first."""
        return ()

    def suspend(self, episodes: Sequence[Episode]) -> None:
        """Free state of the present weights, for episodes that go on with other ones."""
        return

    def leave(self, episode: Episode) -> None:
        """Forget an episode that has ended. A policy with tokens puts its traces on record."""
        return
