"""`python -m lab.gpu.traced FILE MODULE ...`: runs a module and notes its resources.

FILE gets a JSON object; of several processes each writes its own, FILE with its rank.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
from pathlib import Path
from typing import Any

from accelerate import PartialState
from accelerate.state import AcceleratorState
from accelerate.utils import DistributedType

from lab.gpu.memory import peak_gigabytes


def let_processors_shard() -> None:
    """Let accelerate split weights over processes that meet by gloo, for a rehearsal.

    accelerate 1.15 reads the options of FSDP2 with any backend, but where there is no accelerator
    it trains whole copies instead, without a word. torch can split them.
    """
    original = AcceleratorState.__init__

    def init(self: Any, *args: Any, fsdp_plugin: Any = None, **kwargs: Any) -> None:
        original(self, *args, fsdp_plugin=fsdp_plugin, **kwargs)
        if fsdp_plugin is not None and self.distributed_type == DistributedType.MULTI_CPU:
            self.distributed_type, self.fsdp_plugin = DistributedType.FSDP, fsdp_plugin
            PartialState._shared_state["distributed_type"] = DistributedType.FSDP

    AcceleratorState.__init__ = init


def main() -> None:
    """Run the module with the rest of the line as its own."""
    file, module, *words = sys.argv[1:]
    sys.argv = [module, *words]
    let_processors_shard()
    try:
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    finally:
        state = PartialState()
        # The kind that accelerate ended with: one without FSDP would pass for it otherwise.
        kind = AcceleratorState().distributed_type if AcceleratorState._shared_state else None
        noted = {
            "peak_gigabytes": peak_gigabytes(),
            "processes": state.num_processes,
            "kind": getattr(kind, "value", "NO"),
        }
        rank = os.environ.get("RANK", "0")
        Path(f"{file}.{rank}").write_text(json.dumps(noted) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
