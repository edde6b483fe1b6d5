"""Makes ALFWorld's tables: kinds of things, the 120 scenes, and the tasks with their ids.

    python -m worlds.alfworld.make WHEEL MAPPINGS GAMES [--out FOLDER]

WHEEL is the unpacked package `alfworld` (0.4.2), MAPPINGS AgentGym's folder
`agentenv-alfworld/configs` (commit 3ef9235d), GAMES the original's folder `json_2.1.1`, of whose
`initial_state.pddl` files the places of each scene are counted. All are MIT licensed. Scenes
without a game have the places of ALFRED's layouts.

AgentGym's tasks keep their numbers. The two further splits are drawn here: `validation` in the
scenes that AgentGym uses, and `unseen` in the twelve that it does not, which are ALFRED's scenes
for unseen validation and test.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from runpy import run_path
from typing import Any

from agentgym_envs.alfworld.tasks import FIRST_UNSEEN, FIRST_VALIDATION
from worlds.dice import Dice

FOLDER = Path(__file__).parents[2] / "agentgym_envs" / "alfworld"
NUM_VALIDATION = 100
UNSEEN_PER_SCENE = 10
STOVE_BURNERS = 4
"""The layouts list no burner, and every stove has four."""
NO_PLACES = frozenset({"Sink", "Bathtub", "PaintingHanger"})
"""Receptacles that hold nothing themselves."""
FIXTURES = frozenset({"DeskLamp", "HousePlant"})
"""Kinds of things that cannot be taken."""

Tables = dict[str, Any]


def main(arguments: Sequence[str] | None = None) -> None:
    """Make the tables that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m worlds.alfworld.make", description=__doc__)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("mappings", type=Path)
    parser.add_argument("games", type=Path)
    parser.add_argument("--out", type=Path, default=FOLDER)
    options = parser.parse_args(arguments)
    rules = run_path(str(options.wheel / "alfworld/gen/constants.py"))
    layouts = options.wheel / "alfworld/gen/layouts"
    kinds = kinds_of(rules)
    scenes = {number: scene_of(layouts, number, kinds) for number in sorted(rules["SCENE_NUMBERS"])}
    for number, counted in counted_places(options.games, frozenset(kinds["openable"])).items():
        scenes[number] |= counted
    tasks = list(agentgym_tasks(options.mappings))
    tasks += drawn_tasks([game for _, game in tasks], scenes)
    write(options.out / "kinds.json", kinds)
    write(options.out / "scenes.json", scenes)
    lines = "".join(f"{number} {game}\n" for number, game in tasks)
    (options.out / "tasks.txt").write_text(lines, encoding="utf-8")


def kinds_of(rules: Tables) -> Tables:
    """Return the tables of kinds: the things of each place, and the traits of things."""
    holds = rules["VAL_RECEPTACLE_OBJECTS"]
    places = sorted(set(rules["STATIC_RECEPTACLES"]) - NO_PLACES)
    actions = rules["VAL_ACTION_OBJECTS"]
    return {
        "places": {kind.lower(): sorted(_whole(holds[kind])) for kind in places},
        "openable": sorted(k.lower() for k in rules["OPENABLE_CLASS_LIST"] if k in places),
        "fixtures": sorted(kind.lower() for kind in FIXTURES),
        "vessels": sorted(kind.lower() for kind in rules["MOVABLE_RECEPTACLES"]),
        **{
            trait.lower(): sorted(_whole(actions[trait]))
            for trait in ("Cleanable", "Heatable", "Coolable", "Sliceable", "Toggleable")
        },
    }


def scene_of(layouts: Path, number: int, kinds: Tables) -> Tables:
    """Return how many places of each kind a scene has, and the kinds of its things."""
    present = _read(layouts / f"FloorPlan{number}-objects.json")
    keys = _read(layouts / f"FloorPlan{number}-openable.json")
    counts = Counter(_kind(key) for key in keys)
    for kind in map(str.lower, present):
        if kind in kinds["places"] and kind not in counts:
            counts[kind] = STOVE_BURNERS if kind == "stoveburner" else 1
    known = set(kinds["fixtures"]).union(*kinds["places"].values())
    return {
        "places": {kind: counts[kind] for kind in sorted(counts) if kind in kinds["places"]},
        "things": sorted(known.intersection(map(str.lower, present))),
    }


def counted_places(games: Path, openable: frozenset[str]) -> dict[int, Tables]:
    """Return the places of each scene that has a game.

    Two of scene 308's games give its drawers doors that the 37 others do not; most games count.
    """
    scenes: dict[int, Counter[str]] = {}
    for path in sorted(games.rglob("initial_state.pddl")):
        number = int(path.parents[1].name.rpartition("-")[2])
        problem = path.read_text("utf-8").lower()
        names = _names(_PLACE.findall(problem))
        has_door = set(_HAS_DOOR.findall(problem))
        doorless = (
            name
            for identity, name in names.items()
            if identity not in has_door and name.split()[0] in openable
        )
        standing: dict[str, list[str]] = {kind.lower(): [] for kind in sorted(FIXTURES)}
        for thing, place in _LIES_IN.findall(problem):
            kind = thing.partition("_bar_")[0]
            if kind in standing and place in names:
                standing[kind].append(names[place])
        counts = Counter(name.split()[0] for name in names.values())
        counted = {
            "places": dict(sorted(counts.items())),
            "doorless": sorted(doorless),
            "standing": {kind: sorted(spots) for kind, spots in standing.items()},
            "is_counted": True,
        }
        scenes.setdefault(number, Counter())[json.dumps(counted)] += 1
    return {number: json.loads(seen.most_common(1)[0][0]) for number, seen in scenes.items()}


_PLACE = re.compile(r"\(receptacleatlocation ([^ ?]+) ")
_LIES_IN = re.compile(r"\(inreceptacle ([^ ?]+) ([^ ?)]+)\)")
_HAS_DOOR = re.compile(r"\(openable ([^ ?)]+)\)")


def _names(identities: Sequence[str]) -> dict[str, str]:
    """Return the games' names of places, of which the first has the highest number."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for identity in sorted(identities, reverse=True):
        kind = identity.partition("_bar_")[0]
        kind += "basin" if "basin" in identity else ""
        counts[kind] += 1
        names[identity] = f"{kind} {counts[kind]}"
    return names


def agentgym_tasks(folder: Path) -> Iterator[tuple[int, str]]:
    """Yield the number and the game of each of AgentGym's tasks."""
    for name in ("train", "test"):
        for row in _read(folder / f"mappings_{name}.json"):
            yield row["item_id"], f"{row['task_type']}/{row['task_id']}"


def drawn_tasks(games: Sequence[str], scenes: dict[int, Tables]) -> Iterator[tuple[int, str]]:
    """Yield the tasks that AgentGym does not have, no two of the same type.

    A goal is one that AgentGym has in a scene of the same kind of room.
    """
    types = sorted({game.partition("/")[0] for game in games})
    used = sorted({int(name.rpartition("-")[2]) for name in types})
    unused = [number for number in scenes if number not in used]
    taken = set(types)
    dice = Dice("alfworld", "validation")
    for place in range(NUM_VALIDATION):
        name = _draw(dice, types, dice.pick(used), scenes, taken)
        yield FIRST_VALIDATION + place, name
    dice = Dice("alfworld", "unseen")
    for place in range(UNSEEN_PER_SCENE * len(unused)):
        name = _draw(dice, types, unused[place // UNSEEN_PER_SCENE], scenes, taken)
        yield FIRST_UNSEEN + place, name


def _draw(
    dice: Dice, types: Sequence[str], number: int, scenes: dict[int, Tables], taken: set[str]
) -> str:
    scene = scenes[number]
    goals: dict[str, set[str]] = {}
    for name in types:
        goal, _, other = name.rpartition("-")
        deed, thing, _, target = goal.split("-")
        there = {*scene["places"], *scene["things"]}
        is_same_room = int(other) // 100 == number // 100
        if is_same_room and thing.lower() in there and target.lower() in there:
            goals.setdefault(deed, set()).add(f"{goal}-{number}")
    while True:  # every scene has many more goals than are drawn
        name = dice.pick(sorted(goals[dice.pick(sorted(goals))]))
        if name not in taken:
            taken.add(name)
            return name


def write(path: Path, table: Tables) -> None:
    """Write a table, an entry a line."""
    rows = (f"{json.dumps(str(key))}: {json.dumps(value)}" for key, value in table.items())
    path.write_text("{\n" + ",\n".join(rows) + "\n}\n", encoding="utf-8")


def _whole(kinds: set[str]) -> list[str]:
    return [kind.lower() for kind in kinds if not kind.endswith("Sliced")]


def _kind(key: str) -> str:
    # "Sink|+00.05|+00.90|-00.65|SinkBasin": the last part is what holds things.
    first, *_, last = key.split("|")
    return (last if last.isalpha() else first).lower()


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


if __name__ == "__main__":
    main()
