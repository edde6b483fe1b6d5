"""SearchQA: answer questions by searching a corpus, reading documents and running programs.

The deep-search scenario of AgentGym, over a world of its own that no language model has read, or
over the real data sets. `episode.py` plays a question, `compat.py` plays it as the original does.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentgym_envs.arguments import whole_number
from agentgym_envs.core.game import GameEnv
from agentgym_envs.core.tasks import TaskSpec
from agentgym_envs.retrieval import Retriever, make_retriever
from agentgym_envs.retrieval.documents import Corpus
from agentgym_envs.searchqa.baselines import one_search, question_only
from agentgym_envs.searchqa.compat import AgentGymEpisode
from agentgym_envs.searchqa.desk import Desk
from agentgym_envs.searchqa.episode import DefaultEpisode, Episode
from agentgym_envs.searchqa.python_tool import check_sandbox
from agentgym_envs.searchqa.questions import Question, QuestionSet
from agentgym_envs.searchqa.sources import open_source

MAX_TOP_K = 100


class SearchQAEnv(GameEnv[Episode]):
    """Deep search: find the answer to a question in a corpus.

    `info["f1"]` is the last answer's F1 and `info["documents"]` the titles that the last search or
    page showed. The accepted answers are in `env.unwrapped.question`, never in `info`.

    Args:
        retriever: `"bm25"`, `"dense:<folder or hub id>"`, the URL of a server that speaks
            Search-R1's protocol, `{"url": ..., "timeout": ..., "retries": ...}`, or a retriever.
        data_dir: a folder or hub name of FlashRAG's data sets, a `QuestionSet`, or the folder of a
            world that `python -m worlds searchqa` has made; None takes the world that is shipped.
        corpus: the corpus that goes with `data_dir`, or its file; a remote retriever needs none.
        top_k: passages shown per search.
        **kwargs: as `TextEnv`.

    Raises:
        ValueError: an argument has a value that is not allowed, or does not fit the others.
        MissingExtra: a package, or the sandbox's program, is missing; the message says what to
            install.
    """

    instructions = DefaultEpisode.instructions
    verbs = DefaultEpisode.verbs
    default_max_turns = 30
    baselines = {
        "question_only": lambda env: question_only(env.game, env.questions),
        "one_search": lambda env: one_search(env.game, env.questions),
    }

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
        is_compat = kwargs.get("compat") == "agentgym"
        self._rules: type[Episode] = AgentGymEpisode if is_compat else DefaultEpisode
        self.instructions, self.verbs = self._rules.instructions, self._rules.verbs
        if any(verb.name == "python" for verb in self.verbs):
            check_sandbox()
        source = open_source(data_dir, corpus)
        super().__init__(source.tasks, **kwargs)
        self.source = source.name
        self.corpus = source.corpus
        self.retriever = make_retriever(retriever, source.corpus)
        self.top_k = top_k
        self.questions = source.tasks.questions
        self._has_quoted_titles = source.has_quoted_titles
        if self.action_format == "react":
            self.parser = self._rules.react_parser(self.verbs)

    def make_game(self, task: TaskSpec) -> Episode:
        """Ask the question at an empty desk."""
        question = self.questions.question(task.number)
        desk = Desk(self.retriever, self.corpus, top_k=self.top_k)
        return self._rules(question, desk, has_quoted_titles=self._has_quoted_titles)

    @property
    def question(self) -> Question:
        """The current question, its accepted answers and oracle hops included.

        Raises:
            ResetNeeded: there has been no reset yet.
        """
        return self.game.question

    def right_answer(self) -> tuple[str, str]:
        """Return the action that gives the canonical accepted answer, and that answer.

        For training alone, such as rewards by information gain: no observation shows it.

        Raises:
            ResetNeeded: there has been no reset yet.
        """
        answer = self.question.answers[0]
        return self.parser.format(f"<answer>{answer}</answer>", ""), answer

    @property
    def desk(self) -> Desk:
        """The texts that the current question's searches and pages have shown.

        Raises:
            ResetNeeded: there has been no reset yet.
        """
        return self.game.desk
