"""Templates about votes and saved posts."""

from __future__ import annotations

import random
from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.reddit.lookups import pick_forum
from agentgym_envs.webarena.tasks.reddit.template_helpers import (
    FLAIRS,
    ME,
    SITE,
    expected,
    is_free,
    narrow,
    open_community,
    open_post,
    posts_on,
    totals,
)
from agentgym_envs.webarena.tasks.screen import Screen, enter, first_of
from agentgym_envs.webarena.tasks.template import Case, Template, World, changed

_VALUES = {"Upvote": 1, "Downvote": -1}


class VoteNewest(Template):
    """A vote for the newest post of a kind."""

    number = 81
    sites = (SITE,)
    split = "train"
    intent = "{vote} the newest post with the flair {flair} in the community {community}."

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a community and a kind whose newest post has no vote of ours."""
        forum, title = pick_forum(world, rng)
        flair, vote = rng.choice(FLAIRS), rng.choice(list(_VALUES))
        rows = world.rows(
            SITE,
            "SELECT id FROM posts WHERE forum_id = ? AND flair = ? ORDER BY id DESC LIMIT 2",
            forum,
            flair,
        )
        if len(rows) < 2 or not is_free(world, rows[0]["id"]):
            return None
        value = _VALUES[vote]
        return Case(
            {"community": title, "flair": flair, "vote": vote},
            changed(
                expected(
                    f"SELECT value FROM post_votes WHERE user_id = {ME} AND post_id = "
                    f"{rows[0]['id']}",
                    (value,),
                ),
                totals(world, post_votes=1, sum_of_post_votes=value),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort by date, filter, and vote for the first."""
        yield from open_community(screen, case.values["community"])
        yield screen.click("link", "New", "The newest post shall come first.")
        yield from narrow(screen, flair=case.values["flair"])
        newest = first_of(posts_on(screen))
        yield screen.click(
            "button", f"{case.values['vote']}: {newest.title}", "The first one is the newest."
        )
        yield screen.stop()


class VoteForAll(Template):
    """Votes for everything that somebody posted in a community."""

    number = 86
    sites = (SITE,)
    split = "test"
    intent = "Upvote every post that {username} has written in the community {community}."

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw somebody with three to five posts in one community, none of them voted on."""
        rows = world.rows(
            SITE,
            "SELECT u.username, f.title, group_concat(p.id) AS ids FROM posts p "
            "JOIN users u ON u.id = p.user_id JOIN forums f ON f.id = p.forum_id "
            "WHERE u.id <> ? GROUP BY u.id, f.id HAVING count(*) BETWEEN 3 AND 5 "
            "ORDER BY u.id, f.id",
            ME,
        )
        row = rng.choice(rows)
        ids = sorted(int(number) for number in row["ids"].split(","))
        if not all(is_free(world, number) for number in ids):
            return None
        listed = ", ".join(str(number) for number in ids)
        return Case(
            {"username": row["username"], "community": row["title"]},
            changed(
                expected(
                    "SELECT post_id, value FROM post_votes "
                    f"WHERE user_id = {ME} AND post_id IN ({listed}) ORDER BY post_id",
                    *((number, 1) for number in ids),
                ),
                totals(world, post_votes=len(ids), sum_of_post_votes=len(ids)),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go through the list of somebody's posts."""
        yield from enter(screen, SITE)
        name, community = case.values["username"], case.values["community"]
        yield screen.fill(
            "searchbox", "Search Commonplace", name, "First I look for the person.", enter=True
        )
        yield screen.click("link", "People", "I want people, not posts.")
        yield screen.click("link", name, f"This is {name}.")
        yield screen.click("link", "Posts", "Here are all posts of theirs.")
        while True:
            titles = [post.title for post in posts_on(screen) if post.forum == community]
            for title in titles:
                yield screen.click("button", f"Upvote: {title}", f"It is in {community}.")
            if not screen.has("link", "Next"):
                break
            yield screen.click("link", "Next", "There are more posts on the next page.")
        yield screen.stop()


class ChangeVote(Template):
    """A vote taken back, or turned round."""

    number = 98
    sites = (SITE,)
    split = "train"
    intent = 'I have voted on the post "{title}" and regret it. {wish}'
    _wishes = {"Take my vote back.": 0, "Turn my vote into its opposite.": -1}

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw one of the agent's votes."""
        rows = world.rows(
            SITE,
            "SELECT p.id, p.title, v.value FROM post_votes v JOIN posts p ON p.id = v.post_id "
            "WHERE v.user_id = ? ORDER BY p.id",
            ME,
        )
        row, wish = rng.choice(rows), rng.choice(list(self._wishes))
        value = row["value"] * self._wishes[wish]
        query = f"SELECT value FROM post_votes WHERE user_id = {ME} AND post_id = {row['id']}"
        return Case(
            {"title": row["title"], "wish": wish},
            changed(
                expected(query, (value,)) if value else expected(query),
                totals(
                    world,
                    post_votes=0 if value else -1,
                    sum_of_post_votes=value - row["value"],
                ),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """See how the vote was, and change it."""
        yield from open_post(screen, case.values["title"])
        was_up = screen.has("button", "Retract upvote post")
        if self._wishes[case.values["wish"]]:
            opposite = "Downvote post" if was_up else "Upvote post"
            yield screen.click("button", opposite, "This turns the vote round.")
        else:
            own = "Retract upvote post" if was_up else "Retract downvote post"
            yield screen.click("button", own, "This takes the vote back.")
        yield screen.stop()


class SaveMostCommented(Template):
    """The most discussed posts of a community, saved for later."""

    number = 93
    sites = (SITE,)
    split = "validation"
    intent = "Save the {n} posts with the most comments in the community {community}."
    _words = {"two": 2, "three": 3}

    def draw(self, world: World, rng: random.Random) -> Case | None:
        """Draw a community where it is clear which posts these are."""
        forum, title = pick_forum(world, rng)
        word = rng.choice(list(self._words))
        number = self._words[word]
        rows = world.rows(
            SITE,
            "SELECT p.id, p.num_comments, EXISTS (SELECT 1 FROM saved_posts s WHERE "
            "s.post_id = p.id) AS is_saved FROM posts p WHERE p.forum_id = ? "
            "ORDER BY p.num_comments DESC LIMIT ?",
            forum,
            number + 1,
        )
        top = rows[:number]
        if top[-1]["num_comments"] == rows[-1]["num_comments"] or any(r["is_saved"] for r in top):
            return None
        ids = sorted(row["id"] for row in top)
        listed = ", ".join(str(number) for number in ids)
        return Case(
            {"community": title, "n": word},
            changed(
                expected(
                    f"SELECT post_id FROM saved_posts WHERE user_id = {ME} "
                    f"AND post_id IN ({listed}) ORDER BY post_id",
                    *((post,) for post in ids),
                ),
                totals(world, saved_posts=number),
            ),
        )

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort by comments, then save one after the other."""
        community = case.values["community"]
        yield from open_community(screen, community)
        yield screen.click("link", "Most commented", "Now the right ones come first.")
        number = self._words[case.values["n"]]
        titles = [post.title for post in posts_on(screen)][:number]
        for index, title in enumerate(titles):
            yield screen.click("link", title, f"This is number {index + 1} of {number}.")
            yield screen.click("button", "Save post", "I save it.")
            if index + 1 < number:
                yield screen.click("link", community, "Back to the community.")
                yield screen.click("link", "Most commented", "I sort the posts again.")
        yield screen.stop()


VOTES: tuple[Template, ...] = (VoteNewest(), VoteForAll(), ChangeVote(), SaveMostCommented())
