"""Docstrings and pages are short and plain: `tests/words.py` has the rules."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import words

ROOT = Path(__file__).parent.parent
PACKAGES = ("agentgym_envs", "wrappers", "trainers", "benchmarks")
MAX_WORDS = 60_000
MAX_RESULTS_WORDS = 600


@pytest.mark.parametrize("package", [*PACKAGES, "worlds", "lab"])
def test_the_first_lines_of_docstrings_name_an_object_or_an_action(package: str) -> None:
    assert [
        f"{item.path}:{item.line}: {', '.join(rules)}: {item.first}"
        for item in words.docstrings(ROOT / package)
        if (rules := words.faults(item.first))
    ] == []


def test_the_rules_name_what_breaks_them() -> None:
    assert words.faults("Return the total cost of all requests.") == []
    assert words.faults("Return what all requests cost; None if nobody was told.") == [
        *("what", "semicolon", "word")
    ]
    assert words.faults('Read `"what"` and `a; b` as "what; is" writes them.') == []
    assert words.faults("x" * 91) == ["long"]
    assert words.faults("How far a page has come.") == ["opening"]


def test_strings_below_constants_and_attributes_are_docstrings(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        'SIZE = 1\n"""Of a part."""\n\n\nclass Part:\n    """A part."""\n\n'
        '    size: int\n    """Bytes."""\n\n    def __init__(self):\n        self.end = 0\n'
        '        """Its end."""\n',
        "utf-8",
    )
    assert {(item.line, item.first) for item in words.docstrings(module)} == {
        *((2, "Of a part."), (5, "A part."), (9, "Bytes."), (13, "Its end."))
    }


@pytest.mark.parametrize("package", PACKAGES)
def test_public_docstrings_give_shapes_and_errors(package: str) -> None:
    assert list(words.gaps(ROOT / package)) == []


def test_a_tensor_without_a_shape_and_an_error_that_is_not_named_are_gaps(tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(
        'def f(x: Tensor) -> int:\n    """Return a number."""\n    if x is None:\n'
        '        raise ValueError("none")\n\n\n'
        'def g(x: Tensor) -> int:\n    """Return the rank of (B, T) logits."""\n',
        "utf-8",
    )
    place = f"{tmp_path / 'module.py'}:1: f"
    assert list(words.gaps(tmp_path)) == [
        f"{place}: tensors without a shape such as (B, T)",
        f"{place}: no Raises: ValueError",
    ]


@pytest.mark.parametrize(
    "page",
    [
        "README.md",
        "CONTRIBUTING.md",
        *sorted(str(page.relative_to(ROOT)) for page in (ROOT / "docs").rglob("*.md")),
    ],
)
def test_no_sentence_of_a_page_has_more_than_35_words(page: str) -> None:
    assert words.long_sentences(ROOT / page) == []


def test_the_pages_can_be_read_in_an_evening() -> None:
    pages = {page: words.num_words(page) for page in (ROOT / "docs").rglob("*.md")}
    assert sum(pages.values()) <= MAX_WORDS
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 110
    results = {page.name: count for page, count in pages.items() if page.parent.name == "results"}
    assert {name: count for name, count in results.items() if count > MAX_RESULTS_WORDS} == {}
