"""Tasks that post the map's facts on the forum."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.map.hours import DAYS, span
from agentgym_envs.sites.people import AGENT_ID
from worlds.dice import Dice
from worlds.tasks.goals import Answer, changes, hours_of, identifier, row
from worlds.tasks.map import draws, steps
from worlds.tasks.reddit import steps as forum
from worlds.tasks.reddit.draws import pick_forum
from worlds.tasks.screen import Screen
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS


class PublishPhone(Template):
    """A post with a phone number or opening hours from the map."""

    number = 131
    sites = ("map", "reddit")
    split = "train"
    intents = (
        "Post “{title}” in {community}: just the {what} of {place}, {town}.",
        "Look up the {what} of {place} in {town}, and post just that in {community} on "
        "Commonplace, titled “{title}”.",
    )
    titles: tuple[str, ...] = WORDS["across"]["titles"]

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a place, a community and a fact to publish."""
        place = draws.draw_place(world, dice)
        if dice.chance(0.5):
            what = "phone number"
            value: Answer | str = identifier(place["phone"])
        else:
            day = dice.below(7)
            hours = world.rows(
                "map", "SELECT * FROM hours WHERE place_id = ? AND day = ?", place["id"], day
            )
            if not hours:
                return None
            what = f"opening hours on {DAYS[day]}"
            value = hours_of(span(hours[0]["opens"], hours[0]["closes"]))
        number, community = pick_forum(world, dice)
        title = dice.pick(self.titles)
        values = {
            "what": what,
            "place": place["name"],
            "town": place["town"],
            "title": title,
            "community": community,
        }
        post = {"forum_id": number, "user_id": AGENT_ID, "title": title, "body": value}
        loosely = {} if isinstance(value, str) else {"posts.body": value}
        return Case(values, changes(row("posts", **post), loosely=loosely))

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
