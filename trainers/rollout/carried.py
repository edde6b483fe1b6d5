"""Groups of episodes that go on from one step into the next, for `--carry_over`.

Plays in the thread that trains. Half of the groups under way make a batch, and no group waits
longer than the bound on staleness lets it, so all are trained on in the end.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from agentgym_envs.trajectories.trajectory import Trajectory
from trainers.rollout.batch import Batch
from trainers.rollout.pause import wait_for
from trainers.rollout.rollout import Rollout


class OpenBatch(Batch):
    """A batch whose episodes may go on with other weights, and give their places to further tasks.

    A place, with its key, is one episode's at a time.
    """

    def has_begun(self, places: Sequence[int]) -> bool:
        """Return whether one of these tasks has had its first slot."""
        return any(place not in self._group_of(place).waiting for place in places)

    def has_ended(self, places: Sequence[int]) -> bool:
        """Return whether each of these tasks has its trajectory, or was given up."""
        failed = self._retries.failed
        return all(place in self._trajectories or place in failed for place in places)

    @property
    def is_tolerable(self) -> bool:
        """No more episodes were given up than the failure rules allow."""
        return self._retries.is_tolerable

    def resume(self, **options: Any) -> None:
        """Let the policy go on after its weights have changed.

        Args:
            **options: of `Policy.begin_batch`.
        """
        self._begin_policy = partial(self._policy.begin_batch, **options)
        self._retries.machinery.retry(self._begin_policy)

    def suspend(self) -> None:
        """Let the policy free what it can while nothing is played."""
        self._policy.suspend(self.live)

    def take(self, places: Sequence[int]) -> list[Trajectory]:
        """Return the trajectories of tasks that have ended; those given up are failed ones."""
        for place in places:
            if place in self._broken:
                self._give_up(place)
        return [self._trajectories[place] for place in places]

    def check(self) -> None:
        """Stop the run when too many episodes were given up.

        Raises:
            EnvFailure: there are more than the failure rules allow.
        """
        self._retries.check()

    def replace(self, tasks: Mapping[int, str], *, global_step: int) -> None:
        """Play further tasks in the places of those that were taken.

        Args:
            tasks: by place.
            global_step: the optimizer step of their horizon.
        """
        for place, task_id in tasks.items():
            del self._trajectories[place]
            self._finished.pop(place, None)
            self._retries.forget(place)
            self._task_ids[place] = task_id
            self._retries.machinery.retry(partial(self._enlist, place, global_step))


@dataclass
class CarriedGroup:
    """A group that was asked for.

    Attributes:
        rows: of the data, one for each episode.
        task_ids: what is played.
        places: of its episodes in the batch; None before it has any.
        began_at: the optimizer step at which it had its first slot; no turn is older.
    """

    rows: list[Any]
    task_ids: list[str]
    places: range | None = None
    began_at: int | None = None


class CarriedGroups:
    """Groups that are played until enough of them are complete; for one training, once.

    Args:
        rollout: plays; its environments and its policy are nobody else's while groups are live.
        group_size: episodes of a group.
    """

    def __init__(self, rollout: Rollout, group_size: int) -> None:
        self._rollout = rollout
        self._size = group_size
        self._groups: list[CarriedGroup] = []  # in the order of asking
        self._batch: OpenBatch | None = None
        self._vacant: deque[range] = deque()

    def __len__(self) -> int:
        """The groups that were asked for and not taken."""
        return len(self._groups)

    @property
    def rows(self) -> list[Any]:
        """The rows of the groups that were asked for and not taken, in that order."""
        return [row for group in self._groups for row in group.rows]

    @property
    def began_at(self) -> list[int]:
        """The steps at which groups have begun that were not taken."""
        return [group.began_at for group in self._groups if group.began_at is not None]

    def ask(self, rows: Sequence[Any]) -> None:
        """Ask for groups.

        Args:
            rows: whole groups, whose `prompt` is a task id.
        """
        for start in range(0, len(rows), self._size):
            group = list(rows[start : start + self._size])
            self._groups.append(CarriedGroup(group, [row["prompt"] for row in group]))

    def take(
        self, count: int, *, oldest: int, global_step: int, **options: Any
    ) -> tuple[list[Any], list[Trajectory]]:
        """Play until there are so many complete groups; return their rows and trajectories.

        Args:
            count: groups, at most as many as were asked for.
            oldest: groups that began before this optimizer step are waited for, and taken first.
            global_step: the optimizer step whose weights play, and of the horizon of those that
                were asked for since the last call.
            **options: further ones of `Rollout.run`.

        Raises:
            EnvFailure: more episodes failed than the failure rules allow.
        """
        if count > len(self):
            raise ValueError(f"{count} groups are to be taken, and {len(self)} were asked for")

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
        trajectories = [one for group in taken for one in self._playing.take(_places(group))]
        self._groups = [group for group in self._groups if group not in taken]
        self._vacant.extend(_places(group) for group in taken)
        if self._groups:
            self._playing.suspend()
        else:
            self._batch = None
        return [row for group in taken for row in group.rows], trajectories

    def end(self, *, global_step: int, **options: Any) -> None:
        """Play what is under way to its end, so that environments and policy are free.

        Args:
            global_step: the optimizer step whose weights play.
            **options: further ones of `Rollout.run`.
        """
        self._go_on(global_step=global_step, **options)
        self._play(until=lambda: False)
        self._note_begun(global_step)

    @property
    def is_under_way(self) -> bool:
        """Some group has begun and is not complete."""
        return self._batch is not None and not all(map(self._is_complete, self._groups))

    def stop(self) -> None:
        """Give up what is under way; the groups stay asked for."""
        if self._batch is not None:
            self._batch.abandon()
            self._batch = None

    @property
    def _playing(self) -> OpenBatch:
        assert self._batch is not None
        return self._batch

    def _go_on(self, *, global_step: int, **options: Any) -> None:
        """Give every group its places, and let the policy begin with the present weights."""
        if self._batch is None:
            self._vacant.clear()
            for number, group in enumerate(self._groups):
                group.places = range(number * self._size, (number + 1) * self._size)
                group.began_at = None
            tasks = [task for group in self._groups for task in group.task_ids]
            batch = self._rollout.begin(tasks, global_step=global_step, kind=OpenBatch, **options)
            assert isinstance(batch, OpenBatch)
            self._batch = batch
            return
        self._batch.resume(global_step=global_step, **options)
        for group in self._groups:
            if group.places is None:
                group.places = self._vacant.popleft()
                tasks_of = dict(zip(group.places, group.task_ids, strict=True))
                self._batch.replace(tasks_of, global_step=global_step)

    def _play(self, *, until: Callable[[], bool]) -> None:
        """Play as `Rollout.run` does; `until` is asked before each turn."""
        batch = self._playing
        while not until() and (turns := batch.next_turns()) is not None:
            for group, actions in turns:
                batch.record_turns(group, group.env.step(actions))
            wait_for([batch.pause])

    def _is_complete(self, group: CarriedGroup) -> bool:
        return self._playing.has_ended(_places(group))

    def _note_begun(self, global_step: int) -> None:
        for group in self._groups:
            if group.began_at is None and self._playing.has_begun(_places(group)):
                group.began_at = global_step


def _places(group: CarriedGroup) -> range:
    assert group.places is not None
    return group.places
