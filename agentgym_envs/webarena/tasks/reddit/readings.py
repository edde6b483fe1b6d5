"""Templates that need posts to be opened and read: reviews, events, sales."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.state import NOW
from agentgym_envs.webarena.tasks.reddit.lookups import pick_forum
from agentgym_envs.webarena.tasks.reddit.template_helpers import (
    SITE,
    author_of,
    back,
    narrow,
    number_in,
    open_community,
    posts_on,
    text_of,
)
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen
from agentgym_envs.webarena.tasks.template import Case, Template, World, exact_answer

_SUBJECT = re.compile(r"I bought (?:the )?(.+?) \d+ months ago")
_RATING = r"My rating: (\d+) out of 10"
_PLACES = r"There are (\d+) places"
_COST = r"it costs \$(\d+)"
_ASKED = r"I ask \$(\d+)"
_TOWN = re.compile(r"To be fetched in (.+?), on a ")


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

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a product with several reviews that differ."""
        forum, title = pick_forum(world, rng)
        reviews = _posts(world, forum, "Review")
        subjects = [match[1] for _, body in reviews if (match := _SUBJECT.match(body))]
        product, extreme = rng.choice(subjects or [""]), rng.choice(("highest", "lowest"))
        named = [body for name, body in reviews if product.lower() in name.lower()]
        is_clear = all(_SUBJECT.match(body)[1] == product for body in named)  # type: ignore[index]
        ratings = [number_in(_RATING, body) for body in named]
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

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read every review that names the product."""
        yield from open_community(screen, case.values["community"])
        yield from narrow(screen, flair="Review")
        ratings = []
        for step in _read_all(screen, case.values["product"]):
            if isinstance(step, ExpertMove):
                yield step
            else:
                ratings.append((number_in(_RATING, step), author_of(screen)))
        if not ratings:
            raise ElementNotFound(f"no review of {case.values['product']}")
        number, author = (max if case.values["extreme"] == "highest" else min)(ratings)
        yield screen.stop(f"{number}, {author}", f"The ratings are {ratings}.")


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
    _places = "How many places do these events offer together?"
    _dollars = "How many dollars does it cost to go to every one of these events?"

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a community with two to six events."""
        forum, title = pick_forum(world, rng)
        age, question = rng.choice(list(self._ages)), rng.choice((self._places, self._dollars))
        within, days = self._ages[age]
        events = [body for _, body in _posts(world, forum, "Event", days)]
        if not 2 <= len(events) <= 6:
            return None
        answer = sum(self._value(body, question) for body in events)
        values = {"community": title, "age": age, "question": question}
        return Case(values, exact_answer(str(answer)), {"within": within})

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read every event."""
        yield from open_community(screen, case.values["community"])
        yield from narrow(screen, flair="Event", within=case.notes["within"])
        numbers = []
        for step in _read_all(screen):
            if isinstance(step, ExpertMove):
                yield step
            else:
                numbers.append(self._value(step, case.values["question"]))
        yield screen.stop(str(sum(numbers)), f"I add up {numbers}.")

    def _value(self, body: str, question: str) -> int:
        if question == self._places:
            return number_in(_PLACES, body)
        return 0 if "it costs nothing" in body else number_in(_COST, body)


class CheapestSale(Template):
    """Where the cheapest or dearest offer of a community must be fetched."""

    number = 96
    sites = (SITE,)
    split = "train"
    intent = (
        "Of the posts with the flair For sale in the community {community}, find the one that asks "
        "the {extreme} price. In which town must the thing be fetched? Answer with the town."
    )

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a community with several offers of different prices."""
        forum, title = pick_forum(world, rng)
        extreme = rng.choice(("lowest", "highest"))
        offers = [_offer(body) for _, body in _posts(world, forum, "For sale")]
        prices = [price for price, _ in offers]
        if not 2 <= len(offers) <= 8 or len(set(prices)) < len(prices):
            return None
        _, town = min(offers) if extreme == "lowest" else max(offers)
        return Case({"community": title, "extreme": extreme}, exact_answer(town))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read every offer."""
        yield from open_community(screen, case.values["community"])
        yield from narrow(screen, flair="For sale")
        offers = []
        for step in _read_all(screen):
            if isinstance(step, ExpertMove):
                yield step
            else:
                offers.append(_offer(step))
        price, town = min(offers) if case.values["extreme"] == "lowest" else max(offers)
        yield screen.stop(town, f"The {case.values['extreme']} price is ${price}.")


def _offer(body: str) -> tuple[int, str]:
    town = _TOWN.search(body)
    if town is None:
        raise ElementNotFound(f"no town in {body!r}")
    return number_in(_ASKED, body), town[1]


READINGS: tuple[Template, ...] = (ReviewRating(), EventSum(), CheapestSale())
