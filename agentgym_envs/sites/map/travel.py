"""The pages of ways: directions, and distances to several destinations."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from starlette.responses import Response

from agentgym_envs.sites.map.drawing import country
from agentgym_envs.sites.map.points import Point, resolve
from agentgym_envs.sites.map.routes import (
    CAR,
    MODES,
    NO_MOTORWAYS,
    Mode,
    find_way,
    load_network,
)
from agentgym_envs.sites.map.site import SITE
from agentgym_envs.sites.web import RequestContext

MOST_DESTINATIONS = 10
TRAVEL_BY = [("car", "Car"), ("bicycle", "Bicycle"), ("foot", "On foot")]


@dataclass
class Asked:
    """A form's result by field: the point, an error, or the choices."""

    texts: dict[str, str]
    points: dict[str, Point] = field(default_factory=dict)
    errors: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[tuple[Point, str]]] = field(default_factory=dict)

    @property
    def is_clear(self) -> bool:
        """Whether every text that was filled in means one point."""
        return not self.errors and not self.choices


def _read(
    context: RequestContext, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> Asked:
    asked = Asked({name: context.field(name) for name in (*required, *optional)})
    if not any(asked.texts.values()):
        return asked
    for name, text in asked.texts.items():
        points = resolve(context.db, text)
        if len(points) == 1:
            asked.points[name] = points[0]
        elif points:
            asked.choices[name] = [(point, context.link(**{name: point.label})) for point in points]
        elif text:
            asked.errors[name] = f"Nothing on the map is called {text[:80]!r}."
        elif name in required:
            asked.errors[name] = "Fill this in."
    return asked


def _mode(context: RequestContext) -> Mode:
    mode = MODES.get(context.field("mode"), CAR)
    return NO_MOTORWAYS if mode is CAR and context.field("no_motorways") == "1" else mode


@SITE.get("/directions")
def directions(context: RequestContext) -> Response:
    """Ask for a way, and show it."""
    asked = _read(context, ("from", "to"), ("via",))
    variables: dict[str, Any] = {"way": None}
    if asked.points and asked.is_clear:
        stops = [asked.points[name] for name in ("from", "via", "to") if name in asked.points]
        if any(a.key == b.key for a, b in zip(stops, stops[1:], strict=False)):
            asked.errors["to"] = "Two stops in a row are the same place."
        else:
            variables = _way(context, stops)
    return context.render(
        "directions.html",
        asked=asked,
        travel_by=TRAVEL_BY,
        mode="car" if _mode(context) is NO_MOTORWAYS else _mode(context).name,
        no_motorways=context.field("no_motorways") == "1",
        picture=variables.pop("picture", None) or country(context.db, label="Map of Valdera"),
        **variables,
    )


def _way(context: RequestContext, stops: list[Point]) -> dict[str, Any]:
    network = load_network(context.db)
    mode = _mode(context)
    ways = [find_way(network, stops, other) for other in MODES.values()]
    way = next(way for way in ways if way.mode is mode)
    others = []
    for other in ways:
        avoids = other.mode is NO_MOTORWAYS
        link = context.link(
            mode="car" if avoids else other.mode.name, no_motorways="1" if avoids else None
        )
        others.append((other, link, other.mode is mode))
    titles = " via ".join(stop.label for stop in stops[1:-1])
    return {
        "way": way,
        "others": others,
        "title": f"From {stops[0].label} to {stops[-1].label}" + (f" via {titles}" * bool(titles)),
        "picture": country(
            context.db,
            label=f"Map with the way from {stops[0].name} to {stops[-1].name}",
            road_ids=[leg.road_id for leg in way.legs if leg.road_id],
            ends=[(stop.x, stop.y) for stop in stops],
        ),
    }


@SITE.get("/distances")
def distances(context: RequestContext) -> Response:
    """Ask for an origin and several destinations, and show how far they are."""
    asked = _read(context, ("from",))
    typed = context.field("to")
    texts = [text.strip() for text in typed.split(";") if text.strip()]
    rows: list[tuple[Point, str, str]] = []
    choices: list[Point] = []
    if "from" in asked.points and not texts:
        asked.errors["to"] = "Name at least one destination."
    elif len(texts) > MOST_DESTINATIONS:
        asked.errors["to"] = f"Name at most {MOST_DESTINATIONS} destinations."
    elif asked.points:
        network = load_network(context.db)
        for text in texts:
            points = resolve(context.db, text)
            if not points:
                asked.errors["to"] = f"Nothing on the map is called {text[:80]!r}."
            elif len(points) > 1:
                choices = points
                asked.errors["to"] = f"Several places are called {text[:80]!r}; add the town."
            else:
                way = find_way(network, [asked.points["from"], points[0]], _mode(context))
                rows.append((points[0], way.km, way.time))
    return context.render(
        "distances.html",
        asked=asked,
        typed=typed,
        rows=rows if asked.is_clear else [],
        choices=choices,
        modes=[(mode.name, mode.title) for mode in MODES.values()],
        mode=_mode(context),
    )
