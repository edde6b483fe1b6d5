"""Solves tasks about votes and saved posts."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.reddit.steps import (
    SITE,
    narrow,
    open_community,
    open_post,
    posts_on,
)
from agentgym_envs.webarena.tasks.screen import Screen, enter, first_of
from agentgym_envs.webarena.tasks.solution import Case


def vote_newest(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Sort by date, filter, and vote for the first."""
    yield from open_community(screen, case.values["community"])
    yield screen.click("link", "New", "The newest post shall come first.")
    yield from narrow(screen, flair=case.values["flair"])
    newest = first_of(posts_on(screen))
    yield screen.click(
        "button", f"{case.values['vote']}: {newest.title}", "The first one is the newest."
    )
    yield screen.stop()


def vote_for_all(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


CHANGE_VOTE_WISHES = {"Take it back.": 0, "Turn it into its opposite.": -1}


def change_vote(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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


def save_most_commented(case: Case, screen: Screen) -> Iterator[ExpertMove]:
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
