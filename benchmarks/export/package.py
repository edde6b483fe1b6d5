"""The files of an environment's package for OpenEnv."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import packages_distributions, version
from pathlib import Path
from statistics import fmean

import agentgym_envs
from agentgym_envs import TextEnv
from agentgym_envs.machinery.requirements import DISTRIBUTION
from agentgym_envs.registration.registry import short_env_name
from benchmarks.cli.new import EnvironmentNames, filled
from benchmarks.export.measure import TOLERANCE, Measurement
from trainers.options.parser import OptionParser

TEMPLATES = Path(__file__).parent / "templates"

_EXTRAS = {"sciworld": "science", "searchqa": "search", "webshop": "search"}
"""Extras of the scenarios that need more than the server does."""

_REFUSALS = {
    "miniwob": (
        "MiniWoB needs Chromium beside its package, so it is not exported; serve it where there is "
        "one: agentgym serve --env MiniWoB"
    ),
    "remote": (
        "a server plays it already, so it is not exported; export it where the server runs, by the "
        "name that it has there"
    ),
}

_MOST_ACTIONS = 100
_MOST_BYTES = 60_000
"""Largest probe. OpenEnv reads 100 actions and 65,536 bytes."""

_PLACES = {
    "README.md": "README.md",
    "openenv.yaml": "openenv.yaml",
    "pyproject.toml": "pyproject.toml",
    "init.py": "__init__.py",
    "client.py": "client.py",
    "models.py": "models.py",
    "server_init.py": "server/__init__.py",
    "app.py": "server/app.py",
    "Dockerfile": "server/Dockerfile",
    "runtime.json": "validation/runtime.json",
}
_ORACLE_PLACES = {"solve.sh": "solution/solve.sh", "play.py": "solution/play.py"}


@dataclass(frozen=True)
class Package:
    """The content of a package.

    Attributes:
        words: as `package_words` returns them.
        sample: one of the environments, for its tasks.
    """

    words: Mapping[str, str]
    sample: TextEnv
    measurement: Measurement
    tools: tuple[str, ...]

    def files(self) -> dict[Path, str]:
        """Return the text of each file, by its path in the folder."""
        has_oracle = self.measurement.solved is not None
        places = _PLACES | (_ORACLE_PLACES if has_oracle else {})
        words = {**self.words, **self._manifest(), **self._measured()}
        return filled(TEMPLATES, places, words)

    def _manifest(self) -> dict[str, str]:
        task_set, measurement = self.sample.task_set, self.measurement
        splits = (*task_set.splits, *task_set.panels)
        oracle = {"form": "script", "location": _ORACLE_PLACES["solve.sh"]}
        return {
            "distribution": f"openenv-{self.words['distribution']}",
            "tag": self.words["module"].removesuffix("_env"),
            "reward_range": json.dumps(measurement.reward_range),
            "oracle_tolerance": str(TOLERANCE),
            "floor_margin": str(measurement.margin),
            "oracle": json.dumps(oracle if measurement.solved else None),
            "enough": str(measurement.reward_range[1] - TOLERANCE),
            "tools": json.dumps(self.tools),
            "task_counts": json.dumps({split: len(task_set.task_ids(split)) for split in splits}),
            "source": json.dumps(self.sample.source),
        }

    def _measured(self) -> dict[str, str]:
        measurement = self.measurement
        task_id, actions = measurement.probe
        return {
            "probe": json.dumps(_plan(task_id, actions), indent=2, ensure_ascii=False),
            "task_id": task_id,
            "message": json.dumps(actions[0], ensure_ascii=False),
            "solved": json.dumps(measurement.solved),
            "num_tasks": str(len(measurement.chance)),
            "split": measurement.split,
            "expert_mean": _mean(measurement.expert),
            "chance_mean": _mean(measurement.chance),
            **_oracle_texts(measurement),
        }


def package_names(env_id: str, suffix: str) -> dict[str, str]:
    """Return the names in a package, such as `text_craft_env` of `agentgym/TextCraft-v0`."""
    names = EnvironmentNames.from_name(short_env_name(env_id))
    module = f"{names.module}_{suffix}"
    return {
        "title": names.title,
        "module": module,
        "distribution": module.replace("_", "-"),
        # As OpenEnv's AutoEnv makes it of the module, without regard to the id's capitals.
        "class_name": "".join(word.capitalize() for word in names.module.split("_")),
    }


def package_words(
    name: str, sample: TextEnv, *extras: str, suffix: str, host: str
) -> dict[str, str]:
    """Return the words of every package, by their names in the templates.

    Args:
        name: the environment's, as the command was given it.
        sample: one of the environments.
        *extras: of this distribution, for what the package imports.
        suffix: of the module's name.
        host: the requirement whose conventions the package follows.

    Raises:
        ValueError: the environment cannot be exported.
    """
    env_id, module = sample.env_id, name.rpartition(":")[0]
    names = package_names(env_id, suffix)
    needed = requirements(sample, *extras, module=module)
    summary = (type(sample).__doc__ or names["title"]).strip().splitlines()[0]
    return {
        **names,
        "env": json.dumps(f"{module}:{env_id}" if module else env_id),
        "env_id": env_id,
        "version": needed[-1].rpartition("==")[2],
        "summary": summary,
        "description": json.dumps(summary),
        "requirements": json.dumps([host, *needed]),
    }


def package_parser(kind: str, suffix: str, description: str) -> OptionParser:
    """Return the parser of a command that writes a package.

    `kind` is the command's last word, and `suffix` that of the module's name.
    """
    prog = f"agentgym export {kind}"
    parser = OptionParser(
        prog=prog, description=description, epilog=f"example: {prog} --env TextCraft"
    )
    parser.add_argument(
        "--env", required=True, help="id, short name or module:id of the environment"
    )
    parser.add_argument(
        "--out", help=f"the folder; by default the module's name, text_craft_{suffix}"
    )
    return parser


def _mean(returns: tuple[float, ...]) -> str:
    return f"{fmean(returns):.2f}" if returns else "there is none"


def _oracle_texts(measurement: Measurement) -> dict[str, str]:
    if measurement.solved is None:
        note = " It has no oracle, since no expert earns the greatest reward on any of the tasks."
        return {"oracle_command": "", "oracle_note": note}
    note = (
        " `solution/play.py` plays the expert through the server on any task, or the random "
        "policy with `--policy random`."
    )
    return {"oracle_command": "sh solution/solve.sh", "oracle_note": note}


def _plan(task_id: str, actions: tuple[str, ...]) -> Mapping[str, object]:
    """Return the plan that OpenEnv's validator plays."""
    messages: list[dict[str, str]] = []
    size = 0
    for action in actions[:_MOST_ACTIONS]:
        size += len(json.dumps({"message": action}))
        if messages and size > _MOST_BYTES:
            break
        messages.append({"message": action})
    return {
        "plan_schema_version": "1",
        "reset": {"episode_id": "chance", "seed": 0, "options": {"task_id": task_id}},
        "actions": messages,
    }


def requirements(sample: TextEnv, *extras: str, module: str = "") -> list[str]:
    """Return the package's requirements with these `extras`, pinned to the installed versions.

    The distribution of the module that registers the environment is the last one. By default that
    is the module of its class.

    Raises:
        ValueError: it needs a browser or a server, or the module belongs to no installed
            distribution.
    """
    own = type(sample).__module__
    package, _, rest = own.partition(".")
    scenario = rest.partition(".")[0] if package == agentgym_envs.__name__ else ""
    if scenario in _REFUSALS:
        raise ValueError(_REFUSALS[scenario])
    ours = _ours(*extras, *filter(None, [_EXTRAS.get(scenario)]))
    package = (module or own).partition(".")[0]
    return [ours] if package == agentgym_envs.__name__ else [ours, _theirs(package)]


def _ours(*extras: str) -> str:
    named = f"[{','.join(extras)}]" if extras else ""
    return f"{DISTRIBUTION}{named}=={agentgym_envs.__version__}"


def _theirs(package: str) -> str:
    names = packages_distributions().get(package)
    if not names:
        raise ValueError(
            f"the module {package!r} belongs to no installed distribution, which the exported "
            "package could depend on; run pip install -e . in the folder of its pyproject.toml"
        )
    return f"{names[0]}=={version(names[0])}"
