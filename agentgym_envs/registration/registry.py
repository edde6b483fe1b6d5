"""Registers environments with Gymnasium and remembers which ids are ours."""

from __future__ import annotations

import importlib
import inspect
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import WrapperSpec

from agentgym_envs.errors import MissingExtra, described, did_you_mean
from agentgym_envs.registration.server_names import read_server_name

_NAME_TIME_LIMIT = WrapperSpec(
    "name_time_limit", "agentgym_envs.registration.time_limit:name_time_limit", {}
)

_AS_IMPORTED = "name the module as Python imports it, such as mylab.maze and not mylab/maze.py"

REGISTERED: list[str] = []
"""The ids registered through `register_env`, in order."""

NEEDS: dict[str, str] = {}
"""Requirements of environments that `register_unlisted` registered with some, by id."""


def register_env(env_id: str, entry_point: Any, **kwargs: Any) -> None:
    """Register a text environment, all that a user's own environment needs.

    Args:
        env_id: a Gymnasium id such as `"mylab/Chess-v0"`.
        entry_point: a `TextEnv` subclass, or `"module:Class"`, which imports nothing until `make`.
        **kwargs: default keyword arguments of the environment.
    """
    register_unlisted(env_id, entry_point, **kwargs)
    if env_id not in REGISTERED:
        REGISTERED.append(env_id)


def register_unlisted(env_id: str, entry_point: Any, *, needs: str = "", **kwargs: Any) -> None:
    """Register an environment that cannot be made without more, such as the URL of a server.

    `registered_ids` does not list it.

    Args:
        env_id: a Gymnasium id.
        entry_point: as for `register_env`.
        needs: what it cannot be made without; then it has a short name, too, and a row in
            `agentgym envs`.
        **kwargs: default keyword arguments of the environment.
    """
    if needs:
        NEEDS[env_id] = needs
    gym.register(
        env_id,
        entry_point=entry_point,
        # `TextEnv` checks the order of calls, and what a scenario returns, itself. Gymnasium's
        # wrappers would not see that `env.unwrapped.restore(snapshot)` has begun an episode.
        order_enforce=False,
        disable_env_checker=True,
        kwargs=kwargs,
        additional_wrappers=(_NAME_TIME_LIMIT,),
    )


def registered_ids() -> tuple[str, ...]:
    """Return the ids registered through `register_env`, in order."""
    return tuple(REGISTERED)


def short_env_name(env_id: str) -> str:
    """Return an id without its namespace and version: `"BabyAI"` of `"agentgym/BabyAI-v0"`."""
    name = env_id.rpartition("/")[2]
    return name.rpartition("-v")[0] or name


def distinct_names(env_ids: Iterable[str]) -> dict[str, str]:
    """Return the short name of each id, or the whole id where another one has the same."""
    ids = list(dict.fromkeys(env_ids))
    short = {env_id: short_env_name(env_id) for env_id in ids}
    counts = Counter(short.values())
    return {env_id: name if counts[name] == 1 else env_id for env_id, name in short.items()}


def check_kwargs(env_id: str, kwargs: Mapping[str, Any]) -> None:
    """Check that an environment takes keyword arguments, before it is made with them.

    Args:
        env_id: a registered id.
        kwargs: the arguments.

    Raises:
        ValueError: it cannot be imported, is no text environment, or does not take one of them.
    """
    creator: Any = gym.spec(env_id).entry_point
    if isinstance(creator, str):
        module_name, _, attribute = creator.partition(":")
        module = import_named_module(module_name, f"{env_id}'s {creator}")
        if not hasattr(module, attribute):
            raise ValueError(f"{env_id} is {creator}, and that module has no {attribute!r}")
        creator = getattr(module, attribute)
    if not isinstance(creator, type):
        return  # a function may pass on whatever it is given
    if not hasattr(creator, "task_ids"):
        raise ValueError(f"{env_id} is no text environment; registered: {', '.join(REGISTERED)}")
    accepted = _parameters(creator)
    moved: Mapping[str, str] = getattr(creator, "moved_arguments", {})
    for name in kwargs:
        if name in moved:
            raise ValueError(f"{env_id} takes no argument {name!r}; {moved[name]}")
        if name not in accepted:
            hint = did_you_mean(name, accepted, otherwise=f"it takes {', '.join(accepted)}")
            raise ValueError(f"{env_id} takes no argument {name!r}{hint}")


def _parameters(kind: type) -> list[str]:
    """Return the keyword arguments of a class, with those that it passes on to its bases."""
    names: list[str] = []
    for base in kind.__mro__:
        if "__init__" not in vars(base):
            continue
        _, *parameters = inspect.signature(vars(base)["__init__"]).parameters.values()
        for p in parameters:
            # The class gives `TextEnv` its tasks, and another base what has no default.
            is_given = p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty
            is_given |= p.name == "task_set"
            if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and (
                base is kind or not is_given
            ):
                names.append(p.name)
        if not any(p.kind is p.VAR_KEYWORD for p in parameters):
            break
    return names


def resolve_env_id(name: str) -> str:
    """Turn a short name (`"TextCraft"`, `"textcraft"`) or an id into a registered id.

    `"module:id"`, Gymnasium's own form, imports the module first. `"openenv:URL"` and
    `"agentgym:URL"` register what the server plays, without asking it.

    Raises:
        ValueError: nothing by that name is registered, or the module cannot be imported.
    """
    server = read_server_name(name)
    if server is not None:
        if server.env_id not in gym.registry:
            register_unlisted(server.env_id, server.entry_point, url=",".join(server.urls))
        return server.env_id
    module_name, _, name = name.rpartition(":")
    where = ""
    if module_name:
        module = import_named_module(module_name, f"{module_name}:{name}")
        where = f" in the module {module_name!r} ({_place(module)})"
    ids = [*REGISTERED, *NEEDS]
    for env_id in ids:
        if name == env_id or name.lower() == short_env_name(env_id).lower():
            return env_id
    if name in gym.registry:
        return name
    if not module_name:
        _refuse_file(name)
    known = [*ids, *map(short_env_name, ids)]
    hint = did_you_mean(name, known, otherwise=f"registered: {', '.join(REGISTERED)}")
    if not module_name:
        form = f"module:{name}" if "/" in name else "module:id, such as mygame:mylab/Game-v0"
        hint += (
            f"; one that a module of yours registers is written {form}, and one that a server "
            "plays openenv:URL or agentgym:URL"
        )
    raise ValueError(f"unknown environment {name!r}{where}{hint}")


def _refuse_file(name: str) -> None:
    """Refuse the name of a Python file or module in place of an environment's.

    Raises:
        ValueError: it is one.
    """
    file = Path(f"{name.removesuffix('.py')}.py")
    if name.endswith(".py") or file.is_file():
        is_below = not file.is_absolute() and ".." not in file.parts
        module = ".".join(file.with_suffix("").parts) if is_below else file.stem
        there = "is a file" if file.is_file() else "is no file here"
        raise ValueError(
            f"{file} {there}, and environments go by their ids; write {module}:ID with the id that "
            f"the module registers, such as {module}:mylab/Game-v0"
        )


def import_named_module(module_name: str, name: str) -> ModuleType:
    """Import a module that somebody named.

    Args:
        module_name: what is imported.
        name: what was written, for the message.

    Raises:
        ValueError: there is no such module, or it raises an error.
    """
    parts = module_name.split(".")
    if not all(map(str.isidentifier, parts)) or parts[-1] == "py":
        raise ValueError(f"cannot import {module_name!r} of {name!r}; {_AS_IMPORTED}")
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and f"{module_name}.".startswith(f"{error.name}."):
            raise ValueError(
                f"cannot import {module_name!r} of {name!r} ({error}); install it, or put its "
                "folder on PYTHONPATH"
            ) from error
        raise ValueError(f"the module {module_name!r} raises {described(error)}") from error
    except MissingExtra:
        raise
    except Exception as error:
        raise ValueError(f"the module {module_name!r} raises {described(error)}") from error


def _place(module: ModuleType) -> str:
    """Return where a module is.

    A folder that is no package hides the one that is meant: beside a folder that holds a package of
    its own name, as `agentgym new` writes it, an installed one is not found.
    """
    file = getattr(module, "__file__", None)
    if file is not None or not hasattr(module, "__path__"):
        return str(file)
    folder = Path(module.__path__[0])
    inner = folder / module.__name__ / "__init__.py"
    remedy = f"; run the command in that folder (cd {folder.name})" if inner.exists() else ""
    return f"{folder}, a folder without an __init__.py{remedy}"
