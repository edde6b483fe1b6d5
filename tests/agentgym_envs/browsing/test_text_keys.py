"""Keys in the text browser. What they ought to do was seen in Chromium: `test_chromium_keys.py`."""

from __future__ import annotations

import pytest

from agentgym_envs.browsing.keys import Keys, read_keys
from agentgym_envs.browsing.text.browser import TextBrowser
from tests.agentgym_envs.browsing.gallery import act, do, find, refusal, serve

gallery = serve()


def press(browser: TextBrowser, keys: str) -> None:
    for key in keys.split():
        act(browser, f"press [{key}]")


def focused(browser: TextBrowser) -> str:
    names = [node.name for node in browser.page().nodes if "focused" in node.properties]
    return names[0] if names else ""


def value(browser: TextBrowser, role: str, name: str) -> str:
    return find(browser, role, name).properties.get("value", "''")


@pytest.mark.parametrize(
    ("keys", "text"),
    [
        ("Ctrl+a Backspace", ""),
        ("Meta+a Delete", ""),
        ("Ctrl+a x", "x"),
        ("Ctrl+a ArrowLeft x", "xlamp oil"),
        ("Ctrl+a ArrowRight x", "lamp oilx"),
        ("Ctrl+a Shift+ArrowLeft x", "xl"),
        ("Home Delete", "amp oil"),
        ("Home Backspace", "lamp oil"),
        ("Home ArrowRight x ArrowLeft y", "lyxamp oil"),
        ("ArrowUp x ArrowDown y", "xlamp oily"),
        ("Ctrl+Home x Ctrl+End y", "xlamp oily"),
        ("Shift+Home Delete", ""),
        ("Shift+ArrowLeft Shift+ArrowLeft z", "lamp oz"),
        ("Shift+a Space Shift+1", "lamp oilA !"),
        ("Alt+a Ctrl+b Escape PageUp F5", "lamp oil"),
        ("Ctrl+Enter Shift+Enter", "lamp oil"),
    ],
)
def test_keys_edit_a_field_at_its_caret(keys: str, text: str) -> None:
    browser = gallery("/keys")
    do(browser, "click", "textbox", "Word")
    press(browser, keys)
    assert value(browser, "textbox", "Word") == repr(text)


def test_a_full_field_takes_no_more_and_loses_nothing() -> None:
    browser = gallery("/keys")
    do(browser, "click", "textbox", "Short")
    press(browser, "Home x")
    assert value(browser, "textbox", "Short") == "'abcd'"
    press(browser, "Delete x")
    assert value(browser, "textbox", "Short") == "'xbcd'"


def test_tab_selects_a_line_and_keeps_the_caret_of_a_text_area() -> None:
    browser = gallery("/keys")
    press(browser, "Tab x")
    assert value(browser, "textbox", "Word") == "'x'"
    do(browser, "type", "textbox", "Note", "[abc] [0]")
    press(browser, "Tab Shift+Tab d Enter e Ctrl+Home f")
    assert value(browser, "textbox", "Note") == "'fabcd e'"


def test_escape_empties_a_search_field() -> None:
    browser = gallery("/keys")
    do(browser, "click", "searchbox", "Sought")
    press(browser, "Escape")
    assert value(browser, "searchbox", "Sought") == "''"


def test_a_field_of_numbers_takes_digits_and_ignores_letters() -> None:
    browser = gallery("/keys")
    do(browser, "click", "spinbutton", "Many")
    press(browser, "x 3")
    assert value(browser, "spinbutton", "Many") == "'123'"


def test_arrows_home_and_end_choose_in_a_list_and_leave_out_what_is_disabled() -> None:
    browser = gallery("/keys")
    do(browser, "click", "combobox", "Size")
    seen = []
    for key in ("ArrowDown", "ArrowRight", "End", "ArrowDown", "ArrowUp", "Home", "ArrowLeft"):
        press(browser, key)
        seen.append(value(browser, "combobox", "Size").strip("'"))
    assert seen == ["Large", "Huge", "Vast", "Vast", "Huge", "Tiny", "Tiny"]


def test_arrows_go_round_radio_buttons_and_tab_stops_at_the_ticked_one() -> None:
    browser = gallery("/keys")
    do(browser, "click", "radio", "Cash")
    ticked = []
    for key in ("ArrowDown", "ArrowRight", "ArrowUp"):
        press(browser, key)
        ticked.append(focused(browser))
        assert find(browser, "radio", ticked[-1]).properties["checked"] == "true"
    assert ticked == ["Loan", "Card", "Loan"]
    press(browser, "Tab")
    assert focused(browser) == "Gift"
    press(browser, "Shift+Tab")
    assert focused(browser) == "Loan"


def test_tab_goes_on_from_what_was_clicked() -> None:
    browser = gallery()
    do(browser, "click", "link", "below")
    press(browser, "Shift+Tab")
    assert focused(browser) == "mail"
    do(browser, "click", "StaticText", "Below")
    press(browser, "Tab")
    assert focused(browser) == "form"


@pytest.mark.parametrize(
    ("role", "name", "keys", "message"),
    [
        ("textbox", "Word", "Ctrl+v", "needs a clipboard"),
        ("textbox", "Word", "Shift+Delete", "needs a clipboard"),
        ("textbox", "Word", "Ctrl+z", "no undo"),
        ("textbox", "Word", "Ctrl+Backspace", "goes by words"),
        ("textbox", "Note", "Home", "goes by lines"),
        ("textbox", "Note", "ArrowUp", "goes by lines"),
        ("textbox", "Day", "ArrowUp", "write all of it with type"),
        ("textbox", "Day", "1", "write all of it with type"),
        ("textbox", "Day", "Tab", "parts of this field"),
        ("spinbutton", "Many", "ArrowUp", "write the number with type"),
        ("spinbutton", "Many", "-", "leaves no number"),
        ("combobox", "Size", "Space", "opens a menu"),
        ("combobox", "Size", "h", "use select"),
        ("option", "One", "ArrowDown", "click an option instead"),
        ("button", "Send", "Ctrl+Enter", "press Enter alone"),
    ],
)
def test_keys_that_a_real_browser_alone_can_follow_are_refused(
    role: str, name: str, keys: str, message: str
) -> None:
    browser = gallery("/keys")
    if role == "button":
        press(browser, "Shift+Tab")
    else:
        do(browser, "click", role, name)
    answer = refusal(browser, f"press [{keys}]")
    assert message in answer
    assert answer.startswith(repr(keys))


def test_shift_and_meta_are_read_the_same_way_for_both_browsers() -> None:
    assert read_keys("Shift+a") == Keys((), "A", "Shift+a")
    assert read_keys("shift+1") == Keys((), "!", "shift+1")
    assert read_keys("Cmd+a") == Keys(("Control",), "a", "Cmd+a")
    assert read_keys("Ctrl+Shift+a") == Keys(("Control", "Shift"), "a", "Ctrl+Shift+a")
