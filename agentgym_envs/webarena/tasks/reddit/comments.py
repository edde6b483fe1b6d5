"""Solves tasks about comments: written, changed, deleted, closed."""

from __future__ import annotations

from collections.abc import Iterator

from agentgym_envs.core import ExpertMove
from agentgym_envs.webarena.tasks.reddit.steps import best_comment, open_post
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen, first_of, over_pages
from agentgym_envs.webarena.tasks.solution import Case


def edit_comment(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Find the comment on the pages of the post, and edit it."""
    yield from open_post(screen, case.values["title"])
    while not screen.has("link", "Edit comment"):
        yield screen.click("link", "Next", "My comment is not on this page.")
    yield screen.click("link", "Edit comment", "This one is mine.")
    yield screen.fill("textbox", "Comment", case.values["text"], "I write the new text.")
    yield screen.click("button", "Save comment")
    yield screen.stop()


def edit_no_comment(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Look for the comment on the pages of the post; all are by others."""
    yield from open_post(screen, case.values["title"])
    edits = yield from over_pages(screen, lambda: screen.all("link", "Edit comment"))
    if edits:
        raise ElementNotFound("there is a comment of mine after all")
    yield screen.give_up("None of the comments on this post is mine.")


def reply_to_best(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Read all comments, go back to the best one's page, and reply."""
    yield from open_post(screen, case.values["title"])
    best = yield from best_comment(screen)
    reply = first_of(
        link for link in screen.below(best.node, "link") if link.name.startswith("Reply to ")
    )
    yield screen.click_node(reply, f"This comment has {best.points} points, more than all others.")
    yield screen.fill("textbox", "Your reply", case.values["text"])
    yield screen.click("button", "Post reply")
    yield screen.stop()


def delete_comments(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Delete one after the other until none is left."""
    yield from open_post(screen, case.values["title"])
    while True:
        while not screen.has("link", "Delete comment") and screen.has("link", "Next"):
            yield screen.click("link", "Next", "None of mine on this page.")
        if not screen.has("link", "Delete comment"):
            break
        yield screen.click("link", "Delete comment", "This one is mine.")
        yield screen.click("button", "Yes, delete it", "I am sure.")
    yield screen.stop()


def comment_and_lock(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Comment first: a locked post takes no comments."""
    yield from open_post(screen, case.values["title"])
    yield screen.fill("textbox", "Your comment", case.values["text"])
    yield screen.click("button", "Post comment", "This must come before locking.")
    yield screen.click("button", "Lock post", "Now nobody else can comment.")
    yield screen.stop()
