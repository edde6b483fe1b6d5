"""`agentgym build-index`: encodes a corpus for dense retrieval, or takes a FAISS file over."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.retrieval import CORPUS_HELP, EMBEDDED, open_corpus
from trainers.options.parser import OptionParser


def main(argv: Sequence[str] | None = None) -> int:
    """Build one index."""
    parser = _parser()
    options = parser.parse_args(argv)
    try:
        folder = _build(options)
    except (ValueError, OSError) as error:
        parser.error(str(error))
    except ImportError as error:
        print(f"agentgym: {error}", file=sys.stderr)
        return 1
    print(f"written to {folder}; use it with retriever='dense:{folder}'")
    return 0


def _build(options: argparse.Namespace) -> Path:
    # Imported here: `--help` needs neither torch nor faiss.
    from agentgym_envs.retrieval.dense_index import (
        adopt_index,
        build_index,
        default_index_dir,
        default_settings,
    )

    corpus = open_corpus(options.corpus)
    settings = default_settings(options.encoder)
    chosen = {
        "query_prefix": options.query_prefix,
        "passage_prefix": options.passage_prefix,
        "max_length": options.max_length,
    }
    settings = replace(settings, **{k: v for k, v in chosen.items() if v is not None})
    folder = options.out or default_index_dir(options.encoder, corpus)
    if options.from_faiss is not None:
        return adopt_index(corpus, settings, options.from_faiss, index_dir=folder)
    return build_index(
        corpus,
        settings,
        index_dir=folder,
        factory=options.factory,
        batch_size=options.batch_size,
        device=options.device,
    )


def _parser() -> OptionParser:
    parser = OptionParser(
        prog="agentgym build-index",
        description="Build the FAISS index of a corpus with a Hugging Face encoder.",
        epilog="example: agentgym build-index --encoder intfloat/e5-base-v2 "
        "--corpus wiki-18.jsonl --out runs/wiki-index",
    )
    parser.add_argument("--encoder", required=True, help="a local folder or a Hugging Face id")
    parser.add_argument("--corpus", default=EMBEDDED, help=CORPUS_HELP)
    parser.add_argument(
        "--out", type=Path, help="folder to write; left out, the cache, where dense:ENCODER looks"
    )
    parser.add_argument(
        "--factory", default="Flat", help="FAISS's name of the index: Flat (exact), HNSW64, ..."
    )
    parser.add_argument("--batch-size", type=int, default=64, help="passages at a time (64)")
    parser.add_argument("--max-length", type=int, help="tokens of a text that are read (256)")
    parser.add_argument("--query-prefix", help="before every query (E5: 'query: '; else nothing)")
    parser.add_argument("--passage-prefix", help="before every passage (E5: 'passage: ')")
    parser.add_argument("--device", help="cpu, cuda, ... (a CUDA device where there is one)")
    parser.add_argument(
        "--from-faiss", type=Path, help="encode nothing: take this FAISS file of the same corpus"
    )
    return parser
