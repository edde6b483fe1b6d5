"""Saved places: a user's lists, what is in them, and the notes."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.map.place import address_of, place_of
from agentgym_envs.sites.map.site import SITE
from agentgym_envs.sites.web import RequestContext

LONGEST_NAME = 40
LONGEST_NOTE = 200
LISTS = (
    "SELECT l.id, l.name, count(s.place_id) number FROM lists l"
    " LEFT JOIN saved s ON s.list_id = l.id WHERE l.user_id = ? GROUP BY l.id ORDER BY l.name"
)


def _list_of(context: RequestContext, number: str) -> sqlite3.Row:
    sql = "SELECT * FROM lists WHERE id = ? AND user_id = ?"
    return context.find("You have no such list.", sql, number, context.user_id)


def _name_error(context: RequestContext, name: str, list_id: int = 0) -> str:
    if not name:
        return "Give the list a name."
    if len(name) > LONGEST_NAME:
        return f"The name has {len(name)} characters; at most {LONGEST_NAME} fit."
    taken = context.value(
        "SELECT 1 FROM lists WHERE user_id = ? AND name = ? COLLATE NOCASE AND id != ?",
        *(context.user_id, name, list_id),
    )
    return "You already have a list of this name." if taken else ""


@SITE.get("/saved", signed_in=True)
def lists(context: RequestContext) -> Response:
    """Show the user's lists."""
    return _lists_page(context)


def _lists_page(context: RequestContext, name: str = "", error: str = "") -> Response:
    rows = context.rows(LISTS, context.user_id)
    status = 422 if error else 200
    return context.render("lists.html", status=status, lists=rows, name=name, error=error)


@SITE.post("/saved", signed_in=True)
def add_list(context: RequestContext) -> Response:
    """Make a list."""
    name = context.field("name")
    error = _name_error(context, name)
    if error:
        return _lists_page(context, name, error)
    made = context.insert("lists", user_id=context.user_id, name=name, created_at=context.now)
    context.flash(f"The list “{name}” is ready.")
    return context.redirect(f"/saved/{made}")


@SITE.get("/saved/{number}", signed_in=True)
def show_list(context: RequestContext, number: str) -> Response:
    """Show the places of a list."""
    return _list_page(context, _list_of(context, number))


def _list_page(
    context: RequestContext, saved_list: sqlite3.Row, name: str = "", error: str = ""
) -> Response:
    listing = Listing(context, "saved v", size=10).where("v.list_id = ?", saved_list["id"])
    rows, pages = listing.rows(
        "p.*, v.note, s.name street, s.postcode, t.name town",
        joined="JOIN places p ON p.id = v.place_id JOIN streets s ON s.id = p.street_id"
        " JOIN towns t ON t.id = p.town_id",
        order="p.name, t.name, p.id",
    )
    return context.render(
        "list.html",
        status=422 if error else 200,
        list=saved_list,
        places=[(row, address_of(row)) for row in rows],
        pages=pages,
        name=name or saved_list["name"],
        error=error,
    )


@SITE.post("/saved/{number}/rename", signed_in=True)
def rename_list(context: RequestContext, number: str) -> Response:
    """Give a list another name."""
    saved_list = _list_of(context, number)
    name = context.field("name")
    error = _name_error(context, name, saved_list["id"])
    if error:
        return _list_page(context, saved_list, name, error)
    context.update("lists", saved_list["id"], name=name)
    context.flash(f"The list is now called “{name}”.")
    return context.redirect(f"/saved/{saved_list['id']}")


@SITE.post("/saved/{number}/delete", signed_in=True)
def delete_list(context: RequestContext, number: str) -> Response:
    """Delete a list with its notes."""
    saved_list = _list_of(context, number)
    context.run("DELETE FROM lists WHERE id = ?", saved_list["id"])
    context.flash(f"The list “{saved_list['name']}” is gone.")
    return context.redirect("/saved")


@SITE.get("/place/{number}/save", signed_in=True)
def save_form(context: RequestContext, number: str) -> Response:
    """Ask for the list and a note."""
    return _save_page(context, place_of(context, number))


def _save_page(
    context: RequestContext, place: sqlite3.Row, errors: dict[str, str] | None = None
) -> Response:
    rows = context.rows(LISTS, context.user_id)
    return context.render(
        "save.html",
        status=422 if errors else 200,
        place=place,
        lists=[(row["id"], row["name"]) for row in rows],
        chosen=context.field("list"),
        note=context.field("note"),
        errors=errors or {},
    )


@SITE.post("/place/{number}/save", signed_in=True)
def save(context: RequestContext, number: str) -> Response:
    """Put a place on a list."""
    place = place_of(context, number)
    note = context.field("note")
    chosen = context.row(
        "SELECT * FROM lists WHERE id = ? AND user_id = ?", context.field("list"), context.user_id
    )
    if chosen is None:
        return _save_page(context, place, {"list": "Choose one of your lists."})
    if len(note) > LONGEST_NOTE:
        return _save_page(context, place, {"note": _too_long(note)})
    if context.row(
        "SELECT 1 FROM saved WHERE list_id = ? AND place_id = ?", chosen["id"], place["id"]
    ):
        return _save_page(context, place, {"list": f"It is already on “{chosen['name']}”."})
    context.insert(
        "saved", list_id=chosen["id"], place_id=place["id"], note=note, created_at=context.now
    )
    context.flash(f"{place['name']} is now on your list “{chosen['name']}”.")
    return context.redirect(f"/place/{place['id']}")


@SITE.get("/saved/{number}/note/{place_id}", signed_in=True)
def note_form(context: RequestContext, number: str, place_id: str) -> Response:
    """Ask for a note on a saved place."""
    return _note_page(context, number, place_id)


def _note_page(
    context: RequestContext, number: str, place_id: str, note: str | None = None, error: str = ""
) -> Response:
    saved_list = _list_of(context, number)
    saved = context.find(
        "This place is not on the list.",
        "SELECT v.*, p.name FROM saved v JOIN places p ON p.id = v.place_id"
        " WHERE v.list_id = ? AND v.place_id = ?",
        *(saved_list["id"], place_id),
    )
    return context.render(
        "note.html",
        status=422 if error else 200,
        list=saved_list,
        saved=saved,
        note=saved["note"] if note is None else note,
        error=error,
    )


@SITE.post("/saved/{number}/note/{place_id}", signed_in=True)
def change_note(context: RequestContext, number: str, place_id: str) -> Response:
    """Change the note on a saved place; an empty one takes it off."""
    note = context.field("note")
    if len(note) > LONGEST_NOTE:
        return _note_page(context, number, place_id, note, _too_long(note))
    saved_list = _list_of(context, number)
    context.run(
        "UPDATE saved SET note = ? WHERE list_id = ? AND place_id = ?",
        *(note, saved_list["id"], place_id),
    )
    context.flash("The note is saved." if note else "The note is gone.")
    return context.redirect(f"/saved/{saved_list['id']}")


@SITE.post("/saved/{number}/remove/{place_id}", signed_in=True)
def remove(context: RequestContext, number: str, place_id: str) -> Response:
    """Take a place off a list."""
    saved_list = _list_of(context, number)
    name = context.value("SELECT name FROM places WHERE id = ?", place_id)
    context.run("DELETE FROM saved WHERE list_id = ? AND place_id = ?", saved_list["id"], place_id)
    context.flash(f"{name or 'The place'} is off the list.")
    return context.redirect(f"/saved/{saved_list['id']}")


def _too_long(note: str) -> str:
    return f"The note has {len(note)} characters; at most {LONGEST_NOTE} fit."
