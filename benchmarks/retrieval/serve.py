"""`agentgym serve-retriever`: serves a corpus by Search-R1's protocol."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from agentgym_envs.retrieval.make import make_retriever
from agentgym_envs.retrieval.server import RetrievalServer
from benchmarks.retrieval import CORPUS_HELP, EMBEDDED, open_corpus
from benchmarks.serving import serve_until_signal
from trainers.options.parser import OptionParser

PORT = 8000
"""The default port."""


def main(argv: Sequence[str] | None = None) -> int:
    """Index a corpus, or read its index, and serve it."""
    parser = _parser()
    options = parser.parse_args(argv)
    try:
        corpus = open_corpus(options.corpus)
        retriever = make_retriever(options.retriever, corpus)
        server = RetrievalServer(
            retriever, host=options.host, port=options.port, source=corpus.source
        )
    except (ValueError, OSError, OverflowError) as error:
        parser.error(str(error))
    except ImportError as error:
        print(f"agentgym: {error}", file=sys.stderr)
        return 1
    print(f"{retriever.name} over {corpus.source}, {len(corpus)} passages")
    print(f"listening on {server.url}/retrieve; Ctrl-C ends", flush=True)
    serve_until_signal(server)
    return 0


def _parser() -> OptionParser:
    parser = OptionParser(
        prog="agentgym serve-retriever",
        description="Serve a corpus over HTTP by Search-R1's protocol: POST /retrieve, and "
        "GET /health. Environments use it by retriever='http://HOST:PORT'.",
        epilog="example: agentgym serve-retriever --corpus wiki-18.jsonl "
        "--retriever dense:runs/wiki-index --port 8001",
    )
    parser.add_argument(
        "--retriever",
        default="bm25",
        help="bm25 (the default), dense:<encoder or index folder>, or the URL of another server",
    )
    parser.add_argument("--corpus", default=EMBEDDED, help=CORPUS_HELP)
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument("--port", type=int, default=PORT, help=f"port to listen on ({PORT})")
    return parser
