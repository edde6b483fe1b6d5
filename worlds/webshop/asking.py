"""Draws goals from products and words them, as the original draws its synthetic goals.

As there, the price limit is one of the next four multiples of ten dollars, and its clause is always
the same. Unlike there, only a product of the goal's kind with the attributes it names earns the
full reward, and no product has goals both for training and for tests.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import count, islice

from agentgym_envs.webshop.catalogue import NO_LIMIT, Goal, Product
from agentgym_envs.webshop.reward import is_chosen, is_match, type_factor
from agentgym_envs.webshop.tasks import NUM_GOALS, NUM_TRAINING
from worlds.dice import Dice
from worlds.webshop.products import Made, with_article
from worlds.words import read_words

LIMITS = tuple(range(10, 1000, 10))
"""The price limits there are, in dollars."""

_WORDS = read_words("webshop/wording.toml")
_TRIES = 5


def make_goals(made: Sequence[Made], products: Sequence[Product], seed: int) -> list[list[object]]:
    """Return the rows of all goals, in the order of their numbers.

    Args:
        made: the shop's products.
        products: the same, as the shop reads them.
        seed: of the shop.
    """
    owners = _Owners(products)

    def drawn(numbers: Iterator[int], turn: int) -> Iterator[list[object]]:
        for number in numbers:
            dice = Dice("webshop", seed, "goal", made[number].asin, turn)
            goal = _fair_goal(made[number], number, owners, dice)
            if goal is not None:
                yield goal

    numbers = iter(range(len(made)))
    tests = list(islice(drawn(numbers, 0), NUM_GOALS - NUM_TRAINING))
    others = list(numbers)  # no product of the tests is among them
    training: dict[object, list[object]] = {}
    for turn in count(1):
        for goal in drawn(iter(others), turn):
            training.setdefault(goal[1], goal)
            if len(training) == NUM_TRAINING:
                return [*Dice("webshop", seed, "goals").shuffled([*training.values()]), *tests]
    raise AssertionError


class _Owners:
    """Knows which products have an attribute in the reward's sense.

    Args:
        products: all there are.
    """

    def __init__(self, products: Sequence[Product]) -> None:
        self.products = products
        self._listed: dict[str, set[int]] = defaultdict(set)
        for number, product in enumerate(products):
            for attribute in product.attributes:
                self._listed[attribute].add(number)
        self._texts = [
            " ".join([p.title, *p.bullets, p.description]).lower() for p in self.products
        ]
        self._of: dict[str, set[int]] = {}

    def of(self, attribute: str) -> set[int]:
        """Return the products that have an attribute."""
        if attribute not in self._of:
            near = [own for own in self._listed if is_match(own, attribute)]
            mentions = {number for number, text in enumerate(self._texts) if attribute in text}
            self._of[attribute] = mentions.union(*(self._listed[own] for own in near))
        return self._of[attribute]

    def is_fair(self, goal: Goal) -> bool:
        """Return whether exactly the products that fit the goal earn the full reward.

        That is, for the affordable products of the goal's kind with the attributes and the options
        that it names. An attribute that the reward takes for another one does not count.
        """
        numbers = set.intersection(*(self.of(attribute) for attribute in goal.attributes))
        required = set(goal.attributes)
        return all(
            (product.query == goal.product.query and required <= set(product.attributes))
            == (type_factor(product, goal.product) == 1)
            for product in (self.products[number] for number in sorted(numbers))
            if product.price <= goal.price_limit
            and all(_can_be_chosen(product, *option) for option in goal.options)
        )


def _can_be_chosen(product: Product, name: str, option: str) -> bool:
    return any(
        is_chosen(value, name, option) for values in product.options.values() for value in values
    )


def _fair_goal(made: Made, number: int, owners: _Owners, dice: Dice) -> list[object] | None:
    for _ in range(_TRIES):
        attributes = dice.sample(owners.products[number].attributes, dice.between(2, 3))
        options = {name: dice.pick(values) for name, values in made.options.items()}
        limit = _limit(made.cents, dice)
        pairs = tuple(options.items())
        goal = Goal(owners.products[number], "", tuple(attributes), pairs, limit)
        if owners.is_fair(goal):
            text = request(made, attributes, options, dice) + price_clause(limit)
            return [number, text, attributes, [list(pair) for pair in pairs], limit]
    return None


def _limit(cents: int, dice: Dice) -> float:
    above = [limit for limit in LIMITS if limit * 100 > cents][:4]
    return max(dice.sample(above, 2)) if len(above) >= 2 else NO_LIMIT


def price_clause(limit: float) -> str:
    """Return the end of an instruction, the original's."""
    return "" if limit == NO_LIMIT else f", and price lower than {limit:.2f} dollars"


def request(made: Made, attributes: Sequence[str], options: dict[str, str], dice: Dice) -> str:
    """Return the words that ask for a product, without the price."""
    pattern = dice.pick(_WORDS["requests"])
    adjectives = [attribute for attribute in attributes if attribute in made.adjectives]
    wholes = [made.parts[attribute] for attribute in attributes if attribute in made.parts]
    before = "".join(f"{word}, " for word in adjectives[:-1]) + "".join(
        f"{word} " for word in adjectives[-1:]
    )
    first = before if "{is_list}" in pattern else ""
    is_counted = made.thing not in _WORDS["uncounted"]
    return str(pattern).format(
        article=with_article(first + made.thing).split()[0] if is_counted else "some",
        is_list=before,
        thing=made.thing,
        that_is=f" that is {_and(adjectives)}" if adjectives else "",
        with_parts=f" with {_and(wholes)}" if wholes else "",
        options_listed=_listed(options),
        options_inline=_inline(options),
        options_picked=_picked(options),
    )


def _and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _listed(options: dict[str, str]) -> str:
    pairs = [f"{name}: {value}" for name, value in options.items()]
    return f" with {', and '.join(pairs)}" if pairs else ""


def _inline(options: dict[str, str]) -> str:
    return "".join(f", {value} {name}" for name, value in options.items())


def _picked(options: dict[str, str]) -> str:
    pairs = [f"{value} for the {name}" for name, value in options.items()]
    return f". i pick {_and(pairs)}" if pairs else ""
