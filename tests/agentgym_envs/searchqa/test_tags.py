from __future__ import annotations

import contextlib
import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym_envs.errors import InvalidAction
from agentgym_envs.searchqa.prompts import VERBS
from agentgym_envs.searchqa.tags import Tag, TagReactParser, find_tag, read_tag
from tests.quick import examples

NAMES = tuple(verb.name for verb in VERBS)
PARSER = TagReactParser(VERBS)
PIECES = ("<search>", "</search>", "<answer>", "</answer>", "<think>", "</think>", "x", "\n", "<")


@settings(max_examples=examples(300))
@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_the_first_complete_tag_is_what_the_regular_expression_finds(text: str) -> None:
    match = re.search(r"<(search|answer)>(.*?)</\1>", text, re.DOTALL)
    expected = None if match is None else Tag(match[1], match[2])
    assert find_tag(text, ("search", "answer")) == expected


@pytest.mark.parametrize("piece", ["<search>", "<think>", "</think>", "<", "<search><answer>"])
def test_endless_openings_are_read_in_linear_time(piece: str) -> None:
    def seconds(times: int) -> float:
        text, start = piece * times, time.process_time()
        find_tag(text, NAMES)
        read_tag(text, NAMES)
        with contextlib.suppress(InvalidAction):
            PARSER.parse(text)
        return time.process_time() - start

    # In quadratic time it would be a hundred times.
    assert seconds(100_000) < 40 * max(seconds(10_000), 0.001)


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("<search>who?</search>", Tag("search", "who?")),
        ("  <answer> 7 </answer>\n", Tag("answer", " 7 ")),
        ("<python>a = 1\nprint(a)</python>", Tag("python", "a = 1\nprint(a)")),
        ("<python>print('</python>')</python>", Tag("python", "print('</python>')")),
        ("<search></search>", Tag("search", "")),
        ("<search>a</search> <search>b</search>", None),
        ("<search>a</search><answer>b</answer>", None),
        ("I think <search>a</search>", None),
        ("<search></answer>", None),
        ("<search>", None),
        ("search: a", None),
        ("<Search>a</Search>", None),
    ],
)
def test_a_plain_action_is_one_tag_and_nothing_else(text: str, tag: Tag | None) -> None:
    assert read_tag(text, NAMES) == tag


def test_react_takes_the_first_tag_outside_the_thoughts() -> None:
    completion = (
        "<think>I could <answer>guess</answer>.</think> Better:\n"
        "<search>Quill</search>\n<answer>Ashe</answer>"
    )
    assert PARSER.parse(completion) == "<search>Quill</search>"


def test_react_reads_thoughts_without_tags_and_nothing_of_an_unclosed_thought() -> None:
    assert PARSER.parse("Let me look. <open>Quill</open>") == "<open>Quill</open>"
    with pytest.raises(InvalidAction, match="no action"):
        PARSER.parse("<think>hm <answer>7</answer>")


def test_react_says_which_actions_there_are() -> None:
    with pytest.raises(InvalidAction, match="<python>code</python>"):
        PARSER.parse("<think>nothing</think>")


def test_what_react_writes_react_reads() -> None:
    for action in ("<search>a\nb</search>", "<python>x = 1\nprint(x)</python>"):
        assert PARSER.parse(PARSER.format(action, "because")) == action
        assert PARSER.parse(PARSER.format(action)) == action
