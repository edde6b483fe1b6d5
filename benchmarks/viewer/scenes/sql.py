"""SQL's scene: the result of the last statement, and whether it is the answer."""

from __future__ import annotations

from typing import Any

from agentgym_envs.sql.env import NUM_SHOWN, SQLEnv
from agentgym_envs.sql.values import cell


def about(env: SQLEnv) -> dict[str, Any]:
    """Return the question, its database and its level."""
    question = env.question
    return {"question": question.text, "database": question.database, "level": question.level}


def look(env: SQLEnv) -> dict[str, Any]:
    """Return the first rows of the last result, without columns before the first one."""
    result = env.result
    if result is None:
        return {"columns": [], "rows": [], "more": False, "right": False}
    return {
        "columns": list(result.columns),
        "rows": [[cell(value) for value in row] for row in result.rows[:NUM_SHOWN]],
        "more": result.has_more or len(result.rows) > NUM_SHOWN,
        "right": not env.why_wrong(result),
    }
