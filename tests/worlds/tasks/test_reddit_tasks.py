"""The forum's templates are numbered, and its experts read its pages as they are."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentgym_envs.browsing.actions import parse_action
from agentgym_envs.browsing.text.browser import TextBrowser
from agentgym_envs.sites.state import SiteState
from worlds.tasks.reddit import TEMPLATES
from worlds.tasks.reddit.steps import comments_on, posts_on
from worlds.tasks.screen import ElementNotFound, Screen

ORIGIN = "http://reddit.test"


class Play:
    """An episode on the forum."""

    def __init__(self) -> None:
        self.state = SiteState()
        self.browser = TextBrowser(self.state)
        self.browser.open(f"{ORIGIN}/", {"reddit": {"session": self.state.sign_in("reddit", 1)}})
        self.screen = Screen(self.browser.page)


@pytest.fixture
def play() -> Iterator[Play]:
    episode = Play()
    yield episode
    episode.state.close()


def test_every_template_has_a_number_of_its_own() -> None:
    numbers = [template.number for template in TEMPLATES]
    assert len(set(numbers)) == len(numbers)
    ranges = (range(80, 100), range(140, 150), range(165, 169), range(190, 195))
    assert all(any(number in each for each in ranges) for number in numbers)


def test_posts_and_comments_are_read_off_the_page(play: Play) -> None:
    database = play.state.database("reddit")
    play.browser.act(parse_action(f"goto [{ORIGIN}/?sort=comments]"))
    title, author, forum, num_comments, number = database.execute(
        "SELECT p.title, u.username, f.title, p.num_comments, p.id FROM posts p "
        "JOIN users u ON u.id = p.user_id JOIN forums f ON f.id = p.forum_id "
        "ORDER BY p.num_comments DESC, p.id DESC"
    ).fetchone()
    first = posts_on(play.screen)[0]
    assert (first.title, first.author, first.forum) == (title, author, forum)
    assert first.num_comments == num_comments
    play.browser.act(parse_action(f"goto [{ORIGIN}/p/{number}]"))
    points = [remark.points for remark in comments_on(play.screen)]
    while play.screen.has("link", "Next"):
        play.browser.act(parse_action(play.screen.click("link", "Next").action))
        points += [remark.points for remark in comments_on(play.screen)]
    known = database.execute("SELECT score FROM comments WHERE post_id = ?", (number,))
    assert sorted(points) == sorted(row[0] for row in known)


def test_a_lost_expert_says_so(play: Play) -> None:
    with pytest.raises(ElementNotFound):
        play.screen.click("link", "No such link")
