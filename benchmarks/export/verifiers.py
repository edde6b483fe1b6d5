"""`agentgym export verifiers`: writes an environment as a package for verifiers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import gymnasium as gym

from agentgym_envs import TextEnv, resolve_env_id
from benchmarks.cli.new import check_free, filled, write_files
from benchmarks.export.package import TEMPLATES, package_names, package_parser, package_words

_SUFFIX = "agentgym"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the package, and print the next commands."""
    parser = package_parser(
        "verifiers",
        _SUFFIX,
        "Write an environment as a package that vf-eval plays and prime-rl trains on: a task set "
        "by the conventions of verifiers, with its requirements.",
    )
    options = parser.parse_args(argv)
    try:
        env_id = resolve_env_id(options.env)
        folder = Path(options.out or package_names(env_id, _SUFFIX)["module"])
        check_free(folder)
        env = gym.make(env_id, disable_env_checker=True)
        try:
            words = _words(options.env, env_id, env.unwrapped)
        finally:
            env.close()
    except (ValueError, TypeError) as error:
        parser.error(str(error))
    places = {
        "README.md": "README.md",
        "pyproject.toml": "pyproject.toml",
        "init.py": f"{words['module']}/__init__.py",
    }
    write_files(folder, filled(TEMPLATES / "verifiers", places, words))
    print(
        f"\nnext:\n  pip install {folder}\n  vf-eval {words['distribution']} -n 3\n"
        "README.md has the options"
    )
    return 0


def _words(name: str, env_id: str, sample: object) -> dict[str, str]:
    if not isinstance(sample, TextEnv):
        raise ValueError(f"{env_id} is no text environment")
    return {
        **package_words(name, sample, suffix=_SUFFIX, host="verifiers>=0.4,<0.5"),
        "splits": ", ".join(f"`{split}`" for split in sample.task_set.splits),
        "max_turns": str(sample.max_turns),
    }
