"""SearchQAEnv: answer questions by searching a corpus, reading documents and running programs.

The deep-search scenario of AgentGym, over a world of its own that no language model has read, or
over the real data sets. `compat="agentgym"` is the original's protocol (`compat.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentgym_envs.arguments import whole_number
from agentgym_envs.core import ExpertMove, Outcome, TextEnv
from agentgym_envs.errors import InvalidAction
from agentgym_envs.searchqa import compat as original
from agentgym_envs.searchqa import prompts
from agentgym_envs.searchqa.desk import Desk
from agentgym_envs.searchqa.documents import Corpus
from agentgym_envs.searchqa.expert import Expert
from agentgym_envs.searchqa.python_tool import run_program
from agentgym_envs.searchqa.questions import Question, QuestionSet
from agentgym_envs.searchqa.retrieval import Retriever, make_retriever
from agentgym_envs.searchqa.scoring import exact_match, f1
from agentgym_envs.searchqa.sources import open_source
from agentgym_envs.searchqa.tags import TagReactParser, find_tag, forms, read_tag
from agentgym_envs.tasks import TaskSpec

MAX_TOP_K = 100

_NAMES = tuple(verb.name for verb in prompts.VERBS)
_NO_ACTION = f"This is no action. Write exactly one of {forms(prompts.VERBS)}."


class SearchQAEnv(TextEnv):
    """Deep search: find the answer to a question in a corpus.

    `info["f1"]` is the last answer's F1 and `info["documents"]` the titles that the last search or
    page showed. The accepted answers are in `env.unwrapped.question`, never in `info`.

    Args:
        retriever: `"bm25"`, `"dense:<folder or hub id>"`, the URL of a server that speaks
            Search-R1's protocol, `{"url": ..., "timeout": ..., "retries": ...}`, or a retriever.
        data_dir: a folder or hub name of FlashRAG's data sets, or a `QuestionSet`; None takes the
            embedded world.
        corpus: the corpus that goes with `data_dir`, or its file; a remote retriever needs none.
        top_k: passages shown per search.
        **kwargs: as `TextEnv`.

    Raises:
        ValueError: an argument has a value that is not allowed, or does not fit the others.
        ImportError: a package is missing; the message says what to install.
    """

    instructions = prompts.INSTRUCTIONS
    verbs = prompts.VERBS
    default_max_turns = 30

    def __init__(
        self,
        *,
        retriever: str | Mapping[str, Any] | Retriever = "bm25",
        data_dir: str | Path | QuestionSet | None = None,
        corpus: str | Path | Corpus | None = None,
        top_k: int = 3,
        **kwargs: Any,
    ) -> None:
        top_k = whole_number("top_k", top_k, least=1, most=MAX_TOP_K)
        if kwargs.get("compat") == "agentgym":
            self.instructions = prompts.COMPAT_INSTRUCTIONS
            self.verbs = tuple(verb for verb in prompts.VERBS if verb.name in original.TAGS)
        source = open_source(data_dir, corpus)
        super().__init__(source.tasks, **kwargs)
        self.source = source.name
        self.corpus = source.corpus
        self.retriever = make_retriever(retriever, source.corpus)
        self.top_k = top_k
        self._questions = source.tasks.questions
        # wiki-18 has its titles in quotes, and the original shows them so.
        self._quotes_titles = not source.is_embedded
        if self.action_format == "react":
            react = original.OriginalReactParser if self.is_agentgym_compat else TagReactParser
            self.parser = react(self.verbs)

    def begin(self, task: TaskSpec) -> str:
        """Clear the desk and ask the question."""
        self._question = self._questions.question(task.number)
        self.desk = Desk(self.retriever, self.corpus, top_k=self.top_k)
        self._f1 = 0.0
        self.goal = self._question.text
        if self.is_agentgym_compat:
            return original.first_observation(self._question.text)
        return f"Question: {self._question.text}"

    @property
    def question(self) -> Question:
        """The current question, its accepted answers and oracle hops included.

        Raises:
            ResetNeeded: there has been no reset yet.
        """
        _ = self.task
        return self._question

    def apply(self, action: str) -> Outcome:
        """Play one action: search, open, run or answer."""
        if self.is_agentgym_compat:
            return self._apply_original(action)
        tag = read_tag(action, _NAMES)
        if tag is None:
            return self._refuse(_NO_ACTION)
        content = tag.content.strip()
        if not content:
            return self._refuse(f"Nothing stands between <{tag.name}> and </{tag.name}>.")
        if tag.name == "search":
            return Outcome(prompts.information(self._search(content) or prompts.NOTHING_FOUND))
        if tag.name == "open":
            return self._open(content)
        if tag.name == "python":
            run = run_program(tag.content)
            return Outcome(prompts.output(run.text), info={"is_valid_action": run.is_program})
        return self._answer(content)

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield moves along the oracle hops, from what has been read; it may give up."""
        return Expert(self.question, self.desk, can_open=not self.is_agentgym_compat).moves()

    def _search(self, query: str) -> str:
        """Search and write down what was found."""
        passages = [hit.passage for hit in self.desk.search(query)]
        quote = '"' if self.is_agentgym_compat and self._quotes_titles else ""
        return prompts.passages_text((f"{quote}{p.title}{quote}", p.text) for p in passages)

    def _open(self, wanted: str) -> Outcome:
        try:
            page = self.desk.open(wanted)
        except InvalidAction as error:
            return self._refuse(str(error))
        return Outcome(prompts.information(page.text))

    def _answer(self, answer: str) -> Outcome:
        success = exact_match(answer, self._question.answers)
        self._f1 = f1(answer, self._question.answers)
        told = "The answer is right." if success else "The answer is wrong."
        return Outcome(told, float(success), terminated=True, info={"success": success})

    def _refuse(self, reason: str) -> Outcome:
        return Outcome(reason, info={"is_valid_action": False})

    def _apply_original(self, completion: str) -> Outcome:
        tag = find_tag(completion, original.TAGS)
        if tag is None:
            return self._refuse(original.INVALID)
        if tag.name == "search":
            return Outcome(prompts.information(self._search(tag.content.strip())))
        answer = original.last_answer(completion)
        success = original.is_right(answer, self._question.answers)
        self._f1 = f1(answer, self._question.answers)
        told = original.RIGHT if success else original.WRONG
        return Outcome(told, float(success), terminated=success, info={"success": success})

    def _info(self, extra: Any, *, truncated_by: str | None) -> dict[str, Any]:
        info = super()._info(extra, truncated_by=truncated_by)
        return {**info, "f1": self._f1, "documents": list(self.desk.titles)}
