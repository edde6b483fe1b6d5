"""The experts of the tasks on the map."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.map import (
    choosing,
    contributions,
    elsewhere,
    lists,
    looking_up,
    navigation,
    ways,
)
from agentgym_envs.webarena.tasks.solution import Solution

EXPERTS: dict[int, Solution] = {
    60: ways.drive_minutes,
    61: ways.quickest_town,
    62: looking_up.nearest_phone,
    63: choosing.open_at_time,
    64: choosing.free_museums,
    65: lists.edit_note,
    66: contributions.correct_place,
    67: ways.detour_length,
    68: ways.towns_on_the_way,
    69: ways.nearest_airport,
    70: contributions.review_place,
    71: lists.move_saved,
    72: lists.move_unsaved,
    73: choosing.cheapest_hotel,
    74: looking_up.closing_time,
    75: elsewhere.place_in_another_town,
    76: lists.remove_kind,
    77: navigation.route_to_extreme_town,
    78: navigation.near_best_rated,
    79: navigation.first_or_last_open,
    155: choosing.no_such_hotel,
    156: contributions.nothing_at_address,
}
"""By the number of the template."""
