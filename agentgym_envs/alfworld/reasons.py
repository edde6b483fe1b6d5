"""Says why a command does nothing, or how it is written.

Names only what the episode has shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agentgym_envs.alfworld.house import PROCESSES, House, Place, Thing
from agentgym_envs.errors import InvalidAction

_ALONE = frozenset({"look", "inventory", "help"})
_VERBS = {
    **{verb: verb for verb in (*PROCESSES, *_ALONE)},
    **{verb: verb for verb in ("open", "close", "examine", "use", "slice", "take", "move")},
    **dict.fromkeys(("move to", "go", "goto", "walk", "head", "return", "visit"), "go to"),
    **dict.fromkeys(("pick", "pickup", "get", "grab"), "take"),
    **dict.fromkeys(("put", "place", "drop"), "move"),
    **dict.fromkeys(("turn", "toggle", "switch", "light"), "use"),
    **dict.fromkeys(("wash", "rinse"), "clean"),
    **dict.fromkeys(("chill",), "cool"),
    **dict.fromkeys(("cut",), "slice"),
}
"""The verb that a command's first words mean."""

_FORMS = {
    "go to": "go to <place>",
    "open": "open <place>",
    "close": "close <place>",
    "take": "take <thing> from <place>",
    "move": "move <thing> to <place>",
    "use": "use <lamp>",
    "slice": "slice <thing> with <knife>",
    "examine": "examine <place>, or examine <thing>",
    **{verb: f"{verb} <thing> with <{kind}>" for verb, (kind, _) in PROCESSES.items()},
}


class _Mention(NamedTuple):
    """A kind of place or thing in a command, with its number if it has one."""

    kind: str
    number: str

    @property
    def name(self) -> str:
        return f"{self.kind} {self.number}".rstrip()


def reason(house: House, command: str) -> str:
    """Return why a command that the house does not list does nothing."""
    first, *rest = command.split(" ", 2)
    verb = _VERBS.get(" ".join([first, *rest[:1]])) or _VERBS.get(first)
    if verb is None:
        return "There is no such command. Write help for those there are."
    if verb in _ALONE:
        return f"Write: {verb}."
    try:
        return _Reading(house, verb, command).written()
    except InvalidAction as obstacle:
        return str(obstacle)


class _Reading:
    """Reads the meaning of a command, or says in an `InvalidAction` why it has none."""

    def __init__(self, house: House, verb: str, command: str) -> None:
        self._house = house
        self._verb = verb
        mentions = [_Mention(*match.groups("")) for match in house.rules.names.finditer(command)]
        self._places = [m for m in mentions if m.kind in house.rules.holds]
        self._things = [m for m in mentions if m.kind not in house.rules.holds]

    def written(self) -> str:
        """Return the command that does as the text means."""
        if self._verb in PROCESSES:
            return self._process()
        sentence: str = getattr(self, f"_{self._verb.partition(' ')[0]}")()
        return sentence

    # By verb ------------------------------------------------------------------------------------

    def _go(self) -> str:
        place = self._place()
        if self._house.is_at(place):
            raise InvalidAction(f"You are at {place.name} already.")
        return f"Write: go to {place.name}."

    def _open(self) -> str:
        place = self._place_here(may_be_closed=True)
        if not place.is_openable:
            raise InvalidAction(f"The {place.name} has no door.")
        if place.is_open:
            raise InvalidAction(f"The {place.name} is open already.")
        return f"Write: open {place.name}."

    def _close(self) -> str:
        place = self._place_here(may_be_closed=True)
        if not place.is_openable:
            raise InvalidAction(f"The {place.name} has no door.")
        if not place.is_open:
            raise InvalidAction(f"The {place.name} is closed already.")
        return f"Write: close {place.name}."

    def _take(self) -> str:
        held = self._house.held
        if held is not None:
            raise InvalidAction(
                f"You hold {held.name}, and one thing at a time. Move it to a place first."
            )
        mention = self._mentioned_thing()
        place = self._house.at
        if self._places:
            place = self._place_here()
        elif place is None or not self._matching(mention, place):
            raise InvalidAction(f"Take {mention.name} from where? {self._form}")
        thing = self._thing(mention, place)
        if thing.kind in self._house.rules.fixtures:
            raise InvalidAction(f"The {thing.name} cannot be taken.")
        return f"Write: take {thing.name} from {place.name}."

    def _move(self) -> str:
        held = self._held()
        if not self._places:
            raise InvalidAction(f"Move {held.name} where? {self._form}")
        place = self._place_here()
        if held.kind not in self._house.rules.holds[place.kind]:
            raise InvalidAction(f"A {held.kind} does not belong in or on a {place.kind}.")
        return f"Write: move {held.name} to {place.name}."

    def _process(self) -> str:
        held = self._held()
        tool, trait = PROCESSES[self._verb]
        if held.kind not in getattr(self._house.rules, trait):
            raise InvalidAction(f"A {held.kind} is nothing to {self._verb}.")
        places = [mention for mention in self._places if mention.kind == tool]
        if not places:
            raise InvalidAction(f"You {self._verb} with a {tool}. {self._form}")
        self._places = places
        place = self._place_here(may_be_closed=True)
        return f"Write: {self._verb} {held.name} with {place.name}."

    def _use(self) -> str:
        mention = self._mentioned_thing()
        if mention.kind not in self._house.rules.toggleable:
            raise InvalidAction(f"A {mention.kind} cannot be turned on.")
        if self._house.at is None:
            raise InvalidAction(
                "You are in the middle of the room. Go to the place where the lamp stands first."
            )
        thing = self._thing(mention, self._house.at)
        return f"Write: use {thing.name}."

    def _slice(self) -> str:
        held = self._house.held
        if held is None or not held.is_knife:
            raise InvalidAction(f"You hold no knife. {self._form}")
        mention = self._mentioned_thing()
        if mention.kind not in self._house.rules.sliceable:
            raise InvalidAction(f"A {mention.kind} is nothing to slice.")
        if self._house.at is None:
            raise InvalidAction(f"Go to the place where {mention.name} lies first.")
        thing = self._thing(mention, self._house.at)
        return f"Write: slice {thing.name} with {held.name}."

    def _examine(self) -> str:
        for own in (self._house.held, self._house.at):
            for mention in (*self._things, *self._places):
                if own is not None and mention.name in (own.name, own.kind):
                    return f"Write: examine {own.name}."
        raise InvalidAction("You can examine the place where you are, and what you hold.")

    # What a command names -----------------------------------------------------------------------

    @property
    def _form(self) -> str:
        return f"Write: {_FORMS[self._verb]}."

    def _mentioned_thing(self) -> _Mention:
        if not self._things:
            raise InvalidAction(f"That names no thing there is. {self._form}")
        return self._things[0]

    def _place(self) -> Place:
        if not self._places:
            raise InvalidAction(f"That names no place there is. {self._form}")
        mention = self._places[0]
        own = [place for place in self._house.places if place.kind == mention.kind]
        if not own:
            raise InvalidAction(f"There is no {mention.kind} in this room.")
        named = [place for place in own if place.name == mention.name]
        if not named and (mention.number or len(own) > 1):
            names = _either([place.name for place in reversed(own)])
            raise InvalidAction(f"Which {mention.kind}? There is {names}.")
        return named[0] if named else own[0]

    def _place_here(self, *, may_be_closed: bool = False) -> Place:
        place = self._place()
        if not self._house.is_at(place):
            raise InvalidAction(f"You are not at {place.name}. Go to {place.name} first.")
        if place.is_closed and not may_be_closed:
            raise InvalidAction(f"The {place.name} is closed. Open {place.name} first.")
        return place

    def _held(self) -> Thing:
        held = self._house.held
        if held is None:
            raise InvalidAction("You hold nothing. Take the thing from its place first.")
        if self._things and self._things[0].name not in (held.name, held.kind):
            raise InvalidAction(f"You do not hold {self._things[0].name}: you hold {held.name}.")
        return held

    def _matching(self, mention: _Mention, place: Place) -> list[Thing]:
        shown = [] if place.is_closed else place.contents
        return [thing for thing in shown if mention.name in (thing.name, thing.kind)]

    def _thing(self, mention: _Mention, place: Place) -> Thing:
        things = self._matching(mention, place)
        if not things:
            raise InvalidAction(f"You see no {mention.name} in or on {place.name}.")
        if len(things) > 1:
            raise InvalidAction(
                f"Which {mention.kind}? You see {_either([thing.name for thing in things])}."
            )
        return things[0]


def _either(names: Sequence[str]) -> str:
    return " and ".join(names) if len(names) < 3 else f"{', '.join(names[:-1])} and {names[-1]}"
