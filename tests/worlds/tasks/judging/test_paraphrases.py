"""Reasons as models write them are accepted on every task of their template."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from agentgym_envs.webarena.evaluators.typed_answer import is_answer
from tests.worlds.tasks.judging.verdicts import some, verdict
from worlds.tasks.drawing import TEMPLATES

TEXTS: dict[int, list[str]] = {
    row["template"]: row["texts"]
    for row in tomllib.loads(Path(__file__).with_name("paraphrases.toml").read_text("utf-8"))[
        "reasons"
    ]
}
IMPOSSIBLE = [number for number, template in TEMPLATES.items() if template.is_impossible]


def test_every_template_that_cannot_be_done_has_paraphrases() -> None:
    assert sorted(TEXTS) == IMPOSSIBLE
    assert sum(map(len, TEXTS.values())) >= 210


@pytest.mark.parametrize("number", IMPOSSIBLE)
def test_an_honest_paraphrase_is_accepted(number: int) -> None:
    for instance in range(TEMPLATES[number].instances):
        task = some(number, instance)
        for text in TEXTS[number]:
            answer = text.format_map(task.instantiation_dict or {})
            assert is_answer(task.eval["typed_answer"], answer, task=task.intent), answer


@pytest.mark.parametrize(
    ("number", "instance"),
    [
        pytest.param(number, instance, marks=[pytest.mark.slow] if instance > 1 else [])
        for number in IMPOSSIBLE
        for instance in range(TEMPLATES[number].instances)
    ],
)
def test_the_expert_sees_the_pages_that_its_reason_rests_on(number: int, instance: int) -> None:
    result = verdict(some(number, instance))
    assert result.score == 1.0, result.reasons
