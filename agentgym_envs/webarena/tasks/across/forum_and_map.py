"""Tasks that tell the forum what the map knows."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.sites.map.hours import DAYS, span
from agentgym_envs.webarena.tasks.map import steps
from agentgym_envs.webarena.tasks.reddit import template_helpers as forum
from agentgym_envs.webarena.tasks.reddit.lookups import pick_forum
from agentgym_envs.webarena.tasks.screen import Screen
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed


class PublishPhone(Template):
    """A post with a phone number or opening hours from the map."""

    number = 131
    sites = ("map", "reddit")
    split = "train"
    intent = (
        "Look up the {what} of {place} in {town} on Wayfinder, and publish a post with the title "
        "“{title}” in the community {community} on Commonplace. Its text shall be the {what} "
        "exactly as written on the map, and nothing else."
    )
    titles = (
        "For those who asked yesterday", "As promised", "Here is what you wanted to know",
        "Looked it up for you", "In case you need it", "Answer to my own question",
    )  # fmt: skip

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a place, a community and what to tell."""
        place = steps.draw_place(world, rng)
        if rng.random() < 0.5:
            what, text = "phone number", place["phone"]
        else:
            day = rng.randrange(7)
            hours = world.rows(
                "map", "SELECT * FROM hours WHERE place_id = ? AND day = ?", place["id"], day
            )
            if not hours:
                return None
            what = f"opening hours on {DAYS[day]}"
            text = span(hours[0]["opens"], hours[0]["closes"])
        number, community = pick_forum(world, rng)
        title = rng.choice(self.titles)
        query = (
            "SELECT forum_id, user_id, title, body FROM posts"
            f" WHERE id > {forum.last_id(world, 'posts')}"
        )
        values = {
            "what": what,
            "place": place["name"],
            "town": place["town"],
            "title": title,
            "community": community,
        }
        return Case(
            values,
            changed(
                forum.expected(query, (number, forum.ME, title, text)),
                forum.totals(world, posts=1),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Read it on the map and write the post."""
        yield from steps.open_place(screen, case.values["place"], case.values["town"])
        what, community = case.values["what"], case.values["community"]
        text = steps.fact(screen, "Phone" if what == "phone number" else what.rpartition(" ")[2])
        yield from forum.open_community(screen, community)
        yield screen.click("link", f"Post in {community}", f"I have read the {what}: {text}.")
        yield screen.fill("textbox", "Title", case.values["title"])
        yield screen.fill("textbox", "Text", text)
        yield screen.click("button", "Publish post")
        yield screen.stop("", "The post is published.")
