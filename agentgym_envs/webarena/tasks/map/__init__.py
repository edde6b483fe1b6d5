"""The tasks on the map alone; numbers 60 to 79."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.map.choosing import CheapestHotel, FreeMuseums, OpenAtTime
from agentgym_envs.webarena.tasks.map.contributions import CorrectPlace, ReviewPlace
from agentgym_envs.webarena.tasks.map.elsewhere import PlaceInAnotherTown
from agentgym_envs.webarena.tasks.map.lists import (
    EditNote,
    MoveSaved,
    MoveUnsaved,
    RemoveKind,
)
from agentgym_envs.webarena.tasks.map.looking_up import ClosingTime, NearestPhone
from agentgym_envs.webarena.tasks.map.navigation import (
    FirstOrLastOpen,
    NearBestRated,
    RouteToExtremeTown,
)
from agentgym_envs.webarena.tasks.map.ways import (
    DetourLength,
    DriveMinutes,
    NearestAirport,
    QuickestTown,
    TownsOnTheWay,
)
from agentgym_envs.webarena.tasks.template import Template

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
)
