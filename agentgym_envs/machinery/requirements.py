"""Lists the requirements of this package, extra by extra, and their installed versions.

Reads the packages' metadata, and imports none of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import metadata
from importlib.util import find_spec

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

DISTRIBUTION = "agentgym-envs"

_IMPORT_NAMES = {
    "faiss-cpu": "faiss",
    "markdown-it-py": "markdown_it",
    "pyyaml": "yaml",
}
"""Import names that differ from the package's name."""


@dataclass(frozen=True)
class Package:
    """A required package and its installed version.

    Attributes:
        name: the package's, as pip takes it.
        allowed: its allowed versions.
        version: the installed one; None where it is not installed.
        can_be_found: Python finds what it would import.
    """

    name: str
    allowed: SpecifierSet
    version: str | None
    can_be_found: bool

    @property
    def requirement(self) -> str:
        """Name and allowed versions, as pip takes them."""
        return f"{self.name}{self.allowed}"

    @property
    def is_allowed(self) -> bool:
        """The installed version is allowed.

        A release candidate counts as its release.
        """
        return self.version is not None and self.allowed.contains(self.version, prereleases=True)


def extras() -> list[str]:
    """Return the names of the extras.

    Raises:
        importlib.metadata.PackageNotFoundError: this package runs from its sources, uninstalled.
    """
    return metadata.metadata(DISTRIBUTION).get_all("Provides-Extra") or []


def own_packages(extra: str = "") -> list[Package]:
    """Return the requirements that an extra adds here, without the extras that it includes.

    Args:
        extra: its name; empty for what is always installed.

    Raises:
        importlib.metadata.PackageNotFoundError: this package runs from its sources, uninstalled.
    """
    return [_looked_up(one) for one in _required(extra) if one.name != DISTRIBUTION]


def all_packages(extra: str) -> list[Package]:
    """Return the requirements that an extra adds here, with the extras that it includes.

    Raises:
        importlib.metadata.PackageNotFoundError: this package runs from its sources, uninstalled.
    """
    included = [
        package
        for one in _required(extra)
        if one.name == DISTRIBUTION
        for name in sorted(one.extras)
        for package in all_packages(name)
    ]
    return list(dict.fromkeys([*own_packages(extra), *included]))


def _required(extra: str) -> list[Requirement]:
    lines = tuple(metadata.requires(DISTRIBUTION) or ())
    return [one for one in _parsed(lines) if _is_asked_for(one, extra)]


@cache
def _parsed(lines: tuple[str, ...]) -> list[Requirement]:
    return [Requirement(line) for line in lines]


def _is_asked_for(requirement: Requirement, extra: str) -> bool:
    marker = requirement.marker
    always = marker is None or marker.evaluate({"extra": ""})
    if not extra:
        return always
    return not always and marker is not None and marker.evaluate({"extra": extra})


def _looked_up(requirement: Requirement) -> Package:
    module = _IMPORT_NAMES.get(requirement.name.lower(), requirement.name.replace("-", "_"))
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        version = None
    return Package(
        name=requirement.name,
        allowed=requirement.specifier,
        version=version,
        can_be_found=find_spec(module) is not None,
    )
