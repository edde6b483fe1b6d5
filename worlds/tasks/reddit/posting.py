"""Templates about the agent's own posts: published, or added to."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.reddit.site import FLAIRS
from agentgym_envs.sites.state import NOW
from worlds.dice import Dice
from worlds.tasks.goals import changes, row
from worlds.tasks.reddit import phrases
from worlds.tasks.reddit.draws import ME, pick_forum
from worlds.tasks.reddit.steps import SITE, open_community, open_post
from worlds.tasks.screen import Screen, enter
from worlds.tasks.template import Case, Template, World
from worlds.tasks.words import WORDS

_SUBJECTS: dict[str, tuple[str, ...]] = WORDS["reddit"]["subjects"]


class Publish(Template):
    """A new post."""

    number = 83
    sites = (SITE,)
    split = "train"
    intents = (
        'Post "{title}" in {community}, flair {flair}: "{text}"',
        'Publish the post "{title}" in {community}, with the flair {flair} and the text "{text}"',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community and something to write."""
        forum, community = pick_forum(world, dice)
        title, text, flair = phrases.title(dice), phrases.remark(dice), dice.pick(FLAIRS)
        post = row(
            "posts", forum_id=forum, user_id=ME, title=title, body=text, url=None, flair=flair
        )
        values = {"community": community, "title": title, "text": text, "flair": flair}
        return Case(values, changes(post))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Write it from the community's page."""
        community = case.values["community"]
        yield from open_community(screen, community)
        yield screen.click("link", f"Post in {community}", "Posts are written here.")
        yield screen.fill("textbox", "Title", case.values["title"])
        yield screen.fill("textbox", "Text", case.values["text"])
        yield screen.choose("Flair", case.values["flair"])
        yield screen.click("button", "Publish post")
        yield screen.stop()


class PublishWhereActive(Template):
    """A new post where most is going on, however one measures that."""

    number = 190
    sites = (SITE,)
    split = "train"
    intents = (
        'Post "{title}" in the most active community on {subject}: "{text}"',
        'Publish the post "{title}" with the text "{text}" in the most active community on '
        "{subject}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a subject one community of which has most posts, newer posts and comments."""
        subject = dice.pick(list(_SUBJECTS))
        forums = world.rows(
            SITE,
            "SELECT f.id, f.name, f.title, count(*) AS posts, sum(p.num_comments) AS comments, "
            "sum(p.created_at >= datetime(?, '-365 days')) AS newer_posts "
            "FROM forums f JOIN posts p ON p.forum_id = f.id GROUP BY f.id ORDER BY f.id",
            NOW,
        )
        rivals = [forum for forum in forums if forum["name"] in _SUBJECTS[subject]]
        leaders = {
            forum["id"]
            for measure in ("posts", "newer_posts", "comments")
            for forum in rivals
            if forum[measure] == max(rival[measure] for rival in rivals)
        }
        if len(leaders) > 1:
            return None
        title, text = phrases.title(dice), phrases.remark(dice)
        post = row("posts", forum_id=leaders.pop(), user_id=ME, title=title, body=text, url=None)
        return Case(
            {"subject": subject, "title": title, "text": text},
            changes(post, loosely={"posts.flair": None}),
            {"communities": [forum["title"] for forum in rivals]},
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort the communities by posts, and write into the first one on the subject."""
        yield from enter(screen, SITE)
        yield screen.click(
            "link", "Communities", f"I look for communities on {case.values['subject']}."
        )
        yield screen.click("link", "Most posts", "The most active ones shall come first.")
        on_subject = case.notes["communities"]
        while not (links := [link for link in screen.all("link") if link.name in on_subject]):
            yield screen.click("link", "Next", "None of these is on the subject.")
        community = links[0].name
        yield screen.click_node(links[0], "This is the first one on the subject.")
        yield screen.click("link", f"Post in {community}", "Posts are written here.")
        yield screen.fill("textbox", "Title", case.values["title"])
        yield screen.fill("textbox", "Text", case.values["text"])
        yield screen.click("button", "Publish post")
        yield screen.stop()


class AddToPost(Template):
    """A line more in a post of the agent's."""

    number = 192
    sites = (SITE,)
    split = "train"
    intents = (
        'Append the line "{text}" to my post "{title}".',
        'Add the line "{text}" to the end of my post "{title}".',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw one of the agent's posts, and a text to add."""
        posts = world.rows(
            SITE, "SELECT id, title, body FROM posts WHERE user_id = ? ORDER BY id", ME
        )
        post, text = dice.pick(posts), phrases.remark(dice)
        words = " ".join([*post["body"].split(), text])
        goal = changes(row("posts", id=post["id"], body=words))
        return Case({"title": post["title"], "text": text}, goal)

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Type the old text again, and the new line after it."""
        yield from open_post(screen, case.values["title"])
        yield screen.click("link", "Edit post", "It is mine.")
        old = screen.find("textbox", "Text").properties["value"][1:-1]
        yield screen.fill(
            "textbox", "Text", f"{old} {case.values['text']}", "Typing replaces what was there."
        )
        yield screen.click("button", "Save post")
        yield screen.stop()


POSTING: tuple[Template, ...] = (Publish(), PublishWhereActive(), AddToPost())
