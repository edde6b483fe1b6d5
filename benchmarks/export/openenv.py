"""`agentgym export openenv`: writes an environment as a package for OpenEnv."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from agentgym_envs import resolve_env_id
from agentgym_envs.errors import needs_extra
from benchmarks.cli.new import check_free, write_files
from benchmarks.export.measure import NUM_TASKS, measure
from benchmarks.export.package import Package, package_names, package_parser, package_words

_SUFFIX = "env"


def main(argv: Sequence[str] | None = None) -> int:
    """Write the package, and print the next commands."""
    parser = package_parser(
        "openenv",
        _SUFFIX,
        "Write an environment as a package for OpenEnv: a server, a client, a Dockerfile and a "
        "manifest, with the expert as its oracle and a random policy as its baseline. Both play "
        f"{NUM_TASKS} tasks first.",
    )
    options = parser.parse_args(argv)
    try:
        env_id = resolve_env_id(options.env)
        folder = Path(options.out or package_names(env_id, _SUFFIX)["module"])
        check_free(folder)
        package = _package(options.env, env_id)
    except (ValueError, TypeError) as error:
        parser.error(str(error))
    write_files(folder, package.files())
    if package.measurement.solved is None:
        print(
            f"no oracle: no expert earns the greatest reward on any of {NUM_TASKS} tasks",
            file=sys.stderr,
        )
    print(
        f"\nnext:\n  cd {folder}\n  pip install .\n  openenv validate . --skip-build\n"
        "  python -m server.app\nREADME.md has the other commands"
    )
    return 0


def _package(name: str, env_id: str) -> Package:
    with needs_extra("serve", "agentgym export openenv"):
        from wrappers.serving.environments import served
        from wrappers.serving.openenv.tools import list_tools

    (environment,) = served([env_id], {})
    sample = environment.sample
    words = package_words(name, sample, "serve", suffix=_SUFFIX, host="openenv>=0.10.0")
    print(f"the expert and the random policy play {NUM_TASKS} tasks", flush=True)
    return Package(
        words=words,
        sample=sample,
        measurement=measure(env_id, sample),
        tools=tuple(tool["name"] for tool in list_tools(sample, schema_key="inputSchema")),
    )
