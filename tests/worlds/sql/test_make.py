from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from hashlib import sha256
from itertools import groupby
from pathlib import Path

import pytest

from agentgym_envs.sql.database import NAMES, site_database
from agentgym_envs.sql.env import SQLEnv
from agentgym_envs.sql.questions import EMBEDDED, LEVELS, QUESTIONS, load_questions
from worlds.packing import packed
from worlds.sources import sources_digest
from worlds.sql import make as make_module
from worlds.sql.drawing import (
    MOST_ALIKE,
    QUOTAS,
    Template,
    draw,
    is_fair,
    make_questions,
    run,
    templates,
)
from worlds.sql.make import SOURCES, VERSION, make, pack

ABOUT = json.loads(QUESTIONS.about_in(EMBEDDED).read_text("utf-8"))
ALL = list(load_questions().by_number.values())


def template_named(name: str) -> Template:
    return next(template for template in templates() if template.name == name)


def test_the_shipped_content_is_made_by_these_sources() -> None:
    """Fails when the generator changed: raise VERSION if content does, then `make worlds`."""
    assert ABOUT["sources"] == sources_digest(SOURCES)


def test_the_questions_name_their_version_and_their_content() -> None:
    assert load_questions().source == f"agentgym-sql v{VERSION} ({ABOUT['content'][:12]})"


def test_the_questions_are_of_all_templates_levels_and_databases() -> None:
    assert len(ALL) >= 2_000
    assert len(templates()) >= 40
    for split in QUOTAS:
        listed = [question for question in ALL if question.split == split]
        assert {question.template for question in listed} == {t.name for t in templates()}
        assert {question.level for question in listed} == set(LEVELS)
        assert {question.database for question in listed} == set(NAMES)
    assert QUESTIONS.file_in(EMBEDDED).stat().st_size < 200_000


def test_a_template_has_three_wordings_that_name_all_parameters() -> None:
    for template in templates():
        assert len(set(template.wordings)) >= 3
        slots = [set(re.findall(r"\{(\w+)\}", text)) for text in template.wordings]
        assert all(named == slots[0] for named in slots), template.name
        statements = [template.statement, template.ties, template.distinct, *template.same]
        for statement in filter(None, statements):
            assert set(re.findall(r"\{(\w+)\}", statement)) <= slots[0], template.name
        used = set(re.findall(r"\{(\w+)\}", template.statement))
        assert used == slots[0], template.name


def test_what_is_ranked_or_ordered_is_checked_for_ties() -> None:
    for template in templates():
        outer = template.statement
        while "(" in outer:
            outer = re.sub(r"\([^()]*\)", "", outer)
        if "LIMIT" in outer or "row_number" in template.statement:
            assert template.ties or template.distinct, template.name
        assert template.ordered == ("ORDER BY" in outer and "LIMIT 1" not in outer), template.name


@pytest.mark.full
def test_the_rows_are_those_of_the_statement() -> None:
    """Whatever version of SQLite runs it; the last decimal may be rounded otherwise."""
    env = SQLEnv()
    for number, question in list(load_questions().by_number.items())[::7]:
        rows = run(site_database(question.database), question.statement)
        assert len(rows) == len(question.rows or ())
        env.reset(options={"task_id": number})
        assert env.step(f"answer {question.statement}")[4]["success"]


def test_an_answer_is_something_and_hard_to_guess() -> None:
    assert all(question.rows and is_fair(question.rows) for question in ALL)
    ordered = sorted(ALL, key=lambda question: question.template)
    for name, group in groupby(ordered, key=lambda question: question.template):
        commonest = Counter(question.rows for question in group).most_common(1)[0][1]
        assert commonest <= MOST_ALIKE, name
    assert Counter(question.rows for question in ALL).most_common(1)[0][1] < len(ALL) / 40
    assert len({question.text for question in ALL}) == len(ALL)


def test_the_splits_share_no_value_of_a_templates_first_parameter() -> None:
    """Each of the values, as it is written in a statement, is of one split only."""
    for name in ("phone_of_place", "closed_share_by_label", "posts_with_flair_in_month"):
        template = template_named(name)
        key, parameters = template.parameters()
        splits: dict[object, set[str]] = {}
        for question in draw(template, 0):
            for values in parameters:
                if template.filled(template.statement, values) == question.statement:
                    splits.setdefault(values[key], set()).add(question.split)
        assert len(splits) > 15
        assert all(len(listed) == 1 for listed in splits.values())


def test_statements_are_drawn_once() -> None:
    assert len({(q.database, q.statement) for q in ALL}) == len(ALL)


@pytest.mark.parametrize(
    ("rows", "fair"),
    [
        ([(3,)], True),
        ([(0,)], False),
        ([], False),
        ([(None,)], False),
        ([("",)], False),
        ([("a",), ("a",)], False),
        ([("a", 1), ("a", 2)], True),
        ([(number,) for number in range(16)], False),
    ],
)
def test_what_may_be_asked_for(rows: list[tuple[object, ...]], fair: bool) -> None:
    assert is_fair(rows) is fair  # type: ignore[arg-type]


def test_ties_and_other_readings_are_left_out() -> None:
    """Of two brands' prices with a tie at the top, and of two readings that differ."""
    kwargs = {
        "database": "map",
        "level": "simple",
        "thought": "",
        "wordings": ("{a}",),
        "draw": "SELECT 1 AS a UNION SELECT 2 AS a",
    }
    tied = Template(
        name="tied",
        statement="SELECT {a} + 1 ORDER BY 1 LIMIT 1",
        ties="SELECT 5 UNION ALL SELECT iif({a} = 1, 5, 6) UNION ALL SELECT 7",
        **kwargs,
    )
    assert [question.rows for question in draw(tied, 0)] == [((3,),)]
    read = Template(name="read", statement="SELECT {a}", same=("SELECT 1",), **kwargs)
    assert [question.rows for question in draw(read, 0)] == [((1,),)]
    marked = Template(
        name="marked",
        statement="SELECT {a}",
        distinct="SELECT 1 UNION ALL SELECT {a}",
        **kwargs,
    )
    assert [question.rows for question in draw(marked, 0)] == [((2,),)]


def test_other_seeds_are_played_from_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = [template_named("users_at_location"), template_named("month_of_nth_post")]
    monkeypatch.setattr("worlds.sql.drawing.templates", lambda: few)
    make(tmp_path, seed=3)
    env = SQLEnv(data_dir=tmp_path)
    assert env.source.startswith(f"agentgym-sql v{VERSION} seed 3 (")
    env.reset(options={"task_id": 0})
    for action in env.expert():
        info = env.step(action)[4]
    assert info["success"]
    assert make_questions(3) != make_questions(4)


def test_questions_over_other_databases_are_refused(tmp_path: Path) -> None:
    head = {"name": "agentgym-sql v1", "databases": ["0"] * 4}
    make_module.write_rows(tmp_path, QUESTIONS, packed([head]), SOURCES)
    with pytest.raises(ValueError, match="were made over other databases"):
        SQLEnv(data_dir=tmp_path)


def test_damaged_content_is_refused(tmp_path: Path) -> None:
    shutil.copytree(EMBEDDED, tmp_path, dirs_exist_ok=True)
    QUESTIONS.file_in(tmp_path).write_bytes(QUESTIONS.file_in(EMBEDDED).read_bytes()[:-9])
    with pytest.raises(ValueError, match="is damaged or of another version"):
        SQLEnv(data_dir=tmp_path)


def test_there_is_only_one_scale(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no --scale"):
        make(tmp_path, seed=1, scale=2)


@pytest.mark.slow
def test_the_shipped_content_is_made_again_byte_for_byte() -> None:
    content = pack(f"agentgym-sql v{VERSION}", make_questions(0))
    assert sha256(content).hexdigest() == ABOUT["content"]


def test_a_region_is_called_one_wherever_a_question_names_it() -> None:
    for question in load_questions().by_number.values():
        names = re.findall(r"\b[rg]\.name = '([^']+)'", question.statement)
        if question.database == "map" and names:
            assert all(f"region {name}" in question.text for name in names), question.text


def test_questions_say_which_products_and_contributions_count() -> None:
    for question in load_questions().by_number.values():
        if question.database == "shopping" and "JOIN categories" in question.statement:
            assert "enabled or not" in question.text or "disabled ones included" in question.text
        if "NOT EXISTS (SELECT 1 FROM posts" in question.statement:
            assert re.search(r"\bposts?\b", question.text), question.text


def test_a_question_says_that_disabled_products_count_where_they_do() -> None:
    database, enabled = site_database("shopping"), "(SELECT * FROM products WHERE is_enabled)"
    num_differing = 0
    for question in ALL:
        if question.database != "shopping" or "products" not in question.statement:
            continue
        other = run(database, question.statement.replace("products", enabled))
        if sorted(other, key=str) != sorted(question.rows or (), key=str):
            num_differing += 1
            assert re.search("enabled or not|disabled ones included", question.text), question.text
    assert num_differing > 20


@pytest.mark.parametrize("name", ["top_customers_of_month", "products_never_ordered"])
def test_a_question_of_what_was_ordered_says_that_orders_of_any_status_count(name: str) -> None:
    for wording in template_named(name).wordings:
        assert re.search("status|cancelled", wording), wording
