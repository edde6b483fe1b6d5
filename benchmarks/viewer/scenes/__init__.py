"""Scenes and tokens of an episode, for the viewer.

`scene` and `tokens` return JSON values, made when a trajectory is opened.
`static/scenes.js` draws what they return (`drawScene(container, envId, scene, turn)` and
`drawTokens(container, tokens, turn)`, with `static/scenes.css`).

A scene is always

    {"kind": one of those below, or null,
     "about": {...},         what holds for the whole episode
     "turns": [...] | null,  one entry more than the episode has turns: entry i is what the policy
                             had before it when it read turn i's observation, the last one what it
                             left behind
     "reason": str | null}   why there are no turns, or what is lacking of them, in one sentence

`kind` is null for environments that have no scene, with turns and reason null too. By kind:

    alfworld   about {"goal", "wanted": [the kind of thing, the kind of place or lamp]}
               turns {"at": place | null, "held": thing | null,
                      "places": [[name, "open" | "closed" | "", seen, [thing, ...]], ...]},
               a thing being [name, "hot" | "cool" | "clean" | "sliced" | "on", ...]
    babyai     about {"width", "height", "walls": [cell, ...]}, a cell being y * width + x
               turns {"agent": cell, "direction": 0 right | 1 down | 2 left | 3 up,
                      "things": [[cell, kind, colour, "open" | "closed" | "locked" | ""], ...],
                      "seen": [cell, ...], "carrying": [kind, colour] | null}
    maze       about {"width", "height", "walls": [cell, ...], "goal": cell}, as babyai's
               turns {"at": cell, "seen": [cell, ...]}, where the agent has stood
    textcraft  about {"goal", "tree": [{"item", "depth", "recipe": command | null}, ...]}, the tree
               from the goal on, each item before what it is made of
               turns {"inventory": [[item, count], ...],
                      "tree": [[held, needed, "there" | "partly" | "missing" | "covered"], ...]},
               as long as about.tree; "covered": something it would go into is there already
    sciworld   about {}
               turns {"score": 0..1, "gained": difference to the turn before}
    searchqa   about {"question", "accepted": [answer, ...] | null}
               turns {"documents": [{"title", "parts": [[text, marked], ...]}, ...],
                      "found": an accepted answer is among them}
    sql        about {"question", "database", "level"}
               turns {"columns": names, none before the first result, "rows": [[value, ...], ...],
                      "more": there are rows besides, "right": this result is the answer}
    webarena   about {}
               turns {"url", "tabs": [title, ...], "tab": index of the current one,
                      "above": lines, "below": lines,
                      "nodes": [[depth, id, role, name, rest], ...],
                      "target": the id that turn i's action names | null,
                      "picture": data URL of the window | null}
    webshop    about {"goal", "asked": [the kind, attributes, options, the price]}
               turns {"page": "search" | "results" | "product" | "side" | "bought", "query",
                      "product": title | null,
                      "met": [whether the product meets each of what is asked for] | null,
                      "hits": [[title, the best score that it could earn], ...]}
    wordle     about {"rows": guesses at most, "columns": letters}
               turns {"guesses": [[word, marks of "g", "y", "b", or ""], ...],
                      "fitting": words that fit the marks, "words": of the list}

Tokens are null where the episode has none, else

    {"tokenizer": name | null, "reason": why there are ids in place of texts | null,
     "has_advantages": bool,
     "traces": [{"prompt_ids": [...], "prompt_texts": [...] | null,
                 "ids": [...], "texts": [...] | null,
                 "mask": [1 sampled | 0 given, ...],
                 "probabilities": [0..1 | null where given, ...],
                 "advantages": [number | null where given, ...] | null,
                 "turns": [turn, ...]}, ...]}

where `turns` tells for each token the turn it was sampled in, or the one whose observation it is
part of. An entry of `texts` may be empty: a character can take several tokens, and stands at the
last of them.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from agentgym_envs.trajectories.trajectory import Trajectory
from benchmarks.viewer.scenes.replay import NotReplayed, replay
from benchmarks.viewer.scenes.tokens import episode_credits, tokens

__all__ = ["episode_credits", "scene", "tokens"]

_KINDS = {
    f"agentgym/{name}-v0": name.lower()
    for name in (
        *("ALFWorld", "BabyAI", "Maze", "TextCraft", "SciWorld", "SearchQA", "WebArena"),
        *("SQL", "WebShop", "Wordle"),
    )
} | {"agentgym/WebArenaOfficial-v0": "webarena"}
"""The environments that have scenes. A record can make no other one."""


def scene(trajectory: Trajectory, folder: str | Path | None = None) -> dict[str, Any]:
    """Return an episode's scene as JSON values, as this package's description says.

    Args:
        trajectory: the episode.
        folder: where its file is, in or below the folder with the record of its arguments.
    """
    kind = _KINDS.get(trajectory.env_id)
    if kind is None:
        return {"kind": None, "about": {}, "turns": None, "reason": None}
    # Imported late: each module brings its environment's packages.
    module = import_module(f"{__name__}.{kind}")
    try:
        if hasattr(module, "look"):
            env, turns = replay(trajectory, folder, lambda env, _: module.look(env))
            content = {"about": module.about(env), "turns": turns}
        else:
            content = module.scene(trajectory, folder)
    except NotReplayed as error:
        return {"kind": kind, "about": {}, "turns": None, "reason": str(error)}
    return {"kind": kind, "reason": None, **content}
