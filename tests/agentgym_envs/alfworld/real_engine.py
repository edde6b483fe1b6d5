"""Makes a house of ours a game of TextWorld's own engine, by `alfworld`'s domain and grammar."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentgym_envs.alfworld.env import ALFWorldEnv
from agentgym_envs.alfworld.house import House
from agentgym_envs.alfworld.tasks import Task, alfworld_tasks

Edit = Callable[[str], str]

_TYPES = {"sinkbasin": "SinkBasin", "microwave": "Microwave", "fridge": "Fridge"}
_TYPES |= {"knife": "Knife", "butterknife": "ButterKnife"}
_STATE = {"Clean": "isClean", "Heat": "isHot", "Cool": "isCool"}


def data_folder() -> Path | None:
    """Return where the installed `alfworld` has its data; None without it or the engine."""
    found = [importlib.util.find_spec(name) for name in ("alfworld", "textworld", "fast_downward")]
    if None in found or not found[0].submodule_search_locations:
        return None
    return Path(found[0].submodule_search_locations[0]) / "data"


def real_game(house: House, goal: str) -> Any:
    """Return the engine's environment of a house that nobody has acted in yet."""
    import textworld
    from alfworld.agents.utils.misc import Demangler
    from textworld.envs.pddl import PddlEnv

    class Named(textworld.core.Wrapper):
        """Names things as `AlfredDemangler` does, whose module needs more packages."""

        def load(self, *args: Any, **kwargs: Any) -> None:
            super().load(*args, **kwargs)
            names = Demangler(game_infos=self._entity_infos)
            for info in self._entity_infos.values():
                info.name = names.demangle_alfred_name(info.id)

    folder = data_folder()
    assert folder is not None
    grammar = (folder / "alfred.twl2").read_text("utf-8").replace("UNKNOWN GOAL", goal)
    env = Named(PddlEnv(textworld.EnvInfos(admissible_commands=True, won=True)))
    env.load(
        {
            "pddl_domain": (folder / "alfred.pddl").read_text("utf-8"),
            "grammar": grammar,
            "pddl_problem": problem(house),
        }
    )
    return env


def problem(house: House) -> str:
    """Return the house as a PDDL problem; the original names higher numbers first."""
    rules, task = house.rules, house.task
    objects = ["agent1 - agent", "middle - location"]
    facts = ["(atLocation agent1 middle)"]
    for spot, place in enumerate(house.places):
        where = f"spot_{spot}"
        ident = identity(place.kind, place.number)
        objects += [f"{ident} - receptacle", f"{where} - location"]
        facts += [f"(receptacleAtLocation {ident} {where})"]
        facts += [f"(receptacleType {ident} {_type(place.kind)})"]
        facts += [f"(openable {ident})"] * place.is_openable
        for thing in place.contents:
            name = identity(thing.kind, thing.number)
            objects.append(f"{name} - object")
            facts += [f"(objectType {name} {_type(thing.kind)})", f"(inReceptacle {name} {ident})"]
            facts += [f"(objectAtLocation {name} {where})"]
            traits = {
                "pickupable": thing.kind not in rules.fixtures,
                "toggleable": thing.kind in rules.toggleable,
                "isReceptacleObject": thing.kind in rules.vessels,
                **{n: thing.kind in getattr(rules, n) for n in ("cleanable", "heatable")},
                **{n: thing.kind in getattr(rules, n) for n in ("coolable", "sliceable")},
            }
            facts += [f"({trait} {name})" for trait, holds in traits.items() if holds]
    places = {place.kind for place in house.places} | {"sinkbasin", "microwave", "fridge"}
    things = {"knife", "butterknife", "desklamp"}.union(*(rules.holds[kind] for kind in places))
    objects += [f"{_type(kind)} - rtype" for kind in places]
    objects += [f"{_type(kind)} - otype" for kind in things | set(rules.fixtures)]
    facts += [
        f"(canContain {_type(kind)} {_type(thing)})"
        for kind in places
        for thing in rules.holds[kind]
    ]
    return (
        "(define (problem house)\n(:domain alfred)\n(:objects\n"
        + "\n".join(objects)
        + ")\n(:init\n"
        + "\n".join(facts)
        + f")\n(:goal {goal_of(task)}))\n"
    )


def goal_of(task: Task) -> str:
    """Return the goal in PDDL, as the original's `goal_library.py` words it."""
    thing, target = _type(task.thing), _type(task.target)
    if task.subtask == "Look":
        return (
            "(and (exists (?ot - object ?r - receptacle ?a - agent ?l - location) (and "
            f"(objectType ?ot {target}) (toggleable ?ot) (isToggled ?ot) "
            "(receptacleAtLocation ?r ?l) (atLocation ?a ?l) (inReceptacle ?ot ?r))) "
            f"(exists (?o - object ?a - agent) (and (objectType ?o {thing}) (holds ?a ?o))))"
        )
    wanted = f"(objectType {{}} {thing}) (inReceptacle {{}} ?r)"
    if task.subtask in _STATE:
        wanted += f" ({_STATE[task.subtask]} {{}})"
    inner = f"(receptacleType ?r {target}) " + wanted.replace("{}", "?o1")
    if task.subtask == "Pick2":
        second = wanted.replace("{}", "?o2")
        inner += f" (exists (?o2 - object) (and (not (= ?o1 ?o2)) {second}))"
    return f"(and (exists (?r - receptacle) (exists (?o1 - object) (and {inner}))))"


def identity(kind: str, number: int) -> str:
    """Return an identity that the original gives this number: the first in order is the highest."""
    order = f"{99 - number:02d}"
    if kind in ("sinkbasin", "bathtubbasin"):
        return f"{kind.removesuffix('basin')}_bar_{order}_bar_{kind}"
    return f"{kind}_bar_{order}"


def _type(kind: str) -> str:
    return f"{_TYPES.get(kind, kind)}Type"


def write_game(
    root: Path, number: int, *, folder: str = "valid_train", edit: Edit = lambda text: text
) -> Path:
    """Write the house of a task as a game file of the original's form and return its path.

    Args:
        root: the folder `json_2.1.1`.
        number: of our task.
        folder: of `root`.
        edit: changes the file's text, such as its grammar.
    """
    env = ALFWorldEnv()
    env.reset(options={"task_id": number})
    data = data_folder()
    assert data is not None
    grammar = (data / "alfred.twl2").read_text("utf-8").replace("UNKNOWN GOAL", env.goal)
    game = {
        "pddl_domain": (data / "alfred.pddl").read_text("utf-8"),
        "grammar": edit(grammar),
        "pddl_problem": edit(problem(env.house)),
        "solvable": True,
        "walkthrough": None,
    }
    path = root / folder / alfworld_tasks().games[number].game / "game.tw-pddl"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(game), "utf-8")
    return path
