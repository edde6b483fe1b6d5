"""`python -m lab.studies`: calls a study with the rest of the line."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module

from agentgym_envs.errors import did_you_mean
from trainers.options.errors import refuse

STUDIES: dict[str, tuple[str, str]] = {
    "learning": ("lab.studies.learning", "every algorithm from one start"),
    "language_model": ("lab.studies.language_model", "SmolLM2 from SFT to GRPO"),
    "rl_alone": ("lab.studies.rl_alone", "an instruct model by GRPO, without imitation"),
    "staleness": ("lab.studies.staleness", "played up to K steps ahead, on vLLM servers"),
    "horizons": ("lab.studies.horizons", "short, long, staged and adaptive turn horizons"),
    "credit": ("lab.studies.credit", "methods that credit single turns, against GRPO"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one study.

    Returns:
        the exit status: 2 where there is no such study.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    listed = "".join(f"  {name:<14} {summary}\n" for name, (_, summary) in STUDIES.items())
    if not words or words[0] in ("-h", "--help"):
        print(f"usage: python -m lab.studies NAME [options]\n\nstudies:\n{listed}", end="")
        return 0
    name, *rest = words
    if name not in STUDIES:
        hint = did_you_mean(name, STUDIES, otherwise=f"studies: {', '.join(STUDIES)}")
        return refuse(f"unknown study {name!r}{hint}")
    return int(import_module(STUDIES[name][0]).main(rest))
