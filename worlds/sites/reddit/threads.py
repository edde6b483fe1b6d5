"""Makes the posts and the comments below them."""

from __future__ import annotations

import math
import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta

from agentgym_envs.sites.reddit.heat import heat
from worlds.dice import Dice
from worlds.sites.moments import TODAY, timestamp
from worlds.sites.reddit.draft import Draft
from worlds.sites.reddit.members import Community
from worlds.sites.reddit.talk import answer_comment, answer_post
from worlds.sites.reddit.writing import write_post

_SPAN = 729 * 1440  # minutes: two years
_MAX_COMMENTS = 30


@dataclass
class _Comment:
    post: int
    parent: _Comment | None
    author: int
    body: str
    score: int
    created: datetime
    id: int = 0


def fill_threads(
    connection: sqlite3.Connection, communities: list[Community], num_posts: int, dice: Dice
) -> None:
    """Write all posts, in the order of time, and their comments."""
    moments = sorted(
        TODAY - timedelta(minutes=30 + dice.random() * _SPAN, seconds=dice.between(0, 59))
        for _ in range(num_posts)
    )
    titles: set[str] = set()
    posts, comments = [], []
    for number, created in enumerate(moments, 1):
        community = dice.pick(communities)
        author = community.author(dice)
        draft = _untitled(community, titles, dice, created)
        fame = math.exp(1.7 * (dice.random() + dice.random() - 1.0))
        score = round(16 * fame * (0.4 + dice.random())) - (24 if dice.chance(0.05) else 1)
        below = _comments(number, community, draft, author, fame, created, dice)
        comments += below
        when = timestamp(created)
        posts.append(
            (number, community.id, author, draft.title, draft.url, draft.body, draft.flair, score,
             heat(score, when), len(below), when, int(dice.chance(0.02)), int(dice.chance(0.05)))
        )  # fmt: skip
    connection.executemany(
        "INSERT INTO posts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", posts
    )
    _write_comments(connection, comments)


def _untitled(community: Community, titles: set[str], dice: Dice, created: datetime) -> Draft:
    """Return a draft with an unused title."""
    while True:
        draft = write_post(community.topic, dice, created)
        if draft.title not in titles:
            titles.add(draft.title)
            return draft


def _comments(
    post: int,
    community: Community,
    draft: Draft,
    author: int,
    fame: float,
    created: datetime,
    dice: Dice,
) -> list[_Comment]:
    comments: list[_Comment] = []
    texts: set[str] = set()
    for _ in range(min(_MAX_COMMENTS, round(dice.tail(3.4) * fame))):
        parent = dice.pick(comments) if comments and dice.chance(0.45) else None
        start = parent.created if parent else created
        moment = start + timedelta(minutes=4 + dice.tail(600), seconds=dice.between(0, 59))
        if moment > TODAY:
            continue
        topic = community.topic
        body = answer_comment(topic, dice) if parent else answer_post(topic, dice, draft)
        if body in texts:
            continue
        texts.add(body)
        if parent and parent.author != author and dice.chance(0.3):
            writer = author  # who asked comes back
        else:
            writer = community.author(dice, but=parent.author if parent else author)
        score = -dice.between(1, 12) if dice.chance(0.1) else round(dice.tail(3.0) * fame) + 1
        comments.append(_Comment(post, parent, writer, body, score, moment))
    return comments


def _write_comments(connection: sqlite3.Connection, comments: list[_Comment]) -> None:
    comments.sort(key=lambda comment: comment.created)
    for number, comment in enumerate(comments, 1):
        comment.id = number
    connection.executemany(
        "INSERT INTO comments (id, post_id, parent_id, user_id, body, score, created_at) "
        "VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (c.id, c.post, c.parent.id if c.parent else None, c.author, c.body, c.score,
             timestamp(c.created))
            for c in comments
        ),
    )  # fmt: skip
