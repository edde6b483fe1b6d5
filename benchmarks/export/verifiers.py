"""`agentgym export verifiers`: writes an environment as a package for verifiers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import gymnasium as gym

from agentgym_envs import TextEnv, resolve_env_id
from benchmarks.cli.new import check_free, filled, write_files
from benchmarks.export.package import TEMPLATES, package_names, requirements
from trainers.options.parser import OptionParser

_SUFFIX = "agentgym"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the package, and print the next commands."""
    parser = _parser()
    options = parser.parse_args(argv)
    try:
        env_id = resolve_env_id(options.env)
        names = package_names(env_id, _SUFFIX)
        folder = Path(options.out or names["module"])
        check_free(folder)
        env = gym.make(env_id, disable_env_checker=True)
        try:
            files = _files(options.env, env_id, names, env.unwrapped)
        finally:
            env.close()
    except (ValueError, TypeError) as error:
        parser.error(str(error))
    write_files(folder, files)
    name = names["distribution"]
    print(f"\nnext:\n  pip install {folder}\n  vf-eval {name} -n 3\nREADME.md has the options")
    return 0


def _files(name: str, env_id: str, names: dict[str, str], sample: object) -> dict[Path, str]:
    """Return the text of each file, by its path in the folder."""
    if not isinstance(sample, TextEnv):
        raise ValueError(f"{env_id} is no text environment")
    required = requirements(sample)
    summary = (type(sample).__doc__ or names["title"]).strip().splitlines()[0]
    module = name.rpartition(":")[0]
    words = {
        **names,
        "env": json.dumps(f"{module}:{env_id}" if module else env_id),
        "env_id": env_id,
        "version": required[-1].rpartition("==")[2],
        "summary": summary,
        "description": json.dumps(summary),
        "requirements": json.dumps(["verifiers>=0.4,<0.5", *required]),
        "splits": ", ".join(f"`{split}`" for split in sample.task_set.splits),
        "max_turns": str(sample.max_turns),
    }
    places = {
        "README.md": "README.md",
        "pyproject.toml": "pyproject.toml",
        "init.py": f"{names['module']}/__init__.py",
    }
    return filled(TEMPLATES / "verifiers", places, words)


def _parser() -> OptionParser:
    parser = OptionParser(
        prog="agentgym export verifiers",
        description="Write an environment as a package that vf-eval plays and prime-rl trains on: "
        "a task set by the conventions of verifiers, with its requirements.",
        epilog="example: agentgym export verifiers --env TextCraft",
    )
    parser.add_argument(
        "--env", required=True, help="id, short name or module:id of the environment"
    )
    parser.add_argument("--out", help="the folder; by default the module's, text_craft_agentgym")
    return parser
