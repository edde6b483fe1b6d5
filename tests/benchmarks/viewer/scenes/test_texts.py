"""The scenes that are read out of the record: SciWorld, SearchQA and WebArena."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from types import SimpleNamespace

import pytest

from agentgym_envs import Trajectory, Turn
from agentgym_envs.browsing.page import Node, Page
from agentgym_envs.browsing.view import View
from agentgym_envs.searchqa import prompts
from agentgym_envs.searchqa.questions import Question, QuestionSet
from agentgym_envs.searchqa.sources import SearchQATasks, Source
from agentgym_envs.webarena import compat as original
from agentgym_envs.webarena import prompts as web_prompts
from benchmarks.viewer.scenes import scene, webarena
from benchmarks.viewer.scenes.replay import NotReplayed
from benchmarks.viewer.scenes.searchqa import documents, marked
from benchmarks.viewer.scenes.webarena import page, target
from tests.agentgym_envs.webarena.still import StillBrowser


def turn(observation="", completion="", **values):
    defaults = {"reward": 0.0, "is_valid_action": True, "score": 0.0}
    return Turn(observation, completion, **{**defaults, **values})


# SciWorld -----------------------------------------------------------------------------------------


def test_scores_stand_before_each_turn_and_after_the_last():
    turns = [turn(reward=0.05, score=0.12), turn(score=0.12), turn(reward=-0.12, score=0.0)]
    shown = scene(Trajectory("agentgym/SciWorld-v0", "sciworld_1", turns=turns))
    assert shown["turns"] == [
        {"score": 0.07, "gained": 0.0},
        {"score": 0.12, "gained": 0.05},
        {"score": 0.12, "gained": 0.0},
        {"score": 0.0, "gained": -0.12},
    ]


def test_the_originals_points_are_hundredths():
    turns = [turn(reward=8.0, score=0.08)]
    shown = scene(Trajectory("agentgym/SciWorld-v0", "sciworld_1", turns=turns))
    assert [one["score"] for one in shown["turns"]] == [0.0, 0.08]


def test_an_episode_without_turns_has_its_end_alone():
    shown = scene(Trajectory("agentgym/SciWorld-v0", "sciworld_1", score=0.1))
    assert shown["turns"] == [{"score": 0.1, "gained": 0.0}]


# SearchQA -----------------------------------------------------------------------------------------


def test_documents_are_cut_apart_and_the_answer_is_marked():
    found = [("Soul (music)", "A kind of SOUL music."), ("Doc 9", "Nothing\nof the kind.")]
    shown = documents(prompts.information(prompts.passages_text(found)), ["soul"])
    assert shown == {
        "documents": [
            {"title": "Soul (music)",
             "parts": [("A kind of ", False), ("SOUL", True), (" music.", False)]},
            {"title": "Doc 9", "parts": [("Nothing\nof the kind.", False)]},
        ],
        "found": True,
    }  # fmt: skip


def test_a_page_of_a_document_is_one_document():
    text = prompts.information(prompts.page_text("Tidal Maps", 1, ["They play soul.", "More."]))
    (shown,) = documents(text, [])["documents"]
    assert shown["title"] == "Tidal Maps, page 1 of 2"
    assert shown["parts"][0][0].startswith("They play soul.\n(To read on")


def test_an_observation_without_documents_has_none():
    assert documents("The answer is right.", ["right"]) == {"documents": [], "found": False}


def test_marks_are_whole_words_and_the_longest_form():
    text = "New York City, new yorker, NEW YORK"
    parts = marked(text, ["New York", "New York City"])
    assert [part for part, is_answer in parts if is_answer] == ["New York City", "NEW YORK"]


@pytest.mark.parametrize("accepted", [[], [""], [" "], ["(a|b)*"], ["</mark>"]])
def test_marking_changes_no_text(accepted):
    text = "See (a|b)* and </mark> here."
    assert "".join(part for part, _ in marked(text, accepted)) == text


@pytest.fixture
def capitals(monkeypatch):
    """Let two questions be all that there are."""
    questions = QuestionSet(
        [Question(n, text, (answer,), "nq", "train")
         for n, (text, answer) in enumerate([("Which sea?", "The Black Sea"), ("Who?", "Ada")])],
        "capitals/1",
    )  # fmt: skip
    source = Source(SearchQATasks(questions), None, "capitals/1", has_quoted_titles=True)
    monkeypatch.setattr("benchmarks.viewer.scenes.searchqa.open_source", lambda *_: source)


@pytest.mark.usefixtures("capitals")
def test_the_accepted_answers_are_those_of_the_episodes_question():
    turns = [turn("Question: Which sea?", "<search>sea</search>")]
    shown = scene(
        Trajectory(
            "agentgym/SearchQA-v0", "searchqa_0", source="capitals/1", turns=turns,
            final_observation="<information>Doc 1(Title: Sea) It is the Black Sea.</information>",
        )
    )  # fmt: skip
    assert shown["about"]["accepted"] == ["The Black Sea"]
    assert shown["reason"] is None
    assert [one["found"] for one in shown["turns"]] == [False, True]


@pytest.mark.usefixtures("capitals")
@pytest.mark.parametrize(
    ("changes", "told"),
    [({"source": "elsewhere/2"}, "elsewhere/2"), ({"task_id": "searchqa_7"}, "7")],
)
def test_questions_that_are_not_here_have_no_answers_and_say_why(changes, told):
    turns = [turn("Question: who?", "<search>who</search>")]
    values = {"task_id": "searchqa_0", "source": "capitals/1", "turns": turns, **changes}
    shown = scene(Trajectory("agentgym/SearchQA-v0", **values))
    assert shown["about"]["accepted"] is None
    assert told in shown["reason"]
    assert len(shown["turns"]) == 2


# WebArena -----------------------------------------------------------------------------------------


@pytest.fixture
def shop():
    names = ['It\'s "new"', "two\nlines", "caf\u00e9 \\ bar", "[7] link 'false'"]
    links = [Node("link", name) for name in names]
    links[0].properties["value"] = "a 'b'"
    return Page(
        "http://shopping.test/",
        "Shop",
        Node("RootWebArea", "Shop", children=links),
        tabs=("Shop, all", "It's (current)"),
        current_tab=1,
    )


def test_a_page_is_read_as_it_was_written(shop):
    shown = page("Goal: [1] link 'x'\n\n" + web_prompts.page_text(shop, View(None)))
    assert shown["url"] == shop.url
    assert shown["tabs"] == list(shop.tabs)
    assert shown["tab"] == 1
    assert [(id_, role, name) for _, id_, role, name, _ in shown["nodes"]] == [
        (node.element, node.role, node.name) for node in shop.nodes
    ]
    assert [depth for depth, *_ in shown["nodes"]] == [0, 1, 1, 1, 1]
    assert shown["nodes"][1][4] == "value: a 'b'"


def test_the_part_that_is_on_the_screen_says_how_much_is_around_it(shop):
    view = View(2)
    view.scroll("down", StillBrowser(shown=shop))
    shown = page(web_prompts.page_text(shop, view))
    assert (shown["above"], shown["below"], len(shown["nodes"])) == (2, 1, 2)


def test_the_originals_form_is_read_too(shop):
    shown = page(original.observation(shop, View(None), "Buy it.", "None"))
    assert shown["url"] == shop.url
    assert shown["tabs"] == list(shop.tabs)
    assert shown["tab"] == 1
    assert len(shown["nodes"]) == 5


def test_an_observation_without_a_page_shows_none():
    shown = page("The task is done.")
    assert (shown["url"], shown["nodes"], shown["tabs"]) == ("", [], [])


@pytest.mark.parametrize(
    ("completion", "expected"),
    [
        ("I click [3] now. ```click [12]``` and ```click [4]```", 12),
        ("type [7] [shoes] [1]", 7),
        ('{"name": "select", "arguments": {"element": 9, "option": "red"}}', 9),
        ("```python\nhover(element=5)\n```", 5),
        ("```tab_focus [1]```", None),
        ("```stop [click [3]]```", None),
        ("I am lost.", None),
        ("", None),
    ],
)
def test_the_element_that_an_action_names_is_told(completion, expected):
    assert target(turn("", completion)) == expected


@pytest.fixture
def chromium_run(tmp_path):
    """Return the folder of a run whose environments ran in Chromium."""
    record = {"EnvArguments": {"env_kwargs": '{"backend": "chromium"}'}}
    (tmp_path / "run.json").write_text(json.dumps(record))
    return tmp_path


WALK = Trajectory("agentgym/WebArena-v0", "webarena_1", turns=[turn("URL: http://shop.test/")])


def test_the_window_is_shown_where_chromium_ran(chromium_run, monkeypatch):
    windows = [b"first", b"last"]
    env = SimpleNamespace(close=lambda: windows.clear())
    monkeypatch.setattr(webarena, "replay", lambda *_: (env, list(windows)))
    pictures = [one["picture"] for one in scene(WALK, chromium_run)["turns"]]
    assert [base64.b64decode(url.partition("base64,")[2]) for url in pictures] == [
        b"first",
        b"last",
    ]
    assert windows == []


def test_a_window_that_cannot_be_had_again_leaves_the_page_and_says_why(chromium_run, monkeypatch):
    def fails(*_):
        raise NotReplayed("It rains")

    monkeypatch.setattr(webarena, "replay", fails)
    shown = scene(WALK, chromium_run)
    assert shown["reason"] == "It rains"
    assert [one["picture"] for one in shown["turns"]] == [None, None]
    assert shown["turns"][0]["url"] == "http://shop.test/"


@pytest.mark.parametrize("env_id", ["agentgym/WebArena-v0", "agentgym/WebArenaOfficial-v0"])
def test_no_browser_is_opened_for_the_text_backend_or_the_official_sites(
    env_id, tmp_path, monkeypatch
):
    monkeypatch.setattr(webarena, "replay", lambda *_: pytest.fail("it was played again"))
    shown = scene(replace(WALK, env_id=env_id), tmp_path)
    assert (shown["kind"], shown["reason"]) == ("webarena", None)
    assert shown["turns"][0]["url"] == "http://shop.test/"
