"""Opens questions and corpora, which the environments of a process share."""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from agentgym_envs.core.tasks import TaskSet, TaskSpec
from agentgym_envs.errors import UnknownTask
from agentgym_envs.retrieval.documents import Corpus
from agentgym_envs.searchqa.questions import QuestionSet
from agentgym_envs.searchqa.real_data.corpus import FileCorpus
from agentgym_envs.searchqa.real_data.questions import FlashRagQuestions
from agentgym_envs.searchqa.world import WORLD, embedded_world, load_world

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")
_loading = threading.Lock()


class SearchQATasks(TaskSet):
    """The questions of a set.

    Besides the splits there is `paper_test`, a pinned part of `test` with the sizes of the paper's
    panel where the set has one.

    Args:
        questions: the questions.
    """

    env_name = "searchqa"
    splits = ("train", "validation", "test")
    panels = {"paper_test": "test"}
    tasks_filter = "task ids, their numbers, subtasks or reasoning structures"

    def __init__(self, questions: QuestionSet) -> None:
        self.questions = questions

    def numbers(self, split: str) -> Sequence[int]:
        """List the numbers of a split or panel, ascending."""
        return self.questions.numbers(split)

    def explain_empty(self, split: str) -> str:
        """Return the question set's reason."""
        return self.questions.explain_empty(split)

    def describe(self, number: int) -> tuple[str, str]:
        """Return (family, split) of a question.

        Raises:
            UnknownTask: there is no such question.
        """
        try:
            question = self.questions.question(number)
        except ValueError as error:
            raise UnknownTask(
                f"unknown task_id 'searchqa_{number}': {error}; env.unwrapped.task_ids(split) "
                "lists a split"
            ) from None
        return question.family, question.split

    def labels(self, spec: TaskSpec) -> tuple[str | int, ...]:
        """Return the labels of a task: id, number, family or structure."""
        structure = self.questions.question(spec.number).structure
        return (*super().labels(spec), *([structure] if structure else []))


@dataclass(frozen=True)
class Source:
    """Questions, and the passages to search.

    Attributes:
        tasks: the questions as tasks.
        corpus: the passages; None where only a remote retriever has them.
        name: both, with their versions.
        has_quoted_titles: the corpus writes its titles in quotes, as wiki-18 does.
    """

    tasks: SearchQATasks
    corpus: Corpus | None
    name: str
    has_quoted_titles: bool


def open_source(
    data_dir: str | Path | QuestionSet | None, corpus: str | Path | Corpus | None
) -> Source:
    """Return a fictional world, or other questions, whose files are loaded once per process.

    Args:
        data_dir: the questions' folder or hub name, the questions, or the folder of a world; None
            takes the world that is shipped.
        corpus: a corpus or its file; needed beside questions unless the retriever is remote.

    Raises:
        ValueError: `corpus` comes with a world, or a file does not hold what it should.
    """
    with _loading:
        if data_dir is None or (not isinstance(data_dir, QuestionSet) and WORLD.is_in(data_dir)):
            if corpus is not None:
                raise ValueError(
                    "corpus= goes with data_dir= and questions of your own: those of a fictional "
                    "world ask about its own passages; name their folder, or leave corpus out"
                )
            return _world(None if data_dir is None else str(data_dir))
        tasks = (
            SearchQATasks(data_dir) if isinstance(data_dir, QuestionSet) else _tasks(str(data_dir))
        )
        passages = corpus if corpus is None or isinstance(corpus, Corpus) else _corpus(str(corpus))
    name = tasks.questions.source
    if passages is not None and passages.source != name:
        name = f"{name} over {passages.source}"
    return Source(tasks, passages, name, has_quoted_titles=True)


def load_questions(data_dir: str | Path) -> QuestionSet:
    """Return the questions of the data sets that a folder holds, under AgentGym's ids.

    Args:
        data_dir: a folder with `nq/test.jsonl` and the like, or a Hugging Face hub name such as
            `"RUC-NLPIR/FlashRAG_datasets"`, whose files are downloaded once.

    Raises:
        ValueError: it is neither, or holds none of the files.
        ImportError: a hub name needs `huggingface_hub`.
    """
    folder = Path(data_dir)
    if folder.is_dir():
        return FlashRagQuestions(folder, folder.resolve().name)
    if not _HUB_NAME.fullmatch(str(data_dir)):
        raise ValueError(
            f"data_dir={str(data_dir)!r} is not a folder; name one that holds nq/test.jsonl and "
            "the like, or a hub name such as 'RUC-NLPIR/FlashRAG_datasets'"
        )
    from agentgym_envs.searchqa.real_data.hub import hub_folder

    return FlashRagQuestions(hub_folder(str(data_dir)), str(data_dir))


def load_corpus(path: str | Path) -> Corpus:
    """Return the passages of a JSONL file in the form of wiki-18, read as they are asked for.

    The folder of a world gives the world's passages.

    Raises:
        ValueError: there is no such file, it is compressed or empty, or a line is not of the form.
    """
    return load_world(path)[0] if WORLD.is_in(path) else FileCorpus(Path(path))


@cache
def _world(folder: str | None) -> Source:
    corpus, questions = embedded_world() if folder is None else load_world(folder)
    return Source(SearchQATasks(questions), corpus, questions.source, has_quoted_titles=False)


@cache
def _tasks(data_dir: str) -> SearchQATasks:
    return SearchQATasks(load_questions(data_dir))


@cache
def _corpus(path: str) -> Corpus:
    return load_corpus(path)
