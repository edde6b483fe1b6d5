"""Communities of places: the country, and seven of its towns."""

from __future__ import annotations

from agentgym_envs.webarena.sites.reddit.words.topic import Topic, topic

_PLACES = (
    ("valdera", "Valdera", "News and talk from the whole country, from the coast to the hills."),
    (
        "willowmere",
        "Willowmere",
        "Neighbours of Willowmere: the lake, the market and the ring road.",
    ),
    ("port-senna", "Port Senna", "Harbour town talk: ferries, fish and too many gulls."),
    ("kingsreach", "Kingsreach", "The big city: trams, rents, concerts and where to eat."),
    ("granite-bay", "Granite Bay", "Cliffs, surf, winter storms and the people who stay for them."),
    ("ironbridge", "Ironbridge", "Old foundries, new flats and one very famous bridge."),
    ("millbrook", "Millbrook", "A small town with a mill, a brook and strong opinions."),
)


def _place(name: str, title: str, description: str) -> Topic:
    return topic(
        name,
        title,
        description,
        (3, 60),
        f"""
things: bus lanes; playgrounds; street markets; cycle paths; rents; road works; street lamps;
 choirs
gear: {title} museum card; {title} day ticket; {title} cinema pass; Old Mill lunch menu; Riverside
 sauna card
doing: finding a flat in {title}; volunteering at the food bank; parking near the station; moving
 here with children; meeting people over thirty; running a market stall
trouble: the number 4 bus never comes; the road works start at six; the library closes at noon on
 Saturday; the playground is closed again; the bins are emptied at random; parking gets dearer
 every year
tips: Go to the market after one, when prices fall.; Ask at the town hall, counter three is the
 fast one.; Take the path behind the church.; Buy the ticket on board, it costs the same.; Write
 to the council before the tenth.; Reserve at the bakery for Sunday.; Use the stairs by the
 bridge.
views: {title} is better in winter.; The council listens more than people think.; We need fewer
 cars in the centre.; The old cinema must stay.; Nothing beats the view from the station.
""",
    )


TOWN_TOPICS = tuple(_place(*place) for place in _PLACES)
"""Seven communities that share their words."""

FOLK = ("ferry", "tram", "market", "library", "school", "harbour", "swimming pool", "theatre")
"""What town news are about."""
