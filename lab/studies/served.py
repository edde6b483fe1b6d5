"""`python -m lab.studies.served LOG train grpo ...`: a command and its own vLLM server.

The server's address is given to the command, whose weights no other run may change.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from lab.vllm_process import VLLMProcess
from trainers.models.loading import resolve_model


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    log, *words = sys.argv[1:] if argv is None else argv
    server = VLLMProcess(resolve_model("tiny"), Path(log))
    try:
        server.wait()
        command = [sys.executable, "-m", "benchmarks", *words, "--server_url", server.url]
        return subprocess.run(command, check=False).returncode
    finally:
        server.kill()


if __name__ == "__main__":
    sys.exit(main())
