"""Groups of episodes that go on from one step into the next, for `--carry_over`.

Plays in the thread that trains. Half of the groups under way make a batch, and no group waits
longer than the bound on staleness lets it, so all are trained on in the end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.rollout.env_slots import wait_for
from trainers.rollout.rollout import Batch, Rollout


class OpenBatch(Batch):
    """A batch whose episodes may go on with other weights and be replaced by further tasks.

    An index, with its key, is one episode's at a time.
    """

    def has_begun(self, indices: Sequence[int]) -> bool:
        """Return whether one of these tasks has had its first slot."""
        return any(index not in self._group_of(index).waiting for index in indices)

    def has_ended(self, indices: Sequence[int]) -> bool:
        """Return whether each of these tasks has its trajectory, or has failed for good."""
        failed = self._retries.failed
        return all(index in self._trajectories or index in failed for index in indices)

    @property
    def is_tolerable(self) -> bool:
        """No more episodes have failed for good than the failure rules allow."""
        return self._retries.is_tolerable

    def resume(self, **options: Any) -> None:
        """Begin again after the weights have changed, with the options of `Policy.begin_batch`."""
        self._begin_policy(**options)

    def suspend(self) -> None:
        """Let the policy free memory while nothing is played."""
        self._policy.suspend(self.live)

    def take(self, indices: Sequence[int]) -> list[Trajectory]:
        """Return the trajectories of tasks that have ended, failed ones included."""
        for index in indices:
            if index in self._broken:
                self._give_up(index)
        return [self._trajectories[index] for index in indices]

    def check(self) -> None:
        """Raise `EnvFailure` if more episodes failed for good than the failure rules allow."""
        self._retries.check()

    def replace(self, tasks: Mapping[int, str], *, global_step: int) -> None:
        """Play further tasks, given by index, in place of those that were taken."""
        for index, task_id in tasks.items():
            del self._trajectories[index]
            self._finished.pop(index, None)
            self._retries.forget(index)
            self._task_ids[index] = task_id
            self._enlist(index, global_step)


@dataclass
class CarriedGroup:
    """A requested group.

    Attributes:
        rows: of the data, one for each episode.
        task_ids: the tasks.
        indices: of its episodes in the batch; None before it has any.
        began_at: the optimizer step at which it had its first slot; no turn is older.
    """

    rows: list[Any]
    task_ids: list[str]
    indices: range | None = None
    began_at: int | None = None


class CarriedGroups:
    """Groups that are played until enough of them are complete, in one training.

    While groups are live nothing else may use the rollout's environments and policy.
    """

    def __init__(self, rollout: Rollout, group_size: int) -> None:
        self._rollout = rollout
        self._size = group_size
        self._groups: list[CarriedGroup] = []  # in the order of requests
        self._batch: OpenBatch | None = None
        self._vacant: deque[range] = deque()

    def __len__(self) -> int:
        """Return the number of groups that were requested and not taken."""
        return len(self._groups)

    @property
    def rows(self) -> list[Any]:
        """The rows of the groups that were requested and not taken, in that order."""
        return [row for group in self._groups for row in group.rows]

    @property
    def began_at(self) -> list[int]:
        """The steps at which groups have begun that were not taken."""
        return [group.began_at for group in self._groups if group.began_at is not None]

    def request(self, rows: Sequence[Any]) -> None:
        """Request whole groups of rows, whose `prompt` is a task id."""
        for start in range(0, len(rows), self._size):
            group = list(rows[start : start + self._size])
            self._groups.append(CarriedGroup(group, [row["prompt"] for row in group]))

    def take(
        self, count: int, *, oldest: int, global_step: int, **options: Any
    ) -> tuple[list[Any], list[Trajectory]]:
        """Play until `count` groups are complete, and return their rows and trajectories.

        Groups that began before the optimizer step `oldest` are waited for, and taken first. The
        weights of `global_step` play; it also has the horizon of groups requested since the last
        call. Further options are those of `Rollout.run`.

        Raises:
            EnvFailure: more episodes failed than the failure rules allow.
        """
        if count > len(self):
            raise ValueError(f"{count} groups are to be taken, and {len(self)} were requested")

        def is_due(group: CarriedGroup) -> bool:
            return group.began_at is not None and group.began_at < oldest

        def is_enough() -> bool:
            complete = [group for group in self._groups if self._is_complete(group)]
            late = any(is_due(group) and not self._is_complete(group) for group in self._groups)
            return len(complete) >= count and not late and self._playing.is_tolerable

        self._go_on(global_step=global_step, **options)
        self._play(until=is_enough)
        self._playing.check()
        self._note_begun(global_step)
        complete = [group for group in self._groups if self._is_complete(group)]
        taken = sorted(complete, key=lambda group: not is_due(group))[:count]
        trajectories = [one for group in taken for one in self._playing.take(_indices(group))]
        self._groups = [group for group in self._groups if group not in taken]
        self._vacant.extend(_indices(group) for group in taken)
        if self._groups:
            self._playing.suspend()
        else:
            self._batch = None
        return [row for group in taken for row in group.rows], trajectories

    def end(self, *, global_step: int, **options: Any) -> None:
        """Play the present groups to their end, so that environments and policy are free."""
        self._go_on(global_step=global_step, **options)
        self._play(until=lambda: False)
        self._note_begun(global_step)

    @property
    def is_under_way(self) -> bool:
        """Some group has begun and is not complete."""
        return self._batch is not None and not all(map(self._is_complete, self._groups))

    def stop(self) -> None:
        """Cancel the present episodes. Their groups stay requested."""
        if self._batch is not None:
            self._batch.abandon()
            self._batch = None

    @property
    def _playing(self) -> OpenBatch:
        assert self._batch is not None
        return self._batch

    def _go_on(self, *, global_step: int, **options: Any) -> None:
        """Give every group its indices, and let the policy begin with the present weights."""
        if self._batch is None:
            self._vacant.clear()
            for number, group in enumerate(self._groups):
                group.indices = range(number * self._size, (number + 1) * self._size)
                group.began_at = None
            tasks = [task for group in self._groups for task in group.task_ids]
            self._batch = OpenBatch(self._rollout, tasks, global_step=global_step, **options)
            return
        self._batch.resume(global_step=global_step, **options)
        for group in self._groups:
            if group.indices is None:
                group.indices = self._vacant.popleft()
                tasks_of = dict(zip(group.indices, group.task_ids, strict=True))
                self._batch.replace(tasks_of, global_step=global_step)

    def _play(self, *, until: Callable[[], bool]) -> None:
        """Play as `Rollout.run` does, until a condition that is checked before each turn."""
        batch = self._playing
        while not until() and (turns := batch.next_turns()) is not None:
            for group, actions in turns:
                batch.record_turns(group, group.env.step(actions))
            wait_for([batch.pause])

    def _is_complete(self, group: CarriedGroup) -> bool:
        return self._playing.has_ended(_indices(group))

    def _note_begun(self, global_step: int) -> None:
        for group in self._groups:
            if group.began_at is None and self._playing.has_begun(_indices(group)):
                group.began_at = global_step


def _indices(group: CarriedGroup) -> range:
    assert group.indices is not None
    return group.indices
