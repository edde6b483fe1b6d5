"""Makes the agent's content: votes, saved posts, messages, notifications."""

from __future__ import annotations

import sqlite3
from datetime import timedelta

from agentgym_envs.sites.people import AGENT_ID
from agentgym_envs.sites.reddit.heat import heat
from worlds.dice import Dice
from worlds.sites.moments import TODAY, timestamp
from worlds.sites.reddit.topics import SUBJECT_TOPICS
from worlds.sites.setting import TOWNS
from worlds.words import read_words

_WORDS = read_words("sites/reddit/agent_content.toml")

_NOTES: tuple[str, ...] = _WORDS["notes"]

UNREAD = 3  # messages to the agent, the latest ones


def fill_agent_content(connection: sqlite3.Connection, dice: Dice, num_users: int) -> None:
    """Write the agent's content. Users, posts and comments must exist."""
    _votes(connection, dice)
    connection.executemany(
        "INSERT INTO blocked_users VALUES (?, ?)",
        [(AGENT_ID, user) for user in dice.sample(range(num_users - 40, num_users + 1), 4)],
    )
    _messages(connection, dice)
    _notifications(connection)


def _votes(connection: sqlite3.Connection, dice: Dice) -> None:
    posts = [row[0] for row in connection.execute(
        "SELECT id FROM posts WHERE user_id <> ? ORDER BY id", (AGENT_ID,)
    )]  # fmt: skip
    connection.executemany(
        "INSERT INTO post_votes VALUES (?, ?, ?)",
        [(post, AGENT_ID, 1 if dice.chance(0.85) else -1) for post in dice.sample(posts, 90)],
    )
    connection.executemany(
        "INSERT INTO saved_posts VALUES (?, ?)",
        [(AGENT_ID, post) for post in dice.sample(posts, 24)],
    )
    comments = [row[0] for row in connection.execute(
        "SELECT id FROM comments WHERE user_id <> ? ORDER BY id", (AGENT_ID,)
    )]  # fmt: skip
    connection.executemany(
        "INSERT INTO comment_votes VALUES (?, ?, ?)",
        [
            (comment, AGENT_ID, 1 if dice.chance(0.8) else -1)
            for comment in dice.sample(comments, 80)
        ],
    )
    for kind in ("post", "comment"):
        # A score counts everybody's votes, the agent's too.
        connection.execute(
            f"UPDATE {kind}s SET score = score + (SELECT value FROM {kind}_votes WHERE {kind}_id = "
            f"{kind}s.id) WHERE id IN (SELECT {kind}_id FROM {kind}_votes)"
        )
    voted = connection.execute(
        "SELECT score, created_at, id FROM posts WHERE id IN (SELECT post_id FROM post_votes)"
    ).fetchall()
    connection.executemany(
        "UPDATE posts SET heat = ? WHERE id = ?", [(heat(row[0], row[1]), row[2]) for row in voted]
    )


def _messages(connection: sqlite3.Connection, dice: Dice) -> None:
    rows = []
    moment = TODAY - timedelta(days=120)
    partners = dice.sample(range(2, 120), 16)
    for number in range(1, 41):
        moment += timedelta(days=dice.tail(2.4), minutes=dice.between(1, 900))
        if moment >= TODAY:
            break
        sent = dice.chance(0.3)
        partner = dice.pick(partners)
        topic = dice.pick(SUBJECT_TOPICS)
        body = dice.pick(_NOTES).format(
            thing=dice.pick(topic.things),
            product=dice.pick(topic.gear),
            doing=dice.pick(topic.doing),
            town=dice.pick(TOWNS),
            price=dice.between(*topic.prices),
            n=dice.between(2, 9),
            hour=dice.between(9, 19),
        )
        pair = (AGENT_ID, partner) if sent else (partner, AGENT_ID)
        rows.append((number, *pair, body, timestamp(moment)))
    connection.executemany("INSERT INTO messages VALUES (?, ?, ?, ?, ?, 1)", rows)
    connection.execute(
        "UPDATE messages SET is_read = 0 WHERE id IN "
        "(SELECT id FROM messages WHERE to_id = ? ORDER BY id DESC LIMIT ?)",
        (AGENT_ID, UNREAD),
    )


def _notifications(connection: sqlite3.Connection) -> None:
    answers = connection.execute(
        "SELECT c.id, c.created_at FROM comments c JOIN posts p ON p.id = c.post_id "
        "LEFT JOIN comments a ON a.id = c.parent_id "
        "WHERE c.user_id <> :me AND coalesce(a.user_id, p.user_id) = :me ORDER BY c.id",
        {"me": AGENT_ID},
    ).fetchall()
    fresh = timestamp(TODAY - timedelta(days=45))
    connection.executemany(
        "INSERT INTO notifications (user_id, comment_id, is_read) VALUES (?, ?, ?)",
        [(AGENT_ID, row[0], int(row[1] < fresh)) for row in answers],
    )
