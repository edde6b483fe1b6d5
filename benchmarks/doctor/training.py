"""Checks CUDA, and the TRL that our trainers extend.

torch is imported in processes apart from this one, and for CUDA only where there is a device.
"""

from __future__ import annotations

import ctypes
import runpy
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict

from agentgym_envs.errors import pip_install
from agentgym_envs.machinery.requirements import own_packages
from benchmarks.doctor.checks import Check, Finding, NoAnswer, Status, answer_of
from benchmarks.doctor.machine import size
from benchmarks.doctor.packages import quoted, without

_SECONDS = 120.0
"""For the imports of the training stack, which a cold disk makes slow."""

_NO_DEVICE = 100
"""What CUDA's driver answers where it has none (CUDA_ERROR_NO_DEVICE)."""

_REINSTALL = pip_install("--force-reinstall torch")


class Device(TypedDict):
    """A GPU as torch has it: its memory in bytes, and whether bfloat16 is not only imitated."""

    name: str
    memory: int
    has_bfloat16: bool


def training_checks() -> Iterator[Check]:
    """Yield the checks of the train extra."""
    yield Check("CUDA", cuda, _REINSTALL)
    yield Check("TRL", trl)


_MULTIPLY = """
import json, torch
devices = []
for number in range(torch.cuda.device_count()):
    ones = torch.ones(64, 64, dtype=torch.bfloat16, device=f"cuda:{number}")
    (ones @ ones).sum().item()  # raises where the device does not work
    properties = torch.cuda.get_device_properties(number)
    devices.append({
        "name": properties.name,
        "memory": properties.total_memory,
        "has_bfloat16": properties.major >= 8,  # Ampere
    })
print(json.dumps(devices))
"""


def cuda() -> Finding:
    """Multiply matrices in bfloat16 on every device, where the driver has any."""
    spec = find_spec("torch")
    if spec is None or not spec.submodule_search_locations:
        text = "torch is not installed, and no GPU is needed without it"
        return without("train", "CUDA") or Finding(Status.MISSING, text)
    num_devices = driver_devices()
    if num_devices == 0:
        text = "no NVIDIA device that this process may use: models run on the processor"
        return Finding(Status.MISSING, text)
    build = runpy.run_path(str(Path(spec.submodule_search_locations[0]) / "version.py"))
    version = build["__version__"]
    if build["cuda"] is None:
        text = f"torch {version} is built without CUDA: it leaves {num_devices} device(s) idle"
        return Finding(Status.WARNING, text, _REINSTALL)
    try:
        devices = answer_of(_MULTIPLY, seconds=_SECONDS)
    except NoAnswer as error:
        if "out of memory" not in str(error):
            raise
        text = f"other programs hold all memory of a device: {error}"
        return Finding(Status.WARNING, text, "nvidia-smi  # shows which")
    return judged(devices, num_devices=num_devices, torch=f"torch {version}")


def driver_devices() -> int:
    """Ask CUDA's driver, without torch, for the number of devices; 0 where there is no driver.

    Raises:
        RuntimeError: the driver does not work.
    """
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int()
    answer = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if answer not in (0, _NO_DEVICE):
        raise RuntimeError(f"NVIDIA's driver answers with error {answer}; nvidia-smi may say more")
    return count.value


def judged(devices: Sequence[Device], *, num_devices: int, torch: str) -> Finding:
    """Judge what torch has made of the devices.

    Args:
        devices: those that it has multiplied on.
        num_devices: as many the driver has.
        torch: its name and version.
    """
    if len(devices) < num_devices:
        text = f"{torch} finds {len(devices)} of the {num_devices} devices that the driver has"
        return Finding(Status.BROKEN, f"{text}: the driver may be too old for it", _REINSTALL)
    named = ", ".join(f"{device['name']} ({size(device['memory'])})" for device in devices)
    if not all(device["has_bfloat16"] for device in devices):
        text = f"{torch} on {named}: works; no bfloat16 of their own, so train with float16"
        return Finding(Status.WARNING, text, "agentgym train ALGORITHM --fp16")
    return Finding(Status.WORKS, f"{torch} on {named}: bfloat16 works")


_CHECK_HOOKS = """
import json
from trainers.trl_bridge.hooks import HOOKS  # importing the package has checked them
print(json.dumps(sum(map(len, HOOKS.values()))))
"""


def trl() -> Finding:
    """Check that the installed TRL and transformers have the methods that our trainers extend."""
    missing = without("train", "a trainer")
    if missing is not None:
        return missing
    libraries = [one for one in own_packages("train") if one.name in ("trl", "transformers")]
    try:
        count = answer_of(_CHECK_HOOKS, seconds=_SECONDS)
    except NoAnswer as error:
        if "UnsupportedTRL" not in str(error):
            remedy = pip_install(f"--force-reinstall {quoted(own_packages('train'))}")
            return Finding(Status.BROKEN, str(error), remedy)
        cause = str(error).partition("; install versions")[0].partition(": ")[2]
        remedy = pip_install(f"--force-reinstall --no-deps {quoted(libraries)}")
        return Finding(Status.BROKEN, cause, remedy)
    versions = " and ".join(f"{one.name} {one.version}" for one in libraries)
    return Finding(Status.WORKS, f"{versions} have the {count} methods that our trainers extend")
