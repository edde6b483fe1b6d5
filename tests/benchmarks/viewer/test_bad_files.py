"""One bad file, line or value hides nothing else, and is named with what is wrong with it."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.trajectories.trajectory import write_jsonl
from benchmarks.viewer.command import main
from benchmarks.viewer.index import Index
from benchmarks.viewer.server import ViewerServer
from tests.benchmarks.viewer.samples import made, solved, sweep, traced, training_run

NUM_GOOD = 12 + 4 + 1
LONG_AGO = 1_000_000_000.0

Spoil = Callable[[Path], None]


def line_of(**changes: Any) -> str:
    """Return a line of an episode with other values; those that are `...` are left out."""
    record = {**solved(7, traces=[traced()]).to_json(), **changes}
    return json.dumps({name: value for name, value in record.items() if value is not ...})


def turn_of(**changes: Any) -> dict[str, Any]:
    turn = {**solved(7).turns[0].to_json(), **changes}
    return {name: value for name, value in turn.items() if value is not ...}


def trace_of(**changes: Any) -> dict[str, Any]:
    return {**vars(traced()), **changes}


LINES = {
    "no JSON": ("not JSON", "it is not JSON"),
    "half a line": ('{"env_id": "x", "tur', "it is not JSON"),
    "a list": ("[1, 2]", "a JSON object is expected, got list"),
    "a number": ("3", "a JSON object is expected, got int"),
    "nested without end": ("[" * 100_000, "it is not JSON"),
    "a huge line": ('{"x": "' + "y" * 20_000_000, "it is not JSON"),
    "no env_id": (line_of(env_id=...), "it has no env_id"),
    "env_id null": (line_of(env_id=None), "env_id must be a text, got None"),
    "no task": (line_of(task_id=...), "it has no task_id"),
    "no turns": (line_of(turns=...), "turns must be a list, it has none"),
    "turns null": (line_of(turns=None), "turns must be a list, got None"),
    "turns a text": (line_of(turns="none"), "turns must be a list, got 'none'"),
    "a turn that is a number": (line_of(turns=[3]), "turn 0: a JSON object is expected, got 3"),
    "a turn without reward": (line_of(turns=[turn_of(reward=...)]), "turn 0: it has no reward"),
    "a turn without text": (line_of(turns=[turn_of(completion=...)]), "it has no completion"),
    "an observation null": (line_of(turns=[turn_of(observation=None)]), "observation must be a te"),
    "a reward as text": (line_of(turns=[turn_of(reward="1")]), "reward must be a number, got '1'"),
    "a reward NaN": (line_of(turns=[turn_of(reward=float("nan"))]), "reward must be a number, got"),
    "tokens as text": (line_of(turns=[turn_of(num_tokens="5")]), "num_tokens must be a whole num"),
    "a score as text": (line_of(score="high"), "score must be a number, got 'high'"),
    "a score of 400 digits": (line_of(score=10**400), "score must be a number, got 10000"),
    "a reward of 400 digits": (
        line_of(turns=[turn_of(reward=-(10**400))]),
        "reward must be a numb",
    ),
    "a score Infinity": (line_of(score=float("inf")), "score must be a number, got inf"),
    "success as text": (line_of(success="yes"), "success must be true or false, got 'yes'"),
    "a step as text": (line_of(global_step="x"), "global_step must be a whole number, got 'x'"),
    "a goal that is a list": (line_of(goal=["a"]), "goal must be a text, got ['a']"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a training run, a sweep and a lone file, all good."""
    training_run(tmp_path / "grpo")
    sweep(tmp_path / "sweep")
    write_jsonl(tmp_path / "lone.jsonl", [made(9)])
    return tmp_path


class Viewer:
    """What the page is told of a folder, by its server."""

    def __init__(self, folder: Path) -> None:
        for path in folder.rglob("*"):
            if path.is_file():
                os.utime(path, (LONG_AGO, LONG_AGO))
        self.index = Index(folder)
        with ViewerServer(self.index) as server:
            thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
            thread.start()
            try:
                self.connection = http.client.HTTPConnection("127.0.0.1", server.server_port)
                self.answers = self.ask("index?epoch=-1&from=0")
                while not self.answers["complete"]:
                    self.answers = self.ask("index?epoch=-1&from=0")
                self.opened = [self.open(n) for n in range(len(self.answers["rows"]))]
                self.curves = [self.ask(f"curve?run={n}") for n in range(len(self.answers["runs"]))]
                self.ask("search?q=jump")
                self.connection.close()
            finally:
                server.shutdown()
                thread.join()

    def open(self, number: int) -> str:
        """Open an episode with all that belongs to it; return what its tokens say is wrong."""
        self.ask(f"trajectory?id={number}")
        self.ask(f"credits?ids={number}")
        self.ask(f"scene?id={number}", also=404)
        return str((self.ask(f"tokens?id={number}", also=404) or {}).get("error", ""))

    def ask(self, question: str, also: int = 200) -> Any:
        self.connection.request("GET", f"/api/{question}")
        response = self.connection.getresponse()
        body = response.read()
        assert response.status in (200, also), (question, body)
        return json.loads(body, parse_constant=pytest.fail)  # a browser knows no NaN

    @property
    def names(self) -> set[str]:
        return {run["name"] for run in self.answers["runs"]}

    def problem_of(self, text: str) -> str:
        return "\n".join(line for line in self.answers["problems"] if text in line)


@pytest.mark.parametrize("where", ["lone.jsonl", "grpo/trajectories/train_000000.jsonl"])
@pytest.mark.parametrize("name", LINES)
def test_a_bad_line_is_named_and_all_others_open(folder: Path, name: str, where: str) -> None:
    line, problem = LINES[name]
    file = folder / where
    file.write_text(f"{line}\n{file.read_text()}{line}\n{json.dumps(made(8).to_json())}\n")
    viewer = Viewer(folder)
    assert len(viewer.opened) == NUM_GOOD + 1
    last = len(file.read_text().splitlines()) - 1
    for number in (1, last):
        assert problem in viewer.problem_of(f"{where}, line {number}: ")
    assert viewer.answers["num_problems"] == 2


def cut_short(path: Path) -> None:
    write_jsonl(path, [made(n) for n in range(3)])
    path.write_bytes(path.read_bytes()[:-20])


def damaged(path: Path) -> None:
    write_jsonl(path, [made(n) for n in range(3)])
    whole = path.read_bytes()
    path.write_bytes(whole[:200] + b"\xff" * 40 + whole[240:])


FILES: dict[str, tuple[str, Spoil, str]] = {
    "empty": ("bad.jsonl", lambda path: path.write_text("") and None, "it is empty"),
    "a last line cut short": ("bad.jsonl", cut_short, "its last line has no end"),
    "gzip cut short": ("bad.jsonl.gz", cut_short, "it is not compressed, or cut short"),
    "gzip damaged": ("bad.jsonl.gz", damaged, "it is not compressed, or cut short"),
    "no gzip": ("bad.jsonl.gz", lambda path: path.write_text("{}") and None, "it is not compr"),
    "bytes": ("bad.jsonl", lambda path: path.write_bytes(bytes(range(256))) and None, "it is not"),
    "another encoding": (
        "bad.jsonl",
        lambda path: path.write_bytes(b'{"goal": "\xe4"}\n') and None,
        "it is not JSON",
    ),
    "a link to nothing": ("bad.jsonl", lambda path: path.symlink_to("gone"), "a link to nothing"),
    "a link to itself": ("bad.jsonl", lambda path: path.symlink_to("bad.jsonl"), "bad.jsonl"),
    "a pipe": ("bad.jsonl", os.mkfifo, "bad.jsonl is no regular file"),
    "compressed within": (
        "bad.jsonl",
        lambda path: path.write_bytes(gzip.compress(b"{}\n")) and None,
        "bad.jsonl",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file_is_named_and_all_others_open(folder: Path, name: str) -> None:
    file, spoil, problem = FILES[name]
    spoil(folder / file)
    viewer = Viewer(folder)
    assert len(viewer.opened) >= NUM_GOOD
    assert problem in viewer.problem_of(file)


def test_a_folder_named_like_a_file_is_walked_through(folder: Path) -> None:
    write_jsonl(folder / "x.jsonl" / "inner.jsonl", [made(8)])
    assert len(Viewer(folder).opened) == NUM_GOOD + 1


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"EnvArguments": null}', "\x00", "[" * 9999])
@pytest.mark.parametrize("name", ["grpo/run.json", "grpo/summary.json"])
def test_a_broken_record_of_a_run_hides_no_run(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    viewer = Viewer(folder)
    assert (len(viewer.opened), "grpo" in viewer.names) == (NUM_GOOD, True)
    if not (name == "grpo/summary.json" and text.startswith('{"Env')):  # that one is empty of facts
        assert "its record cannot be read" in viewer.problem_of("grpo: ")


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"policy": 3}'])
def test_a_broken_cell_hides_no_cell(folder: Path, text: str) -> None:
    cell = next(folder.rglob("cell.json"))
    cell.write_text(text)
    viewer = Viewer(folder)
    name = cell.parent.relative_to(folder).as_posix()
    assert (len(viewer.opened), name in viewer.names) == (NUM_GOOD, True)
    assert "its record cannot be read" in viewer.problem_of(f"{name}: ")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"global_step": 3, "lo', "line 3 is no log entry"),
        ("[1]", "a JSON object with a whole number global_step is expected"),
        ('{"loss": 1.0}', "a JSON object with a whole number global_step is expected"),
        ('{"global_step": NaN}', "a JSON object with a whole number global_step is expected"),
        ('{"global_step": 9, "episodes/success": NaN, "loss": Infinity}', ""),
        ("\udcff", "line 3 is no log entry"),
    ],
)
def test_a_bad_line_of_metrics_leaves_the_rest_of_the_curve(
    folder: Path, line: str, problem: str
) -> None:
    metrics = folder / "grpo" / "metrics.jsonl"
    lines = metrics.read_text().splitlines()
    text = "\n".join([*lines[:2], line, *lines[2:], ""])
    metrics.write_bytes(text.encode(errors="surrogateescape"))
    viewer = Viewer(folder)
    rows = next(curve["rows"] for curve in viewer.curves if curve["rows"])
    assert [step for step, *_ in rows] == [1, 2, 3, 4]
    assert problem in viewer.problem_of("grpo: ")
    assert (viewer.answers["num_problems"] == 0) == (problem == "")


@pytest.mark.parametrize(
    ("trace", "problem"),
    [
        (trace_of(action_mask=[1]), "1 values of action_mask for 3 tokens"),
        (trace_of(logprobs=[-0.1]), "1 values of logprobs for 3 tokens"),
        (trace_of(advantages=[1.0]), "1 values of advantages for 3 tokens"),
        (trace_of(action_mask=[1, -1, 1]), "action_mask must hold 0 and 1 only"),
        (trace_of(completion_ids=["a", "b", "c"]), "completion_ids must be a list of numbers"),
        (trace_of(prompt_ids=None), "prompt_ids must be a list of numbers"),
        (trace_of(prompt_ids=[1.5]), "prompt_ids must be whole numbers of a vocabulary"),
        (trace_of(completion_ids=[1, -2, 3]), "completion_ids must be whole numbers of a"),
        (trace_of(completion_ids=[1, 10**400, 3]), "completion_ids must be whole numbers of a"),
        (trace_of(more=1), "unexpected keyword argument 'more'"),
        (trace_of(logprobs=[float("nan")] * 3, advantages=[float("inf")] * 3), ""),
    ],
)
def test_an_episode_with_bad_tokens_opens_without_them(
    folder: Path, trace: dict[str, Any], problem: str
) -> None:
    bad = line_of(traces=[trace])
    (folder / "bad.jsonl").write_text(f"{json.dumps(made(8).to_json())}\n{bad}\n")
    viewer = Viewer(folder)
    told = [text for text in viewer.opened if text]
    assert len(viewer.opened) == NUM_GOOD + 2
    assert (len(told), all(problem in text for text in told)) == (bool(problem), True)
    assert main([str(folder), "--export", str(folder / "all.html"), "--tokens", "--scenes"]) == 0


def test_an_unknown_environment_is_listed_and_opens(folder: Path) -> None:
    write_jsonl(folder / "other.jsonl", [made(8, env_id="nobody/Knows-v9"), made(9, env_id="")])
    assert len(Viewer(folder).opened) == NUM_GOOD + 2


def test_a_file_that_may_still_be_written_is_no_problem_yet(folder: Path) -> None:
    cut_short(folder / "bad.jsonl")
    index = Index(folder)
    index.update()
    assert (len(index.entries), index.problems) == (NUM_GOOD + 2, [])


@pytest.mark.browser
def test_the_page_lists_what_is_wrong_beside_all_that_is_right(
    folder: Path, opened: Callable[..., Any]
) -> None:
    run, lone = folder / "grpo", folder / "lone.jsonl"
    (run / "run.json").write_text("{")
    lone.write_text(f"not JSON\n{lone.read_text()}{LINES['a reward NaN'][0]}\n")
    page = opened(folder)
    page.locator("#summary", has_text=str(NUM_GOOD)).wait_for()
    page.click("#problems summary")
    told = page.locator("#problems li").all_inner_texts()
    assert [line.partition(": ")[0] for line in told] == [
        "grpo",
        "lone.jsonl, line 1",
        "lone.jsonl, line 3",
    ]
    assert page.locator(".run-facts", has_text="⚠ problem").count() == 1
    if picture := os.environ.get("AGENTGYM_PICTURE"):
        page.screenshot(path=picture)
