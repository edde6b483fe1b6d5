"""One trajectory, or two side by side, in headless Chromium: words, tokens, scenes and keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agentgym_envs.trajectories.trajectory import ModelCall, Trajectory, Turn, write_jsonl
from tests.benchmarks.viewer.reading import FIRST, summary
from tests.benchmarks.viewer.samples import made, solved, sweep, training_run, two_turns
from tests.benchmarks.viewer.scenes.episodes import expert_episode

pytestmark = pytest.mark.browser
Open = Callable[..., Any]

EXPERT = "cells/expert/Counting/turns_default/seed_0/batch_0000.jsonl:1"
RANDOM = "cells/random/Counting/turns_default/seed_0/batch_0000.jsonl:1"


def said(*completions: str, **values: Any) -> Trajectory:
    """Return an episode in which these are said; each observation tells how often."""
    turns = [
        Turn(f"You spoke {place} times.", text, 0.0, True, 0.0)
        for place, text in enumerate(completions)
    ]
    return made(0, turns=turns, **values)


def compared(folder: Path, opened: Open, one: Trajectory, other: Trajectory) -> Any:
    """Open two episodes side by side."""
    write_jsonl(folder / "played.jsonl", [one, other])
    page = opened(folder, "#t=played.jsonl:1&with=played.jsonl:2")
    page.wait_for_selector(".pair")
    return page


def credited(folder: Path) -> Path:
    """Write a training run with one group, whose attempts were credited otherwise."""
    training_run(folder, steps=0)
    played = [
        made(0, traces=[two_turns(0.35, 0.35, 0.35, 0.35)]),
        made(0, traces=[two_turns(-2.0, -3.0, -1.0, -1.0)]),
    ]
    write_jsonl(folder / "trajectories" / "train_000000.jsonl", played)
    return folder


def at(page: Any, text: str) -> None:
    """Wait until the address ends with a text."""
    page.wait_for_url(f"**{text}")


def test_the_end_says_why_it_is_no_success(tmp_path: Path, opened: Open) -> None:
    reasons = "missing: orders id 7 changed\ntoo much: orders id 8 removed"
    write_jsonl(tmp_path / "played.jsonl", [made(0, status="terminated", verdict=reasons)])
    page = opened(tmp_path, "#t=played.jsonl:1")
    assert page.locator(".turn.end .passage.verdict").inner_text() == reasons


# Two side by side ---------------------------------------------------------------------------------


def test_a_task_of_another_source_is_another_task(tmp_path: Path, opened: Open) -> None:
    played = [made(0, source=f"counting/{n}", policy=f"p{n}") for n in (1, 2)]
    write_jsonl(tmp_path / "one.jsonl", played)
    write_jsonl(tmp_path / "two.jsonl", [made(0, source="counting/1", policy="p3")])
    page = opened(tmp_path, "#t=one.jsonl:1")
    options = page.locator("#compare option").all_inner_texts()
    assert [name for name in ("p2", "p3") if name in " ".join(options)] == ["p3"]


def test_two_policies_stand_side_by_side(tmp_path: Path, opened: Open) -> None:
    page = opened(sweep(tmp_path), f"#t={EXPERT}")
    page.select_option("#compare", index=1)
    page.wait_for_selector(".pair")
    assert page.locator(".side-head h3").all_inner_texts() == ["A · expert", "B · random"]
    assert page.inner_text(".parting") == "From here on the two differ"
    left, right = (page.locator(f"[aria-label='{side} · Turn 1']").bounding_box() for side in "AB")
    assert left["y"] == right["y"]
    assert left["x"] < right["x"]


def test_each_end_says_whose_it_is(tmp_path: Path, opened: Open) -> None:
    page = compared(tmp_path, opened, made(0), solved(0))
    ends = page.locator(".turn.end")
    assert ends.locator("h3").all_inner_texts() == [
        "B · The goal was reached",
        "A · Cut off: turn limit",
    ]
    assert [end.get_attribute("aria-label") for end in ends.all()] == [
        "B · The end: success",
        "A · The end: cut: turn limit",
    ]


def test_the_action_that_is_shown_is_the_one_that_was_played(tmp_path: Path, opened: Open) -> None:
    thoughts = said("<think>a</think>b</think>Action: left", "I see. <think>up</think>Action: jump")
    write_jsonl(tmp_path / "played.jsonl", [thoughts])
    page = opened(tmp_path, "#t=played.jsonl:1")
    page.wait_for_selector(".turn.end")
    assert page.locator(".block.action .passage").all_inner_texts() == ["left", "jump"]
    shown = page.locator(".block.thought .passage").all_inner_texts()
    assert [" ".join(text.split()) for text in shown] == ["a b", "I see. up"]


def test_other_words_for_the_same_action_are_no_parting(tmp_path: Path, opened: Open) -> None:
    one = said("Thought: a\nAction: left", "Action: left", "Action: jump")
    other = said("Action: left", "Action: left", "Action: run")
    page = compared(tmp_path, opened, one, other)
    after = page.locator(".parting + .turn")
    assert after.get_attribute("aria-label") == "A · Turn 3"
    marked = page.locator(".turn:has(.words-differ)")
    assert [one.get_attribute("aria-label") for one in marked.all()] == ["A · Turn 1", "B · Turn 1"]


def test_an_answer_that_differs_parts_the_two(tmp_path: Path, opened: Open) -> None:
    one, other = said("Action: left", "Action: left"), said("Action: left", "Action: left")
    other.turns[1].observation = "The door is shut."
    page = compared(tmp_path, opened, one, other)
    assert page.locator(".parting + .turn").get_attribute("aria-label") == "A · Turn 2"


def test_an_observation_that_stands_beside_is_folded(tmp_path: Path, opened: Open) -> None:
    page = compared(tmp_path, opened, said("Action: left"), said("Action: run"))
    shown = page.locator("[aria-label='B · Turn 1'] .passage.observation")
    assert not shown.is_visible()
    page.click("[aria-label='B · Turn 1'] .same")
    assert shown.inner_text() == "You spoke 0 times."
    assert page.locator("[aria-label='A · Turn 1'] .passage.observation").is_visible()


def test_a_comparison_goes_on_with_the_next_task_and_with_another_attempt(
    tmp_path: Path, opened: Open
) -> None:
    page = opened(sweep(tmp_path), f"#t={EXPERT}&with={RANDOM}&tokens=")
    page.wait_for_selector(".pair")
    page.keyboard.press("l")
    at(page, f"#t={EXPERT.replace('0000', '0001')}&with={RANDOM.replace('0000', '0001')}&tokens=")
    write_jsonl(tmp_path / "own.jsonl", [made(0), solved(0), made(0)])
    page = opened(tmp_path, "#t=own.jsonl:1&with=own.jsonl:2&tokens=")
    page.click(".attempt >> nth=2")
    at(page, "#t=own.jsonl:3&with=own.jsonl:2&tokens=")
    page.wait_for_selector(".attempt[aria-current] >> text=3")
    page.click(".attempt >> nth=1")
    at(page, "#t=own.jsonl:2&with=own.jsonl:3&tokens=")


# What was searched for ----------------------------------------------------------------------------


def test_while_it_is_searched_nothing_is_said_to_be_missing(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path))
    held: list[Any] = []
    page.route("**/api/search?**", lambda route: held.append(route))
    page.fill("input[name=q]", "jump")
    summary(page, "Searching all texts for “jump” …")
    assert page.inner_text(".empty") == "Searching …"
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    summary(page, "6 of 12")


def test_a_hit_is_marked_and_gone_to(tmp_path: Path, opened: Open) -> None:
    long = "\n".join(f"line {number}" for number in range(80))
    episode = said("Action: look", "Action: look", "Action: <b>NEEDLE</b>")
    episode.turns[1].observation = f"{long}\na needle lies here"
    write_jsonl(tmp_path / "played.jsonl", [episode, said("Action: wait")])
    page = opened(tmp_path, "#q=needle")
    summary(page, "1 of 2")
    page.click("#row-0")
    page.wait_for_selector("mark.now")
    assert page.locator("mark.match").all_inner_texts() == ["needle", "NEEDLE"]
    assert page.locator(".turn.current").get_attribute("data-turn") == "2"
    assert page.locator("mark.now").evaluate(
        "mark => { const { top, bottom } = mark.getBoundingClientRect();"
        " return top > 100 && bottom < innerHeight; }"
    )
    assert "“needle”: 1 of 2" in page.inner_text(".matches")
    page.keyboard.press("n")
    assert page.locator(".turn.current").get_attribute("data-turn") == "3"
    assert page.locator(".turn b").count() == 0


# Tokens and their credit --------------------------------------------------------------------------


def test_advantages_are_printed_on_turns_and_on_the_cards_of_the_group(
    tmp_path: Path, opened: Open
) -> None:
    page = opened(credited(tmp_path), "#t=trajectories/train_000000.jsonl:2")
    page.wait_for_selector(".chip.credit")
    assert page.locator(".chip.credit").all_inner_texts() == ["advantage −2.50", "advantage −1"]
    cards = page.locator(".attempt .credit").all_inner_texts()
    assert cards == ["advantage +0.35", "advantage −1.75"]


def test_colours_of_advantages_are_measured_by_the_whole_group(
    tmp_path: Path, opened: Open
) -> None:
    page = opened(credited(tmp_path), f"#t={FIRST}&tokens=")
    page.click(".token-ways [value=advantage]")
    assert page.locator(".token-ways").count() == 1
    assert page.inner_text(".token-scale >> nth=0").split() == ["−3", "+3"]
    credit = page.locator(".token.gain").first.evaluate(
        "one => +one.style.getPropertyValue('--credit')"
    )
    assert credit == pytest.approx(0.35 / 3)
    page.click(".attempt >> nth=1")
    page.wait_for_selector(".token.loss")
    assert page.locator("[value=advantage]").get_attribute("aria-pressed") == "true"


def test_without_advantages_there_is_no_choice_of_colours(tmp_path: Path, opened: Open) -> None:
    page = opened(training_run(tmp_path), f"#t={FIRST}&tokens=")
    page.wait_for_selector(".token-key:visible")
    assert page.locator(".token-ways").count() == 0
    assert page.inner_text(".token-scale >> nth=0").split() == ["100%", "0%"]


def test_arrows_go_through_the_tokens_of_all_turns_and_leave_no_trajectory(
    tmp_path: Path, opened: Open
) -> None:
    page = opened(credited(tmp_path), f"#t={FIRST}&tokens=")
    page.locator(".token.sampled").first.focus()
    turn = "document.activeElement.closest('.turn').dataset.turn"
    for place in ("1", "2", "2", "2"):
        page.keyboard.press("ArrowRight")
        assert page.evaluate(turn) == place
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    assert page.evaluate(turn) == "1"
    assert page.inner_text("#where") == "1 of 2"


# Ways through a long trajectory -------------------------------------------------------------------


def test_keys_go_on_from_the_turn_in_sight(tmp_path: Path, opened: Open) -> None:
    write_jsonl(tmp_path / "played.jsonl", [said(*["Action: wait"] * 40)])
    page = opened(tmp_path, "#t=played.jsonl:1")
    page.mouse.move(600, 500)
    page.mouse.wheel(0, 2500)
    page.wait_for_selector(".past-head")
    page.wait_for_timeout(300)  # a wheel's scrolling has no end that could be waited for
    seen = page.evaluate(
        "Math.max(...[...document.querySelectorAll('.turn')]"
        ".filter(one => one.getBoundingClientRect().top < 110).map(one => +one.dataset.turn))"
    )
    assert seen > 5
    page.keyboard.press("j")
    assert int(page.locator(".turn.current").get_attribute("data-turn")) - seen in (1, 2)


def test_goal_and_outcome_stay_in_the_bar(tmp_path: Path, opened: Open) -> None:
    write_jsonl(tmp_path / "played.jsonl", [said(*["Action: wait"] * 40)])
    page = opened(tmp_path, "#t=played.jsonl:1")
    assert not page.locator(".reminder").is_visible()
    page.keyboard.press("G")
    page.wait_for_selector(".reminder:visible")
    assert page.inner_text(".reminder").split("\n")[-1].endswith("bring the counter to 1")
    assert "cut: turn limit" in page.inner_text(".reminder")


# Scenes -------------------------------------------------------------------------------------------


def browsed(places: int, clicked: int) -> Trajectory:
    """Return an episode that clicks an element far down a page."""
    tree = "\n".join(f"\t[{number}] link 'Item {number}'" for number in range(2, places))
    page = f"Tabs: [0] 'Shop' (current)\nURL: http://shop.test/\n[1] RootWebArea 'Shop'\n{tree}"
    turns = [Turn(page, f"Thought: there\nAction: click [{clicked}]", 0.0, True, 0.0)]
    return made(0, env_id="agentgym/WebArena-v0", turns=turns)


def test_what_was_clicked_is_scrolled_into_its_box(tmp_path: Path, opened: Open) -> None:
    write_jsonl(tmp_path / "played.jsonl", [browsed(90, 70)])
    page = opened(tmp_path, "#t=played.jsonl:1")
    page.wait_for_selector(".scene-node.target")
    box = page.locator(".scene-page").first.bounding_box()
    node = page.locator(".scene-node.target").bounding_box()
    assert box["y"] <= node["y"] <= box["y"] + box["height"] - node["height"]
    assert page.evaluate("document.querySelector('#episode-screen').scrollTop") == 0


def test_a_scene_stays_beside_a_long_observation(tmp_path: Path, opened: Open) -> None:
    write_jsonl(tmp_path / "played.jsonl", [browsed(90, 70)])
    page = opened(tmp_path, "#t=played.jsonl:1")
    page.wait_for_selector(".scene-node.target")
    page.click(".unfold")
    page.evaluate("document.querySelector('#episode-screen').scrollTop = 900")
    page.wait_for_selector(".reminder:visible")
    top = page.locator(".scene").first.bounding_box()["y"]
    assert 90 < top < 200


def test_a_grid_is_enlarged_by_a_click(tmp_path: Path, opened: Open) -> None:
    write_jsonl(tmp_path / "played.jsonl", [expert_episode("agentgym/BabyAI-v0")])
    page = opened(tmp_path, "#t=played.jsonl:1")
    page.click(".scene-zoom >> nth=0")
    small, large = (page.locator(".scene-grid").nth(at).bounding_box() for at in (0, -1))
    assert large["width"] > 1.5 * small["width"]
    page.keyboard.press("Escape")
    page.locator(".scene-large").wait_for(state="detached")
    assert page.locator("#episode-screen").is_visible()


def test_a_turn_tells_what_its_server_told(tmp_path: Path, opened: Open) -> None:
    episode = said("add 1", "add 2")
    episode.turns[0].num_tokens = 20
    episode.turns[1].call = ModelCall(cost=0.001)
    episode.turns[0].call = ModelCall("length", "let me think", 900, 400, 1, 2.34, 0.00123456)
    write_jsonl(tmp_path / "played.jsonl", [episode])
    page = opened(tmp_path, "#t=played.jsonl:1")
    page.wait_for_selector(".turn")
    assert "cost\n0.00223" in page.inner_text("#episode-screen .facts")
    told = page.inner_text(".turn-head .quiet")
    assert told == "20 tokens · 900 read, 400 cached · 2.3 s · 1 retry · cost 0.00123 · length"
    assert "let me think" in page.inner_text(".turn .thought")
