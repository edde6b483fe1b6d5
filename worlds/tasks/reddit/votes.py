"""Templates about votes and saved posts."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.reddit.site import FLAIRS
from worlds.dice import Dice
from worlds.tasks.goals import changes, gone, row
from worlds.tasks.reddit.draws import ME, is_free, pick_forum
from worlds.tasks.reddit.steps import (
    SITE,
    narrow,
    open_community,
    open_post,
    posts_on,
)
from worlds.tasks.screen import Screen, enter, first_of
from worlds.tasks.template import Case, Template, World

_VALUES = {"Upvote": 1, "Downvote": -1}


class VoteNewest(Template):
    """A vote for the newest post of a kind."""

    number = 81
    sites = (SITE,)
    split = "train"
    intents = (
        "{vote} the newest {flair} post in {community}.",
        "{vote} the newest post with the flair {flair} in {community}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community and a kind whose newest post has no vote of ours."""
        forum, community = pick_forum(world, dice)
        flair, vote = dice.pick(FLAIRS), dice.pick(list(_VALUES))
        posts = world.rows(
            SITE,
            "SELECT id FROM posts WHERE forum_id = ? AND flair = ? ORDER BY id DESC LIMIT 2",
            forum,
            flair,
        )
        if len(posts) < 2 or not is_free(world, posts[0]["id"]):
            return None
        goal = changes(row("post_votes", post_id=posts[0]["id"], user_id=ME, value=_VALUES[vote]))
        return Case({"community": community, "flair": flair, "vote": vote}, goal)

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
    """Votes for all posts of a user in a community."""

    number = 86
    sites = (SITE,)
    split = "test"
    intents = (
        "Upvote all of {username}'s posts in {community}.",
        "Give an upvote to every post that {username} has written in {community}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a user with three to five posts in one community, without a vote by the agent."""
        rows = world.rows(
            SITE,
            "SELECT u.username, f.title, group_concat(p.id) AS ids FROM posts p "
            "JOIN users u ON u.id = p.user_id JOIN forums f ON f.id = p.forum_id "
            "WHERE u.id <> ? GROUP BY u.id, f.id HAVING count(*) BETWEEN 3 AND 5 "
            "ORDER BY u.id, f.id",
            ME,
        )
        author = dice.pick(rows)
        ids = [int(each) for each in author["ids"].split(",")]
        if not all(is_free(world, post) for post in ids):
            return None
        votes = (row("post_votes", post_id=post, user_id=ME, value=1) for post in ids)
        return Case({"username": author["username"], "community": author["title"]}, changes(*votes))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Go through the list of the user's posts."""
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


CHANGE_VOTE_WISHES = {"Take it back.": 0, "Turn it into its opposite.": -1}


class ChangeVote(Template):
    """A vote taken back, or turned round."""

    number = 98
    sites = (SITE,)
    split = "train"
    intents = (
        'I regret my vote on "{title}". {wish}',
        'I regret the vote that I gave to the post "{title}". {wish}',
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw one of the agent's votes."""
        votes = world.rows(
            SITE,
            "SELECT p.id, p.title, v.value FROM post_votes v JOIN posts p ON p.id = v.post_id "
            "WHERE v.user_id = ? ORDER BY p.id",
            ME,
        )
        vote, wish = dice.pick(votes), dice.pick(list(CHANGE_VOTE_WISHES))
        value = vote["value"] * CHANGE_VOTE_WISHES[wish]
        key = {"post_id": vote["id"], "user_id": ME}
        changed = row("post_votes", **key, value=value) if value else gone("post_votes", **key)
        return Case({"title": vote["title"], "wish": wish}, changes(changed))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """See how the vote was, and change it."""
        yield from open_post(screen, case.values["title"])
        was_up = screen.has("button", "Retract upvote post")
        if CHANGE_VOTE_WISHES[case.values["wish"]]:
            opposite = "Downvote post" if was_up else "Upvote post"
            yield screen.click("button", opposite, "This turns the vote round.")
        else:
            own = "Retract upvote post" if was_up else "Retract downvote post"
            yield screen.click("button", own, "This takes the vote back.")
        yield screen.stop()


SAVE_MOST_COMMENTED_WORDS = {"two": 2, "three": 3}


class SaveMostCommented(Template):
    """The most discussed posts of a community, saved for later."""

    number = 93
    sites = (SITE,)
    split = "validation"
    intents = (
        "Save {community}'s {n} most commented posts.",
        "Save the {n} posts that have the most comments in the community {community}.",
    )

    def draw(self, world: World, dice: Dice) -> Case | None:
        """Draw a community in which no tie leaves the posts open."""
        forum, community = pick_forum(world, dice)
        word = dice.pick(list(SAVE_MOST_COMMENTED_WORDS))
        count = SAVE_MOST_COMMENTED_WORDS[word]
        posts = world.rows(
            SITE,
            "SELECT p.id, p.num_comments, EXISTS (SELECT 1 FROM saved_posts s WHERE "
            "s.post_id = p.id) AS is_saved FROM posts p WHERE p.forum_id = ? "
            "ORDER BY p.num_comments DESC LIMIT ?",
            forum,
            count + 1,
        )
        top, next_one = posts[:count], posts[count]
        if top[-1]["num_comments"] == next_one["num_comments"] or any(p["is_saved"] for p in top):
            return None
        saved = (row("saved_posts", user_id=ME, post_id=post["id"]) for post in top)
        return Case({"community": community, "n": word}, changes(*saved))

    def solve(self, case: Case, screen: Screen) -> Iterator[ExpertMove]:
        """Sort by comments, then save one after the other."""
        community = case.values["community"]
        yield from open_community(screen, community)
        yield screen.click("link", "Most commented", "Now the right ones come first.")
        number = SAVE_MOST_COMMENTED_WORDS[case.values["n"]]
        titles = [post.title for post in posts_on(screen)][:number]
        for index, title in enumerate(titles):
            yield screen.click("link", title, f"This is number {index + 1} of {number}.")
            yield screen.click("button", "Save post", "I save it.")
            if index + 1 < number:
                yield screen.click("link", community, "Back to the community.")
                yield screen.click("link", "Most commented", "I sort the posts again.")
        yield screen.stop()


VOTES: tuple[Template, ...] = (VoteNewest(), VoteForAll(), ChangeVote(), SaveMostCommented())
