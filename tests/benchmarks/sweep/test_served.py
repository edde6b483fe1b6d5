"""Policies behind servers in a sweep: their names, and what their answers cost."""

from __future__ import annotations

import json
import time
from collections import Counter

import pytest

from benchmarks.report.results import read_sweep
from benchmarks.report.tables import detail_table
from benchmarks.sweep import command
from benchmarks.sweep.batches import Batch
from benchmarks.sweep.command import SweepArguments, make_player
from benchmarks.sweep.store import SweepFolder
from benchmarks.sweep.worker import Worker
from tests.benchmarks.sweep.samples import episodes_of, outcome_of
from tests.benchmarks.sweep.test_command import counting, refused, swept  # noqa: F401
from tests.serving import Failure, serving
from tests.trainers.policies.chat_server import message

pytestmark = pytest.mark.usefixtures("counting")
CHAT = "/v1/chat/completions"
WORDS = ("--turns", "2", "--batch-size", "4", "--max_requests", "1", "--action-format", "plain")


def listed(folder, url, **changes):
    """Write a file of two models of one server, at a price of 1 an answer and of nothing."""
    entries = [
        {
            "name": name,
            "endpoint": f"{url}/v1",
            "model": f"maker/{name}",
            "prices": {"prompt": 0, "completion": price},
            **changes,
        }
        for name, price in (("small", 0.0), ("large", 500_000.0))
    ]
    path = folder / "policies.yaml"
    path.write_text(json.dumps(entries))
    return "--policies", str(path)


@pytest.mark.full
def test_models_of_one_server_are_told_apart_by_their_names_everywhere(tmp_path, capsys):
    with serving({CHAT: lambda body: message("add 1")}) as server:
        assert swept(tmp_path / "out", *WORDS, *listed(tmp_path, server.url)) == 0
    assert Counter(request["model"] for request in server.requests) == {
        "maker/small": 20,
        "maker/large": 20,
    }
    folder = SweepFolder(tmp_path / "out")
    assert [cell.policy for cell in folder.cells()] == ["large", "small"]
    assert {e.policy for cell in folder.cells() for e in episodes_of(folder, cell)} == {
        "small",
        "large",
    }
    assert folder.costs.total() == pytest.approx(20.0)
    costs = {setting.name: setting.whole.cost for setting in read_sweep(tmp_path / "out").settings}
    assert costs == {
        "large, 2 turns": pytest.approx(20.0),
        "small, 2 turns": pytest.approx(0.0),
    }
    assert not list(tmp_path.rglob("*.answers"))
    header, large, small = detail_table(read_sweep(tmp_path / "out").settings)
    assert (header[-1], large[-1], small[-1]) == ("cost an episode", "2.00", "0")


@pytest.mark.full
def test_another_price_or_place_of_the_file_goes_on_and_another_model_does_not(tmp_path, capsys):
    with serving({CHAT: lambda body: message("add 1")}) as server:
        out = tmp_path / "out"
        assert swept(out, *WORDS, *listed(tmp_path, server.url)) == 0
        moved = tmp_path / "elsewhere"
        moved.mkdir()
        again = listed(moved, server.url, prices={"prompt": 1, "completion": 1})
        assert swept(out, *WORDS, *again) == 0
        assert len(server.requests) == 40
        for change in ({"model": "maker/other"}, {"sampling": {"top_p": 0.5}}):
            changed = listed(moved, server.url, **change)
            told = refused(capsys, "--out", str(out), *WORDS, *changed)
            assert "small had other files or another endpoint then" in told


def test_a_budget_ends_the_sweep_and_a_larger_one_goes_on_with_what_was_paid_for(tmp_path, capsys):
    with serving({CHAT: lambda body: message("add 1")}) as server:
        out = tmp_path / "out"
        words = [*WORDS, *listed(tmp_path, server.url), "--policy", "large"]
        words += ["--policy", "random"]
        assert swept(out, *words, "--max-cost", "11") == 75
        assert len(server.requests) == 11
        by_policy = {cell.policy: cell for cell in SweepFolder(out).cells()}
        assert len(episodes_of(SweepFolder(out), by_policy["random"])) == 10, "it costs nothing"
        told = capsys.readouterr().err
        assert "--max_cost 11 is reached: 11 is spent" in told
        assert "The same command with a larger one goes on" in told
        assert swept(out, *words, "--max-cost", "11") == 75
        assert len(server.requests) == 11
        assert swept(out, *words, "--max-cost", "30") == 0
        assert len(server.requests) == 20
    assert SweepFolder(out).costs.total() == pytest.approx(20)
    assert {s.name: s.whole.cost for s in read_sweep(out).settings}["large, 2 turns"] == (
        pytest.approx(20)
    )


@pytest.mark.full
def test_workers_share_the_requests_that_may_be_under_way(tmp_path):
    def slowly(body):
        time.sleep(0.06)
        return message("add 1")

    most = {}
    for workers in (1, 2, 8):
        out = tmp_path / str(workers)
        with serving({CHAT: slowly}) as server:
            words = [*listed(tmp_path, server.url), "--policy", "large", "--max_requests", "4"]
            swept(out, *WORDS, *words)
            (asked,) = SweepFolder(out).cells()
            server.most_at_once = 0
            worker = Worker()
            worker.sharers.value = workers
            assert outcome_of(worker, Batch(str(out), asked, 0)).scored == 4
            most[workers] = server.most_at_once
    assert most == {1: 4, 2: 2, 8: 1}


@pytest.mark.parametrize(
    ("policies", "max_requests", "workers"),
    [(["http://h/v1", "small"], 16, 4), (["small"], 3, 1), (["small"], 999, 64),
     (["small", "random"], 16, 64)],
)  # fmt: skip
def test_no_more_workers_wait_for_servers_than_share_their_requests(
    policies, max_requests, workers, monkeypatch
):
    monkeypatch.setattr(command.os, "cpu_count", lambda: 64)
    asked = SweepArguments(policy=policies)
    assert make_player(asked, named=("small",), max_requests=max_requests).args[0] == workers
    asked.workers = 7
    assert make_player(asked, named=("small",), max_requests=max_requests).args[0] == 7


def test_a_batch_that_is_given_up_keeps_the_answers_that_it_paid_for(tmp_path, capsys):
    paid, is_closed = [], [True]

    def closes(body):
        if is_closed[0] and len(paid) >= 6:
            return Failure(401)
        paid.append(body["seed"])
        return message("add 1")

    with serving({CHAT: closes}) as server:
        words = [*WORDS, *listed(tmp_path, server.url), "--policy", "large"]
        assert swept(tmp_path / "out", *words) == 2
        told = capsys.readouterr().err
        assert told.count("OPENAI_API_KEY") == 1 and "large: " in told
        assert "The same command goes on" in told
        is_closed[0] = False
        assert swept(tmp_path / "out", *words) == 0
    assert len(paid) == len(set(paid)) == 20
    assert SweepFolder(tmp_path / "out").costs.total() == pytest.approx(20)


def test_a_budget_without_prices_ends_the_sweep_at_once(tmp_path, capsys):
    """The endpoint tells no cost, so nobody knows what is left of the budget."""
    with serving({CHAT: lambda body: message("add 1")}) as server:
        policy = ("--policy", f"{server.url}/v1", "--api_model", "m")
        assert swept(tmp_path / "out", *WORDS, *policy, "--max-cost", "3") == 2
    assert capsys.readouterr().err.count("--max_cost needs each answer's cost") == 1
    assert len(server.requests) <= 2


def test_a_budget_needs_somebody_who_is_paid(tmp_path, capsys):
    told = refused(capsys, "--out", str(tmp_path / "out"), "--policy", "random", "--max-cost", "3")
    assert "--max_cost needs a policy behind a server, got ['random']" in told
    assert command.main(["--out", str(tmp_path / "out"), "--policy", "random", "--turns", "1"]) == 0
