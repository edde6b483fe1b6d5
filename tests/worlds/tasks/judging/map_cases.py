"""The map's tasks: damage, other ways and near misses."""

from __future__ import annotations

from collections.abc import Callable

from agentgym_envs.sites.people import AGENT_ID
from tests.worlds.tasks.judging.forms import (
    as_if,
    changed_rows,
    first,
    form,
    in_turn,
    values_of,
)
from tests.worlds.tasks.judging.verdicts import Damage, after
from worlds.tasks.template import Solution

SITE = "map"
HOME = "http://map.test"


def label(place: object) -> str:
    """Name a place as the buttons and links of lists do."""
    return first(
        SITE,
        "SELECT p.name || ', ' || t.name FROM places p JOIN towns t ON t.id = p.town_id "
        f"WHERE p.id = {place}",
    )


def note(number: object, place: object, text: str) -> Damage:
    return form(f"{HOME}/saved/{number}/note/{place}", "Save note", {"Note": text})


def save(place: object, name: str, text: str = "") -> Damage:
    fields = {"List": name, "Note (optional)": text}
    return form(f"{HOME}/place/{place}/save", "Save place", fields)


def take_off(number: object, place: object) -> Damage:
    """Take a place off the page of a list on which it stands."""
    before = (
        f"SELECT count(*) FROM saved s JOIN places p ON p.id = s.place_id "
        f"WHERE s.list_id = {number} AND p.name < (SELECT name FROM places WHERE id = {place})"
    )
    shown = int(first(SITE, before)) // 10 + 1
    return form(f"{HOME}/saved/{number}?page={shown}", f"Remove {label(place)}")


def write_review(place: object, stars: str, text: str) -> Damage:
    fields = {"Rating": stars, "Review (optional)": text}
    return form(f"{HOME}/place/{place}/review", "Post review", fields)


def suggest(place: object, field: str, value: str, comment: str = "") -> Damage:
    fields = {"What is wrong": field, "Correct value": value, "Comment (optional)": comment}
    return form(f"{HOME}/place/{place}/suggest", "Send suggestion", fields)


# Damage ---------------------------------------------------------------------------------------

MINE = f"user_id = {AGENT_ID}"


def own_list() -> str:
    return first(SITE, f"SELECT max(id) FROM lists WHERE {MINE}")


def own_list_name() -> str:
    return first(SITE, f"SELECT name FROM lists WHERE id = {own_list()}")


def saved_place() -> str:
    return first(
        SITE, f"SELECT max(place_id) FROM saved WHERE list_id = {own_list()} AND note <> ''"
    )


def unsaved_place() -> str:
    return first(
        SITE,
        "SELECT min(id) FROM places WHERE id NOT IN (SELECT place_id FROM saved) "
        f"AND id NOT IN (SELECT place_id FROM reviews WHERE {MINE})",
    )


def damage(template: int) -> dict[str, Damage]:
    """Return the damage that the agent can do, by name."""
    reviewed = first(
        SITE, f"SELECT place_id FROM reviews WHERE {MINE} ORDER BY created_at DESC, id DESC"
    )
    suggested = first(SITE, f"SELECT place_id FROM suggestions WHERE {MINE} AND status = 'pending'")
    own, name, saved, unsaved = own_list(), own_list_name(), saved_place(), unsaved_place()
    return {
        "list made": form(f"{HOME}/saved", "Create list", {"Name of the new list": "Spare"}),
        "list renamed": form(f"{HOME}/saved/{own}", "Rename list", {"Name of the list": "Spare"}),
        "list deleted": form(f"{HOME}/saved/{own}", "Delete list"),
        "place saved": save(unsaved, name),
        "place taken off": take_off(own, saved),
        "note": note(own, saved, "Something else"),
        "note taken off": note(own, saved, ""),
        "review": write_review(unsaved, "1 star", "Never again."),
        "review changed": write_review(reviewed, "4 stars", "On second thoughts."),
        "review deleted": form(f"{HOME}/contributions", f"Delete the review of {label(reviewed)}"),
        "suggestion": suggest(unsaved, "Phone", "012 345 678"),
        "suggestion withdrawn": form(
            f"{HOME}/contributions", f"Withdraw the suggestion for {label(suggested)}"
        ),
    }


# Other ways -----------------------------------------------------------------------------------


def free_museums(text: str = "") -> list[Damage]:
    places = [row["place_id"] for row in changed_rows(64, "saved", "added")]
    return [save(place, values_of(64)["list"], text) for place in reversed(places)]


def noted_and_cleared() -> Solution:
    rows = changed_rows(64, "saved", "added")
    cleared = [note(row["list_id"], row["place_id"], "") for row in rows]
    return in_turn(*free_museums("It costs nothing"), *cleared)


def new_note(*texts: str) -> Solution:
    (row,) = changed_rows(65, "saved")
    notes = [note(row["list_id"], row["place_id"], text) for text in (*texts, row["note"])]
    return in_turn(*notes)


def suggestion(comment: str) -> Solution:
    (row,), values = changed_rows(66, "suggestions", "added"), values_of(66)
    return in_turn(suggest(row["place_id"], values["field"], values["value"], comment))


def reviewed(*, deleted: bool) -> Solution:
    (row,), values = changed_rows(70, "reviews", "added"), values_of(70)
    place = row["place_id"]
    steps = [write_review(place, "2 stars", "To be continued.")]
    if deleted:
        steps.append(form(f"{HOME}/contributions", f"Delete the review of {label(place)}"))
    return in_turn(*steps, write_review(place, values["stars"], values["text"]))


def moved(text: str | None = None, *, saved_first: bool = False) -> list[Damage]:
    """Move the place, with this text as its note to begin with."""
    (new,), (old,) = changed_rows(71, "saved", "added"), changed_rows(71, "saved", "removed")
    noted = new["note"] if text is None else text
    steps = [
        take_off(old["list_id"], old["place_id"]),
        save(new["place_id"], values_of(71)["target"], noted),
    ]
    return steps[::-1] if saved_first else steps


def moved_and_noted() -> Solution:
    (new,) = changed_rows(71, "saved", "added")
    return in_turn(*moved(""), note(new["list_id"], new["place_id"], new["note"]))


def removed(rows: slice) -> Solution:
    keys = changed_rows(76, "saved", "removed")[rows]
    return in_turn(*(take_off(row["list_id"], row["place_id"]) for row in keys))


WAYS: dict[str, tuple[int, Callable[[], Solution]]] = {
    "saved by address": (64, lambda: in_turn(*free_museums())),
    "saved with a note that is cleared": (64, noted_and_cleared),
    "note by address": (65, new_note),
    "note emptied, then written": (65, lambda: new_note("", "Not yet")),
    "suggested by address": (66, lambda: suggestion("")),
    "suggested with a comment": (66, lambda: suggestion("I have been there today.")),
    "review corrected": (70, lambda: reviewed(deleted=False)),
    "review deleted and written anew": (70, lambda: reviewed(deleted=True)),
    "saved first, then taken off": (71, lambda: in_turn(*moved(saved_first=True))),
    "taken off first": (71, lambda: in_turn(*moved())),
    "note added later": (71, moved_and_noted),
    "taken off backwards": (76, lambda: removed(slice(None, None, -1))),
}  # fmt: skip


# Near misses ----------------------------------------------------------------------------------

NEAR_MISSES: dict[str, tuple[int, Callable[[], Solution]]] = {
    "another list": (64, lambda: as_if(64, list=own_list_name())),
    "a museum too many": (64, lambda: after(save(unsaved_place(), values_of(64)["list"]), 64)),
    "a museum with a note": (64, lambda: in_turn(*free_museums("It costs nothing"))),
    "no museum": (64, in_turn),
    "another note": (65, lambda: as_if(65, note="Open until late in June")),
    "another phone": (66, lambda: as_if(66, value="039 431 918")),
    "another field": (66, lambda: as_if(66, field="Wheelchair access", value="yes")),
    "suggested twice": (
        66, lambda: after(suggest(changed_rows(66, "suggestions", "added")[0]["place_id"],
                                  values_of(66)["field"], values_of(66)["value"]), 66)
    ),
    "other stars": (70, lambda: as_if(70, stars="2 stars")),
    "another text": (70, lambda: as_if(70, text="I would come again.")),
    "another place": (70, lambda: in_turn(
        write_review(unsaved_place(), values_of(70)["stars"], values_of(70)["text"]))),
    "note lost": (71, lambda: in_turn(*moved(""))),
    "on both lists": (71, lambda: in_turn(moved()[1])),
    "on a third list": (71, lambda: as_if(71, target=own_list_name())),
    "one left on the list": (76, lambda: removed(slice(1, None))),
    "one too many off the list": (76, lambda: after(take_off(own_list(), saved_place()), 76)),
}  # fmt: skip
