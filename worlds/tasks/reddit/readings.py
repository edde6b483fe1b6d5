"""Templates that need posts to be opened and read: reviews, events, sales."""

from __future__ import annotations

import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.state import NOW
from worlds.dice import Dice
from worlds.tasks.goals import all_of, amount, answers, name, number
from worlds.tasks.reddit.draws import pick_forum
from worlds.tasks.reddit.steps import (
    SITE,
    author_of,
    back,
    narrow,
    number_in,
    open_community,
    posts_on,
    text_of,
)
from worlds.tasks.screen import ElementNotFound, Screen
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


def _read_all(screen: Screen, word: str = "") -> Iterator[ExpertMove | str]:
    """Open every listed post whose title holds a word, and give the texts."""
    while True:
        titles = [post.title for post in posts_on(screen) if word.lower() in post.title.lower()]
        for title in titles:
            yield screen.click("link", title, "I must read this one.")
            yield text_of(screen)
            yield back("Back to the list.")
        if not screen.has("link", "Next"):
            return
        yield screen.click("link", "Next", "There may be more on the next page.")


RATING = r"My rating: (\d+) out of 10"


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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read every review that names the product."""
        yield from open_community(screen, case.values["community"])
        yield from narrow(screen, flair="Review")
        ratings = []
        for step in _read_all(screen, case.values["product"]):
            if isinstance(step, ExpertMove):
                yield step
            else:
                ratings.append((number_in(RATING, step), author_of(screen)))
        if not ratings:
            raise ElementNotFound(f"no review of {case.values['product']}")
        number, author = (max if case.values["extreme"] == "highest" else min)(ratings)
        yield screen.stop(f"{number}, {author}", f"The ratings are {ratings}.")


_COST = r"it costs \$(\d+)"


_PLACES = r"There are (\d+) places"


def event_sum_value(body: str, what: str) -> int:
    """Return the number of places or the price in an event's post."""
    if what == "places":
        return number_in(_PLACES, body)
    return 0 if "it costs nothing" in body else number_in(_COST, body)


EVENT_SUM_AGES = {"of any age": ("Any time", 10_000), "of the last 365 days": ("A year", 365)}
"""The site's name of a period, and its days."""


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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read every event."""
        yield from open_community(screen, case.values["community"])
        within, _ = EVENT_SUM_AGES[case.values["age"]]
        yield from narrow(screen, flair="Event", within=within)
        numbers = []
        for step in _read_all(screen):
            if isinstance(step, ExpertMove):
                yield step
            else:
                numbers.append(event_sum_value(step, case.values["what"]))
        sign = "$" if case.values["what"] == "prices" else ""
        yield screen.stop(f"{sign}{sum(numbers)}", f"I add up {numbers}.")


_TOWN = re.compile(r"To be fetched in (.+?), on a ")


_ASKED = r"I ask \$(\d+)"


def offer(body: str) -> tuple[int, str]:
    """Return the price that an offer asks and the town where it is to be fetched."""
    town = _TOWN.search(body)
    if town is None:
        raise ElementNotFound(f"no town in {body!r}")
    return number_in(_ASKED, body), town[1]


class CheapestSale(Template):
    """The town of a community's cheapest or dearest offer."""

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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read every offer."""
        yield from open_community(screen, case.values["community"])
        yield from narrow(screen, flair="For sale")
        offers = []
        for step in _read_all(screen):
            if isinstance(step, ExpertMove):
                yield step
            else:
                offers.append(offer(step))
        price, town = min(offers) if case.values["extreme"] == "lowest" else max(offers)
        yield screen.stop(town, f"The {case.values['extreme']} price is ${price}.")


READINGS: tuple[Template, ...] = (ReviewRating(), EventSum(), CheapestSale())
