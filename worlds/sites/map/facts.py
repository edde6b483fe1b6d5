"""Draws the facts and the price of a single place.

A fact is a (name, value) pair of texts; a price is in cents, and its name is the category's.
"""

from __future__ import annotations

from collections.abc import Callable

from worlds.dice import Dice
from worlds.sites.map.words import SPECIALITIES

Facts = list[tuple[str, str]]


def draw_price(category: str, stars: int, dice: Dice) -> int | None:
    """Return a place's price in cents: 0 for a free place, None without a price."""
    if category == "Hotel":
        return (28 + stars * 24 + dice.below(40)) * 100
    if category == "Museum":
        return 0 if dice.chance(0.4) else dice.pick((300, 400, 450, 500, 600, 800, 950, 1200))
    if category == "Campsite":
        return dice.between(12, 30) * 100
    if category == "Swimming pool":
        return dice.pick((350, 400, 420, 480, 550))
    return None


def draw_facts(category: str, stars: int, dice: Dice) -> Facts:
    """Return the facts of a place of this category. `stars` is used for hotels alone."""
    if category == "Hotel":
        return [("Stars", str(stars)), *_hotel(dice)]
    draw = _DRAWS.get(category)
    return draw(dice) if draw else []


def _yes_no(dice: Dice, share: float) -> str:
    return "Yes" if dice.chance(share) else "No"


def _hotel(dice: Dice) -> Facts:
    return [
        ("Rooms", str(dice.between(8, 139))),
        ("Breakfast", dice.pick(("Included", "Included", "Extra", "Not offered"))),
    ]


def _restaurant(dice: Dice) -> Facts:
    return [
        ("Price level", dice.pick(("Low", "Medium", "Medium", "High"))),
        ("Takeaway", _yes_no(dice, 0.5)),
        ("Outdoor seating", _yes_no(dice, 0.4)),
    ]


def _cafe(dice: Dice) -> Facts:
    return [("Free Wi-Fi", _yes_no(dice, 0.7)), ("Outdoor seating", _yes_no(dice, 0.5))]


def _charging(dice: Dice) -> Facts:
    return [
        ("Power", f"{dice.pick((11, 22, 50, 150, 300))} kW"),
        ("Plugs", str(dice.pick((2, 2, 4, 6, 8)))),
    ]


def _hospital(dice: Dice) -> Facts:
    return [
        ("Emergency department", _yes_no(dice, 0.8)),
        ("Beds", str(dice.between(60, 479))),
    ]


def _park(dice: Dice) -> Facts:
    return [("Area", f"{dice.between(2, 59)} hectares"), ("Playground", _yes_no(dice, 0.6))]


_DRAWS: dict[str, Callable[[Dice], Facts]] = {
    "Restaurant": _restaurant,
    "Cafe": _cafe,
    "Pub": lambda dice: [("Outdoor seating", _yes_no(dice, 0.5))],
    "Charging station": _charging,
    "Hospital": _hospital,
    "Park": _park,
    "School": lambda dice: [("Pupils", str(dice.between(80, 899)))],
    "Museum": lambda dice: [("Guided tours", _yes_no(dice, 0.5))],
    "Cinema": lambda dice: [("Screens", str(dice.between(1, 8)))],
    "Theatre": lambda dice: [("Seats", str(dice.between(90, 899)))],
    "Doctor": lambda dice: [("Speciality", dice.pick(SPECIALITIES))],
    "Pharmacy": lambda dice: [("Night service", _yes_no(dice, 0.25))],
    "Supermarket": lambda dice: [("Free parking", _yes_no(dice, 0.6))],
    "Campsite": lambda dice: [("Pitches", str(dice.between(20, 159)))],
    "Swimming pool": lambda dice: [("Lane length", dice.pick(("25 m", "50 m")))],
    "Railway station": lambda dice: [("Platforms", str(dice.between(2, 9)))],
    "Bank": lambda dice: [("Cash machine", _yes_no(dice, 0.8))],
    "Viewpoint": lambda dice: [("Climb", f"{dice.between(20, 239)} steps")],
}
