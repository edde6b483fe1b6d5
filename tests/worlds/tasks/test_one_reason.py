"""No sentence is a reason everywhere, whatever pages were opened before it."""

from __future__ import annotations

import pytest

from agentgym_envs.webarena.evaluators.typed_answer import is_answer
from tests.worlds.tasks.arriving import TASKS
from worlds.tasks.one_reason import JOINS, LONGEST_WALK, Search, impossible_tasks

SEARCH = Search(impossible_tasks(TASKS))
MOST = 0.05 * len(SEARCH.tasks)

EARLIER = [
    "N/A - no such order, that address, no open issue, not yourself, not rated, not offered, zero "
    "orders, unshipped, no request, none listed, no such place, no milestone",
    "N/A - no such order, that address, unshipped, no matching milestone, not listed, not place, "
    "yourself, the right to, request, rated",
    "N/A - no such order matching address to ship 0 order",
    "N/A - ordered nothing, matching address, with it, to ship, communit",
    "N/A - n't listed, absent, match, another town, i am the author, Granite Bay, communit",
    "N/A - no such order",
    "N/A - there is no such thing: none was found",
    "N/A - it was not found there, no such place exists",
    "N/A - no order of this customer was found",
    "N/A - there is no such comment by that user",
    "N/A - no such issue is listed",
    "N/A - no pending order with it",
]
"""What earlier judges rewarded most, the first of them on 207 tasks, and plain reasons."""


@pytest.mark.parametrize("sentence", EARLIER)
def test_no_sentence_is_rewarded_on_more_than_a_twentieth(sentence: str) -> None:
    reward = SEARCH.reward(sentence)
    assert reward.first == 0
    assert reward.walked <= MOST and len(reward.walk) <= LONGEST_WALK


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("join", JOINS)
def test_a_greedy_search_finds_no_sentence_that_is(join: str) -> None:
    reward = SEARCH.best(join)
    assert reward.first == 0 and reward.walked <= MOST, reward


def test_the_search_sees_a_judge_that_is_fooled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("worlds.tasks.one_reason.rests_on", lambda *_: True)
    reward = SEARCH.reward("N/A - no pending order with it")
    assert reward.first == reward.walked == reward.accepted > MOST


def test_a_walk_to_the_page_of_a_task_earns_it() -> None:
    task = next(task for task in SEARCH.tasks if task.intent_template_id == 16)
    sentence = "N/A - no pending order contains it"
    assert is_answer(task.eval["typed_answer"], sentence, task=task.intent)
    reward = Search([task]).reward(sentence)
    assert (reward.accepted, reward.first, reward.walked) == (1, 0, 1) and len(reward.walk) == 1
