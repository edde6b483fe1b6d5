"""Tasks on the agent's lists of saved places."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.map.categories import BY_NAME
from agentgym_envs.webarena.sites.map.community import AGENT_ID
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, enter
from agentgym_envs.webarena.tasks.template import (
    IMPOSSIBLE,
    Case,
    Template,
    World,
    changed,
    impossible,
    state_of,
)

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


def _open_list(screen: Screen, name: str) -> Iterator[ExpertMove]:
    yield from enter(screen, steps.SITE)
    yield screen.click("link", "Saved places", "My lists are under the saved places.")
    yield screen.click("link", name, f"This is the list {name}.")


class EditNote(Template):
    """Changes the note on a saved place."""

    number = 65
    sites = ("map",)
    split = "train"
    intent = "On my list {list}, make the note on {place} in {town} say “{note}”."
    notes = (
        "Ask for Nora at the door", "Open until late in July", "Bring the blue voucher",
        "Meet Otto here on Friday", "Ring twice", "Take the tram to the last stop",
        "Reserve the window seat", "Good for a rainy Sunday", "Pick up the parcel",
        "Second visit in spring", "Quiet before ten", "Only with cash",
    )  # fmt: skip

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a saved place and a new note."""
        saved, note = rng.choice(_saved(world)), rng.choice(self.notes)
        after = _before(world) | {(saved["list_id"], saved["place_id"]): note}
        values = {
            "list": saved["list"],
            "place": saved["name"],
            "town": saved["town"],
            "note": note,
        }
        return Case(values, changed(_contents(after)))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Find the place on the list and edit its note."""
        yield from _open_list(screen, case.values["list"])
        link = f"Edit the note on {case.values['place']}, {case.values['town']}"
        yield from steps.to_page_with(screen, "link", link)
        yield screen.click("link", link)
        yield screen.fill("textbox", "Note", case.values["note"], enter=True)
        yield screen.stop("", "The note is saved.")


class MoveSaved(Template):
    """Moves a saved place to another list and keeps its note."""

    number = 71
    sites = ("map",)
    split = "test"
    intent = (
        "Move {place} in {town} from my list {source} to my list {target} and keep the note that "
        "I made on it."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a place with a note and a list that lacks it."""
        saved = rng.choice([row for row in _saved(world) if row["note"]])
        target = rng.choice(world.rows("map", _LISTS, AGENT_ID))
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
    intent = MoveSaved.intent

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a saved place, and two lists that lack it."""
        saved = rng.choice([row for row in _saved(world) if row["note"]])
        rows = _before(world)
        others = [
            row["name"]
            for row in world.rows("map", _LISTS, AGENT_ID)
            if (row["id"], saved["place_id"]) not in rows
        ]
        source, target = rng.sample(others, 2)
        values = {
            "place": saved["name"],
            "town": saved["town"],
            "source": source,
            "target": target,
        }
        return Case(values, impossible())

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go through the list; the place is not there."""
        place, town = case.values["place"], case.values["town"]
        yield from _open_list(screen, case.values["source"])
        button = f"Remove {place}, {town}"
        while screen.has("link", "Next") and not screen.has("button", button):
            yield screen.click("link", "Next", "It is not on this page of the list.")
        if screen.has("button", button):
            raise ElementNotFound(f"{place} is on the list after all")
        yield screen.stop(IMPOSSIBLE, f"{place} in {town} is not on this list.")


def _note(screen: Screen, button: str) -> str:
    for item in screen.all("listitem"):
        if any(node.name == button for node in screen.below(item, "button")):
            text = screen.below(item, "StaticText")[0].name
            return text.partition("Note: ")[2]
    raise ElementNotFound(f"no list item has the button {button!r}")


class RemoveKind(Template):
    """Takes every place of one kind off a list."""

    number = 76
    sites = ("map",)
    split = "train"
    intent = "Take every {kind} off my list {list} and leave everything else as it is."

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a list and a kind that it holds; rather one that it holds several times."""
        chosen = rng.choice(_saved(world))
        rows = _before(world)
        out = [
            (row["list_id"], row["place_id"])
            for row in _saved(world)
            if (row["list_id"], row["category"]) == (chosen["list_id"], chosen["category"])
        ]
        if len(out) == 1 and rng.random() < 0.3:
            return None
        for key in out:
            del rows[key]
        values = {"kind": BY_NAME[chosen["category"]].name.lower(), "list": chosen["list"]}
        return Case(values, changed(_contents(rows)))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go through the pages of the list and remove what is of the kind."""
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
