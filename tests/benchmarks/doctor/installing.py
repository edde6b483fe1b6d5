"""Makes folders of installed packages: of metadata alone, or of links to the real ones."""

from __future__ import annotations

import configparser
import sys
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

import agentgym_envs

ROOT = Path(__file__).parents[3]
OURS = "agentgym-envs"
PIP = f"{sys.executable} -m pip install"


def write_metadata(
    folder: Path,
    name: str,
    version: str,
    *,
    requires: Iterable[str] = (),
    extras: Sequence[str] = (),
) -> None:
    """Write what pip leaves of a package, without the package."""
    place = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    place.mkdir(parents=True)
    lines = ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}"]
    lines += ["Requires-Python: >=3.11,<3.14"]
    lines += [f"Requires-Dist: {line}" for line in requires]
    lines += [f"Provides-Extra: {extra}" for extra in extras]
    (place / "METADATA").write_text("\n".join([*lines, ""]))


def write_ours(folder: Path) -> None:
    """Write our own metadata, as `setup.cfg` now has it."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    requires = config["options"]["install_requires"].split()
    extras = dict(config["options.extras_require"])
    for extra, block in extras.items():
        for line in block.strip().splitlines():
            name, _, marker = line.partition(";")
            also = f"({marker.strip()}) and " if marker else ""
            requires.append(f'{name}; {also}extra == "{extra}"')
    write_metadata(folder, OURS, agentgym_envs.__version__, requires=requires, extras=[*extras])


def link_sources(folder: Path) -> None:
    """Link our packages, without what pip has left beside them in the checkout."""
    for name in ("agentgym_envs", "wrappers", "trainers", "benchmarks"):
        (folder / name).symlink_to(ROOT / name)


def link_required(folder: Path) -> None:
    """Link the packages that ours always requires, and what those require, as the bare install."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    waiting = [Requirement(line) for line in config["options"]["install_requires"].split()]
    linked = set()
    while waiting:
        name = waiting.pop().name
        if name in linked:
            continue
        linked.add(name)
        link(folder, name)
        required = map(Requirement, metadata.requires(name) or [])
        waiting += [
            one for one in required if one.marker is None or one.marker.evaluate({"extra": ""})
        ]


def link(folder: Path, name: str) -> None:
    """Link all that an installed package has laid beside the others."""
    package = metadata.distribution(name)
    for top in {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}:
        if not (folder / top).exists():  # a folder that two packages share
            (folder / top).symlink_to(Path(str(package.locate_file(top))))
