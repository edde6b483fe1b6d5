"""Solves tasks on the agent's lists of saved places."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, enter
from agentgym_envs.webarena.tasks.solution import Case


def _open_list(screen: Screen, name: str) -> Iterator[ExpertMove]:
    yield from enter(screen, steps.SITE)
    yield screen.click("link", "Saved places", "My lists are under the saved places.")
    yield screen.click("link", name, f"This is the list {name}.")


def edit_note(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Find the place on the list and edit its note."""
    yield from _open_list(screen, case.values["list"])
    link = f"Edit the note on {case.values['place']}, {case.values['town']}"
    yield from steps.to_page_with(screen, "link", link)
    yield screen.click("link", link)
    yield screen.fill("textbox", "Note", case.values["note"], enter=True)
    yield screen.stop("", "The note is saved.")


def move_saved(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


def move_unsaved(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Go through the list; the place is not there."""
    place, town = case.values["place"], case.values["town"]
    yield from _open_list(screen, case.values["source"])
    button = f"Remove {place}, {town}"
    while screen.has("link", "Next") and not screen.has("button", button):
        yield screen.click("link", "Next", "It is not on this page of the list.")
    if screen.has("button", button):
        raise ElementNotFound(f"{place} is on the list after all")
    yield screen.give_up(f"{place} in {town} is not on this list.")


def _note(screen: Screen, button: str) -> str:
    for item in screen.all("listitem"):
        if any(node.name == button for node in screen.below(item, "button")):
            text = screen.below(item, "StaticText")[0].name
            return text.partition("Note: ")[2]
    raise ElementNotFound(f"no list item has the button {button!r}")


def remove_kind(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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
