"""The agent's to-do items, from assignments, review requests and mentions."""

from __future__ import annotations

import sqlite3

from worlds.dice import Dice

_ISSUES = """
SELECT i.id AS issue, NULL AS request, i.project_id, i.created_at, i.assignee_id = 1 AS is_mine,
       CASE WHEN i.author_id = 1 THEN p.owner_id ELSE i.author_id END AS author
FROM issues i JOIN members m ON m.project_id = i.project_id AND m.user_id = 1
JOIN projects p ON p.id = i.project_id
WHERE i.state = 'open' AND NOT i.confidential ORDER BY i.id
"""
_REQUESTS = """
SELECT NULL AS issue, r.id AS request, r.project_id, r.created_at, r.reviewer_id = 1 AS is_mine,
       CASE WHEN r.author_id = 1 THEN p.owner_id ELSE r.author_id END AS author
FROM merge_requests r JOIN members m ON m.project_id = r.project_id AND m.user_id = 1
JOIN projects p ON p.id = r.project_id WHERE r.state = 'open' ORDER BY r.id
"""


def make_todos(connection: sqlite3.Connection, dice: Dice) -> None:
    """Add to-do items for the agent's assignments, review requests and mentions."""
    rows = []
    for query in (_ISSUES, _REQUESTS):
        for issue in connection.execute(query).fetchall():
            author = issue["author"]
            if author == 1 or not dice.chance(0.75 if issue["is_mine"] else 0.1):
                continue
            action = "mentioned"
            if issue["is_mine"]:
                action = "assigned" if issue["issue"] else "review requested"
            state = "done" if dice.chance(0.2) else "pending"
            rows.append(
                (1, author, action, issue["project_id"], issue["issue"], issue["request"], state,
                 issue["created_at"])
            )  # fmt: skip
    rows.sort(key=lambda row: row[-1])
    connection.executemany(
        "INSERT INTO todos (user_id, author_id, action, project_id, issue_id, merge_request_id, "
        "state, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        rows,
    )
