"""`agentgym view`: read runs, sweeps and episodes in the browser, or write them as one file."""

from __future__ import annotations

import errno
import threading
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from benchmarks.serving import serve_until_signal
from benchmarks.viewer.export import export
from benchmarks.viewer.index import Index
from benchmarks.viewer.server import LOOPBACK, READING_SECONDS, ViewerServer
from trainers.options.errors import check_output
from trainers.options.parser import OptionParser

FIRST_PORT = 7060
PORTS = range(FIRST_PORT, FIRST_PORT + 20)
"""Default ports, tried in turn, so that a link to a turn still works on the next day."""


def main(argv: Sequence[str] | None = None) -> int:
    """Serve or export a folder."""
    parser = _parser()
    options = parser.parse_args(argv)
    if options.export is None and (options.scenes or options.tokens):
        parser.error("--scenes and --tokens belong to --export; the server makes both on demand")
    try:
        check_output("--export", options.export)
        index = Index(options.folder)
        if options.export is not None:
            count = export(
                index, options.export, with_scenes=options.scenes, with_tokens=options.tokens
            )
            size = Path(options.export).stat().st_size / 1e6
            print(f"{options.export}: {count} trajectories, {size:.1f} MB")
            return 0
        server = _open(index, options.host, options.port)
    except ValueError as error:
        parser.error(str(error))
    _serve(server, opens_browser=not options.no_browser)
    return 0


def _parser() -> OptionParser:
    parser = OptionParser(
        prog="agentgym view",
        description="Read trajectories and learning curves in the browser, while a run goes on or "
        "after it.",
    )
    parser.add_argument(
        "folder",
        help="a training run, a sweep, a file of episodes (JSONL or ATIF), or a folder of any of "
        "them",
    )
    parser.add_argument(
        "--port", type=int, help=f"port to listen on; by default the first free from {FIRST_PORT}"
    )
    parser.add_argument(
        "--host",
        default=LOOPBACK,
        help=f"address to listen on (default {LOOPBACK}: this machine only). Everyone who "
        "reaches another one can read everything under the folder",
    )
    parser.add_argument("--no-browser", action="store_true", help="open none")
    parser.add_argument("--export", metavar="FILE.html", help="write one file instead of serving")
    parser.add_argument(
        "--scenes", action="store_true", help="export the pictures of turns too (replays; slower)"
    )
    parser.add_argument("--tokens", action="store_true", help="export the tokens too (larger)")
    return parser


def _open(index: Index, host: str, port: int | None) -> ViewerServer:
    ports = list(PORTS) if port is None else [port]
    for number in ports:
        try:
            return ViewerServer(index, host=host, port=number)
        except OverflowError as error:
            raise ValueError(f"--port must be in 0..65535, got {number}") from error
        except OSError as error:
            if error.errno != errno.EADDRINUSE:
                raise ValueError(f"cannot listen on {host}, port {number}: {error}") from error
    raise ValueError(f"port {ports[0]} of {host} is taken; --port 0 takes a free one")


def _serve(server: ViewerServer, *, opens_browser: bool) -> None:
    print(f"{server.index.root} at {server.url} (Ctrl-C ends it)", flush=True)
    if server.host != LOOPBACK:
        print(
            f"Everyone who reaches {server.host} can read everything under {server.index.root}: "
            "there is no password.",
            flush=True,
        )
    # The browser takes its time to start; most is read by then.
    threading.Thread(target=_read_all, args=(server.index,), daemon=True).start()
    if opens_browser:
        webbrowser.open(server.url)
    serve_until_signal(server)


def _read_all(index: Index) -> None:
    while not index.update(READING_SECONDS):
        pass
