"""Serves until a signal comes, for the commands whose servers are the standard library's."""

from __future__ import annotations

import signal
import threading
from socketserver import BaseServer

SIGNALS = (signal.SIGINT, signal.SIGTERM)
LOOK_SECONDS = 0.2
"""Poll interval for signals, in seconds."""


def serve_until_signal(server: BaseServer) -> None:
    """Serve until SIGINT (Ctrl-C) or SIGTERM (a container's end), and close the server.

    The server has a thread of its own and the signal is a note, since a `KeyboardInterrupt` that
    is raised between two requests can be lost. What the shell lets a command ignore stays ignored.
    """
    came: list[int] = []
    before = {number: signal.getsignal(number) for number in SIGNALS}
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    with server:
        try:
            for number in (n for n in SIGNALS if before[n] is not signal.SIG_IGN):
                signal.signal(number, lambda number, _frame: came.append(number))
            thread.start()
            while not came and thread.is_alive():
                thread.join(LOOK_SECONDS)
            if thread.is_alive():
                server.shutdown()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    print()
