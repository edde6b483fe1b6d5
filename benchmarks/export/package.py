"""The files of an environment's package for OpenEnv."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from agentgym_envs import TextEnv
from agentgym_envs.registration.registry import short_env_name
from benchmarks.cli.filling import filled
from benchmarks.cli.new import EnvironmentNames
from benchmarks.export.measure import TOLERANCE, Measurement

TEMPLATES = Path(__file__).parent / "templates"

_MOST_ACTIONS = 100
_MOST_BYTES = 60_000
"""Of a probe; OpenEnv reads 100 actions and 65,536 bytes."""

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
        env: what the server makes: a registered id, or `module:id`.
        sample: one of the environments, which is only asked for its texts, verbs and tasks.
        measurement: how its expert and chance fare.
        requirements: what the package depends on; the environment's own distribution is the last.
        tools: the names of the server's tools.
    """

    env: str
    sample: TextEnv
    measurement: Measurement
    requirements: tuple[str, ...]
    tools: tuple[str, ...]

    @property
    def env_id(self) -> str:
        """The environment's registered id."""
        return self.env.rpartition(":")[2]

    def files(self) -> dict[Path, str]:
        """Return the text of each file, by its path in the folder."""
        has_oracle = self.measurement.solved is not None
        places = _PLACES | (_ORACLE_PLACES if has_oracle else {})
        return filled(TEMPLATES, places, {**self._names(), **self._manifest(), **self._measured()})

    def _names(self) -> dict[str, str]:
        names = EnvironmentNames.of(short_env_name(self.env_id))
        summary = (type(self.sample).__doc__ or names.title).strip().splitlines()[0]
        return {
            "env": json.dumps(self.env),
            "env_id": self.env_id,
            "title": names.title,
            "module": package_module(self.env_id),
            # As OpenEnv's AutoEnv makes it of the module, without regard to the id's capitals.
            "class_name": "".join(word.capitalize() for word in names.module.split("_")),
            "distribution": f"openenv-{package_module(self.env_id)}".replace("_", "-"),
            "version": self.requirements[-1].rpartition("==")[2],
            "summary": summary,
            "description": json.dumps(summary),
            "requirements": json.dumps(["openenv>=0.10.0", *self.requirements]),
            "tag": names.module,
        }

    def _manifest(self) -> dict[str, str]:
        task_set, measurement = self.sample.task_set, self.measurement
        splits = (*task_set.splits, *task_set.panels)
        oracle = {"form": "script", "location": _ORACLE_PLACES["solve.sh"]}
        return {
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


def package_module(env_id: str) -> str:
    """Return the name of a package's module: `"text_craft_env"` of `"agentgym/TextCraft-v0"`.

    Raises:
        ValueError: the id cannot be made the name of a module.
    """
    return f"{EnvironmentNames.of(short_env_name(env_id)).module}_env"


def _mean(returns: tuple[float, ...]) -> str:
    return f"{fmean(returns):.2f}" if returns else "there is none"


def _oracle_texts(measurement: Measurement) -> dict[str, str]:
    if measurement.solved is None:
        note = " It has no oracle, since no expert earns the greatest reward on any of the tasks."
        return {"oracle_command": "", "oracle_note": note}
    note = (
        " `solution/play.py` plays the expert through the server on any task, or chance with "
        "`--policy random`."
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
