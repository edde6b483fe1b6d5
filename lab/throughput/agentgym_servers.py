"""AgentGym's HTTP as `agentgym serve` answers it, against AgentGym's own servers.

`AGENTGYM_CHECKOUT` names a checkout of AgentGym and `AGENTGYM_PYTHON` an interpreter that has what
its TextCraft and BabyAI servers need. Every request has a connection of its own, as those of
AgentGym's clients have.
"""

from __future__ import annotations

import json
import os
import socket
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agentgym_envs.errors import install_command
from lab.processes import Child
from lab.throughput.measure import Row, Side, Stopwatch, compare

ACTIONS = {"TextCraft": "inventory", "BabyAI": "turn left"}
"""The measured environments, each with an action that is possible in every task."""
_NUM_LEVELS = 40
_TURNS = 10
_START_SECONDS = 120


@dataclass(frozen=True)
class Server:
    """A server that speaks AgentGym's HTTP.

    Attributes:
        port: on this machine.
        prefix: of its paths.
    """

    port: int
    prefix: str = ""

    def ask(self, path: str, **body: Any) -> Any:
        """Post a request over a new connection and return the answer.

        Raises:
            RuntimeError: the server answered an error.
        """
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=120)) as connection:
            headers = {"content-type": "application/json"}
            connection.request("POST", f"{self.prefix}/{path}", json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read().decode()
        answer = json.loads(text) if response.status == 200 else {"error": text}
        if isinstance(answer, dict) and "error" in answer:
            raise RuntimeError(f"{path} {body} was answered {answer['error']!r:.200}")
        return answer


def agentgym_rows(repeats: int, *, num_clients: int = 64) -> Iterator[Row]:
    """Measure how long creating, resetting and stepping take, and many episodes at once.

    Args:
        repeats: timed runs.
        num_clients: how many the many are.
    """
    checkout, python = os.environ.get("AGENTGYM_CHECKOUT"), os.environ.get("AGENTGYM_PYTHON")
    if checkout is None or python is None:
        print("agentgym is left out: it needs AGENTGYM_CHECKOUT and AGENTGYM_PYTHON")
        return
    if find_spec("uvicorn") is None or find_spec("wsproto") is None:
        print("agentgym is left out: " + install_command("serve"))
        return
    for name in ACTIONS:
        with our_server(name, num_clients) as ours, _original(name, checkout, python) as theirs:
            yield from compared(name, ours, theirs, repeats=repeats, num_clients=num_clients)


def compared(
    name: str, ours: Server, theirs: Server, *, repeats: int, num_clients: int
) -> Iterator[Row]:
    """Measure two servers of an environment.

    Args:
        name: of the environment.
        ours: what is measured.
        theirs: what it is compared with.
        repeats: timed runs.
        num_clients: how many play at once in the last row.
    """

    def row(what: str, unit: str, work: Callable[[Server, Stopwatch], None]) -> Row:
        side = Side(f"serve, {name}, {what}", unit, lambda watch: work(ours, watch))
        baseline = Side("AgentGym's server", unit, lambda watch: work(theirs, watch))
        return compare("agentgym", side, baseline, repeats=repeats)

    def together(server: Server, watch: Stopwatch) -> None:
        with ThreadPoolExecutor(num_clients) as pool, watch.running():
            list(pool.map(lambda number: _play(server, name, number), range(num_clients)))
        watch.units += num_clients

    yield row("create and reset, median", "episodes", _begin_all)
    yield row("step, median", "steps", lambda server, watch: _step(server, name, watch))
    yield row(f"{num_clients} clients at once, {_TURNS} steps", "episodes", together)


def _begin_all(server: Server, watch: Stopwatch) -> None:
    lasted = []
    for number in range(_NUM_LEVELS):
        start = time.perf_counter()
        episode = server.ask("create")["id"]
        server.ask("reset", id=episode, data_idx=number)
        lasted.append(time.perf_counter() - start)
        server.ask("close", id=episode)
    _count(watch, lasted)


def _step(server: Server, name: str, watch: Stopwatch, *, num_rounds: int = 20) -> None:
    lasted = []
    episode = server.ask("create")["id"]
    for _ in range(num_rounds):
        server.ask("reset", id=episode, data_idx=0)
        for _ in range(_TURNS):
            start = time.perf_counter()
            server.ask("step", id=episode, action=ACTIONS[name])
            lasted.append(time.perf_counter() - start)
    server.ask("close", id=episode)
    _count(watch, lasted)


def _count(watch: Stopwatch, lasted: Sequence[float]) -> None:
    """Count each call as the median, since on a busy machine a few wait very long."""
    watch.seconds += statistics.median(lasted) * len(lasted)
    watch.units += len(lasted)


def _play(server: Server, name: str, number: int) -> None:
    episode = server.ask("create")["id"]
    server.ask("reset", id=episode, data_idx=number % _NUM_LEVELS)
    for _ in range(_TURNS):
        if server.ask("step", id=episode, action=ACTIONS[name])["done"]:
            break
    server.ask("close", id=episode)


@contextmanager
def our_server(name: str, num_clients: int) -> Iterator[Server]:
    """Serve an environment in a process of its own.

    Args:
        name: of the environment.
        num_clients: how many play at once.
    """
    command = [sys.executable, "-m", "benchmarks", "serve", "--env", name]
    command += ["--protocol", "agentgym", "--max_sessions", str(num_clients + 8)]
    with _started(command, None) as port:
        yield Server(port, f"/{name.lower()}")


@contextmanager
def _original(name: str, checkout: str, python: str) -> Iterator[Server]:
    package = f"agentenv_{name.lower()}"
    folder = Path(checkout) / package.replace("_", "-")
    command = [python, "-c", f"import {package}; {package}.launch()", "--host", "127.0.0.1"]
    with _started(command, folder) as port:
        yield Server(port)


@contextmanager
def _started(command: Sequence[str], folder: Path | None) -> Iterator[int]:
    """Run a server until the end of the `with` block, and yield its port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    words = [*command, "--port", str(port)]
    with Child(words, log=Path(os.devnull), folder=folder) as server:
        deadline = time.monotonic() + _START_SECONDS
        while not _listens(port):
            if server.has_ended or time.monotonic() > deadline:
                raise RuntimeError(f"the server does not start: {' '.join(command)}")
            time.sleep(0.1)
        yield port


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
