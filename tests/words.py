"""The rules of docstrings' first lines and of the pages' sentences.

`python -m tests.words FOLDER...` lists the docstrings and sentences that break one, a line each;
`python -m tests.words --count FOLDER...` counts them, in other packages too.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

MAX_FIRST_LINE = 90
MAX_SENTENCE = 35
RELATIVE_WHAT = re.compile(
    r"\bwhat\b(?! if\b)"  # "What a turn sees" names nothing that one can search for
    r"|\b(?:that|those) which\b",
    re.I,
)
OPENING = re.compile(r"(?:Of|Which|Who|How|Whose|Those|When|Where|So many)\b")
"""First words of a line that names nothing: "Of a part", "How far a page has come"."""
HOUSE_WORDS = re.compile(
    r"\b(?:told|anew|amid|whoever|whichever|likewise|nobody|so many|as ever|of one's own"
    r"|in the middle|whole or not at all|beside which|wherein|thereof|paid|excused?"
    r"|floors?|chance|surplus|said|persists?|plays? ahead|played ahead|anybody|everybody)\b",
    re.I,
)
"""Substitutes for the field's terms: reward (paid), baseline (floor), random policy (chance)."""
SHAPE = re.compile(r"\((?:[A-Z]\w*|\d+|\.\.\.)(?:[-+,]? ?(?:[A-Z]\w*|\d+|\.\.\.))*,?\)|scalar")
"""A tensor's shape in a docstring, such as `(B, T)`, `(N,)` or `(R, T + 1)`."""

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


class Docstring(NamedTuple):
    """One docstring's place and first line."""

    path: Path
    line: int
    first: str


def docstrings(folder: Path) -> Iterator[Docstring]:
    """List the docstrings of a file, or of a folder's modules, those of constants included."""
    for path in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, Documented):
                text = ast.get_docstring(node)
                if text:
                    yield Docstring(path, getattr(node, "lineno", 1), text.splitlines()[0])
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
                yield from constants(path, node.body)


def constants(path: Path, body: list[ast.stmt]) -> Iterator[Docstring]:
    """List the docstrings of constants and attributes: the strings below an assignment."""
    for statement, below in pairwise(body):
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            match below:
                case ast.Expr(ast.Constant(str(text))):
                    yield Docstring(path, below.lineno, text.strip().splitlines()[0])


def gaps(folder: Path) -> Iterator[str]:
    """List public functions of tensors without a shape, and those that raise without `Raises:`."""
    for path in sorted(folder.rglob("*.py")):
        for scope in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(scope, ast.Module | ast.ClassDef):
                continue
            for function in scope.body:
                if not isinstance(function, ast.FunctionDef):
                    continue
                is_init = function.name == "__init__" and not scope.name.startswith("_")
                text = ast.get_docstring(scope if is_init else function)
                if not text or not is_init and function.name.startswith("_"):
                    continue
                place = f"{path}:{function.lineno}: {function.name}"
                signature = [function.args, *([function.returns] if function.returns else [])]
                if any("Tensor" in ast.unparse(each) for each in signature) and not SHAPE.search(
                    text
                ):
                    yield f"{place}: tensors without a shape such as (B, T)"
                if errors(function) and "raise" not in text.lower():
                    yield f"{place}: no Raises: {', '.join(sorted(errors(function)))}"


def errors(function: ast.FunctionDef) -> set[str]:
    """Name the errors that a function raises itself, not those of the functions within it."""
    raised, nodes = set(), list(function.body)
    for node in nodes:  # grows
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                continue
            case ast.Raise(exc=ast.Call(func=ast.Name(name))):
                raised.add(name)
        nodes.extend(ast.iter_child_nodes(node))
    return raised


def faults(first: str) -> list[str]:
    """Name the rules that a docstring's first line breaks."""
    text = re.sub(r"`[^`]*`|\"[^\"]*\"", "", first)
    broken = {
        "long": len(first) > MAX_FIRST_LINE,
        "what": bool(RELATIVE_WHAT.search(text)),
        "opening": bool(OPENING.match(first)),
        "semicolon": ";" in text,
        "word": bool(HOUSE_WORDS.search(text)),
    }
    return [rule for rule, is_broken in broken.items() if is_broken]


def prose(page: Path) -> str:
    """Return a page's running text: no code, tables, pictures, headings or link targets."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.M | re.S)
    text = re.sub(r"<!--.*?-->|<[^>]+>", "", text, flags=re.S)
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("|", "#", "!["))]
    text = re.sub(r"\]\([^)]*\)", "]", "\n".join(lines))
    return re.sub(r"`[^`]*`", "Code", text)


def sentences(page: Path) -> Iterator[str]:
    """List a page's sentences. A list's item ends one, as a colon at a line's end does."""
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|:\n", prose(page)):
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`\[(\"*])", " ".join(paragraph.split())):
            if sentence:
                yield sentence


def long_sentences(page: Path) -> list[str]:
    """List a page's sentences of more than `MAX_SENTENCE` words."""
    return [text for text in sentences(page) if len(text.split()) > MAX_SENTENCE]


def num_words(page: Path) -> int:
    """Count a page's words, code and tables included."""
    return sum(word not in ("|", "---|", "|---|") for word in page.read_text("utf-8").split())


def count(folder: Path) -> str:
    """Return a line of counts: docstrings, broken rules, pages, words and long sentences."""
    broken = [faults(item.first) for item in docstrings(folder)]
    rules = Counter(rule for each in broken for rule in each)
    pages = sorted(folder.rglob("*.md"))
    words = sum(map(num_words, pages))
    too_long = sum(len(long_sentences(page)) for page in pages)
    return (
        f"{folder}: {len(broken)} docstrings, {dict(rules)}; "
        f"{len(pages)} pages, {words} words, {too_long} long sentences"
    )


def breaches(folder: Path) -> Iterator[str]:
    """List the docstrings and the pages' sentences that break a rule, a line each."""
    for item in docstrings(folder):
        if rules := faults(item.first):
            yield f"{item.path}:{item.line}: {', '.join(rules)}: {item.first}"
    for page in sorted(folder.rglob("*.md")):
        for text in long_sentences(page):
            yield f"{page}: {len(text.split())} words: {text}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--count", action="store_true", help="count, do not list")
    args = parser.parse_args()
    for folder in args.folders:
        print(count(folder) if args.count else "\n".join(breaches(folder)))


if __name__ == "__main__":
    main()
