"""The tasks on the map alone: numbers 60 to 79, 155 and 156."""

from __future__ import annotations

from worlds.tasks.map.choosing import CheapestHotel, FreeMuseums, NoSuchHotel, OpenAtTime
from worlds.tasks.map.contributions import CorrectPlace, NothingAtAddress, ReviewPlace
from worlds.tasks.map.elsewhere import PlaceInAnotherTown
from worlds.tasks.map.lists import (
    EditNote,
    MoveSaved,
    MoveUnsaved,
    RemoveKind,
)
from worlds.tasks.map.looking_up import ClosingTime, NearestPhone
from worlds.tasks.map.navigation import (
    FirstOrLastOpen,
    NearBestRated,
    RouteToExtremeTown,
)
from worlds.tasks.map.ways import (
    DetourLength,
    DriveMinutes,
    NearestAirport,
    QuickestTown,
    TownsOnTheWay,
)
from worlds.tasks.template import Template

TEMPLATES: tuple[Template, ...] = (
    DriveMinutes(),
    QuickestTown(),
    NearestPhone(),
    OpenAtTime(),
    FreeMuseums(),
    EditNote(),
    CorrectPlace(),
    DetourLength(),
    TownsOnTheWay(),
    NearestAirport(),
    ReviewPlace(),
    MoveSaved(),
    MoveUnsaved(),
    CheapestHotel(),
    ClosingTime(),
    RemoveKind(),
    PlaceInAnotherTown(),
    RouteToExtremeTown(),
    NearBestRated(),
    FirstOrLastOpen(),
    NoSuchHotel(),
    NothingAtAddress(),
)
