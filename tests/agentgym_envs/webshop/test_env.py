from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

pytest.importorskip("rapidfuzz")

from agentgym_envs.webshop.catalogue import EMBEDDED, Shop
from agentgym_envs.webshop.env import WebShopEnv
from tests.agentgym_envs.webshop.shops import original_folder


def made(**kwargs: Any) -> WebShopEnv:
    env = gym.make("agentgym/WebShop-v0", **kwargs).unwrapped
    assert isinstance(env, WebShopEnv)
    return env


@pytest.fixture
def env() -> WebShopEnv:
    env = made(max_turns=100)
    env.reset(options={"task_id": "webshop_6775"})
    return env


def on_a_product(env: WebShopEnv) -> None:
    env.step("search[desk lamp]")
    env.step(f"click[{env.visit.shown_hits[0].asin}]")


def test_the_splits_are_agentgym_s() -> None:
    env = made()
    ids = {split: env.task_ids(split) for split in ("train", "validation", "test")}
    assert [len(listed) for listed in ids.values()] == [6710, 50, 150]
    assert (ids["validation"][0], ids["test"][-1]) == ("webshop_6710", "webshop_6909")


def test_no_product_of_the_tests_is_trained_on() -> None:
    goals = made().shop.goals
    trained = {goal.product.asin for goal in goals[:6710]}
    held_out = [goal.product.asin for goal in goals[6710:]]
    assert len(set(held_out)) == len(held_out) == 200
    assert trained.isdisjoint(held_out)


def test_a_purchase_ends_the_episode_and_pays_its_score(env: WebShopEnv) -> None:
    for action in env.expert():
        observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)
    assert observation.startswith("You bought ")
    assert info["purchase"] == {
        "asin": env.task_goal.product.asin,
        "chosen": dict(env.task_goal.options),
        "total": 1.0,
        "type_factor": 1.0,
        "attributes": len(env.task_goal.attributes),
        "options": len(env.task_goal.options),
        "is_within_price": True,
    }
    assert info["available_actions"] == []


def test_half_a_purchase_pays_half_and_is_no_success(env: WebShopEnv) -> None:
    env.step(f"search[{env.task_goal.product.title}]")
    env.step(f"click[{env.task_goal.product.asin}]")
    _, reward, terminated, _, info = env.step("click[buy now]")
    assert terminated and not info["success"]
    assert 0 < reward == info["score"] == info["purchase"]["total"] < 1


def test_pages_turn_forth_and_back(env: WebShopEnv) -> None:
    first, *_ = env.step("search[lamp]")
    second, *_ = env.step("click[next >]")
    assert second.startswith('Products 11 to 20 of 50 that fit best for "lamp":')
    assert env.step("click[< prev]")[0] == first
    shown = [name for name in env.visit.clickables if name.startswith("b0")]
    product, *_ = env.step(f"click[{shown[3]}]")
    side, *_ = env.step("click[features]")
    assert side.startswith("Features of ")
    assert env.step("click[< prev]")[0] == product
    assert env.step("click[< prev]")[0] == first
    assert env.step("click[back to search]")[0].endswith("You are at the search bar.")


def test_the_last_page_of_hits_has_no_next(env: WebShopEnv) -> None:
    env.step("search[lamp]")
    for _ in range(4):
        env.step("click[next >]")
    assert "click[next >]" not in env.available_actions()
    assert not env.step("click[next >]")[4]["is_valid_action"]


def test_an_option_stays_chosen_on_the_sides_and_is_forgotten_with_the_product(
    env: WebShopEnv,
) -> None:
    on_a_product(env)
    product = env.visit.page.product
    name, values = next(iter(product.options.items()))
    env.step(f"click[{values[0]}]")
    env.step(f"click[{values[1]}]")
    env.step("click[description]")
    env.step("click[< prev]")
    assert env.visit.page.chosen == {name: values[1]}
    env.step("click[< prev]")
    observation, *_ = env.step(f"click[{product.asin.lower()}]")
    assert env.visit.page.chosen == {}
    assert "(chosen:" not in observation


@pytest.mark.parametrize(
    ("action", "answer"),
    [
        ("buy now", "That is no action."),
        ("search[]", "The search is empty"),
        ("click[buy now]", "There is no [buy now] to click. Here you can only search"),
        ("click[]", "There is no [] to click."),
    ],
)
def test_what_cannot_be_done_at_the_search_bar_is_said(
    env: WebShopEnv, action: str, answer: str
) -> None:
    observation, reward, terminated, _, info = env.step(action)
    assert observation.startswith(answer)
    assert (reward, terminated, info["is_valid_action"]) == (0.0, False, False)


def test_there_is_one_search_bar(env: WebShopEnv) -> None:
    env.step("search[lamp]")
    observation, *_, info = env.step("search[desk]")
    assert observation == "There is no search bar here; click[back to search] leads to it."
    assert not info["is_valid_action"]


def test_a_search_for_nothing_there_is(env: WebShopEnv) -> None:
    observation, *_, info = env.step("search[xyzzy]")
    assert observation == 'No product fits "xyzzy".\nButtons: [back to search]'
    assert info["available_actions"] == ["click[back to search]"]


def test_clicks_and_verbs_are_read_in_any_case(env: WebShopEnv) -> None:
    env.step("Search [lamp]")
    assert env.step("CLICK[Next >]")[4]["is_valid_action"]


@pytest.mark.parametrize("action_format", ["plain", "function_call"])
def test_a_name_is_clicked_as_pages_write_it(action_format: str) -> None:
    env = made(action_format=action_format)
    env.reset(options={"task_id": "webshop_6775"})
    search, click = ("search[lamp]", "click[[next >]]")
    if action_format == "function_call":
        search = '{"name": "search", "arguments": {"keywords": "lamp"}}'
        click = '{"name": "click", "arguments": {"value": "[next >]"}}'
    for action in (search, click):
        assert env.step(action)[4]["is_valid_action"]


def test_the_expert_goes_on_from_any_page(env: WebShopEnv) -> None:
    on_a_product(env)
    env.step("click[reviews]")
    for action in env.expert():
        info = env.step(action)[4]
    assert info["success"]


def test_the_expert_says_why_it_turns_a_product_down() -> None:
    env = made()
    env.reset(options={"task_id": "webshop_6804"})
    thoughts = []
    for move in env.expert_moves():
        thoughts.append(move.thought)
        env.step(move.action)
    assert "It is not offered in color ochre." in thoughts
    place = thoughts.index("The title does not say heavy lid.")
    assert thoughts[place + 2] == "Its features do not bear out heavy lid."


def test_the_expert_knows_of_a_product_only_what_pages_show(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    env = made(max_turns=100)
    task_ids = env.task_ids("test")[:12]
    expected = {task_id: played(env, task_id) for task_id in task_ids}
    hidden = [replace(product, attributes=()) for product in env.shop.products]
    unread = [replace(product, bullets=(), description="") for product in hidden]
    for products, is_same in ((hidden, list.__eq__), (unread, same_until_features)):
        shop = Shop(products, env.shop.goals, env.shop.source, claims=env.shop.claims)
        other = made(max_turns=100)
        monkeypatch.setattr(other, "shop", shop)
        for task_id in task_ids:
            assert is_same(played(other, task_id), expected[task_id]), task_id


def played(env: WebShopEnv, task_id: str) -> list[str]:
    env.reset(options={"task_id": task_id})
    actions = []
    for action in env.expert():
        actions.append(action)
        env.step(action)
    return actions


def same_until_features(one: list[str], other: list[str]) -> bool:
    end = other.index("click[features]") if "click[features]" in other else len(other)
    return one[:end] == other[:end]


def test_the_expert_solves_what_it_has_turns_for() -> None:
    env = made(max_turns=100)
    for task_id in env.task_ids("test")[::3]:
        env.reset(options={"task_id": task_id})
        for action in env.expert():
            info = env.step(action)[4]
        assert info["success"], task_id


def test_the_expert_keeps_within_its_turns() -> None:
    env = made()
    for task_id in env.task_ids("test")[:40]:
        env.reset(options={"task_id": task_id, "horizon": 7})
        for action in env.expert():
            *_, terminated, _, info = env.step(action)
        assert terminated, task_id
        assert info["score"] > 0


def test_the_rule_of_the_paper_buys_the_first_hit() -> None:
    env = made()
    env.reset(options={"task_id": 6775})
    moves = list(env.baseline("first_result"))
    assert moves == [f"search[{env.goal}]"]  # nothing was played, so there is no hit
    for action in env.baseline("first_result"):
        *_, info = env.step(action)
    assert info["purchase"]["asin"] == env.visit.hits[0].asin
    assert info["turn"] == 3


def test_a_rule_chooses_every_option_that_the_instruction_names() -> None:
    env = made()
    env.reset(options={"task_id": 6775})
    for action in env.baseline("first_affordable"):
        *_, info = env.step(action)
    (product,) = (p for p in env.shop.products if p.asin == info["purchase"]["asin"])
    asked = {name: value for name, value in env.task_goal.options}
    offered = {name: value for name, value in asked.items() if value in product.options[name]}
    assert info["purchase"]["chosen"] == offered
    affordable = [p for p in env.visit.hits if p.price <= env.task_goal.price_limit]
    assert product is affordable[0]


@pytest.mark.parametrize("name", [name for name in WebShopEnv.baselines if name != "first_result"])
def test_no_rule_without_understanding_solves_a_fifth_of_the_tasks(name: str) -> None:
    env = made()
    task_ids = env.task_ids("test")[::2] + env.task_ids("train")[::45]
    solved = 0
    for task_id in task_ids:
        env.reset(options={"task_id": task_id})
        for action in env.baseline(name):
            *_, truncated, info = env.step(action)
        assert not truncated, task_id
        solved += info["success"]
    assert solved <= len(task_ids) / 5


def test_a_shop_that_was_made_is_played_from_its_folder(tmp_path: Path) -> None:
    shutil.copytree(EMBEDDED, tmp_path / "shop")
    env = made(data_dir=tmp_path / "shop")
    assert env.source == made().source
    assert env.task_ids("test") == made().task_ids("test")
    with pytest.raises(ValueError, match="leave them out, or name a folder with the original's"):
        made(data_dir=tmp_path / "shop", num_products=10)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"goals": "best"}, "unknown goals 'best'; allowed: synthetic, human"),
        ({"goals": "human"}, "data_dir=None names none; leave them out"),
        ({"num_products": 10}, "data_dir=None names none; leave them out"),
        ({"data_dir": "/nowhere"}, "has no items_shuffle"),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        made(**arguments)


# compat="agentgym": the texts are those of recorded episodes of the original ----------------------


@pytest.fixture
def original(tmp_path: Path) -> WebShopEnv:
    env = made(compat="agentgym", data_dir=original_folder(tmp_path))
    # Of the five goals the one with this product's last options.
    (number,) = (n for n, g in enumerate(env.shop.goals) if g.instruction.count("rose | gold, and "
                 "size: 60 ml"))  # fmt: skip
    env.reset(options={"task_id": number})
    return env


HEAD = (
    "Instruction: [SEP] Find me sulfate free hair serums with color: rose | gold, and size: 60 ml, "
    "and price lower than 50.00 dollars [SEP] "
)
PRODUCT = (
    "Back to Search [SEP] < Prev [SEP] color [SEP] rose | gold [SEP] black [SEP] size [SEP] 30 ml "
    "[SEP] 60 ml [SEP] Glow Hair Serum [SEP] Price: $12.5 [SEP] Rating: N.A. [SEP] Description "
    "[SEP] Features [SEP] Reviews [SEP] Buy Now"
)


def test_a_bare_action_is_one_under_react_as_the_original_s_client_reads_it(
    tmp_path: Path,
) -> None:
    env = made(compat="agentgym", data_dir=original_folder(tmp_path), action_format="react")
    env.reset(options={"task_id": 0})
    *_, info = env.step("hair serum")
    assert info["is_valid_action"] is False
    hits, *_, info = env.step(" search[Hair Serum]\n")
    assert info["is_valid_action"] is True and "Total results" in hits
    *_, info = env.step("Thought: click[x]\n\nAction:\nsearch[Hair Serum]")
    assert info["is_valid_action"] is True
    *_, info = env.step("click[x]\nAction: ")
    assert info["is_valid_action"] is False  # with the marker only what follows it counts


def test_the_original_s_pages(original: WebShopEnv) -> None:
    limit = original.task_goal.price_limit
    head = HEAD.replace("50.00", f"{limit:.2f}")
    begun, _ = original.reset(options={"task_id": original.task.task_id})
    assert begun == f"WebShop [SEP] {head}Search"
    hits, *_ = original.step("search[Hair Serum]")
    assert hits == (
        f"{head}Back to Search [SEP] Page 1 (Total results: 1) [SEP] Next > [SEP] B0HAIR0001 "
        "[SEP] Glow Hair Serum [SEP] $12.5"
    )
    assert original.step("click[B0HAIR0001]")[0] == head + PRODUCT
    assert original.step("click[60 ml]")[0] == head + PRODUCT
    features, *_ = original.step("click[features]")
    assert features == f"{head}Back to Search [SEP] < Prev [SEP] Soft. [SEP] Mild."
    description, *_ = original.step("search[")
    assert description == features  # no action: the page stays
    original.step("click[< Prev]")
    original.step("click[Rose | Gold]")
    thanks, reward, terminated, _, info = original.step("click[Buy Now]")
    assert thanks == (
        "Thank you for shopping with us! [SEP] Your code: [SEP] None [SEP] (Paste it in your MTurk "
        "interface.) [SEP] Purchased [SEP] asin [SEP] B0HAIR0001 [SEP] options [SEP] "
        '{"color": "rose | gold", "size": "60 ml"} [SEP] attrs [SEP] None [SEP] category [SEP] '
        "None [SEP] query [SEP] None [SEP] product category [SEP] None [SEP] Target [SEP] asin "
        "[SEP] options [SEP] attrs [SEP] price upper [SEP] instuction text [SEP] category [SEP] "
        "product category [SEP] query [SEP] Goal [SEP] None [SEP] Reward [SEP] Your score (min "
        "0.0, max 1.0) [SEP] 1.0 [SEP] Reward Details [SEP] None"
    )
    assert (reward, terminated, info["success"]) == (1.0, True, True)


def test_the_original_searches_everywhere_and_has_a_page_behind_the_last(
    original: WebShopEnv,
) -> None:
    original.step("search[serum]")
    empty, *_ = original.step("click[next >]")
    assert empty.endswith("Page 2 (Total results: 1) [SEP] < Prev [SEP] Next >")
    hits, *_, info = original.step("search[comb]")
    assert info["is_valid_action"]
    assert "Page 1 (Total results: 1)" in hits
    assert "Plain Comb [SEP] $3.0 to $7.0" in hits


@pytest.mark.parametrize(
    ("action", "is_played"),
    [
        ("search[comb] please", True),  # what follows the brackets is not read
        ("search[a [comb]", False),  # what is before the last brackets is "search[a "
        (" search[comb]", False),
        ("Search[comb]", False),
        ("click[search]", False),
        ("search[]", False),
        ("search[comb]\nclick[x]", True),
    ],
)
def test_the_original_reads_actions_as_its_pattern_does(
    original: WebShopEnv, action: str, is_played: bool
) -> None:
    before = original.visit.page
    assert original.step(action)[4]["is_valid_action"] is is_played
    assert (original.visit.page != before) is is_played
