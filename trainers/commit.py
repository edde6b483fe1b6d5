"""Which commit the code that runs is of. Knows git's command alone."""

from __future__ import annotations

import subprocess
from pathlib import Path


def checkout_commit() -> str | None:
    """Return the commit of the checkout this package runs from, or None where it is installed."""

    def git(*words: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", *words],
                cwd=Path(__file__).parent,
                capture_output=True,
                text=True,
                check=False,
            )
        except FileNotFoundError:  # no git here
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    # An installed package may lie in somebody else's checkout, which does not hold this file.
    if git("ls-files", "--error-unmatch", Path(__file__).name) is None:
        return None
    commit = git("rev-parse", "HEAD")
    return f"{commit} with changes" if git("status", "--porcelain", "-uno") else commit
