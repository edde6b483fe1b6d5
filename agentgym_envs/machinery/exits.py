"""Says in words how a process ended."""

from __future__ import annotations

import signal


def describe_returncode(code: int) -> str:
    """Describe a return code of `subprocess.Popen`, which is negative after a signal."""
    if code == -signal.SIGKILL:
        return "killed by SIGKILL (out of memory?)"
    return f"killed by {_signal_name(-code)}" if code < 0 else f"exit status {code}"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # a real-time signal
        return f"signal {number}"
