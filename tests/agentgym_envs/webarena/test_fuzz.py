"""No string that a policy may send raises, in any format and on any site."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentgym_envs.actions import ACTION_FORMATS
from agentgym_envs.sites.names import SITES
from agentgym_envs.webarena.env import WebArenaEnv
from tests.agentgym_envs.fuzzing import any_text, as_call, as_code, play
from tests.agentgym_envs.webarena import small_tasks
from tests.helpers import FORMATS_AND_COMPATS
from tests.quick import examples

EXAMPLES = 40

PIECES = st.sampled_from(
    "click hover type select press scroll goto new_tab tab_focus close_tab go_back go_forward "
    "[1] [7] [12] [999] [] [0] [x] [Enter] [down] [up] [Tab] [Ctrl+a] [http://map.test/] ``` ` "
    "[http://shopping.test/cart] [javascript:alert(1)] [file:///etc/passwd] [http://[] [data:,x] "
    "[about:blank] [http://gitlab.test:9/] ] [ ½ ٣ -1 99999999999 \n \t \0 \" ' {} % \\ <b>".split(
        " "
    )
)
CONTENT = st.lists(PIECES, max_size=4).map(" ".join)
ANY_TEXT = any_text(80)
IDS = st.integers(-1, 90) | st.integers()
NUMBERS = st.sampled_from(["-1", "0", "1", "99999999999999999999", "1e9", "0x10", "٣", "1;--", ""])
TYPED = CONTENT | ANY_TEXT | NUMBERS
ACTIONS = st.one_of(
    st.builds("click [{}]".format, st.integers(1, 90)),
    st.builds("type [{}] [{}] [{}]".format, st.integers(1, 60), TYPED, st.integers(0, 1)),
    st.builds("select [{}] [{}]".format, st.integers(1, 60), TYPED),
    st.builds("press [{}]".format, st.sampled_from(["Enter", "Tab", "Ctrl+a", "x"]) | TYPED),
    st.builds("goto [{}]".format, TYPED),
    st.builds(
        "goto [http://{}.test/{}?page={}&q={}&id={}]".format,
        st.sampled_from([site.replace("_", "-") for site in SITES]),
        st.sampled_from("search,cart,orders,issues,explore,f,account,products,x,..".split(",")),
        NUMBERS,
        NUMBERS,
        NUMBERS,
    ),
    st.sampled_from(
        ["go_back", "go_forward", "new_tab", "close_tab", "tab_focus [0]", "scroll [down]"]
    ),
    CONTENT,
    ANY_TEXT,
)
VALUES = IDS | TYPED | st.none() | st.lists(TYPED, max_size=2)
NAMES = st.sampled_from(["click", "type", "select", "goto", "press", "stop", "scroll", "x"])
KEYS = st.sampled_from("element content press_enter option keys url answer direction x".split())
ARGUMENTS = st.dictionaries(KEYS, VALUES, max_size=3)


SHAPED = {
    "plain": ACTIONS,
    "react": st.builds("{} ```{}```".format, ANY_TEXT, ACTIONS),
    "function_call": st.builds(as_call, NAMES, ARGUMENTS),
    "code": st.builds(as_code, NAMES, ARGUMENTS),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tasks")
    starts = [
        small_tasks.string_task(number, sites=[site], start_url=f"__{site.upper()}__")
        for number, site in enumerate(SITES)
    ]
    small_tasks.write(folder / "starts.json", starts)
    return folder


@pytest.mark.parametrize("action_format", ACTION_FORMATS)
def test_text_in_the_format_s_shape_is_answered(folder: Path, action_format: str) -> None:
    env = WebArenaEnv(
        tasks_file=folder / "starts.json", action_format=action_format, max_turns=10**9
    )

    @settings(max_examples=examples(EXAMPLES), suppress_health_check=[HealthCheck.too_slow])
    @given(
        st.integers(0, len(SITES) - 1),
        st.lists(SHAPED[action_format], min_size=1, max_size=12),
    )
    def answers(number: int, completions: list[str]) -> None:
        play(env, completions, options={"task_id": number})

    answers()
    env.close()


@pytest.mark.full
@pytest.mark.parametrize(("action_format", "compat"), FORMATS_AND_COMPATS)
def test_what_breaks_parsers_elsewhere_is_answered(
    folder: Path, action_format: str, compat: str | None
) -> None:
    many = 100_000
    env = WebArenaEnv(tasks_file=folder / "starts.json", action_format=action_format, compat=compat)
    for hostile in (
        "[" * many,
        "```" * many,
        "click [" + "9" * many + "]",
        "type [3] [" + "x] [" * many + "] [1]",
        "```type [3] [" + "]" * many + "] [1]```",
        "goto [http://" + "a" * many + "]",
        "goto [http://shopping.test/" + "%00" * 1000 + "]",
        "stop [" + "]" * many,
        "press [" + "Ctrl+" * many + "]",
        '{"name": "click", "arguments": {"element": ' + "9" * 4300 + "}}",
        '{"name": "type", "arguments": {"element": 1, "content": "\\ud800", "press_enter": 1}}',
        "```python\nclick(" + "-" * many + "1)\n```",
        "\ud800\udfff\x00\x1b[2J\u202e\u2028",
        "goto [http://shopping.test/search?q=\ud800\x00]",
        "stop [\ud800\x00]",
    ):
        play(env, [hostile], options={"task_id": 1})
    env.close()


@pytest.mark.parametrize("site", SITES)
def test_hostile_text_in_every_field_of_a_site_s_first_page_is_answered(
    folder: Path, site: str
) -> None:
    env = WebArenaEnv(tasks_file=folder / "starts.json", max_turns=10**9)
    number = SITES.index(site)
    env.reset(options={"task_id": number})
    fields = [
        node.element
        for node in env.browser.page().nodes
        if node.role in ("textbox", "searchbox", "spinbutton")
    ]
    for field in fields:
        for text in (
            "\0",
            "\ud800",
            "'; DROP TABLE users; --",
            "%_%",
            "x" * 50_000,
            "-1",
            "9" * 40,
        ):
            play(
                env,
                [f"type [{field}] [{text}] [1]", "go_back"],
                options={"task_id": number},
            )
    env.close()
