"""Writes the policy's texts: the rules, search results, documents and outputs.

The form of what was found, `<information>Doc 1(Title: T) text ...</information>`, is AgentGym's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentgym_envs.actions import ActionVerb

VERBS: tuple[ActionVerb, ...] = (
    ActionVerb(
        "search",
        "<search>{query}</search>",
        "Search the collection; shows the best passages.",
        free_text=("query",),
        is_multiline=True,
    ),
    ActionVerb(
        "open",
        "<open>{document}</open>",
        "Read a whole document page by page: its title, or 'Doc 2' of the last search; "
        "'Title | page 2' turns to a page.",
    ),
    ActionVerb(
        "python",
        "<python>{code}</python>",
        "Run a short Python program; shows what it prints.",
        free_text=("code",),
        is_multiline=True,
    ),
    ActionVerb(
        "answer",
        "<answer>{answer}</answer>",
        "Give the final answer: a few words, no sentence. It ends the task.",
        free_text=("answer",),
        is_multiline=True,
    ),
)

INSTRUCTIONS = """\
You answer a question by searching a collection of documents. Each turn you do one of:
<search>query</search>: shows the passages that fit the query best.
<open>title</open>: shows a document, page by page. <open>Doc 2</open> takes the second document
of the last search, <open>title | page 2</open> turns to the second page.
<python>program</python>: runs a short Python program without files or network and shows what it
prints; each program starts afresh.
<answer>answer</answer>: gives your final answer, a few words and no sentence. You have one try.
What was found stands between <information> and </information>. Answer only what you have read."""

COMPAT_INSTRUCTIONS = """\
You answer a question with a search engine. Reason inside <think> and </think> first. Then write
<search>query</search> and wait for what was found, between <information> and </information>, or
write <answer>answer</answer>."""

NOTHING_FOUND = "Nothing was found. Use other words."


def information(text: str) -> str:
    """Put the block around the search results."""
    return f"<information>{text}</information>"


def passages_text(passages: Iterable[tuple[str, str]]) -> str:
    """Write (title, text) pairs as numbered documents, one a line."""
    lines = (
        f"Doc {number}(Title: {title}) {text}" for number, (title, text) in enumerate(passages, 1)
    )
    return "\n".join(lines).strip()


def page_text(title: str, page: int, pages: Sequence[str]) -> str:
    """Write one page of a document, where `page` counts from 1."""
    where = f", page {page} of {len(pages)}" if len(pages) > 1 else ""
    more = f'\n(To read on, open "{title} | page {page + 1}".)' if page < len(pages) else ""
    return f"Document(Title: {title}{where}) {pages[page - 1]}{more}"


def output(text: str) -> str:
    """Put the block around a program's output."""
    return f"<output>{text}</output>"
