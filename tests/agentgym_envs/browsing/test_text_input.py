import pytest

from tests.agentgym_envs.browsing.gallery import (
    HOME,
    act,
    do,
    find,
    refusal,
    serve,
    texts,
)

gallery = serve()


def test_typing_replaces_and_is_shown() -> None:
    browser = gallery("/form")
    do(browser, "type", "textbox", "Name", "[Ada \"Q\" 'x'] [0]")
    field = find(browser, "textbox", "Name")
    assert field.properties["value"] == repr("Ada \"Q\" 'x'")
    assert field.properties["focused"] == "true"
    do(browser, "type", "textbox", "Name", "[] [0]")
    assert "value" not in find(browser, "textbox", "Name").properties


def test_enter_after_typing_presses_the_first_button() -> None:
    browser = gallery("/form")
    do(browser, "type", "textbox", "Name", "[Ada] [1]")
    assert browser.page().url == HOME + "echo"
    assert "listitem \"go='now'\"" in texts(browser)


def test_enter_in_a_text_area_is_a_new_line() -> None:
    browser = gallery("/form")
    do(browser, "type", "textbox", "Note", "[one\ntwo] [1]")
    assert browser.page().url == HOME + "form"
    do(browser, "click", "button", "Send later")
    assert "listitem \"note='one\\\\r\\\\ntwo\\\\r\\\\n'\"" in texts(browser)
    assert "listitem \"go='later'\"" in texts(browser)


def test_a_form_is_sent_with_what_its_controls_hold() -> None:
    browser = gallery("/form")
    do(browser, "click", "checkbox", "Gift")
    do(browser, "click", "radio", "Cash")
    do(browser, "select", "combobox", "Size", "[small]")
    do(browser, "type", "textbox", "Day", "[2026-03-14] [0]")
    do(browser, "click", "button", "Send")
    assert texts(browser)[2:-1] == [
        "listitem \"name='Mira'\"",
        "listitem \"note='two\\\\r\\\\nlines'\"",
        "listitem \"size='s'\"",
        "listitem \"gift='on'\"",
        "listitem \"pay='cash'\"",
        "listitem \"day='2026-03-14'\"",
        "listitem \"code=''\"",
        "listitem \"fixed='y'\"",
        "listitem \"go='now'\"",
    ]


def test_a_checkbox_toggles_and_a_radio_button_stays() -> None:
    browser = gallery("/form")
    for expected in ("true", "false"):
        do(browser, "click", "checkbox", "Gift")
        assert find(browser, "checkbox", "Gift").properties["checked"] == expected
    for _ in range(2):
        do(browser, "click", "radio", "Cash")
        assert find(browser, "radio", "Cash").properties["checked"] == "true"
        assert find(browser, "radio", "Card").properties["checked"] == "false"


def test_reset_gives_back_what_the_page_came_with() -> None:
    browser = gallery("/form")
    before = [line for line in texts(browser) if "Reset" not in line]
    do(browser, "type", "textbox", "Name", "[Ada] [0]")
    do(browser, "click", "checkbox", "Gift")
    do(browser, "select", "combobox", "Size", "[Small]")
    do(browser, "click", "button", "Reset")
    assert [line for line in texts(browser) if "Reset" not in line] == before


def test_a_field_cuts_what_is_too_long_for_it() -> None:
    browser = gallery("/form")
    do(browser, "type", "textbox", "Code", "[abcdef] [0]")
    assert find(browser, "textbox", "Code").properties["value"] == "'abcd'"


@pytest.mark.parametrize(
    ("verb", "role", "name", "rest", "message"),
    [
        ("type", "heading", "Order", "[x] [0]", "takes no text"),
        ("type", "button", "Send", "[x] [0]", "takes no text"),
        ("type", "checkbox", "Gift", "[x] [0]", "takes no text"),
        ("type", "textbox", "Fixed", "[x] [0]", "takes no text"),
        ("type", "textbox", "Locked", "[x] [0]", "is disabled"),
        ("type", "textbox", "Day", "[tomorrow] [0]", "takes a day like 2026-03-14"),
        ("click", "button", "Off", "", "is disabled"),
        ("hover", "button", "Off", "", "is disabled"),
        ("select", "textbox", "Name", "[x]", "select works on list boxes"),
        ("select", "combobox", "Size", "[Huge]", "'Small', 'Medium size', 'Giant'"),
        ("select", "combobox", "Size", "[Giant]", "no option"),
    ],
)
def test_what_an_element_does_not_take_is_refused(
    verb: str, role: str, name: str, rest: str, message: str
) -> None:
    browser = gallery("/form")
    node = find(browser, role, name)
    answer = refusal(browser, f"{verb} [{node.element}] {rest}".strip())
    assert message in answer
    assert f"[{node.element}] {role}" in answer


def test_clicks_on_text_and_idle_buttons_do_nothing_else_than_move_the_focus() -> None:
    browser = gallery("/form")
    do(browser, "click", "textbox", "Name")
    assert find(browser, "textbox", "Name").properties["focused"] == "true"
    do(browser, "click", "button", "Idle")
    assert find(browser, "button", "Idle").properties["focused"] == "true"
    do(browser, "click", "heading", "Order")
    assert not [node for node in browser.page().nodes if "focused" in node.properties]
    assert browser.page().url == HOME + "form"


def test_get_forms_replace_the_query() -> None:
    browser = gallery("/search?q=old")
    do(browser, "type", "searchbox", "Query", "[a b&c=d~\N{LATIN SMALL LETTER E WITH ACUTE}*] [1]")
    assert browser.page().url == HOME + "search?q=a+b%26c%3Dd%7E%C3%A9*"
    assert "StaticText 'Found a b&c=d~\N{LATIN SMALL LETTER E WITH ACUTE}*'" in texts(browser)


def test_enter_sends_no_form_of_two_fields_without_a_button() -> None:
    browser = gallery("/search")
    do(browser, "type", "textbox", "A", "[x] [1]")
    assert browser.page().url == HOME + "search"
    assert find(browser, "textbox", "A").properties["value"] == "'x'"


def test_keys_act_on_what_has_the_focus() -> None:
    browser = gallery("/form")
    act(browser, "press [Enter]")
    act(browser, "press [Tab]")
    assert "focused" in find(browser, "textbox", "Name").properties
    for key in ("End", "a", "Space", "b", "c", "Backspace"):
        act(browser, f"press [{key}]")
    assert find(browser, "textbox", "Name").properties["value"] == "'Miraa b'"
    do(browser, "click", "checkbox", "Gift")
    act(browser, "press [Space]")
    assert find(browser, "checkbox", "Gift").properties["checked"] == "false"
    act(browser, "press [Shift+Tab]")
    assert "focused" in find(browser, "combobox", "Size").properties
    for keys in ("Ctrl+a", "Escape", "Control+Shift+T", "Ctrl+b", "F5"):
        act(browser, f"press [{keys}]")
    do(browser, "click", "textbox", "Name")
    act(browser, "press [enter]")
    assert browser.page().url == HOME + "echo"


def test_enter_follows_a_focused_link_and_presses_a_focused_button() -> None:
    browser = gallery()
    act(browser, "press [Tab]")
    act(browser, "press [Enter]")
    assert browser.page().url == HOME + "form"
    act(browser, "press [Shift+Tab]")  # the last stop
    assert "focused" in find(browser, "button", "Save").properties
    act(browser, "press [Enter]")
    assert browser.page().url == HOME + "who?saved=1"


@pytest.mark.parametrize("keys", ["Enterr", "Ctrl", "Ctrl+", "Hyper+a", "ab", "\x00"])
def test_unknown_keys_are_refused(keys: str) -> None:
    assert "There is no key" in refusal(gallery("/form"), f"press [{keys}]")


def test_hostile_text_is_cleaned_or_refused() -> None:
    browser = gallery("/form")
    do(browser, "type", "textbox", "Name", "[a\x00b\x1bc\ud800d\ne] [1]")
    assert "listitem \"name='abc?de'\"" in texts(browser)
    browser = gallery("/form")
    node = find(browser, "textbox", "Name")
    assert "100,000" in refusal(browser, f"type [{node.element}] [{'x' * 1_000_000}] [1]")
