"""Other honest ways to do the forum's tasks than their experts', and near misses."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from agentgym_envs.core import ExpertMove
from agentgym_envs.sites.people import AGENT
from tests.worlds.tasks.arriving import WORLD
from tests.worlds.tasks.judging.forms import as_if, first
from tests.worlds.tasks.judging.reddit_damage import BLOCKED, HOME, SITE, STRANGER, UNFOLLOWED
from tests.worlds.tasks.judging.verdicts import Row, changing, some
from worlds.tasks.drawing import TEMPLATES
from worlds.tasks.reddit.steps import (
    author_of,
    narrow,
    open_community,
    open_post,
    posts_on,
)
from worlds.tasks.screen import Screen, over_pages
from worlds.tasks.template import Case, Solution


def unfollowed() -> list[str]:
    """List the titles of the communities that the agent does not follow."""
    return [row["title"] for row in WORLD.rows("reddit", f"SELECT title {UNFOLLOWED}")]


def done_by_the_expert(
    template: int, case: Case, screen: Screen, **values: str
) -> Iterator[ExpertMove]:
    """Do a task, or one with other values, and go on."""
    other = Case({**case.values, **values}, notes=case.notes)
    for move in TEMPLATES[template].solve(other, screen):
        if not move.action.startswith("stop"):
            yield move


def newest_on_its_own_page(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_community(screen, case.values["community"])
    yield screen.click("link", "New")
    yield from narrow(screen, flair=case.values["flair"])
    yield screen.click("link", posts_on(screen)[0].title)
    yield screen.click("button", f"{case.values['vote']} post")


def newest_the_wrong_way_first(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_community(screen, case.values["community"])
    yield from narrow(screen, flair=case.values["flair"])
    yield screen.click("link", "New")
    title = posts_on(screen)[0].title
    votes = ("Upvote", "Downvote") if case.values["vote"] == "Downvote" else ("Downvote", "Upvote")
    for vote in votes:
        yield screen.click("button", f"{vote}: {title}")


def posted_from_the_menu(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield screen.click("link", "Write a post")
    yield screen.choose("Flair", case.values["flair"])
    yield screen.fill("textbox", "Text", f"  {case.values['text']} ")
    yield screen.choose("Community", case.values["community"])
    yield screen.fill("textbox", "Title", case.values["title"])
    yield screen.click("button", "Publish post")


def posted_and_completed(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_community(screen, case.values["community"])
    yield screen.click("link", f"Post in {case.values['community']}")
    yield screen.fill("textbox", "Title", "Draft")
    yield screen.fill("textbox", "Text", "To be written")
    yield screen.click("button", "Publish post")
    yield screen.click("link", "Edit post")
    yield screen.fill("textbox", "Title", case.values["title"])
    yield screen.fill("textbox", "Text", case.values["text"])
    yield screen.choose("Flair", case.values["flair"])
    yield screen.click("button", "Save post")


def subscribed_on_the_communities_pages(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    for slot, button in (("third", "Unsubscribe"), ("second", "Subscribe"), ("first", "Subscribe")):
        yield from open_community(screen, case.values[slot])
        yield screen.click("button", button)


def subscribed_to_one_too_many_first(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    other = next(title for title in unfollowed() if title not in case.values.values())
    yield screen.go(f"{HOME}/communities?q={other}")
    yield screen.click("button", f"Subscribe to {other}")
    yield screen.click("button", f"Unsubscribe from {other}")
    yield from TEMPLATES[84].solve(case, screen)


def edited_from_my_profile(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield screen.go(f"{HOME}/u/{AGENT.username}/comments")
    while not screen.has("link", case.values["title"]):
        yield screen.click("link", "Next")
    title = screen.find("link", case.values["title"])
    yield screen.click_node(
        next(
            node
            for node in screen.page.nodes[title.element :]
            if node.name.startswith("Open comment")
        )
    )
    yield screen.click("link", "Edit comment")
    yield screen.fill("textbox", "Comment", case.values["text"])
    yield screen.click("button", "Save comment")


def edited_twice(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from done_by_the_expert(85, case, screen, text="A typing eror")
    yield screen.click("link", "Edit comment")
    yield screen.fill("textbox", "Comment", case.values["text"])
    yield screen.click("button", "Save comment")


def messaged_by_name(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_community(screen, case.values["community"])
    yield from narrow(screen, flair=case.values["flair"])
    yield screen.click("link", "Most commented")
    author = posts_on(screen)[0].author
    yield screen.go(f"{HOME}/messages/new")
    yield screen.fill("textbox", "Message", case.values["text"].replace(" ", "  "))
    yield screen.fill("textbox", "To", author.upper())
    yield screen.click("button", "Send message")


def messaged_from_the_post(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_community(screen, case.values["community"])
    yield screen.click("link", "Most commented")
    yield from narrow(screen, flair=case.values["flair"])
    yield screen.click("link", posts_on(screen)[0].title)
    yield screen.go(f"{HOME}/messages/new?to={author_of(screen)}")
    yield screen.fill("textbox", "Message", case.values["text"])
    yield screen.click("button", "Send message")


def founded_bare(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    values = case.values
    yield screen.go(f"{HOME}/communities/new")
    for label in ("Name", "Title", "Description"):
        yield screen.fill("textbox", label, values["name"])
    yield screen.click("button", "Create community")
    yield screen.click("link", "Edit community")
    for label in ("Title", "Description", "Sidebar"):
        yield screen.fill("textbox", label, values[label.lower()])
    yield screen.click("button", "Save community")
    yield screen.click("link", "Write a post")
    yield screen.choose("Community", values["title"])
    yield screen.fill("textbox", "Title", values["first"])
    yield screen.fill("textbox", "Text", values["text"])
    yield screen.click("button", "Publish post")


def founded_with_a_flair_taken_off(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from islice(TEMPLATES[89].solve(case, screen), 10)
    yield screen.choose("Flair", "News")
    yield screen.click("button", "Publish post")
    yield screen.click("link", "Edit post")
    yield screen.choose("Flair", "No flair")
    yield screen.click("button", "Save post")


def replied_and_corrected(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from done_by_the_expert(92, case, screen, text="A typing eror")
    yield screen.click("link", "Edit comment")
    yield screen.fill("textbox", "Comment", case.values["text"])
    yield screen.click("button", "Save comment")


def saved_last_first(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_community(screen, case.values["community"])
    yield screen.click("link", "Most commented")
    number = {"two": 2, "three": 3}[case.values["n"]]
    one_too_many = [post.title for post in posts_on(screen)][: number + 1]
    for title in reversed(one_too_many):
        yield from open_post(screen, title)
        yield screen.click("button", "Save post")
    yield from open_post(screen, one_too_many[-1])
    yield screen.click("button", "Unsave post")


def deleted_newest_first(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_post(screen, case.values["title"])
    url = screen.url
    while screen.has("link", "Newest"):
        yield screen.click("link", "Newest")
        while not screen.has("link", "Delete comment"):
            if not screen.has("link", "Next"):
                return
            yield screen.click("link", "Next")
        yield screen.click("link", "Delete comment")
        yield screen.click("button", "Yes, delete it")
        yield screen.go(url)


def edited_before_they_were_deleted(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from done_by_the_expert(85, case, screen, text="-")
    yield from TEMPLATES[94].solve(case, screen)


def settled_in_two_forms(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield screen.go(f"{HOME}/u/{case.values['username']}")
    yield screen.click("button", "Unblock")
    for label, slot in (("Biography", "bio"), ("Email", "email")):
        yield screen.click("link", "Settings")
        yield screen.fill("textbox", label, case.values[slot])
        yield screen.click("button", "Save settings")


def settled_in_capitals(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """An e-mail address has no case, and a name that was wrong for a while is right again."""
    yield screen.click("link", "Settings")
    yield screen.fill("textbox", "Name", "M. H.")
    yield screen.click("button", "Save settings")
    yield screen.fill("textbox", "Name", AGENT.name)
    yield screen.click("button", "Save settings")
    yield from done_by_the_expert(95, case, screen, email=case.values["email"].upper())


def locked_too_early(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_post(screen, case.values["title"])
    yield screen.click("button", "Lock post")
    yield screen.click("button", "Unlock post")
    yield screen.fill("textbox", "Your comment", case.values["text"])
    yield screen.click("button", "Post comment")
    yield screen.click("button", "Lock post")


def corrected_when_locked(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from done_by_the_expert(97, case, screen, text="A typing eror")
    yield screen.click("link", "Newest")
    yield screen.click("link", "Edit comment")
    yield screen.fill("textbox", "Comment", case.values["text"])
    yield screen.click("button", "Save comment")


def changed_in_the_results(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """The list of a search has buttons too."""
    title = case.values["title"]
    yield screen.fill("searchbox", "Search Commonplace", title, enter=True)
    was_up = screen.has("button", f"Retract upvote: {title}")
    vote = {True: "upvote", False: "downvote"}
    yield screen.click("button", f"Retract {vote[was_up]}: {title}")
    if case.values["wish"] != "Take it back.":
        yield screen.click("button", f"{vote[not was_up].capitalize()}: {title}")


def turned_round_and_back(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_post(screen, case.values["title"])
    was_up = screen.has("button", "Retract upvote post")
    other, own = ("Downvote", "Upvote") if was_up else ("Upvote", "Downvote")
    yield screen.click("button", f"{other} post")
    yield screen.click("button", f"{own} post")
    yield from TEMPLATES[98].solve(case, screen)


def registered_and_signed_in_again(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield screen.go(f"{HOME}/register")
    for label, slot in (
        ("Repeat password", "password"),
        ("Password", "password"),
        ("Email", "email"),
        ("Name", "name"),
        ("User name", "username"),
    ):
        yield screen.fill("textbox", label, case.values[slot])
    yield screen.click("button", "Create account")
    yield screen.click("button", "Sign out")
    yield screen.go(f"{HOME}/login")
    yield screen.fill("textbox", "User name or email", case.values["email"])
    yield screen.fill("textbox", "Password", case.values["password"], enter=True)
    yield from done_on_its_own_page(case, screen)


def registered_late(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """Find the post first, and register once the site asks for it."""
    yield from open_community(screen, case.values["community"])
    yield screen.click("link", "New")
    yield screen.click("link", posts_on(screen)[0].title)
    url = screen.url
    yield from islice(TEMPLATES[143].solve(case, screen), 7)
    yield screen.go(url)
    yield screen.click("button", f"{case.values['deed'].capitalize()} post")


def done_on_its_own_page(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_community(screen, case.values["community"])
    yield screen.click("link", "New")
    yield screen.click("link", posts_on(screen)[0].title)
    yield screen.click("button", f"{case.values['deed'].capitalize()} post")


def voted_in_the_community(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_community(screen, case.values["community"])
    while True:
        for post in posts_on(screen):
            if post.author == case.values["username"]:
                yield screen.click("button", f"Upvote: {post.title}")
        if not screen.has("link", "Next"):
            return
        yield screen.click("link", "Next")


def voted_on_each_page(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield screen.go(f"{HOME}/u/{case.values['username']}/posts?sort=top")
    posts = yield from over_pages(screen, lambda: posts_on(screen))
    for post in posts:
        if post.forum == case.values["community"]:
            yield from open_post(screen, post.title)
            yield screen.click("button", "Upvote post")


def posted_where_active_from_the_menu(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    """A flair is not asked for, so any will do."""
    most = max(case.notes["communities"], key=num_posts)
    values = {**case.values, "community": most, "flair": "Story"}
    yield from posted_from_the_menu(Case(values), screen)


def num_posts(community: str) -> int:
    sql = "SELECT count(*) FROM posts p JOIN forums f ON f.id = p.forum_id WHERE f.title = ?"
    number: int = WORLD.value("reddit", sql, community)
    return number


def posted_where_active_and_completed(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from done_by_the_expert(190, case, screen, text="To be written")
    yield screen.click("link", "Edit post")
    yield screen.fill("textbox", "Text", case.values["text"])
    yield screen.click("button", "Save post")


def line_added(case: Case, screen: Screen, between: str) -> Iterator[ExpertMove]:
    body = WORLD.value("reddit", "SELECT body FROM posts WHERE title = ?", case.values["title"])
    yield screen.click("link", "Edit post")
    yield screen.fill("textbox", "Text", f"{body}{between}{case.values['text']}")
    yield screen.click("button", "Save post")


def line_added_as_a_paragraph(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield screen.go(f"{HOME}/u/{AGENT.username}/posts")
    while not screen.has("link", case.values["title"]):
        yield screen.click("link", "Next")
    yield screen.click("link", case.values["title"])
    yield from line_added(case, screen, "\n\n")


def line_added_and_corrected(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from done_by_the_expert(192, case, screen, text="A typing eror")
    yield from line_added(case, screen, "\n")


_WAYS: list[tuple[int, Solution]] = [
    (81, newest_on_its_own_page),
    (81, newest_the_wrong_way_first),
    (83, posted_from_the_menu),
    (83, posted_and_completed),
    (84, subscribed_on_the_communities_pages),
    (84, subscribed_to_one_too_many_first),
    (85, edited_from_my_profile),
    (85, edited_twice),
    (86, voted_in_the_community),
    (86, voted_on_each_page),
    (87, messaged_by_name),
    (87, messaged_from_the_post),
    (89, founded_bare),
    (89, founded_with_a_flair_taken_off),
    (92, replied_and_corrected),
    (93, saved_last_first),
    (94, deleted_newest_first),
    (94, edited_before_they_were_deleted),
    (95, settled_in_two_forms),
    (95, settled_in_capitals),
    (97, locked_too_early),
    (97, corrected_when_locked),
    (98, changed_in_the_results),
    (98, turned_round_and_back),
    (143, registered_and_signed_in_again),
    (143, registered_late),
    (190, posted_where_active_from_the_menu),
    (190, posted_where_active_and_completed),
    (192, line_added_as_a_paragraph),
    (192, line_added_and_corrected),
]
WAYS: list[Row] = [(number, way.__name__, way) for number, way in _WAYS]


# Near misses ------------------------------------------------------------------------------------


def line_in_place_of_the_text(case: Case, screen: Screen) -> Iterator[ExpertMove]:
    yield from open_post(screen, case.values["title"])
    yield screen.click("link", "Edit post")
    yield screen.fill("textbox", "Text", case.values["text"])
    yield screen.click("button", "Save post")


def with_another_value(
    template: int, slot: str, texts: Sequence[str] | Callable[[], Sequence[str]]
) -> Solution:
    """Return the expert's way as if the first of these texts that the task lacks were its own."""

    def solution(case: Case, screen: Screen) -> Iterator[ExpertMove]:
        candidates = texts() if callable(texts) else texts
        other = next(text for text in candidates if text not in case.values.values())
        yield from as_if(template, **{slot: other})(case, screen)

    return solution


ALMOST = ("Almost what was asked for.",)
_WRONG: list[tuple[int, str, Sequence[str] | Callable[[], Sequence[str]]]] = [
    (81, "vote", ("Upvote", "Downvote")),
    (83, "flair", ("News", "Story")),
    (83, "text", ALMOST),
    (84, "second", unfollowed),
    (85, "text", ("?",)),
    (87, "text", ALMOST),
    (87, "flair", ("Question", "Review")),
    (89, "sidebar", ("",)),
    (89, "name", ("some-other-name",)),
    (92, "text", ALMOST),
    (93, "n", ("two", "three")),
    (95, "bio", ("",)),
    (95, "email", ("mira100@post.test",)),
    (95, "username", lambda: [first(SITE, BLOCKED), first(SITE, STRANGER)]),
    (97, "text", ALMOST),
    (98, "wish", ("Take it back.", "Turn it into its opposite.")),
    (143, "deed", ("save", "upvote")),
    (143, "password", ("password-1",)),
    (143, "email", ("somebody@else.test",)),
    (192, "text", ALMOST),
]
NEAR_MISSES: list[Row] = [
    *((number, slot, with_another_value(number, slot, texts)) for number, slot, texts in _WRONG),
    *(
        (
            number,
            "another task's values",
            as_if(number, **(some(number, 1).instantiation_dict or {})),
        )
        for number in changing("reddit")
    ),
    (192, "a line in place of the text", line_in_place_of_the_text),
]
