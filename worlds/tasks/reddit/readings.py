"""Templates that need posts to be opened and read: reviews, events, sales."""

from __future__ import annotations

import re

from agentgym_envs.sites.state import NOW
from agentgym_envs.webarena.tasks.reddit.readings import (
    EVENT_SUM_AGES,
    RATING,
    event_sum_value,
    offer,
)
from agentgym_envs.webarena.tasks.reddit.steps import SITE, number_in
from worlds.dice import Dice
from worlds.tasks.goals import all_of, amount, answers, name, number
from worlds.tasks.reddit.draws import pick_forum
from worlds.tasks.template import Case, Template, World

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
    intents = (
        "Who gives {product} the {extreme} rating out of 10 in {community}, and which?",
        "Which user gives {product} the {extreme} rating out of 10 in {community}, and what is "
        "that rating?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a product with several reviews that differ."""
        forum, community = pick_forum(world, dice)
        reviews = _posts(world, forum, "Review")
        subjects = [match[1] for _, body in reviews if (match := _SUBJECT.match(body))]
        product, extreme = dice.pick(subjects or [""]), dice.pick(("highest", "lowest"))
        named = [body for title, body in reviews if product.lower() in title.lower()]
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
        values = {"community": community, "product": product, "extreme": extreme}
        return Case(values, answers(all_of(number(best), name(author))))


class EventSum(Template):
    """Places or prices of a community's events, added up."""

    number = 90
    sites = (SITE,)
    split = "test"
    intents = (
        "What do the {what} in {community}'s Event posts {age} add up to?",
        "What do the {what} in all posts {age} with the flair Event in {community} add up to?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community with two to six events."""
        forum, community = pick_forum(world, dice)
        age, what = dice.pick(list(EVENT_SUM_AGES)), dice.pick(("places", "prices"))
        events = [body for _, body in _posts(world, forum, "Event", EVENT_SUM_AGES[age][1])]
        if not 2 <= len(events) <= 6:
            return None
        total = sum(event_sum_value(body, what) for body in events)
        answer = number(total, "place") if what == "places" else amount(100 * total)
        return Case({"community": community, "age": age, "what": what}, answers(answer))


class CheapestSale(Template):
    """Where the cheapest or dearest offer of a community must be fetched."""

    number = 96
    sites = (SITE,)
    split = "train"
    intents = (
        "In which town must I fetch {community}'s {extreme} priced For sale offer?",
        "In which town must I fetch the offer with the {extreme} price among the For sale posts "
        "in {community}?",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community with several offers of different prices."""
        forum, community = pick_forum(world, dice)
        extreme = dice.pick(("lowest", "highest"))
        offers = [offer(body) for _, body in _posts(world, forum, "For sale")]
        prices = [price for price, _ in offers]
        if not 2 <= len(offers) <= 8:
            return None
        price, town = min(offers) if extreme == "lowest" else max(offers)
        if prices.count(price) > 1:
            return None
        return Case({"community": community, "extreme": extreme}, answers(name(town)))


READINGS: tuple[Template, ...] = (ReviewRating(), EventSum(), CheapestSale())
