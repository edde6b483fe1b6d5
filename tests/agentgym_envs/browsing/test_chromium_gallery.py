from __future__ import annotations

import pytest

from tests.agentgym_envs.browsing.chromium_pairs import open_gallery, play, shown

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("chromium")]

SCRIPTS = {
    "a link, and back": ["click [link:form]", "go_back", "go_forward", "go_forward", "go_back"],
    "a fragment": ["click [link:below]", "go_back", "click [link:below]", "go_back", "go_back"],
    "a query and a fragment": ["click [link:search?q=old#top]", "go_back", "go_forward"],
    "redirects": ["click [link:away]", "go_back", "click [link:who]", "click [link:forget]"],
    "referers": ["click [link:who]", "click [link:again]", "goto [http://homepage.test/who]"],
    "nothing to show": ["click [link:empty]", "click [link:file]", "click [link:form]", "go_back"],
    "a mail link": ["click [link:mail]"],
    "plain text": ["click [link:plain]"],
    "addresses": [
        "goto [homepage.test/form]",
        "goto [ftp://homepage.test/]",
        "goto [file:///etc/passwd]",
        "goto [javascript:alert(1)]",
        "goto [about:blank]",
        "go_back",
        "goto [http://elsewhere.test/]",
        "goto [http://homepage.test/words/a%20b%26c]",
        "goto [http://homepage.test/words/%C3%A4?x=1&x=2#y]",
        "goto [http://homepage.test/nothing]",
    ],
    "tabs": [
        "new_tab",
        "goto [http://homepage.test/form]",
        "new_tab",
        "go_back",
        "tab_focus [0]",
        "click [link:who]",
        "tab_focus [1]",
        "tab_focus [9]",
        "close_tab",
        "close_tab",
        "close_tab",
        "close_tab",
        "go_back",
    ],
    "ids that are not there": ["click [99]", "hover [99]", "type [99] [x]", "select [99] [x]"],
    "what takes no text": [
        "type [link:form] [x]",
        "select [link:form] [x]",
        "click [heading:Home]",
    ],
    "keys that are not there": ["press [Foo]", "press [Ctrl+]", "press [é]", "press [Meta+a]"],
}
FORM_SCRIPTS = {
    "typing": [
        "type [textbox:Name] [Ada \"Q\" 'x'] [0]",
        "type [textbox:Name] [] [0]",
        "type [textbox:Name] [  two   words ] [0]",
        "type [textbox:Code] [123456] [0]",
        "type [textbox:Note] [one\ntwo] [0]",
        "type [textbox:Day] [2026-03-14] [0]",
        "type [textbox:Day] [yesterday] [0]",
        "type [textbox:Fixed] [x] [0]",
        "type [textbox:Locked] [x] [0]",
        "type [button:Send] [x] [0]",
        "type [textbox:Name] [a\x00b\ud800c\n\t\u00e4\U0001f600] [0]",
        "click [button:Send]",
        "go_back",
    ],
    "typing and Enter": ["type [textbox:Name] [Ada] [1]", "go_back"],
    "Enter in a text area": ["type [textbox:Note] [one] [1]", "click [button:Send later]"],
    "boxes and circles": [
        "click [checkbox:Gift]",
        "click [radio:Cash]",
        "click [radio:Cash]",
        "click [checkbox:Gift]",
        "click [checkbox:Gift]",
        "click [button:Send]",
    ],
    "lists": [
        "select [combobox:Size] [Small]",
        "select [combobox:Size] [medium size]",
        "select [combobox:Size] [Giant]",
        "select [combobox:Size] [Huge]",
        "select [textbox:Name] [Small]",
        "select [combobox:Size] [small]",
        "click [combobox:Size]",
        "click [button:Send]",
    ],
    "buttons": [
        "click [button:Idle]",
        "click [button:Off]",
        "hover [button:Off]",
        "hover [button:Send]",
        "type [textbox:Name] [Ada] [0]",
        "click [button:Reset]",
        "click [button:Save]",
    ],
    "a posted page": [
        "click [button:Send]",
        "click [link:Home]",
        "go_back",
        "go_back",
        "go_forward",
        "click [link:Home]",
        "go_back",
    ],
    "a required field left empty": ["type [textbox:Name] [] [0]", "click [button:Send]"],
    "keys": [
        "click [textbox:Name]",
        "press [x]",
        "press [Space]",
        "press [Backspace]",
        "press [Tab]",
        "press [Shift+Tab]",
        "press [Enter]",
    ],
}


def agree(path: str, actions: list[str]) -> None:
    with open_gallery(path) as (text, chromium):
        assert shown(chromium.page()) == shown(text.page())
        for action in actions:
            assert play(chromium, action) == play(text, action), action
            assert shown(chromium.page()) == shown(text.page()), action


@pytest.mark.parametrize("name", SCRIPTS)
def test_both_browsers_do_the_same(name: str) -> None:
    agree("/", SCRIPTS[name])


@pytest.mark.parametrize("name", FORM_SCRIPTS)
def test_both_browsers_fill_a_form_the_same_way(name: str) -> None:
    agree("/form", FORM_SCRIPTS[name])


def test_endless_redirects_end_on_a_page() -> None:
    with open_gallery() as (text, chromium):
        for browser in (text, chromium):
            play(browser, "click [link:loop]")
            assert "too many times" in " ".join(node.name for node in browser.page().nodes)
            play(browser, "go_back")
            assert browser.page().title == "Home"
