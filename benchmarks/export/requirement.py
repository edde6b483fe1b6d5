"""The distributions that an environment's package depends on."""

from __future__ import annotations

from importlib.metadata import packages_distributions, version

import agentgym_envs
from agentgym_envs import TextEnv
from agentgym_envs.machinery.requirements import DISTRIBUTION

_EXTRAS = {"sciworld": "science", "searchqa": "search", "webshop": "search"}
"""Of the scenarios that need more than the server does."""


def requirements(sample: TextEnv) -> list[str]:
    """Return the package's requirements, pinned to the installed versions.

    Args:
        sample: one of the environments.

    Raises:
        ValueError: it needs a browser, or its module belongs to no installed distribution.
    """
    package, _, rest = type(sample).__module__.partition(".")
    scenario = rest.partition(".")[0]
    if package != agentgym_envs.__name__:
        return [_ours("serve"), _theirs(package)]
    if scenario == "miniwob":
        raise ValueError(
            "MiniWoB needs Chromium beside its package, so it is not exported; serve it where "
            "there is one: agentgym serve --env MiniWoB"
        )
    return [_ours(*filter(None, ["serve", _EXTRAS.get(scenario)]))]


def _ours(*extras: str) -> str:
    return f"{DISTRIBUTION}[{','.join(extras)}]=={agentgym_envs.__version__}"


def _theirs(package: str) -> str:
    names = packages_distributions().get(package)
    if not names:
        raise ValueError(
            f"the module {package!r} belongs to no installed distribution, which the exported "
            "package could depend on; run pip install -e . in the folder of its pyproject.toml"
        )
    return f"{names[0]}=={version(names[0])}"
