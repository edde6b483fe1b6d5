"""Opens the real data: questions in FlashRAG's form, and a corpus in the form of wiki-18."""

from __future__ import annotations

import re
from pathlib import Path

from agentgym_envs.searchqa.documents import Corpus
from agentgym_envs.searchqa.questions import QuestionSet
from agentgym_envs.searchqa.real_data.corpus import FileCorpus
from agentgym_envs.searchqa.real_data.questions import FlashRagQuestions

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")


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

    Raises:
        ValueError: there is no such file, it is compressed or empty, or a line is not of the form.
    """
    return FileCorpus(Path(path))
