"""The official tasks are scored as WebArena's authors score them: their evaluators beside ours.

Every one of the 812 tasks gets three right and three wrong ends, made from its references.
"""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright")

from agentgym_envs.browsing.chromium.origins import Origins
from agentgym_envs.webarena.deployments import fill_values
from agentgym_envs.webarena.evaluators import Ending, build_evaluators, multiply
from agentgym_envs.webarena.official.deployment import SITES, OfficialDeployment
from agentgym_envs.webarena.tasks.files import WebTask, read_tasks
from tests.agentgym_envs.webarena.official.authors import (
    TASKS,
    AuthorsEvaluators,
    AuthorsPage,
    needs_authors,
)
from tests.agentgym_envs.webarena.still import StillBrowser

ADDRESSES = {site: f"http://host:{7770 + index}" for index, site in enumerate(SITES)}
ADDRESSES["shopping_admin"] += "/admin"
ORDER = ADDRESSES["shopping"] + "/sales/order/view/order_id/7/"
POST = ADDRESSES["reddit"] + "/f/books/12/a-title"
KINDS = ("right", "wrong")


@dataclass
class End:
    """How an episode of a task ends.

    Attributes:
        answer: what `stop` says.
        url: of the last page.
        contents: what the locators give, by (address, locator).
    """

    answer: str = ""
    url: str = ADDRESSES["homepage"]
    contents: dict[tuple[str, str], str] = field(default_factory=dict)


# Ends made from the references -----------------------------------------------------------------


def right_answers(references: Mapping[str, Any], note: str) -> list[str]:
    phrases = phrases_of(references, note)
    if "exact_match" in references:
        return [phrases[0], f'  "{phrases[0]}" ', phrases[0].upper()]
    joined = [", ".join(phrases), f"I found: {' and '.join(phrases)}.", " ; ".join(phrases).upper()]
    numbers = [one for one in phrases if one.replace(".", "").isdigit() and len(one) > 1]
    if numbers and "fuzzy_match" not in references:
        joined[1] = " ".join(f"${one}0" if one in numbers else one for one in phrases)
        joined[2] = " ".join(f"000000{one}" if one in numbers else one for one in phrases)
    return joined


def wrong_answers(references: Mapping[str, Any], note: str) -> list[str]:
    phrases = phrases_of(references, note)
    spoiled = [f"{one[:-1]}\u00a4" for one in phrases]
    return ["", " and ".join([*phrases[:-1], spoiled[-1]]), "\u00a4 I could not tell"]


def phrases_of(references: Mapping[str, Any], note: str) -> list[str]:
    found: list[str] = []
    for kind, value in references.items():
        if kind == "fuzzy_match" and value == "N/A":
            found.append(note)
        else:
            found += [value] if isinstance(value, str) else value
    return found


def right_urls(reference: str) -> list[str]:
    first, *others = reference.split(" |OR| ")
    joint = "&" if "?" in first else "?"
    return [(others or [first])[-1], f"{first}{joint}page=2", f"{first}#top"]


def wrong_urls(reference: str) -> list[str]:
    places = [url.partition("?") for url in reference.split(" |OR| ")]
    host = f"{ADDRESSES['homepage']}/elsewhere?next=" + reference.replace("/", "%2F")
    elsewhere = ADDRESSES["homepage"] + "/" + "x" * 9
    cut = f"{places[0][0][:-2]}\u00a4?{places[0][2]}"
    return [elsewhere, host, cut]


def page_contents(task: WebTask, url: str, *, kind: str, which: int) -> dict[tuple[str, str], str]:
    """Return what the locators of a task's targets give, in one of three ways."""
    contents: dict[tuple[str, str], str] = {}
    targets = task.eval["program_html"]
    for number, target in enumerate(targets):
        spoil = kind == "wrong" and number == len(targets) - 1
        text = target_text(target["required_contents"], which=which, spoil=spoil)
        place = address_of(target["url"], url), target["locator"].strip()
        contents[place] = " ".join(filter(None, (contents.get(place), text)))
    return contents


def target_text(required: Mapping[str, Any], *, which: int, spoil: bool) -> str:
    if "exact_match" in required:
        text = str(required["exact_match"])
        ways = [text, text.upper(), html.escape(text)]
        wrong = ["None", f"{text} \u00a4", ""]
        return (wrong if spoil else ways)[which]
    phrases = [str(one).split(" |OR| ")[-(which % 2)] for one in required["must_include"]]
    if spoil:
        phrases = [["", "None", f"{phrases[-1][:-1]}\u00a4"][which]] if which else []
    text = " ".join(phrases)
    # Chromium writes hosts in small letters.
    loud = text if "http" in text else text.upper()
    return text if spoil else [text, f"00{text}0", html.escape(loud)][which]


def address_of(target: str, url: str) -> str:
    if target == "last":
        return url
    if target.startswith("func:shopping"):
        return ORDER
    return f"{url.rpartition('/')[0]}/" if target.startswith("func:reddit") else target


def ends(task: WebTask, kind: str) -> Iterator[End]:
    """Make three ends of a task, all of whose conditions are met, or one is not."""
    evaluation = task.eval
    references = evaluation.get("reference_answers") or {}
    note = evaluation.get("string_note") or ""
    kinds = evaluation["eval_types"]
    for which in range(3):
        end = End(url=POST)
        if "string_match" in kinds:
            make = right_answers if kind == "right" else wrong_answers
            end.answer = make(references, note)[which]
        if "url_match" in kinds:
            is_wrong = kind == "wrong" and "string_match" not in kinds
            end.url = (wrong_urls if is_wrong else right_urls)(evaluation["reference_url"])[which]
            if "__last_url__" in json.dumps(evaluation) and not is_wrong:
                end.url = evaluation["reference_url"].split(" |OR| ")[-1] + "/12/a-title"
        if "program_html" in kinds:
            end.contents = page_contents(task, end.url, kind=kind, which=which)
        yield end


ODD_WORDINGS = (
    *("{}", "{}.", "({})", "${}", "{}%", "#{}", "-{}", "{}-star", "{}/5", "{}:30", "at:{}", "{},"),
    *("{},5", "5,{}", "x{}", "{}x", "'{}'", '"{}"', "it's '{}'", "`{}`", "**{}**", "{}'s", "{}!"),
    *("{}?", "={}", "{}=", "{};", "[{}]", "{{{}}}", "<{}>", "{}..", "..{}", "a--{}", "{}--a"),
    *(
        "\u2013{}",
        "{}\u2014",
        "\u201c{}\u201d",
        "a, {}, b",
        "{}\u00a0km",
        "{}\n",
        "1{}",
        "{}1",
        "+{}",
    ),
    *("it is {}. ", "({}.)", '{}."', "no. {}", "&{}", "{}@home", "~{}", "{}\u00b0", "{}'", "_{}_"),
)


def odd_ends(task: WebTask) -> Iterator[End]:
    """Make ends that are near the references, and right or wrong as the authors' rules have it."""
    evaluation = task.eval
    if "string_match" in evaluation["eval_types"]:
        references = evaluation["reference_answers"]
        phrases = phrases_of(references, evaluation.get("string_note") or "")
        url = (evaluation.get("reference_url") or POST).partition(" |OR| ")[0]
        for wording in ODD_WORDINGS:
            yield End(" ".join(wording.format(phrase) for phrase in phrases), url)
        yield End("'", url)
    elif evaluation["eval_types"] == ["url_match"]:
        for reference in evaluation["reference_url"].split(" |OR| "):
            place, _, query = reference.partition("?")
            name = query.partition("=")[0] or "q"
            for url in (
                *(
                    f"{reference}&{name}=other",
                    f"{place}?{name}=other&{query}",
                    f"{place}?{query}/",
                ),
                *(
                    f"{place.rstrip('/')}?{query}",
                    f"{place.rstrip('/')}/?{query}",
                    f"{place}/a?{query}",
                ),
                *(reference.upper(), f"{reference.lower()}//", query and place, f"{reference}%20"),
            ):
                yield End(url=url)


# Both sides -------------------------------------------------------------------------------------


def means(reference: str, answer: str) -> bool:
    """Stand for the language model."""
    return reference.lower() in answer.lower()


class Judge:
    def is_equivalent(self, *, question: str, reference: str, answer: str) -> bool:
        return means(reference, answer)

    def is_same_reason(self, *, task: str, reason: str, report: str) -> bool:
        return means(reason, report)


class Pages(StillBrowser):
    """Shows ours what the locators give; it finds them within the expressions that are asked."""

    def look_up(self, url: str, locator: str) -> str:
        place = self._page.url if url == "last" else url
        known = [asked for where, asked in self._found if where == place and asked in locator]
        return self._found.get((place, max(known, key=len)), "") if known else ""


class Functions:
    """Answers for the shop and GitLab, out of the contents that an end has."""

    def __init__(self, contents: Mapping[tuple[str, str], str]) -> None:
        self._contents = contents

    def latest_order_url(self) -> str:
        return DEPLOYMENT.fill(ORDER.replace(ADDRESSES["shopping"], "__SHOPPING__"))

    def latest_review(self, sku: str) -> tuple[str, str]:
        author, rating = (
            self.value(f"shopping_get_sku_latest_review_{what}", sku)
            for what in ("author", "rating")
        )
        return author, rating

    def member_role(self, browser: object, url: str, username: str) -> str:
        return self.value("gitlab_get_project_memeber_role", username)

    def value(self, name: str, argument: str) -> str:
        held = (
            text
            for (_, asked), text in self._contents.items()
            if f"func:{name}(" in asked and f"'{argument}'" in asked
        )
        return next(held, "")


DEPLOYMENT = OfficialDeployment(ADDRESSES)
ORIGINS = Origins(ADDRESSES)


def our_score(task: WebTask, end: End) -> float | None:
    """Judge an end by our evaluators, to which all addresses are the canonical ones."""
    contents = {
        (ORIGINS.canonical(url), ORIGINS.canonical(locator)): ORIGINS.canonical(text)
        for (url, locator), text in end.contents.items()
    }
    ending = Ending(
        task.intent,
        ORIGINS.canonical(end.answer),
        Pages(ORIGINS.canonical(end.url), contents),
        Functions(contents),
        judge=Judge(),
    )
    evaluators = build_evaluators(fill_values(DEPLOYMENT, task.eval), is_original=True)
    return multiply(evaluate(ending) for evaluate in evaluators).score


def their_score(authors: AuthorsEvaluators, task: WebTask, end: End, folder: Path) -> float:
    functions = Functions(end.contents)
    for name in ("shopping_get_sku_latest_review_author", "shopping_get_sku_latest_review_rating"):
        authors._set(name, lambda sku, name=name: functions.value(name, sku))
    authors._set(
        "gitlab_get_project_memeber_role",
        lambda page, user: functions.value("gitlab_get_project_memeber_role", user),
    )
    page = AuthorsPage(end.url, end.contents)
    return authors.score(task, folder, answer=end.answer, page=page)


@cache
def evaluators() -> AuthorsEvaluators:
    return AuthorsEvaluators(
        ADDRESSES, judging=means, functions={"shopping_get_latest_order_url": lambda: ORDER}
    )


def with_addresses(task: WebTask) -> WebTask:
    return WebTask.from_json(json.loads(evaluators().fill(json.dumps(task.to_json()))))


@needs_authors
@pytest.mark.parametrize("kind", KINDS)
def test_every_task_is_scored_as_its_authors_score_it(kind: str, tmp_path: Path) -> None:
    others = []
    count = 0
    for task in read_tasks(TASKS):
        for end in ends(with_addresses(task), kind):
            ours, theirs = our_score(task, end), their_score(evaluators(), task, end, tmp_path)
            count += 1
            if ours != theirs or theirs != float(kind == "right"):
                others.append((task.task_id, ours, theirs, end))
    assert count == 3 * 812
    assert others == []


@needs_authors
def test_odd_ends_are_scored_as_the_authors_score_them(tmp_path: Path) -> None:
    others = []
    scores: Counter[float] = Counter()
    for task in read_tasks(TASKS):
        for end in odd_ends(with_addresses(task)):
            ours, theirs = our_score(task, end), their_score(evaluators(), task, end, tmp_path)
            scores[theirs] += 1
            if ours != theirs:
                others.append((task.task_id, ours, theirs, end.answer, end.url))
    assert min(scores[0.0], scores[1.0]) > 1000
    assert others == []
