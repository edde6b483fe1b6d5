"""Checks of CUDA and TRL.

torch is imported in another process, and for CUDA only where the driver has a device.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec

from agentgym_envs.errors import install_command, pip_install
from agentgym_envs.machinery.requirements import own_packages
from benchmarks.doctor.checks import Check, Finding, ProbeError, Status, run_python
from benchmarks.doctor.machine import size
from benchmarks.doctor.packages import missing_extra, quoted

_SECONDS = 120.0
"""For the imports of the training stack, which a cold disk makes slow."""

_NO_DEVICE = 100
"""CUDA_ERROR_NO_DEVICE."""

_REINSTALL = pip_install("--force-reinstall torch")


Device = tuple[str, int, bool]
"""A GPU's name, its memory in bytes, and whether it computes in bfloat16 natively."""


def training_checks() -> Iterator[Check]:
    """Yield the checks of the train extra."""
    yield Check("CUDA", cuda, _REINSTALL)
    yield Check("TRL", trl)


_MULTIPLY = """
import json, torch
devices = []
for number in range(torch.cuda.device_count() if torch.version.cuda else 0):
    ones = torch.ones(64, 64, dtype=torch.bfloat16, device=f"cuda:{number}")
    (ones @ ones).sum().item()  # raises where the device does not work
    properties = torch.cuda.get_device_properties(number)
    has_bfloat16 = properties.major >= 8  # Ampere
    devices.append([properties.name, properties.total_memory, has_bfloat16])
print(json.dumps([str(torch.__version__), torch.version.cuda is not None, devices]))
"""


def cuda() -> Finding:
    """Multiply matrices in bfloat16 on every device of the driver."""
    if find_spec("torch") is None:
        text = "torch is not installed (train extra)"
        return Finding(Status.MISSING, text, install_command("train"))
    num_devices = driver_devices()
    if num_devices == 0:
        text = "no NVIDIA device that this process may use: models run on the processor"
        return Finding(Status.MISSING, text)
    try:
        version, has_cuda, devices = run_python(_MULTIPLY, seconds=_SECONDS)
    except ProbeError as error:
        if "out of memory" not in str(error):
            raise
        text = f"other programs hold all memory of a device: {error}"
        return Finding(Status.WARNING, text, "nvidia-smi  # shows which")
    if not has_cuda:
        text = f"torch {version} is built without CUDA: it leaves {num_devices} device(s) idle"
        return Finding(Status.WARNING, text, _REINSTALL)
    return judge_devices(devices, num_devices=num_devices, torch=f"torch {version}")


def driver_devices() -> int:
    """Return the number of devices of CUDA's driver, without torch. 0 where there is no driver.

    Raises:
        RuntimeError: the driver does not work.
    """
    try:
        driver = ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return 0
    count = ctypes.c_int()
    code = driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count))
    if code not in (0, _NO_DEVICE):
        raise RuntimeError(f"NVIDIA's driver answers with error {code}; nvidia-smi may say more")
    return count.value


def judge_devices(devices: Sequence[Device], *, num_devices: int, torch: str) -> Finding:
    """Compare the devices on which torch multiplied with the `num_devices` of the driver."""
    if len(devices) < num_devices:
        text = f"{torch} finds {len(devices)} of the {num_devices} devices that the driver has"
        return Finding(Status.BROKEN, f"{text}: the driver may be too old for it", _REINSTALL)
    names = ", ".join(f"{name} ({size(memory)})" for name, memory, _ in devices)
    if not all(has_bfloat16 for _, _, has_bfloat16 in devices):
        text = f"{torch} on {names}: works; no bfloat16 of their own, so train with float16"
        return Finding(Status.WARNING, text, "agentgym train ALGORITHM --fp16")
    return Finding(Status.WORKS, f"{torch} on {names}: bfloat16 works")


_CHECK_HOOKS = """
import json
from trainers.trl_bridge.hooks import HOOKS  # importing the package has checked them
print(json.dumps(sum(map(len, HOOKS.values()))))
"""


def trl() -> Finding:
    """Check that TRL and transformers have the methods that our trainers extend."""
    if missing := missing_extra("train", "a trainer"):
        return missing
    libraries = [one for one in own_packages("train") if one.name in ("trl", "transformers")]
    try:
        count = run_python(_CHECK_HOOKS, seconds=_SECONDS)
    except ProbeError as error:
        if "UnsupportedTRL" not in str(error):
            remedy = pip_install(f"--force-reinstall {quoted(own_packages('train'))}")
            return Finding(Status.BROKEN, str(error), remedy)
        cause = str(error).partition("; install versions")[0].partition(": ")[2]
        remedy = pip_install(f"--force-reinstall --no-deps {quoted(libraries)}")
        return Finding(Status.BROKEN, cause, remedy)
    versions = " and ".join(f"{one.name} {one.version}" for one in libraries)
    return Finding(Status.WORKS, f"{versions} have the {count} methods that our trainers extend")
