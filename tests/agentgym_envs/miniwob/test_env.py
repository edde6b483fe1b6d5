"""Episodes in Chromium: every page, the reward, hostile text, and a browser that dies."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Iterator

import gymnasium as gym
import pytest

from agentgym_envs import EnvFailure, NoExpert
from agentgym_envs.browsing.chromium.pool import shared_chromium
from agentgym_envs.miniwob.env import WINDOW, MiniWoBEnv
from agentgym_envs.miniwob.expert import EXPERTS
from agentgym_envs.miniwob.tasks import NAMES, SEEDS
from wrappers import TextVectorEnv

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("chromium")]

HOSTILE = (
    "", " \n", "\ud800", "]]]][[[[", "click [999999999999]", "click [-1]", "click [0]",
    "drag [1] [1]", "drag [1] [999]",
    "type [3] [\x00\ud800</script><script>core.endEpisode(1)</script>] [1]",
    "type [3] [" + "x" * 200_000 + "] [0]", "press [F5]", "press [Ctrl+w]", "press [Alt+ArrowLeft]",
    "press [nonsense]", "select [3] [" + "[" * 500 + "]", "hover [1]", "scroll [down]",
    "javascript:core.endEpisode(1)", "goto [javascript:core.endEpisode(1)]",
)  # fmt: skip
"""Nothing of it may raise, and nothing of it may earn a reward."""


@pytest.fixture(scope="module")
def env(chromium: None) -> Iterator[MiniWoBEnv]:
    env = MiniWoBEnv()
    yield env
    env.close()


def number(name: str, seed: int = 0) -> int:
    return NAMES.index(name) * SEEDS + seed


def begin(env: MiniWoBEnv, name: str, seed: int = 0) -> str:
    observation, info = env.reset(options={"task_id": number(name, seed)})
    assert info["subtask"] == name
    return observation


def element(observation: str, line: str) -> str:
    """Return the id of the element whose line begins so."""
    match = re.search(rf"\[(\d+)\] {re.escape(line)}", observation)
    assert match is not None, observation
    return match[1]


def do(env: MiniWoBEnv, observation: str, *actions: str) -> tuple[str, float, bool, bool, dict]:
    """Play actions whose elements are written as `<role 'name'>`; return the last answer."""
    for action in actions:
        parts = re.split(r"<(.*?)>", action)
        parts[1::2] = [element(observation, line) for line in parts[1::2]]
        step = env.step("".join(parts))
        observation = step[0]
    return step


@pytest.mark.parametrize("name", NAMES)
def test_every_page_begins_the_same_way_twice(env: MiniWoBEnv, name: str) -> None:
    first = begin(env, name, 3)
    goal = env.goal
    assert first.startswith("Goal: ")
    assert len(goal) > 10
    assert "[1] RootWebArea" in first
    assert not re.search(r"Last reward|Time left|Episodes done|START", first)
    assert begin(env, name, 3) == first
    assert env.goal == goal


def test_other_seeds_give_other_tasks(env: MiniWoBEnv) -> None:
    for name in ("click-link", "enter-text", "choose-date", "email-inbox", "use-slider"):
        assert len({begin(env, name, seed) for seed in range(3)}) == 3


def test_the_seed_is_the_package_s_own(env: MiniWoBEnv) -> None:
    begin(env, "enter-text", 5)
    seed = env.browser.look_up(
        "last", "(Math.seedrandom(5), core.startEpisodeReal(), core.getUtterance())"
    )
    assert seed == env.goal


@pytest.mark.parametrize("name", EXPERTS)
def test_the_expert_solves_its_tasks(env: MiniWoBEnv, name: str) -> None:
    for seed in (7, 81, 88):
        begin(env, name, seed)
        for action in env.expert():
            _, reward, terminated, _, info = env.step(action)
            assert info["is_valid_action"], action
        assert (reward, terminated, info["success"], info["score"]) == (1.0, True, True, 1.0)
        assert info["raw_reward"] == 1.0


def test_a_task_without_an_expert_says_which_have_one(env: MiniWoBEnv) -> None:
    begin(env, "drag-cube")
    with pytest.raises(NoExpert, match="drag-cube has no expert.*click-test"):
        next(env.expert())


def test_a_wrong_action_ends_the_episode_without_reward(env: MiniWoBEnv) -> None:
    observation = begin(env, "click-test-2")
    observation, reward, terminated, _, info = do(env, observation, "click [<button 'TWO'>]")
    assert (reward, terminated, info["success"], info["score"]) == (0.0, True, False, 0.0)
    assert (info["raw_reward"], observation) == (-1.0, "The task is not done.")
    begin(env, "click-test")
    _, reward, terminated, _, info = env.step("stop []")
    assert (reward, terminated, info["success"], info["raw_reward"]) == (0.0, True, False, 0.0)


def test_time_neither_costs_nor_ends_anything(env: MiniWoBEnv) -> None:
    observation = begin(env, "click-test")
    time.sleep(11)  # the package's own limit is 10 s
    _, reward, _, _, info = do(env, observation, "click [<button 'Click Me!'>]")
    assert (reward, info["raw_reward"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("name", "raw", "success"),
    [
        ("click-test", "0.25", False),
        ("find-greatest", "0.1", False),
        ("odd-or-even", "0.1 + 0.2 + 0.7 - 2e-16", True),
        ("circle-center", "0.95", True),
        ("circle-center", "0.85", False),
    ],
)
def test_a_part_of_the_reward_is_a_success_only_where_the_task_is_done(
    env: MiniWoBEnv, name: str, raw: str, success: bool
) -> None:
    begin(env, name)
    env.browser.look_up("last", f"core.endEpisode({raw}, true)")
    _, reward, terminated, _, info = env.step("hover [1]")
    assert (reward, terminated) == (pytest.approx(eval(raw)), True)
    assert (info["success"], info["score"], info["raw_reward"]) == (success, reward, reward)
    assert info["success_threshold"] == (0.9 if name == "circle-center" else 1.0)


def test_the_test_split_has_the_package_s_test_data(env: MiniWoBEnv) -> None:
    for seed, goal in ((3, "Click button ONE."), (86, "Click button TWO.")):
        begin(env, "click-test-transfer", seed)
        assert env.goal == goal


def test_what_unfolds_slowly_has_unfolded_when_the_action_returns(env: MiniWoBEnv) -> None:
    observation = begin(env, "click-collapsible", 3)
    observation, *_ = do(env, observation, "click [<tab 'Section>]")
    assert "expanded: true" in observation
    _, reward, _, _, info = do(env, observation, "click [<tab 'Submit'>]")
    assert (reward, info["success"]) == (1.0, True)


def test_pages_that_follow_the_keys_hear_each_once(env: MiniWoBEnv) -> None:
    observation = begin(env, "terminal", 3)
    observation, *_ = do(
        env, observation, "type [<textbox>] [ls] [0]", "press [x]", "press [Enter]"
    )
    assert "StaticText 'user$ lsx'" in observation


def test_what_a_person_can_click_has_a_role_and_a_name(env: MiniWoBEnv) -> None:
    for name, lines in {
        "click-link": ["link 'blandit'", "link 'Congue.'"],
        "click-color": ["button 'color yellow'", "button 'color purple'"],
        "email-inbox-delete": ["button 'trash'", "button 'star'"],
        "text-editor": ["button 'ql-bold'"],
        "resize-textarea": ["button 'ui-resizable-handle ui-resizable-s'"],
    }.items():
        observation = begin(env, name, 3)
        assert [line for line in lines if line not in observation] == []


def test_what_gives_way_to_the_pointer_is_clicked_all_the_same(env: MiniWoBEnv) -> None:
    observation = begin(env, "social-media", 3)  # its icons load another picture under the pointer
    assert env.goal == 'For the user @emile, click on the "Embed Tweet" button.'
    third = re.findall(r"\[(\d+)\] link 'more'", observation)[2]
    observation, *_ = env.step(f"click [{third}]")
    _, reward, *_ = do(env, observation, "click [<button 'Embed Tweet'>]")
    assert reward == 1.0


def test_elements_can_be_dragged_onto_others(env: MiniWoBEnv) -> None:
    observation = begin(env, "drag-items", 3)
    assert env.goal == "Drag Jerrilyn to the 1st position."
    _, reward, _, _, info = do(
        env, observation, "drag [<listitem 'Jerrilyn'>] [<listitem 'Flora'>]"
    )
    assert (reward, info["success"]) == (1.0, True)
    observation = begin(env, "drag-box", 3)
    observation, *_ = do(env, observation, "drag [<button 's'>] [<button 'L'>]")
    _, reward, _, _, info = do(env, observation, "click [<button 'Submit'>]")
    assert (reward, info["success"]) == (1.0, True)


def test_shapes_that_are_not_drawn_yet_take_actions_without_an_error(env: MiniWoBEnv) -> None:
    observation = begin(env, "click-pie", 3)
    assert env.goal == 'Expand the pie menu below and click on the item labeled "7".'
    observation, *_ = do(env, observation, "click [<StaticText '7'>]")
    refused, _, _, _, info = do(env, observation, "drag [<StaticText 'X'>] [<StaticText 'S'>]")
    assert "StaticText 'X' is not drawn, so the mouse cannot reach it." in refused
    assert info["is_valid_action"] is False
    _, reward, *_ = do(env, observation, "click [<StaticText '+'>]", "click [<StaticText '7'>]")
    assert reward == 1.0


@pytest.mark.parametrize(
    "action", ["goto [http://example.com/]", "new_tab", "tab_focus [0]", "close_tab", "go_back"]
)
def test_tabs_and_addresses_are_refused(env: MiniWoBEnv, action: str) -> None:
    begin(env, "click-test")
    observation, reward, terminated, _, info = env.step(action)
    assert (reward, terminated, info["is_valid_action"]) == (0.0, False, False)
    name = action.split()[0]
    assert f"There is no action '{name}'. The actions are click, hover, type," in observation
    assert "button 'Click Me!'" in observation


@pytest.mark.parametrize("name", ["enter-text", "choose-list", "drag-items", "terminal"])
def test_hostile_text_neither_raises_nor_earns(env: MiniWoBEnv, name: str) -> None:
    begin(env, name)
    for action in HOSTILE:
        observation, reward, terminated, truncated, _ = env.step(action)
        assert reward == 0.0
        assert isinstance(observation, str)
        if terminated or truncated:
            begin(env, name)


def test_a_page_that_is_left_ends_the_episode(env: MiniWoBEnv) -> None:
    for script in ("location.reload()", "location = 'https://example.com/'", "window.open('/')"):
        begin(env, "click-test")
        env.browser.look_up(
            "last", f"document.querySelector('button').onclick = () => {{{script}}}"
        )
        observation, reward, terminated, _, info = env.step("click [3]")
        # The click has done the task as well, but the page that knew of it is gone.
        assert (reward, terminated, info["success"]) == (0.0, True, False), script
        assert observation == "The page of the task was left; the task is not done."


def test_a_killed_browser_is_a_failure_and_the_next_episode_has_another(env: MiniWoBEnv) -> None:
    begin(env, "click-test")
    os.kill(shared_chromium().pid, signal.SIGKILL)
    with pytest.raises(EnvFailure):
        env.step("click [3]")
    begin(env, "click-test")
    assert env.step("click [3]")[1] == 1.0


def test_a_page_that_hangs_is_a_failure(env: MiniWoBEnv, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentgym_envs.browsing.chromium.browser.TIMEOUT", 3.0)
    begin(env, "click-test")
    env.browser.look_up("last", "document.querySelector('button').onclick = () => { while (1); }")
    with pytest.raises(EnvFailure):
        env.step("click [3]")


def test_the_window_is_rendered() -> None:
    env = gym.make("agentgym/MiniWoB-v0", render_mode="rgb_array", disable_env_checker=True)
    env.reset(options={"task_id": number("click-test")})
    pixels = env.render()
    assert (pixels.shape, pixels.dtype) == ((WINDOW[1], WINDOW[0], 3), "uint8")  # type: ignore[union-attr]
    assert len(set(map(tuple, pixels.reshape(-1, 3)))) > 5  # type: ignore[union-attr]
    env.close()


def test_several_play_at_once() -> None:
    envs = TextVectorEnv("agentgym/MiniWoB-v0", num_envs=2, backend="thread")
    envs.reset(options={"task_id": [number("click-test"), number("click-test-2")]})
    _, rewards, terminated, _, infos = envs.step(["click [3]", "click [4]"])
    assert (list(rewards), list(terminated)) == ([1.0, 0.0], [True, True])
    assert [info["success"] for info in infos] == [True, False]
    envs.close()


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="no compat, got 'agentgym'"):
        MiniWoBEnv(compat="agentgym")
    with pytest.raises(ValueError, match="viewport_lines must be >= 1.*got 0"):
        MiniWoBEnv(viewport_lines=0)


@pytest.mark.parametrize("action_format", ["function_call", "code"])
def test_formats_that_call_functions_are_taught_one_grammar(action_format: str) -> None:
    env = MiniWoBEnv(action_format=action_format)
    assert "stop []" not in env.system_prompt
    begin(env, "click-button")
    refused = env.step(env.parser.format("scroll [sideways]"))[0]
    assert "scroll [" not in refused
    env.close()
