"""Plays one question of the default mode: search, open, python, answer."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from agentgym_envs.actions import ActionVerb
from agentgym_envs.core import ExpertMove, Outcome
from agentgym_envs.core.game import Game
from agentgym_envs.errors import InvalidAction
from agentgym_envs.searchqa import prompts
from agentgym_envs.searchqa.desk import Desk
from agentgym_envs.searchqa.expert import Expert
from agentgym_envs.searchqa.python_tool import run_program
from agentgym_envs.searchqa.questions import Question
from agentgym_envs.searchqa.scoring import exact_match, f1
from agentgym_envs.searchqa.tags import TagReactParser, forms, read_tag

_NAMES = tuple(verb.name for verb in prompts.VERBS)
_NO_ACTION = f"This is no action. Write exactly one of {forms(prompts.VERBS)}."


class Episode(Game):
    """One question being answered: the common part of the default mode and the original.

    Args:
        question: the question.
        desk: what searches and remembers what was read.
        has_quoted_titles: the corpus writes its titles in quotes, as wiki-18 does.

    Attributes:
        f1: the last answer's F1.
        is_over: an answer has ended it.
    """

    is_over = False
    instructions: ClassVar[str]
    verbs: ClassVar[tuple[ActionVerb, ...]]
    react_parser: ClassVar[type[TagReactParser]]

    def __init__(self, question: Question, desk: Desk, *, has_quoted_titles: bool) -> None:
        self.question = question
        self.goal = question.text
        self.desk = desk
        self.f1 = 0.0
        self._has_quoted_titles = has_quoted_titles
        self.first_observation = self._opening()

    @abstractmethod
    def _opening(self) -> str:
        """Return the first observation."""

    def info(self) -> Mapping[str, Any]:
        """Return the last answer's F1, and the titles that the last search or page showed."""
        return {"f1": self.f1, "documents": list(self.desk.titles)}

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves along the oracle hops, by the texts that were read."""
        can_open = any(verb.name == "open" for verb in self.verbs)
        return Expert(self.question, self.desk, can_open=can_open).moves()

    def _refused(self, reason: str) -> Outcome:
        return Outcome.invalid(reason)


class DefaultEpisode(Episode):
    """A question of the default mode: one answer ends it."""

    instructions = prompts.INSTRUCTIONS
    verbs = prompts.VERBS
    react_parser = TagReactParser

    def _opening(self) -> str:
        return f"Question: {self.question.text}"

    def act(self, action: str) -> Outcome:
        """Play one action: search, open, run or answer."""
        tag = read_tag(action, _NAMES)
        if tag is None:
            return self._refused(_NO_ACTION)
        content = tag.content.strip()
        if not content:
            return self._refused(f"Nothing stands between <{tag.name}> and </{tag.name}>.")
        if tag.name == "search":
            passages = prompts.passages_text(
                (hit.passage.title, hit.passage.text) for hit in self.desk.search(content)
            )
            return Outcome(prompts.information(passages or prompts.NOTHING_FOUND))
        if tag.name == "open":
            return self._open(content)
        if tag.name == "python":
            run = run_program(tag.content)
            return Outcome(prompts.output(run.text), is_valid=run.is_program)
        return self._answer(content)

    def _open(self, reference: str) -> Outcome:
        try:
            page = self.desk.open(reference)
        except InvalidAction as error:
            return self._refused(str(error))
        return Outcome(prompts.information(page.text))

    def _answer(self, answer: str) -> Outcome:
        success = exact_match(answer, self.question.answers)
        self.f1 = f1(answer, self.question.answers)
        self.is_over = True
        message = "The answer is right." if success else "The answer is wrong."
        return Outcome(message, float(success), terminated=True, success=success)
