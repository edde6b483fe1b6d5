from __future__ import annotations

from typing import Any

import pytest

from agentgym_envs.webarena.evaluators import Verdict, build_evaluators, multiply
from agentgym_envs.webarena.evaluators.functions import post_url, read_call
from agentgym_envs.webarena.evaluators.string_match import clean, includes
from tests.agentgym_envs.webarena.still import StillBrowser, StrictJudge, ending


def score(
    evaluation: dict[str, Any], answer: str = "", *, is_original: bool = False, **kwargs: Any
) -> float | None:
    evaluators = build_evaluators(evaluation, is_original=is_original)
    return multiply(evaluate(ending(answer, **kwargs)) for evaluate in evaluators).score


def strings(note: str = "", **references: Any) -> dict[str, Any]:
    return {"eval_types": ["string_match"], "reference_answers": references, "string_note": note}


# string_match -----------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["Red Lamp", " red lamp\n", "'Red lamp'", '"RED LAMP"'])
def test_an_exact_answer_counts_but_for_case_space_and_quotes(answer: str) -> None:
    assert score(strings(exact_match="Red lamp"), answer) == 1.0


@pytest.mark.parametrize("answer", ["", "lamp", "red lamp.", "the red lamp", "'red lamp\""])
def test_anything_else_is_not_exact(answer: str) -> None:
    assert score(strings(exact_match="Red lamp"), answer) == 0.0


def test_one_quote_alone_is_left_as_it_is() -> None:
    assert clean("'") == "'" and clean("''") == ""


@pytest.mark.parametrize(
    ("reference", "answer", "expected"),
    [
        ("lamp", "Two LAMPS", True),
        ("Larder & Loom", "at larder & loom, aisle 3", True),
        ("lamp", "", False),
        ("12", "there are 12.", True),
        ("12", "12, I think", True),
        ("12", "12 km", True),
        ("12", "12km", True),
        ("12", "112", False),
        ("12", "12.5", False),
        ("12", "1,012", False),
        ("12", "$1.12", False),
        ("1,012", "1,012 orders", True),
        ("1,012", "11,012", False),
        ("4.50", "$4.50", True),
        ("$4.50", "it costs $4.50", True),
    ],
)
def test_a_phrase_must_be_in_the_answer_and_a_number_by_itself(
    reference: str, answer: str, expected: bool
) -> None:
    assert includes(reference, answer) is expected


@pytest.mark.parametrize(
    ("answer", "expected"), [("0", True), ("it is 0.", True), ("10", False), ("0.5", False)]
)
def test_a_single_character_must_be_a_word(answer: str, expected: bool) -> None:
    assert includes("0", answer, is_only_one=True) is expected


@pytest.mark.parametrize(
    ("reference", "answer"),
    [("170", "000000170"), ("182.4", "$182.40"), ("$35.00", "cost $35.00"), ("12", "1,012.5")],
)
def test_the_original_rule_finds_a_phrase_anywhere(reference: str, answer: str) -> None:
    for evaluation in (
        strings(must_include=[reference]),
        html("last", HEADING, {"must_include": [reference]}),
    ):
        browser = StillBrowser(found={("last", original(HEADING)): answer})
        assert score(evaluation, answer, browser=browser, is_original=True) == 1.0


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("$5", 1.0),
        ("(5).", 1.0),
        ("it is 5. Or so", 1.0),
        ("5-star", 0.0),
        ("5:30", 0.0),
        ("15", 0.0),
    ],
)
def test_the_original_rule_tells_words_apart_as_its_tokenizer_does(
    answer: str, expected: float
) -> None:
    assert score(strings(must_include=["5"]), answer, is_original=True) == expected


def test_every_phrase_counts() -> None:
    evaluation = strings(must_include=["red", "blue"])
    assert score(evaluation, "blue and red") == 1.0
    assert score(evaluation, "red") == 0.0


def test_several_kinds_are_multiplied() -> None:
    evaluation = strings(must_include=["red"], exact_match="red lamp")
    assert score(evaluation, "red lamp") == 1.0
    assert score(evaluation, "red") == 0.0


def test_without_a_judge_a_fuzzy_answer_is_unscored_not_wrong() -> None:
    evaluation = strings(fuzzy_match=["forty two"])
    assert score(evaluation, "42") is None
    assert score(evaluation, "Forty two") == 1.0
    assert score(evaluation, "") == 0.0


def test_a_judge_decides_where_there_is_one() -> None:
    evaluation = strings(fuzzy_match=["forty two", "woods"])
    assert score(evaluation, "forty", judge=StrictJudge()) == 0.0
    assert score(strings(fuzzy_match=["forty two"]), "forty", judge=StrictJudge()) == 1.0


def test_an_impossible_task_wants_na_or_the_reason() -> None:
    evaluation = strings("there is no such shop", fuzzy_match="N/A")
    assert score(evaluation, "n/a") == 1.0
    assert score(evaluation, "") == 0.0
    assert score(evaluation, "it is closed") is None
    assert score(evaluation, "it is closed", judge=StrictJudge()) == 0.0
    assert score(evaluation, "sadly there is no such shop", judge=StrictJudge()) == 1.0


# url_match --------------------------------------------------------------------------------------


def at(reference: str, url: str, note: str | None = "GOLD in PRED") -> float | None:
    evaluation = {"eval_types": ["url_match"], "reference_url": reference}
    if note is not None:
        evaluation["url_note"] = note
    return score(evaluation, browser=StillBrowser(url))


@pytest.mark.parametrize(
    ("reference", "url", "expected"),
    [
        ("http://a.test/x", "http://a.test/x/", 1.0),
        ("http://a.test/x", "http://a.test/x/more", 1.0),
        ("http://a.test/x", "https://a.test/x?q=1#top", 1.0),
        ("http://a.test/x", "http://a.test/y", 0.0),
        ("http://a.test/x", "http://b.test/x", 0.0),
        ("http://a.test/x?q=1", "http://a.test/x?q=1&r=2", 1.0),
        ("http://a.test/x?q=1", "http://a.test/x?r=1", 0.0),
        ("http://a.test/x?q=1", "http://a.test/x?q=2", 0.0),
        ("http://a.test/x?q=1", "http://a.test/x?q=2&q=1", 1.0),
        ("http://a.test/x?q=1", "http://a.test/x?q=1&q=2", 0.0),
        ("http://a.test/x?q[]=1", "http://a.test/x?q[]=1&q[]=2", 1.0),
        ("http://a.test/x |OR| http://a.test/y", "http://a.test/y", 1.0),
        ("http://a.test/x?q=1 |OR| http://a.test/y?q=2", "http://a.test/y?q=1", 1.0),
    ],
)
def test_the_reference_stands_within_the_last_address(
    reference: str, url: str, expected: float
) -> None:
    assert at(reference, url) == at(reference, url, None) == expected


def test_the_original_rule_takes_any_value_of_a_repeated_parameter() -> None:
    evaluation = {"eval_types": ["url_match"], "reference_url": "http://a.test/x/?q=1"}
    for url, expected in {
        "http://a.test/x/?q=1&q=2": 1.0,
        "http://a.test/x?q=1": 0.0,
        "http://a.test/x/?q=2": 0.0,
    }.items():
        assert score(evaluation, browser=StillBrowser(url), is_original=True) == expected


def test_an_exact_address_is_compared_whole() -> None:
    assert at("http://a.test/x?q=1", "http://a.test/x?q=1/", "EXACT") == 1.0
    assert at("http://a.test/x", "http://a.test/x/more", "EXACT") == 0.0


def test_an_address_that_is_none_is_wrong() -> None:
    assert at("http://a.test/x", "http://[") == 0.0


# program_html -----------------------------------------------------------------------------------

HEADING = "document.querySelector('h1').outerText"


def html(url: str, locator: str, contents: dict[str, Any], **more: Any) -> dict[str, Any]:
    target = {"url": url, "locator": locator, "required_contents": contents, **more}
    return {"eval_types": ["program_html"], "program_html": [target]}


def test_a_page_must_hold_every_phrase_or_one_of_its_alternatives() -> None:
    evaluation = html("last", HEADING, {"must_include": ["red |OR| blue", "lamp"]})
    for text, expected in {"Blue lamp": 1.0, "green lamp": 0.0, "red": 0.0, "": 0.0}.items():
        assert score(evaluation, browser=StillBrowser(found={("last", HEADING): text})) == expected


def test_a_page_s_text_must_be_exact_where_that_is_asked() -> None:
    evaluation = html("http://a.test/x", HEADING, {"exact_match": "Caf\u00e9 & more"})
    texts = {("http://a.test/x", HEADING): "caf\u00e9 &amp; more "}
    assert score(evaluation, browser=StillBrowser(found=texts)) == 1.0
    assert score(evaluation, browser=StillBrowser()) == 0.0


def original(locator: str) -> str:
    return f"(found => found ?? 'None')({locator})"


def test_the_original_rule_reads_the_source_where_no_locator_is() -> None:
    browser = StillBrowser()
    score(html("last", "", {"must_include": ["x"]}), browser=browser, is_original=True)
    ((_, locator),) = browser.asked
    assert "document.documentElement.outerHTML" in locator


def test_targets_are_multiplied() -> None:
    one = html("last", HEADING, {"exact_match": "a"})["program_html"]
    two = html("last", "", {"must_include": ["b"]})["program_html"]
    evaluation = {"eval_types": ["program_html"], "program_html": [*one, *two]}
    assert score(evaluation, browser=StillBrowser(found={("last", HEADING): "a"})) == 0.0
    both = {("last", HEADING): "a", ("last", ""): "abc"}
    assert score(evaluation, browser=StillBrowser(found=both)) == 1.0


def test_functions_give_addresses_and_texts() -> None:
    order = html("func:shopping_get_latest_order_url()", HEADING, {"exact_match": "Order 7"})
    browser = StillBrowser(found={("http://shopping.test/orders/7", HEADING): "Order 7"})
    assert score(order, browser=browser) == 1.0
    rating = "func:shopping_get_sku_latest_review_rating('A-1')"
    author = 'func:shopping_get_sku_latest_review_author("A-1")'
    assert score(html("last", rating, {"exact_match": "80"})) == 1.0
    assert score(html("last", author, {"must_include": ["Quill"]})) == 1.0
    assert score(html("last", author.replace("A-1", "B-2"), {"must_include": ["Quill"]})) == 0.0
    role = "func:gitlab_get_project_memeber_role(__page__, 'ida.quill')"
    assert score(html("last", role, {"exact_match": "Developer"})) == 1.0


def test_the_post_of_the_last_address_is_looked_up() -> None:
    evaluation = html("func:reddit_get_post_url('__last_url__')", HEADING, {"exact_match": "Hi"})
    browser = StillBrowser(
        "http://reddit.test/f/books/12/a-title/-/comment/5",
        {("http://reddit.test/f/books/12/", HEADING): "Hi"},
    )
    assert score(evaluation, browser=browser) == 1.0


@pytest.mark.parametrize(
    ("url", "post"),
    [
        ("http://r.test/f/a/1/b/c?x=1", "http://r.test/f/a/1/"),
        ("http://r.test/f/a", "http://r.test/f/a"),
        ("http://r.test/user/a/b/c", "http://r.test/user/a/b/c"),
    ],
)
def test_an_address_without_a_post_stays_as_it_is(url: str, post: str) -> None:
    assert post_url(url) == post


def test_preparations_run_before_the_expression() -> None:
    browser = StillBrowser()
    steps = ["document.querySelector('#more').click()"]
    score(html("last", HEADING, {"exact_match": "x"}, prep_actions=steps), browser=browser)
    ((url, locator),) = browser.asked
    assert url == "last"
    assert locator.index("#more") < locator.index("h1")


@pytest.mark.parametrize(
    "text",
    [
        "func:__import__('os').system('true')",
        "func:open('/etc/passwd')",
        "func:reddit_get_post_url(open('x'))",
        "func:reddit_get_post_url('a', 'b')",
        "func:reddit_get_post_url(url='a')",
        "func:reddit_get_post_url(1)",
        "func:shopping_get_latest_order_url",
        "func:shopping_get_latest_order_url() or 1",
        "func:" + "(" * 5000,
    ],
)
def test_nothing_but_the_five_functions_is_called(text: str) -> None:
    with pytest.raises(ValueError, match="shopping_get_latest_order_url"):
        read_call(text)
    for url, locator in ((text, HEADING), ("last", text)):
        with pytest.raises(ValueError, match="cannot read"):
            build_evaluators(html(url, locator, {"exact_match": "x"}))


# All together -----------------------------------------------------------------------------------


def test_zero_beats_unscored_and_unscored_beats_one() -> None:
    one, zero, none = Verdict(1.0), Verdict(0.0, ("a",)), Verdict(None, ("b",))
    assert multiply([one, one]) == Verdict(1.0)
    assert multiply([one, none, zero]) == Verdict(0.0, ("b", "a"))
    assert multiply([none, one]).score is None


@pytest.mark.parametrize(
    ("evaluation", "message"),
    [
        ({}, "eval_types"),
        ({"eval_types": []}, "eval_types"),
        ({"eval_types": ["guess"]}, "unknown eval_types"),
        ({"eval_types": ["string_match"], "reference_answers": None}, "reference_answers"),
        (strings(must_exclude=["x"]), "unknown reference_answers 'must_exclude'"),
        (strings(exact_match=["x"]), "exact_match must be text"),
        (strings(must_include="x"), "must_include must be a list"),
        (strings(fuzzy_match=[1]), "fuzzy_match must be text or a list"),
        ({"eval_types": ["url_match"], "reference_url": ""}, "reference_url"),
        (
            {"eval_types": ["url_match"], "reference_url": "x", "url_note": "FUZZY"},
            "unknown url_note 'FUZZY'",
        ),
        ({"eval_types": ["program_html"], "program_html": []}, "list of targets"),
        (html("", HEADING, {"exact_match": "x"}), "needs url"),
        (html("last", "fetch('x')", {"exact_match": "x"}), "unknown locator"),
        (html("last", HEADING, {"includes": "x"}), "required_contents"),
    ],
)
def test_an_evaluation_of_another_form_is_refused(evaluation: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        build_evaluators(evaluation)
