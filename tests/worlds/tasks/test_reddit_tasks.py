"""The forum's templates: what they demand, and that anything more is noticed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from agentgym_envs.webarena.evaluators.db_state import DatabaseEvaluator

from agentgym_envs.webarena.actions import parse_action
from agentgym_envs.webarena.browsers.text.browser import TextBrowser
from agentgym_envs.webarena.browsers.text.fetch import fetch
from agentgym_envs.webarena.evaluators.verdict import Ending
from agentgym_envs.webarena.site_functions import EmbeddedFunctions
from agentgym_envs.webarena.sites.state import SiteState
from agentgym_envs.webarena.tasks.experts import EXPERTS
from agentgym_envs.webarena.tasks.reddit.steps import comments_on, posts_on
from agentgym_envs.webarena.tasks.screen import ElementNotFound, Screen
from tests.worlds.tasks.arriving import WORLD
from worlds.dice import Dice
from worlds.tasks.reddit import TEMPLATES
from worlds.tasks.reddit.draws import totals
from worlds.tasks.template import Case, Template

ORIGIN = "http://reddit.test"


def drawn(template: Template, seed: int = 0) -> Case:
    dice = Dice(seed)
    return next(case for _ in range(500) if (case := template.draw(WORLD, dice)) is not None)


CHANGES = [t for t in TEMPLATES if "state_change" in drawn(t).evaluation["eval_types"]]


class Play:
    """An episode on the forum."""

    def __init__(self) -> None:
        self.state = SiteState()
        self.cookies = {"session": self.state.sign_in("reddit", 1)}
        self.browser = TextBrowser(self.state)
        self.browser.open(f"{ORIGIN}/", {"reddit": self.cookies})
        self.screen = Screen(self.browser.page)

    def solve(self, template: Template, case: Case) -> None:
        if not template.signed_in:
            self.browser.open(f"{ORIGIN}/", {})
        for move in EXPERTS[template.number](case, self.screen):
            action = parse_action(move.action)
            if action.kind != "stop":
                self.browser.act(action)

    def score(self, case: Case) -> float | None:
        functions = EmbeddedFunctions(self.state)
        ending = Ending("", "", self.browser, functions, self.state)
        return DatabaseEvaluator(case.evaluation)(ending).score


@pytest.fixture
def play() -> Iterator[Play]:
    episode = Play()
    yield episode
    episode.state.close()


@pytest.mark.parametrize("template", CHANGES, ids=lambda t: type(t).__name__)
def test_what_nobody_asked_for_spoils_the_task(play: Play, template: Template) -> None:
    case = drawn(template)
    play.solve(template, case)
    assert play.score(case) == 1.0
    comment = play.state.database("reddit").execute(
        "SELECT min(id) FROM comments WHERE user_id <> 1 "
        "AND id NOT IN (SELECT comment_id FROM comment_votes)"
    )
    path = f"{ORIGIN}/comments/{comment.fetchone()[0]}/vote"
    fetch(play.state, path, form=[("value", "1")], cookies=play.cookies)
    assert play.score(case) == 0.0


@pytest.mark.parametrize("template", CHANGES, ids=lambda t: type(t).__name__)
def test_another_instance_is_another_goal(play: Play, template: Template) -> None:
    first = drawn(template)
    other = next(
        case for seed in range(1, 50) if (case := drawn(template, seed)).values != first.values
    )
    play.solve(template, other)
    assert play.score(first) == 0.0


def test_every_template_has_a_number_of_its_own() -> None:
    numbers = [template.number for template in TEMPLATES]
    assert len(set(numbers)) == len(numbers)
    assert all(80 <= number < 100 or 140 <= number < 150 for number in numbers)


def test_unknown_totals_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown totals"):
        totals(WORLD, kittens=1)


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
