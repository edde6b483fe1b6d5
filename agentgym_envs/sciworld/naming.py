"""Names the actions of a solution as the list of possible actions does."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from agentgym_envs.sciworld.listing import Listing
from agentgym_envs.sciworld.meanings import meanings
from agentgym_envs.sciworld.simulator import Simulator


class ListedNames:
    """The names by which an episode's list has the actions of a solution.

    Args:
        simulator: where the episode is played.
    """

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._solution: dict[str, tuple[str, ...]] = {}

    def name(self, actions: Iterable[str], listing: Callable[[], Listing]) -> Iterator[str]:
        """Yield actions under the names that the list has for them when their turn comes.

        A request that asks which of several is meant, and its answer, become one action where the
        list has a name that needs no question; where it has none, one becomes two. An action that
        the list does not have stays as it is.

        Args:
            actions: the solution, from where the episode stands.
            listing: returns the list of the episode's present state.
        """
        queue = deque(actions)
        while queue:
            parts = [queue.popleft()]
            choices = meanings(self._simulator, parts[0])
            if len(choices) > 1 and queue and queue[0].isdigit():
                parts.append(queue.popleft())
            number = int(parts[1]) if len(parts) > 1 else 0
            name = listing().name(choices[number]) if number < len(choices) else None
            asks = name is not None and len(meanings(self._simulator, name)) > 1
            is_clear = (len(choices) > 1) == (len(parts) > 1)
            if name is None or not (is_clear or asks):
                yield from parts
                continue
            is_answered = asks and is_clear  # else the solution asks in vain, and goes on
            self._solution[name] = tuple(parts[:-1] if is_answered else parts)
            yield name
            answer = listing().choice(choices[number].things) if is_answered else None
            if answer is not None:
                self._solution[answer] = tuple(parts[-1:])
                yield answer

    def solution_of(self, action: str) -> tuple[str, ...]:
        """Return the solution's actions for which `name` last yielded an action, now played."""
        return self._solution.pop(action, (action,))
