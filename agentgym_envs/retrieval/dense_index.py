"""Builds the indices of dense retrieval from a corpus and an encoder, saves and reads them.

An index is a folder: FAISS's own file, and a JSON file that says what it was built from.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from agentgym_envs.content.files import cache_folder
from agentgym_envs.errors import needs_extra
from agentgym_envs.retrieval.documents import Corpus, passage_contents

with needs_extra("dense", "dense retrieval"):
    import faiss
    from tqdm import tqdm

from agentgym_envs.retrieval.encoder import Encoder, EncoderSettings

INDEX_FILE = "index.faiss"
SETTINGS_FILE = "index.json"
_FORMAT = 1


def default_index_dir(encoder: str, corpus: Corpus) -> Path:
    """Return the cache folder of the index of this encoder over this corpus."""
    key = sha256(f"{_same_name(encoder)}\0{corpus.source}".encode()).hexdigest()[:16]
    return cache_folder("searchqa") / f"dense-{key}"


def default_settings(encoder: str) -> EncoderSettings:
    """Return the settings that suit an encoder by its name: E5's prefixes for E5 models."""
    settings = EncoderSettings(_same_name(encoder))
    last = Path(encoder).name.lower()
    if last.startswith(("e5-", "e5_", "multilingual-e5")):
        return replace(settings, query_prefix="query: ", passage_prefix="passage: ")
    return settings


def build_index(
    corpus: Corpus,
    settings: EncoderSettings,
    *,
    index_dir: str | Path | None = None,
    factory: str = "Flat",
    batch_size: int = 64,
    device: str | None = None,
    show_progress: bool = True,
) -> Path:
    """Encode a corpus and write its index.

    Args:
        corpus: the passages.
        settings: the encoder and how to use it.
        index_dir: the folder to write; None takes `default_index_dir`.
        factory: FAISS's description of the index, one that needs no training: `"Flat"` is exact,
            `"HNSW64"` faster and approximate.
        batch_size: passages that are encoded together.
        device: where to encode; None takes a CUDA device where there is one.
        show_progress: draw a bar on standard error.

    Returns:
        the folder.

    Raises:
        ValueError: the factory is unknown or needs training, or the encoder cannot be loaded.
    """
    encoder = Encoder(settings, device=device)
    try:
        index = faiss.index_factory(encoder.width, factory, faiss.METRIC_INNER_PRODUCT)
    except RuntimeError as error:
        raise ValueError(f"FAISS knows no index {factory!r}: {error}") from error
    if not index.is_trained:
        raise ValueError(
            f"the index {factory!r} needs training; take one that does not: 'Flat', 'HNSW64'"
        )
    with tqdm(total=len(corpus), unit="passage", disable=not show_progress) as bar:
        for texts in _batches(corpus, batch_size):
            index.add(encoder.passages(texts))
            bar.update(len(texts))
    folder = Path(index_dir or default_index_dir(settings.name, corpus))
    _write(folder, corpus, settings, lambda path: faiss.write_index(index, path))
    return folder


def adopt_index(
    corpus: Corpus, settings: EncoderSettings, faiss_file: str | Path, *, index_dir: str | Path
) -> Path:
    """Make an index folder around an existing FAISS file, which is linked.

    Args:
        corpus: the passages, in the order in which the file holds their vectors.
        settings: the encoder that made the vectors.
        faiss_file: the file, such as the published `e5_Flat.index` of wiki-18.
        index_dir: the folder to write.

    Returns:
        the folder.

    Raises:
        ValueError: the file is no FAISS index, or holds another number of vectors.
    """
    source = Path(faiss_file).resolve()
    index = _read_faiss(source)
    if index.ntotal != len(corpus):
        raise ValueError(
            f"{source.name} holds {index.ntotal} vectors, and {corpus.source} has {len(corpus)} "
            "passages; take the corpus that it was built from"
        )
    folder = Path(index_dir)
    _write(folder, corpus, settings, lambda path: os.symlink(source, path))
    return folder


def read_index(folder: Path, corpus: Corpus, encoder: str | None) -> tuple[Any, EncoderSettings]:
    """Return the FAISS index in a folder and the settings of its encoder.

    Args:
        folder: an index folder.
        corpus: the passages it must have been built from.
        encoder: the encoder it must have been built with; None takes any.

    Raises:
        ValueError: there is no index, or it was built from or with another one.
    """
    try:
        about = json.loads((folder / SETTINGS_FILE).read_text("utf-8"))
        built_from, settings = about["corpus"], EncoderSettings(**about["encoder"])
    except FileNotFoundError:
        name = encoder or "ENCODER"
        raise ValueError(
            f"there is no index of {corpus.source} in {folder}; build it with: agentgym "
            f"build-index --encoder {name}, and --corpus and --out where you have your own"
        ) from None
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{folder / SETTINGS_FILE} is damaged ({error}); build it again"
        ) from error
    if encoder is not None and _same_name(encoder) != settings.name:
        raise ValueError(
            f"the index in {folder} was built with the encoder {settings.name!r}, not {encoder!r}; "
            "name that one, or build another index"
        )
    if built_from != corpus.source:
        raise ValueError(
            f"the index in {folder} was built from {built_from!r}, not from {corpus.source!r}; "
            "name that corpus, or build another index"
        )
    index = _read_faiss(folder / INDEX_FILE)
    if index.ntotal != len(corpus):
        raise ValueError(
            f"the index in {folder} holds {index.ntotal} vectors for {len(corpus)} passages; "
            "build it again"
        )
    return index, settings


def use_one_thread() -> None:
    """Have FAISS start no threads: those of the parent are not in a forked process."""
    faiss.omp_set_num_threads(1)


def _read_faiss(path: Path) -> Any:
    try:
        # Mapped into memory: processes share it, and only what a search touches is read.
        return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC)
    except RuntimeError as error:
        raise ValueError(f"{path} is not a FAISS index that can be read: {error}") from error


def _write(
    folder: Path, corpus: Corpus, settings: EncoderSettings, write: Callable[[str], None]
) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    # The settings come last and go first: a folder that has them has a whole index.
    (folder / SETTINGS_FILE).unlink(missing_ok=True)
    (folder / INDEX_FILE).unlink(missing_ok=True)
    write(str(folder / INDEX_FILE))
    about = {"format": _FORMAT, "corpus": corpus.source, "encoder": asdict(settings)}
    text = json.dumps(about, indent=2)
    (folder / SETTINGS_FILE).write_text(text + "\n", encoding="utf-8")


def _batches(corpus: Corpus, size: int) -> Iterator[list[str]]:
    for start in range(0, len(corpus), size):
        stop = min(start + size, len(corpus))
        yield [passage_contents(corpus.passages[position]) for position in range(start, stop)]


def _same_name(encoder: str) -> str:
    """Return the one name of an encoder: of a folder, its whole path."""
    return str(Path(encoder).resolve()) if Path(encoder).is_dir() else encoder
