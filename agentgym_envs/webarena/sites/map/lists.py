"""Saved places: a user's lists, what is in them, and the notes."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.webarena.sites.map.place import address_of, place_of
from agentgym_envs.webarena.sites.map.site import SITE
from agentgym_envs.webarena.sites.paging import Pages
from agentgym_envs.webarena.sites.web import NotFound, Visit

LONGEST_NAME = 40
LONGEST_NOTE = 200
LISTS = (
    "SELECT l.id, l.name, count(s.place_id) number FROM lists l"
    " LEFT JOIN saved s ON s.list_id = l.id WHERE l.user_id = ? GROUP BY l.id ORDER BY l.name"
)


def _user_id(visit: Visit) -> int:
    assert visit.user is not None  # every page here is for signed-in users
    return int(visit.user["id"])


def _list_of(visit: Visit, number: str) -> sqlite3.Row:
    found = visit.row("SELECT * FROM lists WHERE id = ? AND user_id = ?", number, _user_id(visit))
    if found is None:
        raise NotFound("You have no such list.")
    return found


def _name_error(visit: Visit, name: str, list_id: int = 0) -> str:
    if not name:
        return "Give the list a name."
    if len(name) > LONGEST_NAME:
        return f"The name has {len(name)} characters; at most {LONGEST_NAME} fit."
    taken = visit.value(
        "SELECT 1 FROM lists WHERE user_id = ? AND name = ? COLLATE NOCASE AND id != ?",
        *(_user_id(visit), name, list_id),
    )
    return "You already have a list of this name." if taken else ""


@SITE.get("/saved", signed_in=True)
def lists(visit: Visit) -> Response:
    """Show the user's lists."""
    return _lists_page(visit)


def _lists_page(visit: Visit, name: str = "", error: str = "") -> Response:
    rows = visit.rows(LISTS, _user_id(visit))
    status = 422 if error else 200
    return visit.render("lists.html", status=status, lists=rows, name=name, error=error)


@SITE.post("/saved", signed_in=True)
def add_list(visit: Visit) -> Response:
    """Make a list."""
    name = visit.field("name")
    error = _name_error(visit, name)
    if error:
        return _lists_page(visit, name, error)
    made = visit.run(
        "INSERT INTO lists (user_id, name, created_at) VALUES (?, ?, ?)",
        *(_user_id(visit), name, visit.now),
    )
    visit.flash(f"The list “{name}” is ready.")
    return visit.redirect(f"/saved/{made}")


@SITE.get("/saved/{number}", signed_in=True)
def show_list(visit: Visit, number: str) -> Response:
    """Show the places of a list."""
    return _list_page(visit, _list_of(visit, number))


def _list_page(visit: Visit, found: sqlite3.Row, name: str = "", error: str = "") -> Response:
    total = visit.value("SELECT count(*) FROM saved WHERE list_id = ?", found["id"])
    pages = Pages.of(visit, total, 10)
    rows = visit.rows(
        "SELECT p.*, v.note, s.name street, s.postcode, t.name town FROM saved v"
        " JOIN places p ON p.id = v.place_id JOIN streets s ON s.id = p.street_id"
        " JOIN towns t ON t.id = p.town_id WHERE v.list_id = ?"
        " ORDER BY p.name, t.name, p.id LIMIT ? OFFSET ?",
        *(found["id"], pages.size, pages.offset),
    )
    return visit.render(
        "list.html",
        status=422 if error else 200,
        list=found,
        places=[(row, address_of(row)) for row in rows],
        pages=pages,
        name=name or found["name"],
        error=error,
    )


@SITE.post("/saved/{number}/rename", signed_in=True)
def rename_list(visit: Visit, number: str) -> Response:
    """Give a list another name."""
    found = _list_of(visit, number)
    name = visit.field("name")
    error = _name_error(visit, name, found["id"])
    if error:
        return _list_page(visit, found, name, error)
    visit.run("UPDATE lists SET name = ? WHERE id = ?", name, found["id"])
    visit.flash(f"The list is now called “{name}”.")
    return visit.redirect(f"/saved/{found['id']}")


@SITE.post("/saved/{number}/delete", signed_in=True)
def delete_list(visit: Visit, number: str) -> Response:
    """Delete a list with its notes."""
    found = _list_of(visit, number)
    visit.run("DELETE FROM lists WHERE id = ?", found["id"])
    visit.flash(f"The list “{found['name']}” is gone.")
    return visit.redirect("/saved")


@SITE.get("/place/{number}/save", signed_in=True)
def save_form(visit: Visit, number: str) -> Response:
    """Ask for the list and a note."""
    return _save_page(visit, place_of(visit, number))


def _save_page(visit: Visit, place: sqlite3.Row, errors: dict[str, str] | None = None) -> Response:
    rows = visit.rows(LISTS, _user_id(visit))
    return visit.render(
        "save.html",
        status=422 if errors else 200,
        place=place,
        lists=[(row["id"], row["name"]) for row in rows],
        chosen=visit.field("list"),
        note=visit.field("note"),
        errors=errors or {},
    )


@SITE.post("/place/{number}/save", signed_in=True)
def save(visit: Visit, number: str) -> Response:
    """Put a place on a list."""
    place = place_of(visit, number)
    note = visit.field("note")
    chosen = visit.row(
        "SELECT * FROM lists WHERE id = ? AND user_id = ?", visit.field("list"), _user_id(visit)
    )
    if chosen is None:
        return _save_page(visit, place, {"list": "Choose one of your lists."})
    if len(note) > LONGEST_NOTE:
        return _save_page(visit, place, {"note": _too_long(note)})
    key = (chosen["id"], place["id"])
    if visit.row("SELECT 1 FROM saved WHERE list_id = ? AND place_id = ?", *key):
        return _save_page(visit, place, {"list": f"It is already on “{chosen['name']}”."})
    visit.run(
        "INSERT INTO saved (list_id, place_id, note, created_at) VALUES (?, ?, ?, ?)",
        *(*key, note, visit.now),
    )
    visit.flash(f"{place['name']} is now on your list “{chosen['name']}”.")
    return visit.redirect(f"/place/{place['id']}")


@SITE.get("/saved/{number}/note/{place_id}", signed_in=True)
def note_form(visit: Visit, number: str, place_id: str) -> Response:
    """Ask for a note on a saved place."""
    return _note_page(visit, number, place_id)


def _note_page(
    visit: Visit, number: str, place_id: str, note: str | None = None, error: str = ""
) -> Response:
    found = _list_of(visit, number)
    saved = visit.row(
        "SELECT v.*, p.name FROM saved v JOIN places p ON p.id = v.place_id"
        " WHERE v.list_id = ? AND v.place_id = ?",
        *(found["id"], place_id),
    )
    if saved is None:
        raise NotFound("This place is not on the list.")
    return visit.render(
        "note.html",
        status=422 if error else 200,
        list=found,
        saved=saved,
        note=saved["note"] if note is None else note,
        error=error,
    )


@SITE.post("/saved/{number}/note/{place_id}", signed_in=True)
def change_note(visit: Visit, number: str, place_id: str) -> Response:
    """Change the note on a saved place; an empty one takes it off."""
    note = visit.field("note")
    if len(note) > LONGEST_NOTE:
        return _note_page(visit, number, place_id, note, _too_long(note))
    found = _list_of(visit, number)
    visit.run(
        "UPDATE saved SET note = ? WHERE list_id = ? AND place_id = ?", note, found["id"], place_id
    )
    visit.flash("The note is saved." if note else "The note is gone.")
    return visit.redirect(f"/saved/{found['id']}")


@SITE.post("/saved/{number}/remove/{place_id}", signed_in=True)
def remove(visit: Visit, number: str, place_id: str) -> Response:
    """Take a place off a list."""
    found = _list_of(visit, number)
    name = visit.value("SELECT name FROM places WHERE id = ?", place_id)
    visit.run("DELETE FROM saved WHERE list_id = ? AND place_id = ?", found["id"], place_id)
    visit.flash(f"{name or 'The place'} is off the list.")
    return visit.redirect(f"/saved/{found['id']}")


def _too_long(note: str) -> str:
    return f"The note has {len(note)} characters; at most {LONGEST_NOTE} fit."
