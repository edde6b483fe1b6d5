"""Tasks on the agent's lists of saved places."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.map.categories import BY_NAME
from agentgym_envs.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.tasks.goals import changes, gone, impossible, page, row
from worlds.tasks.map import steps
from worlds.tasks.screen import ElementNotFound, Screen, enter
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_SAVED = (
    "SELECT v.list_id, v.place_id, v.note, l.name list, p.name, p.category, t.name town"
    " FROM saved v JOIN lists l ON l.id = v.list_id JOIN places p ON p.id = v.place_id"
    " JOIN towns t ON t.id = p.town_id WHERE l.user_id = ? ORDER BY l.id, p.id"
)


_LISTS = "SELECT id, name FROM lists WHERE user_id = ? ORDER BY id"


def _saved(world: World) -> list[sqlite3.Row]:
    return world.rows("map", _SAVED, AGENT_ID)


def _lists_without(world: World, place_id: int) -> list[sqlite3.Row]:
    """List the lists that a place is not on."""
    holding = {each["list_id"] for each in _saved(world) if each["place_id"] == place_id}
    return [each for each in world.rows("map", _LISTS, AGENT_ID) if each["id"] not in holding]


def _open_list(screen: Screen, name: str) -> Iterator[ExpertMove]:
    yield from enter(screen, steps.SITE)
    yield screen.click("link", "Saved places", "My lists are under the saved places.")
    yield screen.click("link", name, f"This is the list {name}.")


class EditNote(Template):
    """Changes the note on a saved place."""

    number = 65
    sites = ("map",)
    split = "train"
    intents = (
        "Change the note on {place}, {town} (list {list}) to “{note}”.",
        "Change the note on {place} in {town}, which is on my list {list}, to “{note}”.",
    )
    notes: tuple[str, ...] = WORDS["map"]["notes"]

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a saved place and a new note."""
        saved, note = dice.pick(_saved(world)), dice.pick(self.notes)
        if note == saved["note"]:
            return None
        values = {
            "list": saved["list"],
            "place": saved["name"],
            "town": saved["town"],
            "note": note,
        }
        key = {"list_id": saved["list_id"], "place_id": saved["place_id"]}
        return Case(values, changes(row("saved", **key, note=note)))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the place on the list and edit its note."""
        yield from _open_list(screen, case.values["list"])
        link = f"Edit the note on {case.values['place']}, {case.values['town']}"
        yield from steps.to_page_with(screen, "link", link)
        yield screen.click("link", link)
        yield screen.fill("textbox", "Note", case.values["note"], enter=True)
        yield screen.stop("", "The note is saved.")


def _note(screen: Screen, button: str) -> str:
    for item in screen.all("listitem"):
        if any(node.name == button for node in screen.below(item, "button")):
            text = screen.below(item, "StaticText")[0].name
            return text.partition("Note: ")[2]
    raise ElementNotFound(f"no list item has the button {button!r}")


class MoveSaved(Template):
    """Moves a saved place to another list and keeps its note."""

    number = 71
    sites = ("map",)
    split = "test"
    intents = (
        "Move {place}, {town}, with its note from {source} to {target}.",
        "Take {place} in {town} off my list {source}, and put it on my list {target} with its "
        "note.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a place with a note and a list that lacks it."""
        saved = dice.pick([row for row in _saved(world) if row["note"]])
        target = dice.pick(_lists_without(world, saved["place_id"]))
        values = {
            "place": saved["name"],
            "town": saved["town"],
            "source": saved["list"],
            "target": target["name"],
        }
        place = saved["place_id"]
        goal = changes(
            gone("saved", list_id=saved["list_id"], place_id=place),
            row("saved", list_id=target["id"], place_id=place, note=saved["note"]),
        )
        return Case(values, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read the note, take the place off, and save it again elsewhere."""
        place, town = case.values["place"], case.values["town"]
        yield from _open_list(screen, case.values["source"])
        button = f"Remove {place}, {town}"
        yield from steps.to_page_with(screen, "button", button)
        note = _note(screen, button)
        yield screen.click("button", button, f"The note is “{note}”; I take the place off here.")
        yield from steps.open_place(screen, place, town)
        yield screen.click("link", "Save", "Now it goes on the other list.")
        yield screen.choose("List", case.values["target"])
        yield screen.fill("textbox", "Note (optional)", note, "The note must stay.", enter=True)
        yield screen.stop("", "The place is on the other list with its note.")


class MoveUnsaved(Template):
    """Moves a place off a list that it is not on."""

    number = 72
    sites = ("map",)
    split = "test"
    is_impossible = True
    intents = MoveSaved.intents

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a saved place, and two lists that lack it."""
        saved = dice.pick([row for row in _saved(world) if row["note"]])
        source, target = dice.sample(_lists_without(world, saved["place_id"]), 2)
        values = {
            "place": saved["name"],
            "town": saved["town"],
            "source": source["name"],
            "target": target["name"],
        }
        goal = impossible(
            (saved["name"], "place", "it "),
            (*_NOT_THERE, f"no {saved['name']}"),
            about=[saved["name"]],
            pages=[page("map", f"/saved/{source['id']}")],
        )
        return Case(values, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go through the list and find that the place is missing."""
        place, town = case.values["place"], case.values["town"]
        yield from _open_list(screen, case.values["source"])
        button = f"Remove {place}, {town}"
        while screen.has("link", "Next") and not screen.has("button", button):
            yield screen.click("link", "Next", "It is not on this page of the list.")
        if screen.has("button", button):
            raise ElementNotFound(f"{place} is on the list after all")
        yield screen.give_up(f"{place} in {town} is not on this list.")


_NOT_THERE = ("not on", "n't on", "not in", "n't in", "not saved", "n't saved", "not contain",
              "n't contain", "not include", "n't include", "not hold", "n't hold", "not there",
              "n't there", "not listed", "not have", "n't have", "not find", "n't find",
              "not found", "be found", "not part", "no such place", "no place", "no entry",
              "none of", "another list", "absent", "missing", "without", " lack", "not among",
              "n't among", "never")  # fmt: skip
"""Words of reasons that something is not on a list."""


class RemoveKind(Template):
    """Takes every place of one kind off a list."""

    number = 76
    sites = ("map",)
    split = "train"
    intents = (
        "Take every {kind} off my list {list}.",
        "I want no {kind} on my list {list}: take every one off.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a list and a kind that it holds, preferably several times."""
        chosen = dice.pick(_saved(world))
        out = [
            each
            for each in _saved(world)
            if (each["list_id"], each["category"]) == (chosen["list_id"], chosen["category"])
        ]
        if len(out) == 1 and dice.chance(0.3):
            return None
        values = {"kind": BY_NAME[chosen["category"]].name.lower(), "list": chosen["list"]}
        keys = [{"list_id": each["list_id"], "place_id": each["place_id"]} for each in out]
        return Case(values, changes(*(gone("saved", **key) for key in keys)))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go through the pages of the list and remove the places of the kind."""
        yield from _open_list(screen, case.values["list"])
        kind = case.values["kind"].capitalize()
        while True:
            buttons = [
                button
                for item in screen.all("listitem")
                for button in screen.below(item, "button")
                if screen.below(item, "StaticText")[0].name.startswith(f"{kind} · ")
            ]
            if buttons:
                yield screen.click_node(buttons[0], f"This is a {case.values['kind']}.")
            elif screen.has("link", "Next"):
                yield screen.click("link", "Next", "None is left on this page of the list.")
            else:
                break
        yield screen.stop("", "None is left on the list.")
