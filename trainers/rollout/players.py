"""Players: ways to play a trainer's batches, a class each.

A trainer has one player and requests a batch with `take`. `Lockstep` plays at the request,
`Grouped` adds branches and further groups, `WithExperts` an expert's episodes, `Ahead` prefetches
in a thread while the policy is trained, `CarriedOver` lets episodes go on from one step into the
next.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import Any

from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.options.arguments import EnvArguments, RolloutArguments
from trainers.options.errors import UsageError
from trainers.rollout.ahead import BatchesAhead
from trainers.rollout.branching import Play, play_branched
from trainers.rollout.carried import CarriedGroups
from trainers.rollout.resampling import DynamicSampling
from trainers.rollout.rollout import Rollout

Row = dict[str, Any]
"""A row of the training data, whose `prompt` is a task id."""
Options = Callable[[int], dict[str, Any]]
"""Returns the kwargs of `Rollout.run` for a batch that is trained a number of steps later."""


@dataclass
class RolloutBatch:
    """A batch of episodes with its rows and metrics.

    Attributes:
        rows: of the data, one for each episode.
        trajectories: the episodes that are trained on.
        extra: whole groups of episodes in no loss; they count in the metrics.
        experts: the places of an expert's episodes in `trajectories`, each with the policy's own
            that it replaces in the loss and that counts in the metrics, if there is one.
        requested_at: the optimizer step of the request; None for the present one.
        metrics: logged as their means over a log entry.
        largest: logged as the largest of a log entry.
    """

    rows: Sequence[Row]
    trajectories: list[Trajectory]
    extra: list[Trajectory] = field(default_factory=list)
    experts: dict[int, Trajectory | None] = field(default_factory=dict)
    requested_at: int | None = None
    metrics: dict[str, float] = field(default_factory=dict)
    largest: dict[str, float] = field(default_factory=dict)


class Lockstep:
    """Plays a batch at the trainer's request. The other players are subclasses."""

    def __init__(self, rollout: Rollout, options: Options) -> None:
        self.rollout = rollout
        self._options = options

    def take(self, rows: Sequence[Row]) -> RolloutBatch:
        """Return the episodes of a batch of rows in groups."""
        return RolloutBatch(rows, self.rollout.run(_tasks(rows), **self._options(0)))

    def read(self, micro_batches: Iterator[Any]) -> Iterator[Any]:
        """Return an epoch's micro-batches, for a player that reads those to come."""
        return micro_batches

    def pass_on(self) -> None:
        """Note that the trainer goes on to the next micro-batch."""

    def pause(self) -> AbstractContextManager[None]:
        """Leave environments and policy to another user meanwhile."""
        return nullcontext()

    def stop(self) -> None:
        """End with the training, and reset for the next one."""

    def in_trainer(self, work: Callable[[], None]) -> None:
        """Run `work` in the trainer's thread, which this one is."""
        work()

    @property
    def pending_rows(self) -> list[Row]:
        """The rows that were requested and not taken."""
        return []


class Grouped(Lockstep):
    """Plays groups with branches, and further groups in place of those without variance.

    `roots` episodes of a group are played from the start; 0 plays all so.
    """

    def __init__(
        self,
        rollout: Rollout,
        options: Options,
        *,
        group_size: int,
        roots: int = 0,
        dynamic: DynamicSampling | None = None,
    ) -> None:
        super().__init__(rollout, options)
        self._size, self._roots, self._dynamic = group_size, roots, dynamic

    def take(self, rows: Sequence[Row]) -> RolloutBatch:
        """Return the episodes of a batch."""
        options, metrics = self._options(0), {}
        play: Play = self.rollout.run
        if self._roots:
            play = partial(play_branched, play, group_size=self._size, roots=self._roots)
        extra: list[Trajectory] = []
        if self._dynamic is None:
            trajectories = play(_tasks(rows), **options)
        else:
            trajectories, extra = self._dynamic.run(play, _tasks(rows), **options)
            metrics["batches_played"] = 1 + len(extra) / len(trajectories)
        if self._roots:
            turns = [id(turn) for t in [*trajectories, *extra] for turn in t.turns]
            metrics["frac_turns_played"] = len(set(turns)) / max(len(turns), 1)
        return RolloutBatch(rows, trajectories, extra, metrics=metrics)


class WithExperts(Lockstep):
    """Plays groups whose last `count` episodes are an expert's.

    A group has only the policy's own where its task has no demonstration.

    Args:
        rollout: plays the policy's episodes.
        options: see `Options`.
        demonstrations: returns an expert's episode for each task, or None.
        group_size: episodes of a group.
        count: of the expert's among them.
        unsolved: the policy plays whole groups, and the expert's replace its last ones only in
            groups without a success.
    """

    def __init__(
        self,
        rollout: Rollout,
        options: Options,
        demonstrations: Callable[[Sequence[str]], list[Trajectory | None]],
        *,
        group_size: int,
        count: int,
        unsolved: bool,
    ) -> None:
        super().__init__(rollout, options)
        self._demonstrations = demonstrations
        self._size, self._count, self._unsolved = group_size, count, unsolved

    def take(self, rows: Sequence[Row]) -> RolloutBatch:
        """Return the episodes of a batch of rows in whole groups."""
        tasks, size, count = _tasks(rows)[:: self._size], self._size, self._count
        if self._unsolved:
            groups = self._play(tasks, [size] * len(tasks))
            solved = [any(episode.success for episode in group) for group in groups]
            unsolved = [
                task for task, is_solved in zip(tasks, solved, strict=True) if not is_solved
            ]
            replacements = iter(self._demonstrations(unsolved))
            demonstrations = [None if is_solved else next(replacements) for is_solved in solved]
        else:
            demonstrations = self._demonstrations(tasks)
            groups = self._play(tasks, [size - count * (one is not None) for one in demonstrations])
        batch = RolloutBatch(rows, [])
        for group, demonstration in zip(groups, demonstrations, strict=True):
            if demonstration is None:
                batch.trajectories += group
                continue
            batch.trajectories += group[: size - count]
            replaced: list[Trajectory | None] = [*group[size - count :]]
            for own in replaced or [None] * count:
                batch.experts[len(batch.trajectories)] = own
                # Copies, since each has its tokens credited.
                traces = [replace(trace) for trace in demonstration.traces]
                batch.trajectories.append(replace(demonstration, traces=traces))
        batch.metrics["expert/share"] = len(batch.experts) / len(rows)
        return batch

    def _play(self, tasks: Sequence[str], sizes: Sequence[int]) -> list[list[Trajectory]]:
        """Return a group of the policy's episodes for each task."""
        repeated = [task for task, size in zip(tasks, sizes, strict=True) for _ in range(size)]
        episodes = iter(self.rollout.run(repeated, **self._options(0)))
        return [[next(episodes) for _ in range(size)] for size in sizes]


@dataclass(frozen=True)
class Pacing:
    """The pace of batches and optimizer steps.

    Attributes:
        per_batch: micro-batches that a batch of episodes serves.
        per_step: micro-batches of an optimizer step.
        max_staleness: optimizer steps that the weights of an episode may be behind.
        state: returns the trainer's state.
    """

    per_batch: int
    per_step: int
    max_staleness: int
    state: Callable[[], Any]


class _ReadingAhead(Lockstep):
    """Reads the micro-batches to come."""

    def __init__(self, rollout: Rollout, options: Options, pacing: Pacing) -> None:
        super().__init__(rollout, options)
        self._pacing = pacing
        self._data: ReadAhead | None = None

    def read(self, micro_batches: Iterator[Any]) -> Iterator[Any]:
        """Return an epoch's micro-batches, of which those to come can be read."""
        if self._data is None or self._data.batches is not micro_batches:
            self._data = ReadAhead(micro_batches, self._pacing.per_step)
        return self._data

    def pass_on(self) -> None:
        """Note that the trainer goes on to the next micro-batch."""
        if self._data is not None:
            self._data.pass_on()

    def stop(self) -> None:
        """End with the training, and reset for the next one."""
        self._data = None


class Ahead(_ReadingAhead):
    """Prefetches batches before the step that trains on them, for `--max_staleness`.

    Tasks come from the trainer's own data, read ahead within an epoch. A batch's horizon and random
    numbers are fixed at its request. Its numbers are those of the step that will train on it, so a
    resumed run plays the unfinished batches again.
    """

    def __init__(self, rollout: Rollout, options: Options, pacing: Pacing, sender: Any) -> None:
        super().__init__(rollout, options, pacing)
        self._sender = sender
        self._batches: BatchesAhead | None = None
        self._is_stopped = True
        self._taken_at: tuple[float, float] | None = None
        """Time at which the last batch was taken, and how long the thread had played by then."""

    def take(self, rows: Sequence[Row]) -> RolloutBatch:
        """Return the episodes of a batch, and request the next ones."""
        batches = self._open()
        start = time.perf_counter()
        if not len(batches):  # the first of an epoch
            self._send()
            batches.request(_tasks(rows), **self._options(0))
        elif self._pacing.max_staleness > 1:  # under way, they go on with the new weights
            self._send_between_turns()
        batch, trajectories = batches.take()
        assert batch.task_ids == _tasks(rows), "the batches are taken in the order of the data"
        metrics, largest = staleness(trajectories, self._pacing)
        metrics |= self._waits(time.perf_counter() - start)
        self._send_between_turns()
        self._request_ahead()
        return RolloutBatch(
            rows,
            trajectories,
            requested_at=batch.global_step,
            metrics=metrics,
            largest=largest,
        )

    def pause(self) -> AbstractContextManager[None]:
        """Let the present batch end, and begin no other meanwhile."""
        return nullcontext() if self._batches is None else self._batches.paused()

    def stop(self) -> None:
        """Play no more."""
        if self._batches is not None:
            self._batches.stop()
        self._is_stopped, self._taken_at = True, None
        super().stop()

    def _open(self) -> BatchesAhead:
        """Return the player's thread of this training."""
        if self._batches is None or self._is_stopped:
            with self.pause():  # an earlier training's last episodes end first
                self._batches = self._sender.player = BatchesAhead(self.rollout)
            self._is_stopped = False
        return self._batches

    def in_trainer(self, work: Callable[[], None]) -> None:
        """Run `work` in the trainer's thread, from the player's as soon as that waits for it."""
        if self._batches is not None and self._batches.is_player:
            self._batches.in_trainer(work)
        else:
            work()

    def _send_between_turns(self) -> None:
        with self._open().between_turns():
            self._send()

    def _send(self) -> None:
        """Send the present weights, waiting for servers that are away."""
        step = self._pacing.state().global_step
        self.rollout.machinery.retry(lambda: self._sender.send(step))

    def _request_ahead(self) -> None:
        """Request the batches that the present weights may play."""
        batches, data, state = self._open(), self._data, self._pacing.state()
        assert data is not None
        while True:
            offset = self._pacing.per_batch * (len(batches) + 1)
            steps = data.steps_until(offset)
            is_stale = steps > self._pacing.max_staleness
            if is_stale or state.global_step + steps >= state.max_steps:
                return
            rows = data.read(offset)
            if rows is None:
                return
            batches.request(_tasks(rows), **self._options(steps))

    def _waits(self, waited: float) -> dict[str, float]:
        """Return how long player and trainer have waited since the last batch, by metric."""
        metrics = {"async/rollout_wait": waited}
        now, busy_seconds = time.perf_counter(), self._open().busy_seconds
        if self._taken_at is not None:
            began, busy_before = self._taken_at
            seconds, busy = now - began, busy_seconds - busy_before
            metrics |= {
                "async/trainer_wait": max(0.0, seconds - busy),
                "async/rollout_busy": min(1.0, busy / seconds),
                "async/trainer_busy": max(0.0, 1 - waited / seconds),
            }
        self._taken_at = now, busy_seconds
        return metrics


class CarriedOver(_ReadingAhead):
    """Carries groups of episodes over into the next step, for `--carry_over`.

    Twice the batch is under way. A step takes the complete groups, whichever rows of the data are
    its own, and the next batch's are requested in their place. An epoch's last step takes the
    rest.

    Args:
        rollout: plays.
        options: see `Options`.
        pacing: how batches and steps follow each other.
        group_size: episodes of a group.
        playing: returns a context for play outside of `take`.
        note: called with the rows that the present step uses if it is played again.
    """

    def __init__(
        self,
        rollout: Rollout,
        options: Options,
        pacing: Pacing,
        *,
        group_size: int,
        playing: Callable[[], AbstractContextManager[None]],
        note: Callable[[list[Row]], None],
    ) -> None:
        super().__init__(rollout, options, pacing)
        self._size, self._playing, self._note = group_size, playing, note
        self._groups = CarriedGroups(rollout, group_size)
        self._is_stopped = False

    def take(self, rows: Sequence[Row]) -> RolloutBatch:
        """Play until a batch of groups is complete, and return its episodes."""
        if self._is_stopped:
            self._groups, self._is_stopped = CarriedGroups(self.rollout, self._size), False
        groups, state, data = self._groups, self._pacing.state(), self._data
        assert data is not None
        if not len(groups):  # the first of an epoch
            groups.request(rows)
        self._note(groups.rows)
        next_step = state.global_step + data.steps_until(self._pacing.per_batch)
        if next_step < state.max_steps:
            groups.request(data.read(self._pacing.per_batch) or [])
        taken, trajectories = groups.take(
            len(rows) // self._size,
            oldest=next_step - self._pacing.max_staleness,
            **self._options(0),
        )
        metrics, largest = staleness(trajectories, self._pacing)
        ages = [state.global_step - began_at for began_at in groups.began_at]
        metrics |= {
            "async/carried": float(len(ages)),
            "async/carried_staleness": fmean(ages) if ages else 0.0,
        }
        requested_at = min(one.global_step for one in trajectories)
        return RolloutBatch(
            taken, trajectories, requested_at=requested_at, metrics=metrics, largest=largest
        )

    def pause(self) -> AbstractContextManager[None]:
        """Let episodes under way end."""
        if self._groups.is_under_way:
            with self._playing():
                self._groups.end(**self._options(0))
        return nullcontext()

    def stop(self) -> None:
        """Cancel the present episodes. Their rows stay pending."""
        self._groups.stop()
        self._is_stopped = True
        super().stop()

    @property
    def pending_rows(self) -> list[Row]:
        """The rows of the groups that were requested and not taken."""
        return self._groups.rows


class ReadAhead(Iterator[Any]):
    """An epoch's micro-batches, with access to those to come."""

    def __init__(self, batches: Iterator[Any], per_step: int) -> None:
        self.batches = batches
        self._per_step = per_step
        self._known: deque[Any] = deque()  # the present one first
        self._num_given = 0

    def __next__(self) -> Any:
        """Return the next one. It is present once all before it have been passed."""
        batch = self.read(self._num_given)
        if batch is None:
            raise StopIteration
        self._num_given += 1
        return batch

    def read(self, offset: int) -> Any:
        """Return the micro-batch at an offset from the present one. None is after the epoch."""
        while len(self._known) <= offset:
            try:
                self._known.append(next(self.batches))
            except StopIteration:
                return None
        return self._known[offset]

    def pass_on(self) -> None:
        """Make the next one the present one."""
        self._known.popleft()
        self._num_given -= 1

    def steps_until(self, offset: int) -> int:
        """Return the optimizer steps that are taken before that offset is reached."""
        # Those that were given make up the present step.
        return max(0, -(-(offset + 1 - self._num_given) // self._per_step))


def staleness(
    trajectories: Sequence[Trajectory], pacing: Pacing
) -> tuple[dict[str, float], dict[str, float]]:
    """Return the mean and the largest number of steps that weights were behind, by metric."""
    step = pacing.state().global_step
    ages = [
        step - turn.weights_step
        for trajectory in trajectories
        for turn in trajectory.turns
        if turn.weights_step is not None
    ]
    if not ages:
        return {}, {}
    assert max(ages) <= pacing.max_staleness
    return {"async/staleness": fmean(ages)}, {"async/staleness_max": float(max(ages))}


def check_ahead(
    rollout: RolloutArguments, env: EnvArguments, *, processes: int, carry_over: bool
) -> None:
    """Raise `UsageError` if backend, environments or processes forbid prefetching."""
    if processes > 1:
        raise UsageError(
            "max_staleness sends weights between two turns of one process, which "
            f"{processes} processes would have to do at one moment; pass `max_staleness=0`, which "
            "plays each process's share on the same `server_url`, or train with one process"
        )
    if carry_over:
        return  # playing and training take turns in one thread
    if not rollout.backend_spec.can_play_ahead:
        raise UsageError(
            "max_staleness plays while the policy is trained, so what samples must have weights of "
            f"its own, got `backend={rollout.backend_spec.name}`; pass "
            "`backend=vllm_server` with `server_url=http://host:port`, `carry_over` to take turns "
            "on one device, or `max_staleness=0`"
        )
    if env.env_backend == "sync":
        raise UsageError(
            "max_staleness plays in another thread than evaluations, so environments need threads "
            "of their own, got `env_backend=sync`; pass `env_backend=thread`, process or ray"
        )


def _tasks(rows: Sequence[Row]) -> list[str]:
    return [row["prompt"] for row in rows]
