"""The kinds of places: what they are called, how many a town has, opening hours, prices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

ALWAYS = (0, 24 * 60)
"""Opening and closing minute of a place that never shuts."""


@dataclass(frozen=True)
class Hours:
    """When places of a kind open; minutes are those of the day.

    Attributes:
        opens: to choose from, in half hours: 9 is 9:00, 9.5 is 9:30.
        closes: to choose from.
        saturday: `"same"`, `"short"` (shuts at 13:00 or 14:00) or `"closed"`.
        sunday: share of the places that open on Sundays, shorter than on other days.
        rest_day: share of the places that shut on one day from Monday to Wednesday.
        always: share of the places that never shut.
    """

    opens: tuple[float, ...] = (9,)
    closes: tuple[float, ...] = (18,)
    saturday: str = "same"
    sunday: float = 0.0
    rest_day: float = 0.0
    always: float = 0.0


OPEN_AIR = Hours(always=1.0)


@dataclass(frozen=True)
class Category:
    """A kind of place.

    Attributes:
        name: singular, as it stands on pages and in addresses.
        plural: of it.
        usual: how many a town of middle size has.
        hours: when they open.
        others: further words that people search by.
        price: what its price is called; empty if it has none.
        from_population: smaller towns have none.
        group: the kind of talk in its reviews.
    """

    name: str
    plural: str
    usual: int
    hours: Hours
    others: tuple[str, ...] = ()
    price: str = ""
    from_population: int = 0
    group: str = "service"


_SHOP = Hours((8.5, 9, 9.5, 10), (17.5, 18, 18.5, 19), "short")
_OFFICE = Hours((8, 8.5, 9), (16, 16.5, 17), "closed")

CATEGORIES = (
    Category("Cafe", "Cafes", 6, Hours((7, 7.5, 8, 9), (16, 17, 18, 19, 20), "same", 0.6, 0.25),
             ("coffee",), group="food"),
    Category("Restaurant", "Restaurants", 9,
             Hours((11, 11.5, 12, 17), (21, 21.5, 22, 22.5, 23), "same", 0.65, 0.4),
             ("dinner", "food"), group="food"),
    Category("Pub", "Pubs", 3, Hours((12, 15, 16, 17), (22, 23, 23.5), "same", 0.75, 0.2),
             ("bar", "inn"), group="food"),
    Category("Bakery", "Bakeries", 3, Hours((6, 6.5, 7), (13, 15, 17, 18), "same", 0.5, 0.3),
             ("bread",), group="food"),
    Category("Supermarket", "Supermarkets", 3, Hours((7, 7.5, 8), (20, 21, 22), "same", 0.35),
             ("groceries", "grocery"), group="shop"),
    Category("Pharmacy", "Pharmacies", 3,
             Hours((8, 8.5, 9), (18, 18.5, 19, 20), "short", 0.25, 0, 0.06),
             ("chemist", "drugstore"), group="service"),
    Category("Doctor", "Doctors", 2, _OFFICE, ("surgery", "practice", "clinic"), group="service"),
    Category("Hospital", "Hospitals", 1, OPEN_AIR, ("emergency",), from_population=12000),
    Category("School", "Schools", 3, Hours((7.5, 8), (15, 15.5, 16), "closed"), group="service"),
    Category("Hotel", "Hotels", 5, OPEN_AIR, ("accommodation", "guesthouse"),
             "Double room from", group="stay"),
    Category("Museum", "Museums", 4, Hours((9, 10, 11), (16, 17, 18, 20), "same", 0.85, 0.7),
             ("gallery", "exhibition"), "Entrance fee", group="culture"),
    Category("Library", "Libraries", 1, Hours((9, 10), (17, 18, 19), "short", 0.15, 0.5),
             ("books",), group="culture"),
    Category("Bookshop", "Bookshops", 2, _SHOP, ("books", "bookstore"), group="shop"),
    Category("Bicycle shop", "Bicycle shops", 2, _SHOP, ("bike", "cycle", "repair"), group="shop"),
    Category("Cinema", "Cinemas", 1, Hours((13, 14, 15), (23, 23.5), "same", 1.0),
             ("film", "movies"), from_population=12000, group="culture"),
    Category("Theatre", "Theatres", 1, Hours((10, 11), (21.5, 22, 22.5), "same", 0.5, 0.8),
             ("stage", "opera"), from_population=20000, group="culture"),
    Category("Swimming pool", "Swimming pools", 1,
             Hours((6.5, 7, 8), (20, 21, 22), "same", 0.8, 0.2), ("pool", "baths"),
             "Entrance fee", group="outdoors"),
    Category("Park", "Parks", 3, OPEN_AIR, ("garden", "playground"), group="outdoors"),
    Category("Viewpoint", "Viewpoints", 1, OPEN_AIR, ("view", "lookout"), group="outdoors"),
    Category("Campsite", "Campsites", 1, OPEN_AIR, ("camping", "tent"), "Pitch from",
             group="stay"),
    Category("Charging station", "Charging stations", 4, Hours((6,), (22,), "same", 1.0, 0, 0.9),
             ("charger", "ev", "electric"), group="service"),
    Category("Petrol station", "Petrol stations", 2,
             Hours((5, 6), (21, 22, 23), "same", 0.9, 0, 0.25), ("fuel", "gas"), group="service"),
    Category("Railway station", "Railway stations", 1, Hours((4.5, 5), (23.5,), "same", 1.0),
             ("train", "trains"), group="service"),
    Category("Airport", "Airports", 1, OPEN_AIR, ("flights", "plane"), group="service"),
    Category("Post office", "Post offices", 1, Hours((8.5, 9), (17, 17.5, 18), "short"),
             ("mail", "parcel"), group="service"),
    Category("Bank", "Banks", 2, _OFFICE, ("cash", "atm"), group="service"),
)  # fmt: skip

BY_NAME = {category.name: category for category in CATEGORIES}

CUISINES = (
    "Italian", "Indian", "Japanese", "Greek", "Mexican", "French", "Thai", "Valderan", "Turkish",
    "Vegetarian", "Seafood", "Steakhouse",
)  # fmt: skip

OPERATORS = ("Voltry", "Plugway", "Green Current", "Highland Charge")
"""Who runs charging stations."""


@cache
def words_for() -> dict[str, str]:
    """Return every word or phrase, in lower case, that means a category, and the category."""
    result: dict[str, str] = {}
    for category in CATEGORIES:
        for word in (category.name, category.plural, *category.others):
            result.setdefault(word.lower(), category.name)
    return result
