from __future__ import annotations

import re
from typing import Any

import gymnasium as gym
import pytest

from agentgym_envs.sql.env import SQLEnv
from agentgym_envs.sql.questions import LEVELS, load_questions
from agentgym_envs.sql.values import literal

BY_NUMBER = load_questions().by_number


def made(**kwargs: Any) -> SQLEnv:
    env = gym.make("agentgym/SQL-v0", **kwargs).unwrapped
    assert isinstance(env, SQLEnv)
    return env


def a_number(template: str) -> int:
    """The first question of a template."""
    return next(n for n, question in BY_NUMBER.items() if question.template == template)


@pytest.fixture
def env() -> SQLEnv:
    env = made(max_turns=100)
    env.reset(options={"task_id": a_number("top_customers_of_month")})
    return env


def test_there_are_three_splits_and_three_levels() -> None:
    env = made()
    sizes = [len(env.task_ids(split)) for split in ("train", "validation", "test")]
    assert sum(sizes) == len(BY_NUMBER) >= 2_000
    assert sizes[0] > sizes[2] > sizes[1] > 200
    for level in LEVELS:
        drawn = made(split="test", tasks=[level])
        assert drawn.reset(seed=1)[1]["subtask"] == level


def test_an_episode_begins_with_the_tables_and_the_question(env: SQLEnv) -> None:
    observation, info = env.reset(options={"task_id": a_number("phone_of_place")})
    assert re.fullmatch(
        r"The database map has the tables: facts, hours, .*, users\.\nQuestion: (.*)", observation
    )
    assert observation.endswith(info["goal"])


@pytest.mark.parametrize("action", ["COLUMNS Orders;", "columns `orders`", 'Columns "Orders" ;'])
def test_a_table_may_be_named_as_in_a_statement(env: SQLEnv, action: str) -> None:
    expected, *_ = env.step("columns orders")
    assert env.step(action)[0] == expected


def test_columns_are_listed_with_keys_and_references(env: SQLEnv) -> None:
    observation, *_ = env.step("columns Orders")
    lines = observation.splitlines()
    assert lines[:2] == ["The table orders has the columns:", "id INTEGER, primary key"]
    assert "customer_id INTEGER, refers to customers.id" in lines
    env.reset(options={"task_id": a_number("stars_without_following")})
    pairs = env.step("columns issue_labels")[0].splitlines()[1:]
    assert pairs == [
        "issue_id INTEGER, part of the primary key, refers to issues.id",
        "label_id INTEGER, part of the primary key, refers to labels.id",
    ]
    env.reset(options={"task_id": a_number("orders_to_town_by_status")})
    observation, *_, info = env.step("columns persons")
    assert observation.startswith("There is no table 'persons'; there are: addresses, admins,")
    assert not info["is_valid_action"]


def test_a_query_shows_the_first_rows(env: SQLEnv) -> None:
    observation, reward, terminated, _, info = env.step("query SELECT id, coupon FROM orders")
    lines = observation.splitlines()
    assert lines[:2] == ["id | coupon", "1001 | NULL"]
    assert lines[-1] == "(the first 30 of more than 1,000 rows)"
    assert (len(lines), reward, terminated, info["is_valid_action"]) == (32, 0.0, False, True)
    assert env.step("query SELECT 1 AS a WHERE 0")[0] == "a\n(no rows)"
    long = env.step("query SELECT group_concat(title) AS a FROM (SELECT title FROM pages)")[0]
    assert long.startswith("a\nAbout us,")


@pytest.mark.parametrize(
    "action", ["SELECT 42", "select 42", "```sql\nSELECT 42\n```", "QUERY: SELECT 42"]
)
def test_a_statement_alone_is_a_query(env: SQLEnv, action: str) -> None:
    assert env.step(action)[0].endswith("\n42\n(1 row)")


@pytest.mark.parametrize("verb", ["query", "answer"])
def test_a_failing_statement_is_an_observation_and_no_answer(env: SQLEnv, verb: str) -> None:
    observation, reward, terminated, _, info = env.step(f"{verb} SELECT nosuch FROM orders")
    assert observation == "The statement cannot be run: no such column: nosuch."
    assert (reward, terminated, info["is_valid_action"]) == (0.0, False, False)
    observation, *_ = env.step(f"{verb} 42")
    assert observation.endswith(
        "A statement begins with SELECT, WITH or VALUES; SELECT 42 gives 42 itself."
    )


def test_what_is_no_action_is_said(env: SQLEnv) -> None:
    observation, *_, info = env.step("I would look at the orders")
    assert observation.startswith("That is no action. An action is: columns <table>,")
    assert not info["is_valid_action"]


def test_the_right_result_is_paid_however_it_is_written(env: SQLEnv) -> None:
    rows = env.question.rows
    assert rows is not None and env.question.is_ordered
    values = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
    observation, reward, terminated, _, info = env.step(f"answer VALUES {values}")
    assert (observation, reward, terminated) == ("That is the answer.", 1.0, True)
    assert (info["success"], info["score"], info["verdict"]) == (True, 1.0, "")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda s: f"SELECT * FROM ({s}) ORDER BY 2", "but in another order"),
        (lambda s: f"SELECT *, 1 FROM ({s})", "2 columns are asked for, and the answer has 3"),
        (lambda s: f"SELECT * FROM ({s}) LIMIT 1", r"\d rows are expected, and the answer has 1"),
        (lambda s: "SELECT name, id FROM customers", r"and the answer has 400"),
        (lambda s: "SELECT id, id FROM orders", "it has more than 1,000 rows"),
    ],
)
def test_a_wrong_answer_ends_the_episode_and_says_why(env: SQLEnv, change: Any, why: str) -> None:
    observation, reward, terminated, _, info = env.step(f"answer {change(env.question.statement)}")
    assert (reward, terminated, info["success"], info["score"]) == (0.0, True, False, 0.0)
    assert re.search(why, info["verdict"])
    assert observation == f"That is not the answer: {info['verdict']}."


@pytest.mark.full
def test_every_question_has_the_answer_that_it_was_made_with() -> None:
    """The expert's last move, on all questions; whole episodes are in the test below."""
    env = made()
    for number in BY_NUMBER:
        env.reset(options={"task_id": number})
        (action,) = env.expert(privileged=True)
        assert env.step(action)[4]["success"], number


def test_the_expert_writes_only_words_that_it_has_read() -> None:
    """Words in quotes stand in the question or in what an observation has shown; dates are told."""
    env = made(split="test")
    for task_id in env.task_ids()[::3]:
        seen, info = env.reset(options={"task_id": task_id})
        for action in env.expert():
            for word in re.findall(r"'((?:[^']|'')*)'", action):
                word = word.replace("''", "'")
                assert word in seen or re.fullmatch(r"\d{4}-\d\d", word), (task_id, word)
            if action.startswith("query"):
                tables = re.findall(r"(?:FROM|JOIN) (\w+)", action)
                assert all(f"The table {table} has" in seen for table in tables), task_id
            observation, *_, info = env.step(action)
            assert info["is_valid_action"], observation
            seen += "\n" + observation
        assert info["success"] and info["turn"] <= 8


@pytest.mark.parametrize(("most", "horizon"), [(2, {}), (20, {"horizon": 2})])
def test_the_expert_keeps_within_its_turns_and_goes_on_from_anywhere(
    most: int, horizon: dict[str, int]
) -> None:
    env = made(max_turns=most)
    for task_id in env.task_ids("test")[:20]:
        env.reset(options={"task_id": task_id, **horizon})
        env.step("columns nothing")
        for action in env.expert():
            info = env.step(action)[4]
        assert info["success"]


def test_the_baselines_hardly_ever_answer() -> None:
    env = made(split="test")
    for baseline, most in (("commonest_answer", 0.04), ("counted_table", 0.02)):
        won = 0
        for task_id in env.task_ids():
            env.reset(options={"task_id": task_id})
            for action in env.baseline(baseline):
                *_, terminated, _, info = env.step(action)
                won += info["success"]
            assert terminated
        assert won <= most * len(env.task_ids()), (baseline, won)


LINES = "SELECT COUNT(*)\nFROM posts\nWHERE id = 1\n   OR id = 2"


@pytest.mark.parametrize(
    "written",
    [
        f"Thought: x\nAction: query {LINES}",
        f"Thought: x\nAction: {LINES}",
        f"Thought: x\n**Action:** query\n{LINES}",
        f"Thought: x\nAction: query {LINES}\nObservation: it is 1\nThought: well",
        f"Thought: x\nAction:\n```sql\nquery {LINES}\n```\nThat is all.",
        f"Thought: x\nAction:\n```sql\n{LINES}\n```",
        f"Thought: x\nAction: query\n```sql\n{LINES}\n```",
        f"Thought: x\nAction: query\n```sql\n{LINES}\n```\nThis counts the posts.",
        f"Thought: x\nAction: -- the posts\n{LINES}",
    ],
)
def test_a_statement_goes_on_over_lines(written: str) -> None:
    """Its first line alone is a statement, too, with another result."""
    env = made(action_format="react")
    env.reset(options={"task_id": a_number("subscribers_of_both")})
    observation, _, _, _, info = env.step(written)
    assert info["is_valid_action"] and observation.splitlines()[1] == "2"


def test_other_actions_are_one_line_and_calls_may_break_lines() -> None:
    env = made(action_format="react")
    env.reset(options={"task_id": a_number("subscribers_of_both")})
    assert env.step("Thought: x\nAction: columns posts\nThen I count.")[4]["is_valid_action"]
    calls = made(action_format="function_call")
    calls.reset(options={"task_id": a_number("subscribers_of_both")})
    call = f'{{"name": "query", "arguments": {{"statement": "{LINES}"}}}}'
    assert calls.step(call)[4]["is_valid_action"]


@pytest.mark.parametrize("action_format", ["plain", "react", "function_call", "code"])
def test_the_right_statement_over_lines_is_paid(action_format: str) -> None:
    env = made(action_format=action_format)
    for number in list(BY_NUMBER)[::97]:
        statement = BY_NUMBER[number].statement
        lines = re.sub(r" (?=FROM |WHERE |GROUP BY |ORDER BY |LIMIT )", "\n", statement)
        assert "\n" in lines
        env.reset(options={"task_id": number})
        assert env.step(env.parser.format(f"answer {lines}"))[1] == 1.0


def test_compat_plays_one_statement_and_compares_sets() -> None:
    env = made(compat="agentgym", action_format="react")
    number = a_number("top_customers_of_month")
    observation, _ = env.reset(options={"task_id": number})
    described, _, asked = observation.rpartition("\n\n")
    assert asked == BY_NUMBER[number].text
    assert described.startswith("shopping contains tables such as addresses, admins, cart_items,")
    assert "answer <statement>" not in env.system_prompt and "```sql" in env.system_prompt
    reversed_rows = f"SELECT * FROM ({BY_NUMBER[number].statement}) ORDER BY 2"
    text = f"Thought: mine\n\nAction: ```sql\n{reversed_rows}\n```"
    observation, reward, terminated, _, info = env.step(text)
    assert (reward, terminated, info["success"]) == (1.0, True, True)
    assert observation.startswith("[('") and info["ground_truth"] == BY_NUMBER[number].statement


@pytest.mark.parametrize(
    ("statement", "answer"),
    [
        ("SELECT id FROM orders ORDER BY id", "[(1001,), (1002,)"),
        ("SELECT nosuch FROM orders", "no such column: nosuch"),
        ("Which orders?", 'near "Which": syntax error'),
        ("", "there is no statement"),
        ("DROP TABLE orders", "not authorized"),
    ],
)
def test_compat_ends_with_whatever_sqlite_says(statement: str, answer: str) -> None:
    env = made(compat="agentgym")
    env.reset(options={"task_id": a_number("orders_to_town_by_status")})
    observation, reward, terminated, *_ = env.step(statement)
    assert observation.startswith(answer)
    assert len(observation) <= 103
    assert (reward, terminated) == (0.0, True)
