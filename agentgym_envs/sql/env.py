"""SQL: answer a question about a database by statements that read it.

AgentGym's BIRD scenario (arXiv 2305.03111) over the databases of WebArena's embedded sites.
`compat="agentgym"` plays one statement, as the original; `data_dir=` plays BIRD's own files.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from agentgym_envs.actions import ActionParser, ActionVerb, unwrap_block
from agentgym_envs.actions.compat import FencedParser, WholeTextParser
from agentgym_envs.actions.verbs import clipped
from agentgym_envs.core import UNSCORED_KEY, VERDICT_KEY, ExpertMove, Outcome, TextEnv
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.errors import NoExpert
from agentgym_envs.sql.bird import bird_questions
from agentgym_envs.sql.compat import as_printed, cut, in_words
from agentgym_envs.sql.database import Result, StatementError, statement_start
from agentgym_envs.sql.expert import answer_moves, commonest_answer, counted_table, gold_move
from agentgym_envs.sql.judge import difference, have_equal_sets
from agentgym_envs.sql.questions import QUESTIONS, Question, Questions, SQLTasks, load_questions
from agentgym_envs.sql.values import shown

_ACTION = re.compile(r"(columns|query|answer)\b\s*:?\s*(.*)", re.DOTALL | re.IGNORECASE)
_STATEMENT = re.compile(r"(?:select|with|values|pragma)\b", re.IGNORECASE)
_FORMS = "An action is: columns <table>, query <statement>, or answer <statement>."
_BEGINNINGS = " A statement begins with SELECT, WITH or VALUES; SELECT 42 gives 42 itself."
_VERBS: tuple[ActionVerb, ...] = (
    ActionVerb("columns", "columns {table}", "Read which columns a table has."),
    ActionVerb(
        "query",
        "query {statement}",
        "Run one statement that reads, and see the first rows of its result.",
        free_text=("statement",),
        is_multiline=True,
    ),
    ActionVerb(
        "answer",
        "answer {statement}",
        "Give the statement whose result answers the question; it ends the episode.",
        free_text=("statement",),
        is_multiline=True,
    ),
)

_ORIGINAL_INSTRUCTIONS = (
    "You read what tables and columns a SQLite database has, and a question about it. Think about "
    "how it can be answered, then give one SQL statement, on one line, whose result is the answer. "
    "You can run one statement only."
)
_ORIGINAL_VERBS: tuple[ActionVerb, ...] = (
    ActionVerb("sql", "{statement}", "Answer with this statement.", free_text=("statement",)),
)

NUM_SHOWN = 30
"""Rows of a result that an observation shows."""

_MOST_ROWS = 1_000
_MOST_ORIGINAL_ROWS = 1_000_000
"""Rows of a result that are fetched."""


class SQLEnv(TextEnv):
    """Questions about databases.

    The answer is a statement; it ends the episode, and pays 1 if its result is the right one. The
    columns count in their order; the rows in theirs if the question asks for an order; numbers
    that are not whole may be off by the rounding to two decimals.

    Args:
        data_dir: a folder with BIRD's files, or one that `python -m worlds sql` has made; None
            takes the questions that are shipped.
        **kwargs: as `TextEnv`.

    Raises:
        ValueError: an argument has a value that is not allowed, or the folder holds no questions.
    """

    instructions = (
        "You answer a question about a SQLite database, which can only be read. Each turn you do "
        "one of:\n"
        "columns <table>: read which columns a table has.\n"
        "query <statement>: run one SELECT statement and see the first rows of its result.\n"
        "answer <statement>: give the statement whose result answers the question. This ends the "
        "episode.\n"
        "Write a statement on one line. The result of the answer must hold the columns that are "
        "asked for, in that order, and the rows that are asked for, and nothing else."
    )
    verbs = _VERBS
    default_max_turns = 15
    original_parsers: ClassVar[Mapping[str, ActionParser]] = {
        "plain": WholeTextParser(),
        "react": FencedParser(),
    }
    baselines = {
        "commonest_answer": lambda env: commonest_answer(env.question, env.questions),
        "counted_table": lambda env: counted_table(env.question, env.database),
    }

    def __init__(self, *, data_dir: str | Path | None = None, **kwargs: Any) -> None:
        self.questions: Questions
        """By their numbers."""
        if data_dir is None:
            self.questions = load_questions()
        elif QUESTIONS.is_in(data_dir):
            self.questions = load_questions(Path(data_dir).resolve())
        else:
            self.questions = bird_questions(Path(data_dir).resolve())
        if kwargs.get("compat") is not None:
            self.instructions, self.verbs = _ORIGINAL_INSTRUCTIONS, _ORIGINAL_VERBS
        super().__init__(SQLTasks(self.questions), **kwargs)
        self.source = self.questions.source

    def begin(self, task: TaskSpec) -> str:
        """Ask the question."""
        self.question: Question = self.questions.by_number[task.number]
        """The question with its answer."""
        self.database = self.questions.database(self.question.database)
        self.goal = self.question.text
        self.result: Result | None = None
        """The result of the last statement that ran."""
        self._read: set[str] = set()
        self._has_answer = True
        if self.is_agentgym_compat:
            schema = self.questions.schema(self.question.database)
            return f"{in_words(schema)}\n\n{self.question.text}"
        tables = ", ".join(self.database.tables)
        hint = f"\nHint: {self.question.hint}" if self.question.hint else ""
        return (
            f"The database {self.question.database} has the tables: {tables}.\n"
            f"Question: {self.question.text}{hint}"
        )

    def apply(self, action: str) -> Outcome:
        """Show columns, run a statement, or take the answer."""
        if self.is_agentgym_compat:
            return self._original(action)
        name, argument = _parts(action)
        if name == "columns":
            return self._columns(argument)
        if not name:
            return Outcome.invalid(f"That is no action. {_FORMS}")
        try:
            result = self.result = self.database.run(argument, limit=self._most_rows)
        except StatementError as error:
            is_statement = _STATEMENT.match(argument, statement_start(argument))
            form = "" if is_statement else _BEGINNINGS
            text = f"The statement cannot be run: {error}.{form}"
            return Outcome.invalid(text)
        if name == "query":
            return Outcome(shown(*result[:2], limit=NUM_SHOWN, has_more=result.has_more))
        why = self.why_wrong(result)
        text = f"That is not the answer: {why}." if why else "That is the answer."
        return self._ended(text, why)

    def why_wrong(self, result: Result) -> str:
        """Return why a result is not the answer, or an empty text where it is."""
        expected = self.question.rows
        if result.has_more:
            return f"it has more than {len(result.rows):,} rows"
        if expected is not None and not self.is_agentgym_compat:
            return difference(expected, result.rows, is_ordered=self.question.is_ordered)
        try:
            gold = self.database.run(self.question.statement, limit=_MOST_ORIGINAL_ROWS)
        except StatementError as error:
            self._has_answer = False
            return f"the question's own statement cannot be run: {error}"
        is_right = have_equal_sets(gold.rows, result.rows)
        return "" if is_right else "its rows are not those that are expected"

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves that read the columns, try the statement and answer with it.

        Raises:
            NoExpert: the question is one of BIRD's.
        """
        if self.question.rows is None:
            raise NoExpert(
                "BIRD's questions do not say how they are answered; "
                "expert(privileged=True) plays their own statements"
            )
        if self.is_agentgym_compat:
            return self.privileged_expert_moves()
        return answer_moves(self.question, self._read, lambda: self.num_turns_left)

    def privileged_expert_moves(self) -> Iterator[ExpertMove]:
        """Yield the statement that the question was made with."""
        move = gold_move(self.question)
        if self.is_agentgym_compat:
            move = ExpertMove(move.action.removeprefix("answer "), move.thought)
        yield move

    @property
    def _most_rows(self) -> int:
        return _MOST_ROWS if self.question.rows is not None else _MOST_ORIGINAL_ROWS

    def _columns(self, name: str) -> Outcome:
        name = name.rstrip("; \n").strip("\"'`[]")  # as a statement would end and quote it
        table = next((own for own in self.database.tables if own.lower() == name.lower()), None)
        if table is None:
            text = (
                f"There is no table {clipped(name, 200)!r}; there are: "
                f"{', '.join(self.database.tables)}."
            )
            return Outcome.invalid(text)
        self._read.add(table)
        lines = [f"The table {table} has the columns:"]
        columns = self.database.columns(table)
        keys = sum(column.key > 0 for column in columns)
        for column in columns:
            key = f", {'part of the ' if keys > 1 else ''}primary key" if column.key else ""
            target = column.refers_to
            refers = f", refers to {target[0]}.{target[1]}" if target else ""
            lines.append(f"{column.name} {column.kind}{key}{refers}")
        return Outcome("\n".join(lines))

    def _original(self, statement: str) -> Outcome:
        """Run the one statement of an episode, as the original does."""
        try:
            result = self.result = self.database.run(statement, limit=_MOST_ORIGINAL_ROWS)
        except StatementError as error:
            text = cut(str(error.__cause__ or error))
            return self._ended(text, f"the statement cannot be run: {error}")
        return self._ended(as_printed(result.rows), self.why_wrong(result))

    def _ended(self, text: str, why: str) -> Outcome:
        info: dict[str, Any] = {VERDICT_KEY: why}
        if self.is_agentgym_compat:
            info["ground_truth"] = self.question.statement
        elif not self._has_answer:
            info[UNSCORED_KEY] = True
        return Outcome(text, float(not why), terminated=True, info=info, success=not why)


def _parts(action: str) -> tuple[str, str]:
    """Return a verb and its argument, of which a statement alone is a query."""
    if _STATEMENT.match(action, statement_start(action)):
        return "query", action
    match = _ACTION.fullmatch(action)
    return ("", "") if match is None else (match[1].lower(), unwrap_block(match[2]))
