"""The process of one part: writes its readings down as they are made."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import torch

from lab.gpu.parts import Setting
from lab.gpu.records import SHARED, WORK, Record, write_record
from lab.throughput.measure import machine

_PACKAGES = ("accelerate", "bitsandbytes", "datasets", "deepspeed", "peft", "trl", "vllm")


def stamp() -> dict[str, Any]:
    """Describe the machine, its GPUs included."""
    described = machine(*_PACKAGES)
    devices = map(torch.cuda.get_device_properties, range(torch.cuda.device_count()))
    described["gpus"] = [
        {"name": device.name, "gigabytes": round(device.total_memory / 1e9, 1)}
        for device in devices
    ]
    described["cuda"] = torch.version.cuda
    return described


def end_with_parent() -> None:
    """End this process and those below it once the command that has started it is gone."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os.killpg(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def main(words: list[str]) -> None:
    """Run a part.

    Args:
        words: its name, its function as `module:function`, the folder of all parts, and `small`
            or `full`.
    """
    name, target, place, size = words
    folder = Path(place)
    record = Record(name, small=size == "small", machine=stamp())
    write_record(folder, record)
    setting = Setting(folder / WORK / name, folder / WORK / SHARED, record.small)
    for made in (setting.folder, setting.shared):
        made.mkdir(parents=True, exist_ok=True)
    module, _, function = target.partition(":")
    for reading in getattr(import_module(module), function)(setting, name):
        print(f"{reading.name}: {reading.values}", flush=True)
        record.readings.append(reading)
        write_record(folder, record)


def _end(_number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + signal.SIGTERM)  # what is under way is left in order, and what is made is kept


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, _end)
    end_with_parent()
    main(sys.argv[1:])
