"""Templates that need posts to be opened and read: reviews, events, sales."""

from __future__ import annotations

import re

from agentgym_envs.webarena.sites.state import NOW
from agentgym_envs.webarena.tasks.reddit.readings import (
    EVENT_SUM_PLACES,
    RATING,
    event_sum_value,
    offer,
)
from agentgym_envs.webarena.tasks.reddit.steps import (
    SITE,
    number_in,
)
from worlds.dice import Dice
from worlds.tasks.reddit.lookups import pick_forum
from worlds.tasks.template import Case, Template, World, exact_answer

_SUBJECT = re.compile(r"I bought (?:the )?(.+?) \d+ months ago")


def _posts(world: World, forum: int, flair: str, days: int = 10_000) -> list[tuple[str, str]]:
    """List titles and texts of a community's posts of one kind."""
    rows = world.rows(
        SITE,
        "SELECT title, body FROM posts WHERE forum_id = ? AND flair = ? "
        "AND created_at >= datetime(?, '-' || ? || ' days') ORDER BY id",
        forum,
        flair,
        NOW,
        days,
    )
    return [(row["title"], row["body"]) for row in rows]


class ReviewRating(Template):
    """The best or worst rating that a product got, and who gave it."""

    number = 82
    sites = (SITE,)
    split = "test"
    intent = (
        "Several posts in the community {community} are reviews of the product {product}. What is "
        "the {extreme} rating out of 10 that one of them gives, and who gives it? Answer with the "
        "number and the user name, like 7, mira.halden"
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product with several reviews that differ."""
        forum, title = pick_forum(world, dice)
        reviews = _posts(world, forum, "Review")
        subjects = [match[1] for _, body in reviews if (match := _SUBJECT.match(body))]
        product, extreme = dice.pick(subjects or [""]), dice.pick(("highest", "lowest"))
        named = [body for name, body in reviews if product.lower() in name.lower()]
        is_clear = all(_SUBJECT.match(body)[1] == product for body in named)  # type: ignore[index]
        ratings = [number_in(RATING, body) for body in named]
        if not is_clear or len(ratings) < 2:
            return None
        best = max(ratings) if extreme == "highest" else min(ratings)
        if ratings.count(best) > 1:
            return None
        author = world.value(
            SITE,
            "SELECT u.username FROM posts p JOIN users u ON u.id = p.user_id "
            "WHERE p.forum_id = ? AND p.body = ?",
            forum,
            named[ratings.index(best)],
        )
        values = {"community": title, "product": product, "extreme": extreme}
        return Case(values, exact_answer(f"{best}, {author}"))


class EventSum(Template):
    """Places or prices of a community's events, added up."""

    number = 90
    sites = (SITE,)
    split = "test"
    intent = (
        "Take all posts with the flair Event in the community {community} that are {age}. "
        "{question} Answer with the number alone."
    )
    _ages = {"of any age": ("Any time", 10_000), "not older than 365 days": ("A year", 365)}
    _dollars = "How many dollars does it cost to go to every one of these events?"

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community with two to six events."""
        forum, title = pick_forum(world, dice)
        age, question = dice.pick(list(self._ages)), dice.pick((EVENT_SUM_PLACES, self._dollars))
        within, days = self._ages[age]
        events = [body for _, body in _posts(world, forum, "Event", days)]
        if not 2 <= len(events) <= 6:
            return None
        answer = sum(event_sum_value(body, question) for body in events)
        values = {"community": title, "age": age, "question": question}
        return Case(values, exact_answer(str(answer)), {"within": within})


class CheapestSale(Template):
    """Where the cheapest or dearest offer of a community must be fetched."""

    number = 96
    sites = (SITE,)
    split = "train"
    intent = (
        "Of the posts with the flair For sale in the community {community}, find the one that asks "
        "the {extreme} price. In which town must the thing be fetched? Answer with the town."
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community with several offers of different prices."""
        forum, title = pick_forum(world, dice)
        extreme = dice.pick(("lowest", "highest"))
        offers = [offer(body) for _, body in _posts(world, forum, "For sale")]
        prices = [price for price, _ in offers]
        if not 2 <= len(offers) <= 8:
            return None
        price, town = min(offers) if extreme == "lowest" else max(offers)
        if prices.count(price) > 1:
            return None
        return Case({"community": title, "extreme": extreme}, exact_answer(town))


READINGS: tuple[Template, ...] = (ReviewRating(), EventSum(), CheapestSale())
