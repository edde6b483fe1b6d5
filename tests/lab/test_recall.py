from __future__ import annotations

import pytest

pytest.importorskip("bm25s")

from agentgym_envs.retrieval.bm25 import BM25Retriever
from lab.recall import main, measure
from tests.agentgym_envs.searchqa.small_world import QUESTIONS, corpus


def test_a_hop_is_found_if_a_gold_passage_is_among_the_first_hits() -> None:
    recalls = measure(QUESTIONS[:3], BM25Retriever(corpus()), corpus(), 1)
    assert list(recalls) == ["nq", "popqa", "hotpotqa"]
    bridge = recalls["hotpotqa"]
    assert (bridge.questions, bridge.hops, bridge.hops_found) == (1, 2, 2)
    rare = recalls["popqa"]
    assert (rare.hops_found, rare.questions_found) == (0, 0)
    number, query, title, titles = rare.misses[0]
    assert (number, title, titles) == (2, "Orla Venn", ["Orla Venn"]) and query


def test_the_command_prints_a_row_per_family(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--every", "400", "--misses", "1"]) == 0
    told = capsys.readouterr().out
    assert "bm25 over" in told and "| musique" in told
