"""Makes what belongs to the agent's user: votes, saved posts, messages, notifications."""

from __future__ import annotations

import sqlite3
from datetime import datetime, timedelta

from agentgym_envs.webarena.sites.people import AGENT_ID, TOWNS
from agentgym_envs.webarena.sites.reddit.dice import Dice
from agentgym_envs.webarena.sites.reddit.heat import heat
from agentgym_envs.webarena.sites.reddit.members import NUM_USERS, stamp
from agentgym_envs.webarena.sites.reddit.words import TOPICS
from agentgym_envs.webarena.sites.state import NOW

_NOW = datetime.fromisoformat(NOW)


def fill_agent_content(connection: sqlite3.Connection, dice: Dice) -> None:
    """Write them; users, posts and comments are there already."""
    _votes(connection, dice)
    connection.executemany(
        "INSERT INTO blocked_users VALUES (?, ?)",
        [(AGENT_ID, user) for user in dice.some(range(NUM_USERS - 40, NUM_USERS + 1), 4)],
    )
    _messages(connection, dice)
    _notifications(connection)


def _votes(connection: sqlite3.Connection, dice: Dice) -> None:
    posts = [row[0] for row in connection.execute(
        "SELECT id FROM posts WHERE user_id <> ? ORDER BY id", (AGENT_ID,)
    )]  # fmt: skip
    connection.executemany(
        "INSERT INTO post_votes VALUES (?, ?, ?)",
        [(post, AGENT_ID, 1 if dice.chance(0.85) else -1) for post in dice.some(posts, 90)],
    )
    connection.executemany(
        "INSERT INTO saved_posts VALUES (?, ?)",
        [(AGENT_ID, post) for post in dice.some(posts, 24)],
    )
    comments = [row[0] for row in connection.execute(
        "SELECT id FROM comments WHERE user_id <> ? ORDER BY id", (AGENT_ID,)
    )]  # fmt: skip
    connection.executemany(
        "INSERT INTO comment_votes VALUES (?, ?, ?)",
        [(comment, AGENT_ID, 1 if dice.chance(0.8) else -1) for comment in dice.some(comments, 80)],
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
    moment = _NOW - timedelta(days=120)
    partners = dice.some(range(2, 120), 16)
    for number in range(1, 41):
        moment += timedelta(days=dice.tail(2.4), minutes=dice.number(1, 900))
        if moment >= _NOW:
            break
        sent = dice.chance(0.3)
        partner = dice.pick(partners)
        topic = dice.pick(TOPICS[:35])
        body = dice.pick(_NOTES).format(
            thing=dice.pick(topic.things),
            product=dice.pick(topic.gear),
            doing=dice.pick(topic.doing),
            town=dice.pick(TOWNS),
            price=dice.number(*topic.prices),
            n=dice.number(2, 9),
            hour=dice.number(9, 19),
        )
        is_read = sent or (_NOW - moment).days > 6
        pair = (AGENT_ID, partner) if sent else (partner, AGENT_ID)
        rows.append((number, *pair, body, stamp(moment), int(is_read)))
    connection.executemany("INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?)", rows)


_NOTES = (
    "Hello, thank you for the tip about {thing}. It worked at the {n}th try.",
    "Is your {product} still for sale? I would give you ${price} and fetch it in {town}.",
    "We meet on Saturday at {hour}:00 in {town}. There will be {n} of us. Are you coming?",
    "I have {n} {thing} too many. Do you want some? I am in {town} next week.",
    "You wrote about {doing}. Could you send me the name of the course in {town}?",
    "Sorry for the late answer: it cost ${price}, and I would buy it again.",
    "Do you know anybody in {town} who knows about {doing}?",
    "The parcel has arrived, all {n} pieces are whole. Thank you!",
)


def _notifications(connection: sqlite3.Connection) -> None:
    answers = connection.execute(
        "SELECT c.id, c.created_at FROM comments c JOIN posts p ON p.id = c.post_id "
        "LEFT JOIN comments a ON a.id = c.parent_id "
        "WHERE c.user_id <> :me AND coalesce(a.user_id, p.user_id) = :me ORDER BY c.id",
        {"me": AGENT_ID},
    ).fetchall()
    fresh = stamp(_NOW - timedelta(days=45))
    connection.executemany(
        "INSERT INTO notifications (user_id, comment_id, is_read) VALUES (?, ?, ?)",
        [(AGENT_ID, row[0], int(row[1] < fresh)) for row in answers],
    )
