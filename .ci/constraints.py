"""Turns pip's installation report (JSON on stdin) into a constraints file on stdout."""

from __future__ import annotations

import json
import sys

HEADER = """\
# The versions that every `make` target installs; written by `make constraints`.
# CUDA's own packages are left out: torch names their exact versions itself.
"""
LEFT_OUT = ("agentgym-envs", "nvidia-", "cuda-", "triton")


def pins(report: dict) -> list[str]:
    """List `name==version`, without build labels such as `+cpu`, sorted by name."""
    found = (item["metadata"] for item in report["install"])
    return sorted(
        f"{meta['name'].lower()}=={meta['version'].partition('+')[0]}"
        for meta in found
        if not meta["name"].lower().startswith(LEFT_OUT)
    )


if __name__ == "__main__":
    print(HEADER + "\n".join(pins(json.load(sys.stdin))))
