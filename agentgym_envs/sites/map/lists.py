"""Saved places: a user's lists, their places and notes."""

from __future__ import annotations

import sqlite3

from starlette.responses import Response

from agentgym_envs.sites.listing import Listing
from agentgym_envs.sites.map.place import find_place, place_address
from agentgym_envs.sites.map.site import SITE, MapFields
from agentgym_envs.sites.web import RequestContext

LONGEST_NAME = 40
LONGEST_NOTE = 200
LISTS = (
    "SELECT l.id, l.name, count(s.place_id) number FROM lists l"
    " LEFT JOIN saved s ON s.list_id = l.id WHERE l.user_id = ? GROUP BY l.id ORDER BY l.name"
)


def _find_list(context: RequestContext, number: str) -> sqlite3.Row:
    sql = "SELECT * FROM lists WHERE id = ? AND user_id = ?"
    return context.find("You have no such list.", sql, number, context.user_id)


def _read_name(context: RequestContext, list_id: int = 0) -> MapFields:
    fields = MapFields(context)
    name = fields.text("name", "name", most=LONGEST_NAME)
    if not fields.errors and context.row(
        "SELECT 1 FROM lists WHERE user_id = ? AND name = ? COLLATE NOCASE AND id != ?",
        *(context.user_id, name, list_id),
    ):
        fields.errors["name"] = "You already have a list of this name."
    return fields


@SITE.get("/saved", signed_in=True)
def lists(context: RequestContext) -> Response:
    """Show the user's lists."""
    return _lists_page(MapFields(context))


def _lists_page(fields: MapFields) -> Response:
    return fields.page("lists.html", lists=fields.context.rows(LISTS, fields.context.user_id))


@SITE.post("/saved", signed_in=True)
def add_list(context: RequestContext) -> Response:
    """Make a list."""
    fields = _read_name(context)
    if fields.errors:
        return _lists_page(fields)
    name = fields.values["name"]
    made = context.insert("lists", user_id=context.user_id, name=name, created_at=context.now)
    context.flash(f"The list “{name}” is ready.")
    return context.redirect(f"/saved/{made}")


@SITE.get("/saved/{number}", signed_in=True)
def show_list(context: RequestContext, number: str) -> Response:
    """Show the places of a list."""
    return _list_page(MapFields(context), _find_list(context, number))


def _list_page(fields: MapFields, saved_list: sqlite3.Row) -> Response:
    fields.values["name"] = fields.values["name"] or saved_list["name"]
    listing = Listing(fields.context, "saved v", size=10).where("v.list_id = ?", saved_list["id"])
    rows, pages = listing.rows(
        "p.*, v.note, s.name street, s.postcode, t.name town",
        joined="JOIN places p ON p.id = v.place_id JOIN streets s ON s.id = p.street_id"
        " JOIN towns t ON t.id = p.town_id",
        order="p.name, t.name, p.id",
    )
    places = [(row, place_address(row)) for row in rows]
    return fields.page("list.html", list=saved_list, places=places, pages=pages)


@SITE.post("/saved/{number}/rename", signed_in=True)
def rename_list(context: RequestContext, number: str) -> Response:
    """Give a list another name."""
    saved_list = _find_list(context, number)
    fields = _read_name(context, saved_list["id"])
    if fields.errors:
        return _list_page(fields, saved_list)
    name = fields.values["name"]
    context.update("lists", saved_list["id"], name=name)
    context.flash(f"The list is now called “{name}”.")
    return context.redirect(f"/saved/{saved_list['id']}")


@SITE.post("/saved/{number}/delete", signed_in=True)
def delete_list(context: RequestContext, number: str) -> Response:
    """Delete a list with its notes."""
    saved_list = _find_list(context, number)
    context.run("DELETE FROM lists WHERE id = ?", saved_list["id"])
    context.flash(f"The list “{saved_list['name']}” is gone.")
    return context.redirect("/saved")


@SITE.get("/place/{number}/save", signed_in=True)
def save_form(context: RequestContext, number: str) -> Response:
    """Ask for the list and a note."""
    return _save_page(MapFields(context), find_place(context, number))


def _save_page(fields: MapFields, place: sqlite3.Row) -> Response:
    fields.typed("list", "note")
    rows = fields.context.rows(LISTS, fields.context.user_id)
    return fields.page("save.html", place=place, lists=[(row["id"], row["name"]) for row in rows])


@SITE.post("/place/{number}/save", signed_in=True)
def save(context: RequestContext, number: str) -> Response:
    """Put a place on a list."""
    place = find_place(context, number)
    chosen = context.row(
        "SELECT * FROM lists WHERE id = ? AND user_id = ?", context.field("list"), context.user_id
    )
    fields = MapFields(context)
    note = ""
    if chosen is None:
        fields.errors["list"] = "Choose one of your lists."
    else:
        note = fields.text("note", "note", most=LONGEST_NOTE, least=0)
    if chosen is None or fields.errors:
        return _save_page(fields, place)
    if context.row(
        "SELECT 1 FROM saved WHERE list_id = ? AND place_id = ?", chosen["id"], place["id"]
    ):
        fields.errors["list"] = f"It is already on “{chosen['name']}”."
        return _save_page(fields, place)
    context.insert(
        "saved", list_id=chosen["id"], place_id=place["id"], note=note, created_at=context.now
    )
    context.flash(f"{place['name']} is now on your list “{chosen['name']}”.")
    return context.redirect(f"/place/{place['id']}")


@SITE.get("/saved/{number}/note/{place_id}", signed_in=True)
def note_form(context: RequestContext, number: str, place_id: str) -> Response:
    """Ask for a note on a saved place."""
    return _note_page(MapFields(context), number, place_id)


def _note_page(fields: MapFields, number: str, place_id: str) -> Response:
    context = fields.context
    saved_list = _find_list(context, number)
    saved = context.find(
        "This place is not on the list.",
        "SELECT v.*, p.name FROM saved v JOIN places p ON p.id = v.place_id"
        " WHERE v.list_id = ? AND v.place_id = ?",
        *(saved_list["id"], place_id),
    )
    fields.values.setdefault("note", saved["note"])
    return fields.page("note.html", list=saved_list, saved=saved)


@SITE.post("/saved/{number}/note/{place_id}", signed_in=True)
def change_note(context: RequestContext, number: str, place_id: str) -> Response:
    """Change the note on a saved place. An empty one removes it."""
    fields = MapFields(context)
    note = fields.text("note", "note", most=LONGEST_NOTE, least=0)
    if fields.errors:
        return _note_page(fields, number, place_id)
    saved_list = _find_list(context, number)
    context.run(
        "UPDATE saved SET note = ? WHERE list_id = ? AND place_id = ?",
        *(note, saved_list["id"], place_id),
    )
    context.flash("The note is saved." if note else "The note is gone.")
    return context.redirect(f"/saved/{saved_list['id']}")


@SITE.post("/saved/{number}/remove/{place_id}", signed_in=True)
def remove(context: RequestContext, number: str, place_id: str) -> Response:
    """Take a place off a list."""
    saved_list = _find_list(context, number)
    name = context.value("SELECT name FROM places WHERE id = ?", place_id)
    context.run("DELETE FROM saved WHERE list_id = ? AND place_id = ?", saved_list["id"], place_id)
    context.flash(f"{name or 'The place'} is off the list.")
    return context.redirect(f"/saved/{saved_list['id']}")
