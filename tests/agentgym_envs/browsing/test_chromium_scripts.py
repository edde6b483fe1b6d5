"""On pages with scripts Chromium behaves as WebArena's, and tells what WebArena's leaves out."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.browsing.chromium.loading import QUIET_SECONDS
from tests.agentgym_envs.browsing.scripted import Player, serve

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("chromium")]

Begin = Callable[..., Player]


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    with serve() as origin:
        yield origin


@pytest.fixture
def begin(origin: str, tmp_path: Path) -> Iterator[Begin]:
    players: list[Player] = []

    def open_page(path: str, **kwargs: Any) -> Player:
        players.append(Player(origin, tmp_path, path, **kwargs))
        return players[-1]

    yield open_page
    for player in players:
        player.env.close()


def test_a_list_grows_as_its_end_is_scrolled_to(begin: Begin) -> None:
    player = begin("/list", viewport_lines=10)
    assert "Item 9'" in player.text and "Item 10'" not in player.text
    scrolls = 0
    while player.play("scroll [down]").count("That did not work") == 0:
        scrolls += 1
        assert scrolls < 20
    assert "Item 60'" in player.text and "The page ends here" in player.text
    assert scrolls == 6
    assert float(player.env.browser.look_up("last", "scrollY")) > 2000
    for _ in range(scrolls):
        player.play("scroll [up]")
    assert "Item 1'" in player.text and player.env.browser.look_up("last", "scrollY") == "0"


def test_where_the_page_is_shown_whole_the_window_moves_by_its_height(begin: Begin) -> None:
    player = begin("/list", viewport_lines=None)
    assert "Item 20'" in player.text and "Item 21'" not in player.text
    player.play("scroll [down]")
    assert player.env.browser.look_up("last", "scrollY") == "720"
    assert "Item 21'" not in player.text and player.info["is_valid_action"]
    player.play("scroll [down]")
    assert "Item 40'" in player.text and "Item 41'" not in player.text
    player.play("scroll [up]")
    player.play("scroll [up]")
    assert "nothing above" in player.play("scroll [up]")
    assert not player.info["is_valid_action"]


def test_typing_opens_suggestions(begin: Begin) -> None:
    player = begin("/suggest")
    player.play("type <textbox City> [Ham] [0]")
    assert "option 'Hamburg'" in player.text and "option 'Hamton'" in player.text
    assert "'3 keys, slow'" in player.text
    player.play("click <option Hamburg>")
    assert player.value("input") == "Hamburg" and "option" not in player.text
    player.play("type <textbox City> [x] [0]")
    assert "option 'xton'" in player.text


def test_long_texts_arrive_whole(begin: Begin) -> None:
    player = begin("/suggest")
    text = "".join(f"{number} é, " for number in range(400))
    player.play(f"type <textbox City> [{text}] [0]")
    assert player.value("input") == text


@pytest.mark.parametrize(
    ("button", "answers", "out"),
    [
        ("Save", ["click <button OK>"], "seen"),
        ("Save", ["press [Escape]"], "seen"),
        ("Delete", ["click <button OK>"], "deleted"),
        ("Delete", ["press [Enter]"], "deleted"),
        ("Delete", ["click <button Cancel>"], "left"),
        ("Delete", ["press [Escape]"], "left"),
        ("Name", ["click <button OK>"], "called Ida"),
        ("Name", ["type <textbox Answer> [Ada] [1]"], "called Ada"),
        ("Name", ["type <textbox Answer> [Ada] [0]", "click <button OK>"], "called Ada"),
        ("Name", ["click <button Cancel>"], "called null"),
        ("Twice", ["click <button OK>", "click <button OK>"], "both"),
        ("Twice", ["click <button OK>", "click <button Cancel>"], ""),
        ("Later", ["click <button OK>"], "late"),
    ],
)
def test_dialogs_are_told_and_answered(
    begin: Begin, button: str, answers: list[str], out: str
) -> None:
    player = begin("/dialogs")
    player.play(f"click <button {button}>")
    assert "dialog '" in player.text and "button 'Save'" not in player.text
    for answer in answers:
        player.play(answer)
        assert player.info["is_valid_action"]
    assert "button 'Save'" in player.text and "dialog '" not in player.text
    assert player.value("#out") == out


def test_nothing_else_is_done_while_a_dialog_waits(begin: Begin) -> None:
    player = begin("/dialogs")
    player.play("click <button Delete>")
    assert "[2] dialog 'Delete it?'" in player.text
    for action in (
        "goto [http://shopping.test/item]", "type <button OK> [x]", "press [Tab]", "new_tab",
        "scroll [down]", "click [99]",
    ):  # fmt: skip
        assert "[2] dialog 'Delete it?'" in player.play(action)
        assert "dialog waits" in player.text or action == "click [99]"
        assert not player.info["is_valid_action"]
    player.play("stop [42]")
    assert player.info["success"]


def test_a_dialog_that_opens_between_two_actions_is_told_first(begin: Begin) -> None:
    player = begin("/dialogs")
    player.env.browser.look_up("last", "void setTimeout(() => alert('Between.'), 100)")
    time.sleep(0.5)
    player.play("click <button Save>")
    assert "A dialog has opened meanwhile" in player.text and "dialog 'Between.'" in player.text
    player.play("click <button OK>")
    assert "button 'Save'" in player.text and player.value("#out") == ""


def test_a_page_may_greet_and_ask_before_it_is_left(begin: Begin) -> None:
    player = begin("/dialogs")
    player.play("click <button Dirty>")
    assert "Leave this page?" in player.play("goto [http://shopping.test/greeting]")
    player.play("click <button Cancel>")
    assert "URL: http://shopping.test/dialogs" in player.text
    player.play("click <link Greeting>")
    assert "dialog 'Welcome.'" in player.play("click <button OK>")
    assert "After all" in player.play("click <button OK>")
    assert "URL: http://shopping.test/greeting" in player.text


def test_an_episode_may_begin_and_end_with_a_dialog(begin: Begin) -> None:
    player = begin("/greeting")
    assert "dialog 'Welcome.'" in player.text
    player.env.close()
    again = begin("/greeting")
    assert again.env.browser.look_up("http://shopping.test/greeting", "document.title") == (
        "Greeting"
    )


def test_the_pages_in_frames_are_shown_and_played(begin: Begin) -> None:
    player = begin("/frames")
    lines = [line.strip().partition("] ")[2] for line in player.text.splitlines()]
    names = ["heading 'Outside'", "heading 'Inside'", "textbox 'Inner field'", "button 'Deep'"]
    names += ["StaticText 'After'"]
    places = [lines.index(name) for name in names]
    assert places == sorted(places)
    player.play("type <textbox Inner field> [hello] [0]")
    player.play("click <button Say>")
    assert "heading 'Said hello'" in player.text
    player.play("click <button Deep>")
    assert "button 'Deeper still'" in player.text
    assert "textbox '' value: 'draft'" in player.text
    player.play("type <textbox > [final] [0]")
    assert "textbox '' value: 'final'" in player.text


def test_a_page_that_fills_itself_late_is_waited_for(begin: Begin) -> None:
    assert "Filled" in begin("/late").text
    assert "An item" in begin("/forward").text


def test_a_page_that_never_stands_still_is_not_waited_for_longer_than_the_bound(
    begin: Begin,
) -> None:
    player = begin("/restless")
    for action in ("hover [1]", "click <button Hang>"):
        began = time.monotonic()
        player.play(action)
        assert player.info["is_valid_action"]
        assert 0.8 * QUIET_SECONDS < time.monotonic() - began < QUIET_SECONDS + 10
