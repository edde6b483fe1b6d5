"""The categories of places: names, search words and prices."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True)
class Category:
    """A kind of place.

    Attributes:
        name: singular, as it stands on pages and in addresses.
        plural: of it.
        others: further words that people search by.
        price: what its price is called; empty if it has none.
        group: the kind of talk in its reviews.
    """

    name: str
    plural: str
    others: tuple[str, ...] = ()
    price: str = ""
    group: str = "service"


CATEGORIES = (
    Category("Cafe", "Cafes", ("coffee",), group="food"),
    Category("Restaurant", "Restaurants", ("dinner", "food"), group="food"),
    Category("Pub", "Pubs", ("bar", "inn"), group="food"),
    Category("Bakery", "Bakeries", ("bread",), group="food"),
    Category("Supermarket", "Supermarkets", ("groceries", "grocery"), group="shop"),
    Category("Pharmacy", "Pharmacies", ("chemist", "drugstore")),
    Category("Doctor", "Doctors", ("surgery", "practice", "clinic")),
    Category("Hospital", "Hospitals", ("emergency",)),
    Category("School", "Schools", ()),
    Category("Hotel", "Hotels", ("accommodation", "guesthouse"), "Double room from", "stay"),
    Category("Museum", "Museums", ("gallery", "exhibition"), price="Entrance fee", group="culture"),
    Category("Library", "Libraries", ("books",), group="culture"),
    Category("Bookshop", "Bookshops", ("books", "bookstore"), group="shop"),
    Category("Bicycle shop", "Bicycle shops", ("bike", "cycle", "repair"), group="shop"),
    Category("Cinema", "Cinemas", ("film", "movies"), group="culture"),
    Category("Theatre", "Theatres", ("stage", "opera"), group="culture"),
    Category("Swimming pool", "Swimming pools", ("pool", "baths"), "Entrance fee", "outdoors"),
    Category("Park", "Parks", ("garden", "playground"), group="outdoors"),
    Category("Viewpoint", "Viewpoints", ("view", "lookout"), group="outdoors"),
    Category("Campsite", "Campsites", ("camping", "tent"), price="Pitch from", group="stay"),
    Category("Charging station", "Charging stations", ("charger", "ev", "electric")),
    Category("Petrol station", "Petrol stations", ("fuel", "gas")),
    Category("Railway station", "Railway stations", ("train", "trains")),
    Category("Airport", "Airports", ("flights", "plane")),
    Category("Post office", "Post offices", ("mail", "parcel")),
    Category("Bank", "Banks", ("cash", "atm")),
)  # fmt: skip

BY_NAME = {category.name: category for category in CATEGORIES}


@cache
def words_for() -> dict[str, str]:
    """Return every word or phrase, in lower case, that means a category, and the category."""
    result: dict[str, str] = {}
    for category in CATEGORIES:
        for word in (category.name, category.plural, *category.others):
            result.setdefault(word.lower(), category.name)
    return result
