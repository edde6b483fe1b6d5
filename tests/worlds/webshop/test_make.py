from __future__ import annotations

import json
import shutil
from collections import Counter
from hashlib import sha256
from itertools import product as combinations_of
from pathlib import Path

import pytest

pytest.importorskip("rapidfuzz")

from agentgym_envs.retrieval.words import words
from agentgym_envs.webshop.catalogue import EMBEDDED, NO_LIMIT, SHOP, load_shop
from agentgym_envs.webshop.reward import has_attribute, is_match, purchase_reward
from worlds.sources import sources_digest
from worlds.webshop import make as make_module
from worlds.webshop.make import SOURCES, VERSION, generate, make, pack

ABOUT = json.loads(SHOP.about_in(EMBEDDED).read_text("utf-8"))


def test_the_shipped_content_is_made_by_these_sources() -> None:
    """Fails when the generator changed: raise VERSION if content does, then `make worlds`."""
    assert ABOUT["sources"] == sources_digest(SOURCES)


def test_the_shop_names_its_version_and_its_content() -> None:
    assert load_shop(EMBEDDED).source == f"agentgym-shop v{VERSION} ({ABOUT['content'][:12]})"


def test_the_shop_is_as_large_as_it_should_be() -> None:
    shop = load_shop(EMBEDDED)
    assert (len(shop.products), len(shop.goals)) == (7440, 6910)
    assert set(Counter(product.query for product in shop.products).values()) == {40}
    assert SHOP.file_in(EMBEDDED).stat().st_size < 1_000_000


def test_an_instruction_says_all_that_is_asked_for() -> None:
    for goal in load_shop(EMBEDDED).goals:
        asked = [goal.product.query, *goal.attributes, *(value for _, value in goal.options)]
        assert all(words in goal.instruction for words in asked), goal.instruction
        clause = f", and price lower than {goal.price_limit:.2f} dollars"
        assert goal.instruction.endswith(clause) == (goal.price_limit != NO_LIMIT)
        assert "{" not in goal.instruction and "  " not in goal.instruction


def test_no_attribute_passes_for_another_one() -> None:
    attributes = load_shop(EMBEDDED).claims
    assert not [(a, b) for a in attributes for b in attributes if a != b and is_match(a, b)]


@pytest.mark.full
def test_what_is_asked_for_and_nothing_else_earns_the_full_reward() -> None:
    shop = load_shop(EMBEDDED)
    for goal in shop.goals[::600]:
        for product in shop.products:
            if not all(has_attribute(product, attribute) for attribute in goal.attributes):
                continue
            rewards = [
                purchase_reward(
                    product, dict(zip(product.options, values, strict=True)), goal
                ).total
                for values in combinations_of(*product.options.values())
            ]
            is_asked_for = (
                product.query == goal.product.query
                and set(goal.attributes) <= set(product.attributes)
                and product.price <= goal.price_limit
                and all(value in product.options.get(name, ()) for name, value in goal.options)
            )
            assert (max(rewards) == 1) == is_asked_for, (goal.instruction, product.title)


def test_counting_words_does_not_tell_whether_a_product_has_an_attribute() -> None:
    """The claims for and against an attribute share the same words and pairs with its name."""
    for attribute, (affirmation, denial) in load_shop(EMBEDDED).claims.items():
        for parts in (set[str], pairs_of):
            asked = parts(words(attribute))
            for_it, against_it = parts(words(affirmation)), parts(words(denial))
            assert asked & for_it == asked & against_it, attribute
        assert len(words(affirmation)) == len(words(denial)), attribute


def pairs_of(listed: list[str]) -> set[tuple[str, str]]:
    return set(zip(listed, listed[1:], strict=False))


def test_features_make_one_claim_about_each_attribute_that_a_kind_speaks_of() -> None:
    shop = load_shop(EMBEDDED)
    meaning = {
        claim: (attribute, claim == both[0])
        for attribute, both in shop.claims.items()
        for claim in both
    }
    spoken_of: dict[str, set[str]] = {}
    for product in shop.products:
        claims = dict(meaning[bullet.rstrip(".").lower()] for bullet in product.bullets)
        assert {each for each, is_so in claims.items() if is_so} == set(product.attributes)
        assert spoken_of.setdefault(product.query, set(claims)) == set(claims)
        texts = " ".join([product.title, product.description, *product.bullets]).lower()
        assert not any(attribute in texts for attribute in claims)


def test_the_limit_is_one_of_the_next_four_tens() -> None:
    steps = Counter(
        int(goal.price_limit // 10 - goal.product.price // 10)
        for goal in load_shop(EMBEDDED).goals
        if goal.price_limit != NO_LIMIT
    )
    assert set(steps) == {2, 3, 4}  # the greater of two of the four


def test_instructions_come_in_several_wordings() -> None:
    starts = Counter(" ".join(goal.instruction.split()[:2]) for goal in load_shop(EMBEDDED).goals)
    assert len([start for start, count in starts.items() if count > 300]) >= 8


def test_what_is_written_is_what_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    row = (
        "B0",
        "A Lamp",
        "home",
        "lamp",
        "Home › Lamp",
        1250,
        "",
        ["Lit."],
        ["lit"],
        {"size": ["s"]},
    )
    goals = [[0, "a lamp", ["lit"], [["size", "s"]], 20.0]]
    monkeypatch.setattr(make_module, "generate", lambda seed: ([row], goals))
    make(tmp_path, seed=3)
    shop = load_shop(tmp_path)
    assert shop.source.startswith(f"agentgym-shop v{VERSION} seed 3 (")
    (goal,) = shop.goals
    assert (goal.product.price, goal.product.price_tag) == (12.5, "$12.5")
    assert (goal.product.options, goal.options) == ({"size": ("s",)}, (("size", "s"),))


def test_damaged_content_is_refused(tmp_path: Path) -> None:
    shutil.copytree(EMBEDDED, tmp_path, dirs_exist_ok=True)
    SHOP.file_in(tmp_path).write_bytes(SHOP.file_in(EMBEDDED).read_bytes()[:-9])
    with pytest.raises(ValueError, match="is damaged or of another version"):
        load_shop(tmp_path)


def test_there_is_only_one_scale(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no --scale"):
        make(tmp_path, seed=1, scale=2)


@pytest.mark.slow
def test_the_shipped_content_is_made_again_byte_for_byte() -> None:
    content = pack(f"agentgym-shop v{VERSION}", *generate(0))
    assert sha256(content).hexdigest() == ABOUT["content"]
