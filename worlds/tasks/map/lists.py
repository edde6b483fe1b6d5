"""Tasks on the agent's lists of saved places."""

from __future__ import annotations

import sqlite3

from agentgym_envs.webarena.sites.map.categories import BY_NAME
from agentgym_envs.webarena.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.tasks.template import Case, Template, World, changed, impossible, state_of
from worlds.tasks.words import WORDS

_SAVED = (
    "SELECT v.list_id, v.place_id, v.note, l.name list, p.name, p.category, t.name town"
    " FROM saved v JOIN lists l ON l.id = v.list_id JOIN places p ON p.id = v.place_id"
    " JOIN towns t ON t.id = p.town_id WHERE l.user_id = ? ORDER BY l.id, p.id"
)

_LISTS = "SELECT id, name FROM lists WHERE user_id = ? ORDER BY id"
_ALL_NOTES = (
    "SELECT v.list_id, v.place_id, v.note FROM saved v JOIN lists l ON l.id = v.list_id"
    f" WHERE l.user_id = {AGENT_ID} ORDER BY v.list_id, v.place_id"
)


def _saved(world: World) -> list[sqlite3.Row]:
    return world.rows("map", _SAVED, AGENT_ID)


def _contents(rows: dict[tuple[int, int], str]) -> dict[str, object]:
    """Expect that the agent's lists hold these places with these notes and nothing else."""
    expected = [[*key, note] for key, note in sorted(rows.items())]
    return state_of("map", _ALL_NOTES, expected)


def _before(world: World) -> dict[tuple[int, int], str]:
    return {(row["list_id"], row["place_id"]): row["note"] for row in _saved(world)}


class EditNote(Template):
    """Changes the note on a saved place."""

    number = 65
    sites = ("map",)
    split = "train"
    intent = "On my list {list}, make the note on {place} in {town} say “{note}”."
    notes: tuple[str, ...] = WORDS["map"]["notes"]

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a saved place and a new note."""
        saved, note = dice.pick(_saved(world)), dice.pick(self.notes)
        after = _before(world) | {(saved["list_id"], saved["place_id"]): note}
        values = {
            "list": saved["list"],
            "place": saved["name"],
            "town": saved["town"],
            "note": note,
        }
        return Case(values, changed(_contents(after)))


class MoveSaved(Template):
    """Moves a saved place to another list and keeps its note."""

    number = 71
    sites = ("map",)
    split = "test"
    intent = (
        "Move {place} in {town} from my list {source} to my list {target} and keep the note that "
        "I made on it."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a place with a note and a list that lacks it."""
        saved = dice.pick([row for row in _saved(world) if row["note"]])
        target = dice.pick(world.rows("map", _LISTS, AGENT_ID))
        rows = _before(world)
        if (target["id"], saved["place_id"]) in rows:
            return None
        rows[target["id"], saved["place_id"]] = rows.pop((saved["list_id"], saved["place_id"]))
        values = {
            "place": saved["name"],
            "town": saved["town"],
            "source": saved["list"],
            "target": target["name"],
        }
        return Case(values, changed(_contents(rows)))


class MoveUnsaved(Template):
    """Moves a place off a list that it is not on."""

    number = 72
    sites = ("map",)
    split = "test"
    is_impossible = True
    intent = MoveSaved.intent

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a saved place, and two lists that lack it."""
        saved = dice.pick([row for row in _saved(world) if row["note"]])
        rows = _before(world)
        others = [
            row["name"]
            for row in world.rows("map", _LISTS, AGENT_ID)
            if (row["id"], saved["place_id"]) not in rows
        ]
        source, target = dice.sample(others, 2)
        values = {
            "place": saved["name"],
            "town": saved["town"],
            "source": source,
            "target": target,
        }
        return Case(values, impossible())


class RemoveKind(Template):
    """Takes every place of one kind off a list."""

    number = 76
    sites = ("map",)
    split = "train"
    intent = "Take every {kind} off my list {list} and leave everything else as it is."

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a list and a kind that it holds; rather one that it holds several times."""
        chosen = dice.pick(_saved(world))
        rows = _before(world)
        out = [
            (row["list_id"], row["place_id"])
            for row in _saved(world)
            if (row["list_id"], row["category"]) == (chosen["list_id"], chosen["category"])
        ]
        if len(out) == 1 and dice.chance(0.3):
            return None
        for key in out:
            del rows[key]
        values = {"kind": BY_NAME[chosen["category"]].name.lower(), "list": chosen["list"]}
        return Case(values, changed(_contents(rows)))
