"""Tasks that tell the forum what the map knows."""

from __future__ import annotations

from agentgym_envs.webarena.sites.map.hours import DAYS, span
from worlds.dice import Dice
from worlds.tasks.map import draws
from worlds.tasks.reddit import draws as forum_draws
from worlds.tasks.reddit.lookups import pick_forum
from worlds.tasks.template import Case, Template, World, changed
from worlds.tasks.words import WORDS


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
    titles: tuple[str, ...] = WORDS["across"]["titles"]

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a place, a community and what to tell."""
        place = draws.draw_place(world, dice)
        if dice.chance(0.5):
            what, text = "phone number", place["phone"]
        else:
            day = dice.below(7)
            hours = world.rows(
                "map", "SELECT * FROM hours WHERE place_id = ? AND day = ?", place["id"], day
            )
            if not hours:
                return None
            what = f"opening hours on {DAYS[day]}"
            text = span(hours[0]["opens"], hours[0]["closes"])
        number, community = pick_forum(world, dice)
        title = dice.pick(self.titles)
        query = (
            "SELECT forum_id, user_id, title, body FROM posts"
            f" WHERE id > {forum_draws.last_id(world, 'posts')}"
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
                forum_draws.expected(query, (number, forum_draws.ME, title, text)),
                forum_draws.totals(world, posts=1),
            ),
        )
