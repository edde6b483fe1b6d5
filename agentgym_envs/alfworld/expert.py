"""Solves tasks by searching the likeliest places first, from the observations alone.

Each move is chosen from what is known when it is asked for, so it starts from any state. What a
place holds is known once `Place.is_seen`, since only the agent moves things.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from agentgym_envs.alfworld.house import House, Place, Thing
from agentgym_envs.core import ExpertMove

MAX_MOVES = 1000
"""Most moves of an expert. No task needs nearly that many."""

_PROCESSES = {
    "Clean": ("clean", "sinkbasin", "clean"),
    "Heat": ("heat", "microwave", "hot"),
    "Cool": ("cool", "fridge", "cool"),
}
"""By subtask: the command, the kind of place, and the word for the state."""


def moves(expert: Expert) -> Iterator[ExpertMove]:
    """Yield moves while there is something to try.

    The environment is stepped between them.
    """
    for _ in range(MAX_MOVES):
        move = expert.next_move()
        if move is None:
            return
        yield move


class Expert:
    """Chooses the next move in a house."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._task = house.task

    def next_move(self) -> ExpertMove | None:
        """Return the next move, or None where every place was seen in vain."""
        held = self._house.held
        if held is None:
            return self._fetch()
        if held.kind != self._task.thing:
            return self._put_aside(held)
        if self._task.subtask == "Look":
            return self._light(held)
        if not self._house.is_ready(held):
            return self._process(held)
        return self._deliver(held)

    # Parts of a task ----------------------------------------------------------------------------

    def _fetch(self) -> ExpertMove | None:
        found = self._seen(self._task.thing, self._destination())
        if not found:
            return self._search(self._task.thing)
        place, thing = found[0]
        if self._house.is_at(place) and not place.is_closed:
            return ExpertMove(
                f"take {thing.name} from {place.name}",
                f"I need {_a(thing.kind)}, and {thing.name} is here: I take it.",
            )
        return self._reach(place, f"I saw {thing.name} earlier")

    def _process(self, held: Thing) -> ExpertMove:
        verb, kind, state = _PROCESSES[self._task.subtask]
        place = self._places(kind)[0]
        if self._house.is_at(place):
            return ExpertMove(
                f"{verb} {held.name} with {place.name}",
                f"The goal wants it {state}, and {place.name} makes {held.name} {state}.",
            )
        return ExpertMove(
            f"go to {place.name}", f"The goal wants it {state}: I take {held.name} to {place.name}."
        )

    def _deliver(self, held: Thing) -> ExpertMove:
        place = self._destination()
        assert place is not None
        if self._house.is_at(place) and not place.is_closed:
            return ExpertMove(
                self._put_command(held, place), f"The goal wants {held.name} here: I put it down."
            )
        return self._reach(place, f"The goal wants {held.name} in or on {_a(place.kind)}")

    def _light(self, held: Thing) -> ExpertMove | None:
        lamps = self._seen(self._task.target)
        if not lamps:
            return self._search(self._task.target)
        place, lamp = lamps[0]
        if self._house.is_at(place):
            return ExpertMove(
                f"use {lamp.name}", f"I hold {held.name}, and {lamp.name} is here: I turn it on."
            )
        return ExpertMove(
            f"go to {place.name}", f"I hold {held.name}, and {lamp.name} is on {place.name}."
        )

    def _put_aside(self, held: Thing) -> ExpertMove | None:
        holds = self._house.rules.holds
        spots = [place for place in self._house.places if held.kind in holds[place.kind]]
        if not spots:
            return None
        spots.sort(key=lambda place: (not self._house.is_at(place), place.is_closed))
        if self._house.is_at(spots[0]) and not spots[0].is_closed:
            return ExpertMove(
                self._put_command(held, spots[0]), f"The task is not about {held.name}."
            )
        return self._reach(spots[0], f"The task is not about {held.name}; I leave it there")

    def _search(self, kind: str) -> ExpertMove | None:
        unseen = [place for place in self._house.places if not place.is_seen]
        return self._reach(self._next(unseen, kind), f"I look for {_a(kind)}") if unseen else None

    def _next(self, unseen: Sequence[Place], kind: str) -> Place:
        """Return the place where a thing is looked for next."""
        return max(unseen, key=lambda place: self._promise(kind, place))

    # What is known ------------------------------------------------------------------------------

    def _promise(self, kind: str, place: Place) -> float:
        """Return how likely a thing of a kind lies there, for each turn that looking takes."""
        rules = self._house.rules
        turns = max(1.0, 1.0 + place.is_closed - self._house.is_at(place))
        stands_on = rules.fixtures.get(kind)
        if stands_on is not None:
            # It stands on the first of these kinds that the scene has.
            is_listed = place.kind in stands_on
            return 1 / (1 + stands_on.index(place.kind)) / turns if is_listed else 0.0
        if kind not in rules.holds[place.kind]:
            return 0.001 / turns
        chance = rules.strewing[place.kind].share / len(self._places(place.kind))
        if place.kind == self._task.target:
            chance /= 10  # what lies there already needs no carrying
        return chance / turns

    def _seen(self, kind: str, destination: Place | None = None) -> list[tuple[Place, Thing]]:
        """List the things of a kind that were seen, the nearest first.

        What is ready at the destination is left out: it stays there.
        """
        found = [
            (place, thing)
            for place in self._house.places
            if place.is_seen
            for thing in place.contents
            if thing.kind == kind and not (place is destination and self._house.is_ready(thing))
        ]
        return sorted(found, key=lambda pair: not self._house.is_at(pair[0]))

    def _destination(self) -> Place | None:
        """Return the target place that holds most of the right things."""
        if self._task.subtask == "Look":
            return None
        places = self._places(self._task.target)
        return max(
            places,
            key=lambda place: (
                place.is_seen and sum(map(self._house.is_ready, place.contents)),
                self._house.is_at(place),
                not place.is_closed,
            ),
        )

    def _places(self, kind: str) -> Sequence[Place]:
        return [place for place in reversed(self._house.places) if place.kind == kind]

    # Commands -----------------------------------------------------------------------------------

    def _reach(self, place: Place, why: str) -> ExpertMove:
        if not self._house.is_at(place):
            return ExpertMove(f"go to {place.name}", f"{why}: I go to {place.name}.")
        verb = "open" if place.is_closed else "examine"  # one that shares its spot with another
        return ExpertMove(f"{verb} {place.name}", f"{why}: I {verb} {place.name}.")

    def _put_command(self, held: Thing, place: Place) -> str:
        wording = self._house.wording
        return f"{wording.put} {held.name} {wording.into} {place.name}"


class Sweep(Expert):
    """Knows how to use a thing, and nothing of where things are likely to be.

    Args:
        house: the episode's.
        backwards: go through the list of places from its end.
    """

    def __init__(self, house: House, *, backwards: bool = False) -> None:
        super().__init__(house)
        self._end = -1 if backwards else 0

    def _next(self, unseen: Sequence[Place], kind: str) -> Place:
        return unseen[self._end]


def _a(kind: str) -> str:
    return f"{'an' if kind[0] in 'aeiou' else 'a'} {kind}"
