"""What the page draws of scenes and tokens, in Chromium under the viewer's own content policy."""

from __future__ import annotations

import pytest

from agentgym_envs import Trajectory, Turn
from benchmarks.viewer.pages import page_files
from benchmarks.viewer.scenes import scene
from tests.benchmarks.viewer.scenes.episodes import expert_episode

pytestmark = pytest.mark.browser

ADDRESS = "http://viewer.test/"
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:"
EVIL = '<img src=x onerror="window.ran = true"></p><script>window.ran = true</script>'
DRAW = """async ([what, values, turn, most]) => {
  const { drawScene, drawTokens } = await import("/scenes.js");
  const box = document.createElement("div");
  document.body.replaceChildren(box);
  return what === "scene" ? drawScene(box, "", values, turn) : drawTokens(box, values, turn, most);
}"""


@pytest.fixture
def page(page):
    """Return a page that has the viewer's files; errors and refused styles fail the test."""
    files = page_files()

    def answer(route):
        name = route.request.url.removeprefix(ADDRESS)
        body, kind = files.get(name, (b"<!DOCTYPE html><body></body>", "text/html"))
        headers = {"Content-Security-Policy": POLICY}
        route.fulfill(body=body, content_type=kind, headers=headers)

    page.route("**/*", answer)
    page.goto(ADDRESS)
    return page


def tokens(**changes):
    trace = {
        "prompt_ids": [1, 2], "prompt_texts": ["<|im_start|>", EVIL],
        "ids": [5, 6, 7, 8], "texts": ["go", "\n", EVIL, " on"], "mask": [1, 1, 0, 1],
        "probabilities": [1.0, 0.5, None, 0.25], "advantages": [0.5, -1.0, None, 0.0],
        "turns": [0, 0, 1, 1],
    }  # fmt: skip
    values = {"tokenizer": "toy", "reason": None, "has_advantages": True}
    return {**values, "traces": [{**trace, **changes}]}


def test_the_grid_shows_every_thing_and_says_what_is_seen(page):
    values = scene(expert_episode("agentgym/BabyAI-v0"))
    assert page.evaluate(DRAW, ["scene", values, 0])
    things = values["turns"][0]["things"]
    assert page.locator(".scene-thing").count() == len(things) > 0
    titles = page.locator(".scene-thing title").all_text_contents()
    assert sorted(titles) == sorted(" ".join(filter(None, (c, s, k))) for _, k, c, s in things)
    assert "facing" in page.get_by_role("img").get_attribute("aria-label")


def test_the_house_shows_every_place_and_what_is_wanted(page):
    values = scene(expert_episode("agentgym/ALFWorld-v0"))
    assert page.evaluate(DRAW, ["scene", values, 0])
    assert page.locator(".scene-place.unseen").count() == len(values["turns"][0]["places"])
    assert page.get_by_text("Holds nothing").count() == 1
    page.evaluate(DRAW, ["scene", values, len(values["turns"]) - 1])
    assert page.locator(".scene-place.here").inner_text().startswith("shelf")
    assert "cup 1 (hot)" in page.locator(".scene-place.here mark").all_text_contents()


def test_the_shop_shows_what_is_asked_for_and_what_is_met(page):
    values = scene(expert_episode("agentgym/WebShop-v0"))
    asked = values["about"]["asked"]
    page.evaluate(DRAW, ["scene", values, 1])
    assert page.locator(".scene-tree li").all_text_contents() == asked
    assert page.locator(".scene-place").count() == 10
    page.evaluate(DRAW, ["scene", values, len(values["turns"]) - 1])
    assert page.get_by_label("is met", exact=True).count() == len(asked)
    assert page.locator(".scene-note").inner_text().startswith("Bought ")


def test_the_last_result_is_a_table_that_may_be_the_answer(page):
    values = scene(expert_episode("agentgym/SQL-v0"))
    page.evaluate(DRAW, ["scene", values, 0])
    assert page.get_by_text("No statement has given a result yet").count() == 1
    page.evaluate(DRAW, ["scene", values, len(values["turns"]) - 1])
    assert page.locator(".scene-result td").all_text_contents() == values["turns"][-1]["rows"][0]
    assert page.locator(".scene-note.found").inner_text() == "The last result is the answer"


def test_the_maze_shows_walls_goal_and_agent(page):
    values = scene(expert_episode("agentgym/Maze-v0"))
    assert page.evaluate(DRAW, ["scene", values, 0])
    assert page.locator(".scene-maze circle").count() == 2
    said = page.get_by_role("img").get_attribute("aria-label")
    assert said == "At row 1, column 5; the goal is at row 8, column 6"


def test_the_guesses_have_a_tile_for_each_letter(page):
    values = scene(expert_episode("agentgym/Wordle-v0"))
    page.evaluate(DRAW, ["scene", values, 0])
    assert page.locator(".scene-tile").count() == page.locator(".scene-tile.none").count() == 30
    page.evaluate(DRAW, ["scene", values, len(values["turns"]) - 1])
    assert page.locator(".scene-tile.here").count() >= 5
    assert page.get_by_text("1 of 1929 words fits").count() == 1


def test_the_recipe_tree_and_the_inventory_are_those_of_the_turn(page):
    values = scene(expert_episode("agentgym/TextCraft-v0"))
    page.evaluate(DRAW, ["scene", values, 0])
    assert page.locator(".scene-item").count() == len(values["about"]["tree"])
    assert page.get_by_text("Holds nothing").count() == 1
    page.evaluate(DRAW, ["scene", values, len(values["turns"]) - 1])
    assert page.locator(".scene-tree > li > .scene-item.there").count() == 1
    assert page.get_by_label("Inventory").inner_text().endswith(values["about"]["goal"])


def test_a_turn_that_a_scene_does_not_have_draws_nothing(page):
    values = scene(expert_episode("agentgym/TextCraft-v0"))
    assert not page.evaluate(DRAW, ["scene", values, len(values["turns"])])
    assert not page.evaluate(DRAW, ["scene", {"kind": None, "turns": None}, 0])
    assert not page.evaluate(DRAW, ["scene", None, 0])
    assert page.locator("body > div").inner_html() == ""


def test_texts_of_pages_and_documents_stay_texts(page):
    search = f"<information>Doc 1(Title: T) {EVIL}</information>"
    web = f"Tabs: [0] {EVIL!r} (current)\nURL: {EVIL}\n[1] RootWebArea {EVIL!r}"
    for env_id, observation in (("agentgym/SearchQA-v0", search), ("agentgym/WebArena-v0", web)):
        turns = [Turn(observation, "", 0.0, True, 0.0)]
        values = scene(Trajectory(env_id, "none_1", turns=turns, goal=EVIL))
        assert page.evaluate(DRAW, ["scene", values, 0])
        assert EVIL in page.locator("body").text_content()
    page.evaluate(DRAW, ["tokens", tokens(), 1])
    assert EVIL.replace("\n", "") in page.locator(".token.given").text_content()
    assert page.locator("img, script").count() == 0
    assert not page.evaluate("window.ran")


def test_the_element_that_was_acted_on_stands_out(page):
    text = "URL: http://shop.test/\n[1] RootWebArea 'Shop'\n\t[2] link 'Buy'"
    turns = [Turn(text, "```click [2]```", 0.0, True, 0.0)]
    values = scene(Trajectory("agentgym/WebArena-v0", "webarena_1", turns=turns))
    page.evaluate(DRAW, ["scene", values, 0])
    assert "Buy" in page.locator(".scene-node.target").inner_text()


def test_tokens_tell_what_they_were_sampled_with_by_pointer_and_by_key(page):
    page.evaluate(DRAW, ["tokens", tokens(), 0])
    assert page.locator(".token.sampled").count() == 2
    page.locator(".token.sampled").first.hover()
    assert "sampled with 100% · advantage +0.500" in page.locator(".token-told").inner_text()
    page.locator(".token.sampled").first.focus()
    page.keyboard.press("ArrowRight")
    assert "50.0% · advantage -1.000" in page.locator(".token-told").inner_text()


def test_the_prompt_unfolds_where_the_tokens_begin_and_nowhere_else(page):
    page.evaluate(DRAW, ["tokens", tokens(), 0])
    page.get_by_text("The prompt: 2 tokens").click()
    page.locator(".token-prompt .token").nth(1).wait_for()  # drawn when the toggle is heard
    assert page.locator(".token-prompt .token").count() == 2
    page.evaluate(DRAW, ["tokens", tokens(), 1])
    assert page.locator(".token-prompt").count() == 0


def test_ids_stand_for_texts_where_there_are_none(page):
    page.evaluate(DRAW, ["tokens", tokens(texts=None, prompt_texts=None), 0])
    assert page.locator(".token-flow").first.inner_text().split() == ["5", "6"]


def test_advantages_are_as_strong_as_their_part_of_the_strongest(page):
    page.evaluate(DRAW, ["tokens", tokens(), 0, 4.0])
    found = page.locator(".token.sampled").evaluate_all(
        "all => all.map(one => [one.classList[2], one.style.getPropertyValue('--credit')])"
    )
    assert found == [["gain", "0.125"], ["loss", "0.25"]]
