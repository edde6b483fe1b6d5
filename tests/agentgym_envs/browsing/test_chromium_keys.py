"""Every key does the same in both browsers, or the text browser says that it cannot follow."""

from __future__ import annotations

import pytest

from tests.agentgym_envs.browsing.chromium_pairs import open_gallery, play, shown

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("chromium")]

WORD, NOTE, SIZE = "click [textbox:Word]", "click [textbox:Note]", "click [combobox:Size]"
FOLLOWED = {
    WORD: [
        "Ctrl+a Backspace",
        "Ctrl+A x",
        "Ctrl+a ArrowLeft x Ctrl+a ArrowRight y",
        "Ctrl+a Shift+ArrowLeft x",
        "Ctrl+a Shift+ArrowRight Shift+Home x",
        "Home Delete ArrowRight x ArrowLeft y Home Backspace",
        "Shift+ArrowLeft Shift+ArrowLeft z Shift+Home Delete",
        "ArrowUp x ArrowDown y",
        "Home ArrowRight Shift+ArrowDown x",
        "Ctrl+Home x Ctrl+End y PageUp z",
        "Shift+a Shift+A Shift+1 Shift+Space Ctrl+Space Alt+a Ctrl+b Shift+Backspace Escape",
        "Ctrl+Shift+a x Alt+ArrowLeft Ctrl+Enter Shift+Enter",
        "\u00e9 Ctrl+\u00e9",
    ],
    "click [textbox:Short]": ["x Home y Delete z"],
    NOTE: ["Enter x Shift+Enter y Ctrl+Enter", "Ctrl+Home Delete Shift+ArrowRight x Ctrl+a z"],
    "type [textbox:Note] [abc] [0]": ["Tab Shift+Tab x", "Shift+Tab x Tab y"],
    "click [spinbutton:Many]": ["3 x Backspace Home 8 Delete Ctrl+a 7"],
    "click [searchbox:Sought]": ["x Home Shift+ArrowRight Escape Backspace"],
    SIZE: [
        "ArrowDown ArrowDown ArrowDown ArrowDown ArrowUp Home End ArrowLeft ArrowRight",
        "Ctrl+ArrowDown Shift+ArrowDown Ctrl+Home Backspace Enter",
    ],
    "click [option:Two]": ["Enter"],
    "click [radio:Cash]": [
        "ArrowDown ArrowDown ArrowLeft ArrowUp Shift+ArrowDown Ctrl+ArrowDown Tab Shift+Tab"
    ],
    "click [checkbox:Gift]": ["ArrowDown x Space Shift+Space Ctrl+Space Shift+Tab Shift+Tab"],
    "click [heading:Keys]": ["Tab x Tab Shift+Tab y", "Shift+Tab"],
}


@pytest.mark.parametrize(("first", "keys"), [(f, k) for f in FOLLOWED for k in FOLLOWED[f]])
def test_both_browsers_follow_keys_the_same_way(first: str, keys: str) -> None:
    with open_gallery("/keys") as (text, chromium):
        for action in (first, *(f"press [{key}]" for key in keys.split())):
            assert play(chromium, action) == play(text, action) == "", action
            assert shown(chromium.page()) == shown(text.page()), action
