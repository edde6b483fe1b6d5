"""`python -m lab.recall`: the share of gold passages that a retriever finds, by family.

A hop is found if one of its gold passages is among the first k hits for the hop's oracle query; its
document is found if another passage of a gold document is, which `<open>` then shows in full.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from agentgym_envs.retrieval import Retriever, make_retriever
from agentgym_envs.retrieval.documents import Corpus
from agentgym_envs.searchqa.questions import FAMILIES, SPLITS, Question
from agentgym_envs.searchqa.world import embedded_world
from benchmarks.cli.listing import table
from trainers.options.parser import OptionParser

HEADER = (
    *("family", "questions", "hops", "hop found", "its document found", "every hop found"),
    *("question text: some gold", "question text: answer's gold"),
)


@dataclass
class Recall:
    """Counts over the questions of one family.

    Attributes:
        questions: questions asked.
        hops: their hops.
        hops_found: hops whose query finds a gold passage.
        documents_found: hops whose query finds a passage of a gold document.
        questions_found: questions all of whose hops are found.
        some_by_text: questions whose own text finds a gold passage of some hop.
        answer_by_text: questions whose own text finds a gold passage of the last hop.
        misses: (number, query, gold title, titles found) of hops not found.
    """

    questions: int = 0
    hops: int = 0
    hops_found: int = 0
    documents_found: int = 0
    questions_found: int = 0
    some_by_text: int = 0
    answer_by_text: int = 0
    misses: list[tuple[int, str, str, list[str]]] = field(default_factory=list)


def measure(
    questions: Sequence[Question], retriever: Retriever, corpus: Corpus, k: int
) -> dict[str, Recall]:
    """Search for every hop's query and every question's text."""
    recalls = {family: Recall() for family in FAMILIES}
    for question in questions:
        recall = recalls[question.family]
        recall.questions += 1
        recall.hops += len(question.hops)
        num_found = 0
        for hop in question.hops:
            hits = [hit.passage for hit in retriever.search(hop.query, k)]
            golds = [corpus.passages[number] for number in hop.gold]
            titles = [passage.title for passage in hits]
            documents = {passage.document_id for passage in golds}
            recall.documents_found += any(hit.document_id in documents for hit in hits)
            if any(hit.passage_id in hop.gold for hit in hits):
                num_found += 1
            else:
                recall.misses.append((question.number, hop.query, golds[0].title, titles))
        recall.hops_found += num_found
        recall.questions_found += num_found == len(question.hops)
        by_text = {hit.passage.passage_id for hit in retriever.search(question.text, k)}
        by_hop = [by_text.intersection(hop.gold) for hop in question.hops]
        recall.some_by_text += any(by_hop)
        recall.answer_by_text += bool(by_hop and by_hop[-1])
    return {family: recall for family, recall in recalls.items() if recall.questions}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print the table."""
    options = _parser().parse_args(argv)
    corpus, questions = embedded_world()
    retriever = make_retriever(options.retriever, corpus)
    chosen = [questions.question(number) for number in questions.numbers(options.split)]
    recalls = measure(chosen[:: options.every], retriever, corpus, options.k)
    rows = [_row(family, recall) for family, recall in recalls.items()]
    print(f"{retriever.name} over {corpus.source}, {len(corpus)} passages; {questions.source}")
    print(f"split {options.split}, every {options.every}. question, first {options.k} hits\n")
    print(table([HEADER, *rows]))
    for family, recall in recalls.items():
        for number, query, title, titles in recall.misses[: options.misses]:
            print(f"{family} searchqa_{number}: {query!r} misses {title!r}, finds {titles}")
    return 0


def _row(family: str, recall: Recall) -> tuple[str, ...]:
    def share(part: int, whole: int) -> str:
        return f"{part / whole:.1%}" if whole else "-"

    return (
        family,
        str(recall.questions),
        str(recall.hops),
        share(recall.hops_found, recall.hops),
        share(recall.documents_found, recall.hops),
        share(recall.questions_found, recall.questions),
        share(recall.some_by_text, recall.questions),
        share(recall.answer_by_text, recall.questions),
    )


def _parser() -> OptionParser:
    parser = OptionParser(
        prog="python -m lab.recall",
        description="Measure how often a retriever finds the gold passages of the embedded world.",
    )
    parser.add_argument("--retriever", default="bm25", help="as SearchQA's retriever= (bm25)")
    parser.add_argument("--split", default="test", choices=SPLITS)
    parser.add_argument("--k", type=int, default=3, help="hits that count (3)")
    parser.add_argument("--every", type=int, default=1, help="take every n-th question (1)")
    parser.add_argument("--misses", type=int, default=0, help="show so many misses per family (0)")
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
