"""Templates about votes and saved posts."""

from __future__ import annotations

from agentgym_envs.webarena.tasks.reddit.steps import (
    SITE,
)
from agentgym_envs.webarena.tasks.reddit.votes import CHANGE_VOTE_WISHES, SAVE_MOST_COMMENTED_WORDS
from worlds.dice import Dice
from worlds.tasks.reddit.draws import FLAIRS, ME, expected, is_free, totals
from worlds.tasks.reddit.lookups import pick_forum
from worlds.tasks.template import Case, Template, World, changed

_VALUES = {"Upvote": 1, "Downvote": -1}


class VoteNewest(Template):
    """A vote for the newest post of a kind."""

    number = 81
    sites = (SITE,)
    split = "train"
    intent = "{vote} the newest post with the flair {flair} in the community {community}."

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community and a kind whose newest post has no vote of ours."""
        forum, title = pick_forum(world, dice)
        flair, vote = dice.pick(FLAIRS), dice.pick(list(_VALUES))
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


class VoteForAll(Template):
    """Votes for everything that somebody posted in a community."""

    number = 86
    sites = (SITE,)
    split = "test"
    intent = "Upvote every post that {username} has written in the community {community}."

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw somebody with three to five posts in one community, none of them voted on."""
        rows = world.rows(
            SITE,
            "SELECT u.username, f.title, group_concat(p.id) AS ids FROM posts p "
            "JOIN users u ON u.id = p.user_id JOIN forums f ON f.id = p.forum_id "
            "WHERE u.id <> ? GROUP BY u.id, f.id HAVING count(*) BETWEEN 3 AND 5 "
            "ORDER BY u.id, f.id",
            ME,
        )
        row = dice.pick(rows)
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


class ChangeVote(Template):
    """A vote taken back, or turned round."""

    number = 98
    sites = (SITE,)
    split = "train"
    intent = 'I have voted on the post "{title}" and regret it. {wish}'

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw one of the agent's votes."""
        rows = world.rows(
            SITE,
            "SELECT p.id, p.title, v.value FROM post_votes v JOIN posts p ON p.id = v.post_id "
            "WHERE v.user_id = ? ORDER BY p.id",
            ME,
        )
        row, wish = dice.pick(rows), dice.pick(list(CHANGE_VOTE_WISHES))
        value = row["value"] * CHANGE_VOTE_WISHES[wish]
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


class SaveMostCommented(Template):
    """The most discussed posts of a community, saved for later."""

    number = 93
    sites = (SITE,)
    split = "validation"
    intent = "Save the {n} posts with the most comments in the community {community}."

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community where it is clear which posts these are."""
        forum, title = pick_forum(world, dice)
        word = dice.pick(list(SAVE_MOST_COMMENTED_WORDS))
        number = SAVE_MOST_COMMENTED_WORDS[word]
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


VOTES: tuple[Template, ...] = (VoteNewest(), VoteForAll(), ChangeVote(), SaveMostCommented())
