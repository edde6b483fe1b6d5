"""Right answers and reasons are accepted in any words, and wrong ones in none.

Each site has a table, as `map_answers.toml`. It may begin with `instances`, the tasks that an
answer is given to, by default the first; with `reason_in`, the text around a reason; and with
`is_played`, where a whole episode ends with each reason. In an answer `{0}` and `{1}` are the parts
of the right one; `{all}`, `{all_and}`, `{backwards}`, `{bullets}`, `{but_first}` and `{but_last}`
are several of them; `{plain}` is the first one's bare number, `{hours}` and `{minutes}` its two
parts as a time, `{more}` is one more; `{other}` is the last part of another task's right answer. In
a reason braces hold the slots of the intent.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.webarena.evaluators.typed_answer import is_answer
from agentgym_envs.webarena.tasks.files import WebTask
from tests.worlds.tasks.judging.verdicts import answering, some, verdict
from worlds.tasks.drawing import TEMPLATES

HERE = Path(__file__).parent
SITES: dict[str, dict[str, Any]] = {
    path.stem.removesuffix("_answers"): tomllib.loads(path.read_text("utf-8"))
    for path in sorted(HERE.glob("*_answers.toml"))
}
ANSWERS = [(site, int(number)) for site, table in SITES.items() for number in table["answers"]]
REASONS = [(site, int(number)) for site, table in SITES.items() for number in table["reasons"]]
PARAPHRASES: dict[int, list[str]] = {
    row["template"]: row["texts"]
    for row in tomllib.loads((HERE / "paraphrases.toml").read_text("utf-8"))["reasons"]
}
IMPOSSIBLE = [number for number, template in TEMPLATES.items() if template.is_impossible]


def judged(texts: Mapping[str, list[str]]) -> Iterator[tuple[str, bool]]:
    """List texts, each with whether it is right."""
    for kind in ("right", "wrong"):
        for text in texts[kind]:
            yield text, kind == "right"


def parts_of(task: WebTask) -> list[str]:
    """List the values of a typed answer."""
    expected = task.eval["typed_answer"]
    return [str(part["value"]) for part in expected.get("of", [expected])]


def written(text: str, task: WebTask) -> str:
    """Return an answer with the values of a task in its braces."""
    parts = parts_of(task)
    words = {
        "all": ", ".join(parts),
        "all_and": " and ".join(parts),
        "backwards": " and ".join(reversed(parts)),
        "bullets": "\n- ".join(parts),
        "but_first": ", ".join(parts[1:]),
        "but_last": ", ".join(parts[:-1]),
    }
    if number := re.match(r"\d+(\.\d+)?\b", parts[0].lstrip("$").replace(",", "")):
        plain = number[0]
        hours, minutes = divmod(int(float(plain)), 60)
        more = str(float(plain) + 1).removesuffix(".0")
        words |= {"plain": plain, "more": more, "hours": str(hours), "minutes": str(minutes)}
    if "{other}" in text:
        words["other"] = parts_of(some(task.intent_template_id, 2))[-1]
    return text.format(*parts, **words)


@pytest.mark.parametrize(("site", "template"), ANSWERS)
def test_an_answer_counts_by_its_value_not_by_its_words(site: str, template: int) -> None:
    for instance in SITES[site].get("instances", [0]):
        task = some(template, instance)
        for text, is_right in judged(SITES[site]["answers"][str(template)]):
            answer = written(text, task)
            result = verdict(task, answering(answer, template))
            assert result.score == is_right, (answer, result.reasons)


def test_a_place_that_does_not_open_is_closed() -> None:
    task = next(t for n in range(50) if (t := some(74, n)).eval["typed_answer"]["type"] == "name")
    day = (task.instantiation_dict or {})["day"]
    expected = task.eval["typed_answer"]
    for right in ("closed", "It is closed all day.", "It does not open.", f"Closed on {day}"):
        assert is_answer(expected, right, task=task.intent), right
    for wrong in ("18:30", "not closed", "It may be closed.", "It closes at 18:30.", "N/A", "open"):
        assert not is_answer(expected, wrong, task=task.intent), wrong


def test_names_may_be_listed_in_any_order() -> None:
    task = next(t for n in range(50) if len((t := some(35, n)).eval["typed_answer"]["of"]) == 3)
    expected = task.eval["typed_answer"]
    a, b, c = parts_of(task)
    for right in (f"{c}, {a}, {b}", f"{b} and {a}, and {c}", f"- {a}\n- {c}\n- {b}"):
        assert is_answer(expected, right, task=task.intent), right
    for wrong in (f"{a}, {b}", f"{a}, {b}, {c}, Nobody", f"{a}, {b} or {c}"):
        assert not is_answer(expected, wrong, task=task.intent), wrong


# Reasons ----------------------------------------------------------------------------------------


def reasons_for(site: str, task: WebTask) -> Iterator[tuple[str, bool]]:
    """List answers that give a task up, each with whether its reason is right."""
    for text, is_right in judged(SITES[site]["reasons"][str(task.intent_template_id)]):
        reason = text.format_map(task.instantiation_dict or {})
        yield SITES[site]["reason_in"].format(reason), is_right


def test_each_template_that_cannot_be_done_has_reasons_and_paraphrases() -> None:
    assert sorted(number for _, number in REASONS) == sorted(PARAPHRASES) == IMPOSSIBLE
    for site, number in REASONS:
        texts = SITES[site]["reasons"][str(number)]
        assert len(texts["right"]) >= 10 and len(texts["wrong"]) >= 5, number
    assert sum(map(len, PARAPHRASES.values())) >= 210


@pytest.mark.parametrize(("site", "template"), REASONS)
def test_giving_up_counts_by_its_reason(site: str, template: int) -> None:
    for instance in range(TEMPLATES[template].instances):
        task = some(template, instance)
        for answer, is_right in reasons_for(site, task):
            result = is_answer(task.eval["typed_answer"], answer, task=task.intent)
            assert result == is_right, answer


@pytest.mark.parametrize("template", PARAPHRASES)
def test_a_reason_as_models_write_it_is_accepted(template: int) -> None:
    for instance in range(TEMPLATES[template].instances):
        task = some(template, instance)
        for text in PARAPHRASES[template]:
            answer = text.format_map(task.instantiation_dict or {})
            assert is_answer(task.eval["typed_answer"], answer, task=task.intent), answer


@pytest.mark.parametrize("instance", [0, 1])
@pytest.mark.parametrize(
    ("site", "template"), [(site, n) for site, n in REASONS if SITES[site].get("is_played")]
)
def test_an_episode_counts_by_the_reason_that_ends_it(
    site: str, template: int, instance: int
) -> None:
    task = some(template, instance)
    for answer, is_right in reasons_for(site, task):
        assert verdict(task, answering(answer, template)).score == is_right, answer


@pytest.mark.parametrize("template", IMPOSSIBLE)
def test_giving_up_without_a_reason_is_not_enough(template: int) -> None:
    assert verdict(some(template), answering("N/A", template)).score == 0.0


@pytest.mark.parametrize("template", IMPOSSIBLE)
def test_the_expert_sees_the_pages_that_its_reason_rests_on(template: int) -> None:
    for instance in (0, 1):
        result = verdict(some(template, instance))
        assert result.score == 1.0, (instance, result.reasons)


@pytest.mark.slow
@pytest.mark.parametrize("template", IMPOSSIBLE)
def test_the_expert_sees_them_in_each_further_task(template: int) -> None:
    for instance in range(2, TEMPLATES[template].instances):
        result = verdict(some(template, instance))
        assert result.score == 1.0, (instance, result.reasons)


TWINS = {
    number: other
    for number in IMPOSSIBLE
    for other, template in TEMPLATES.items()
    if other not in IMPOSSIBLE and template.intents == TEMPLATES[number].intents
}
"""Templates that cannot be done, with those of the same words that can."""


@pytest.mark.parametrize(("site", "template"), [(site, n) for site, n in REASONS if n in TWINS])
def test_the_task_that_can_be_done_is_not_given_up(site: str, template: int) -> None:
    task = some(TWINS[template])
    text = SITES[site]["reasons"][str(template)]["right"][0]
    reason = text.format_map(task.instantiation_dict or {})
    answer = SITES[site]["reason_in"].format(reason)
    assert verdict(task, lambda case, screen: iter([screen.stop(answer)])).score == 0.0
