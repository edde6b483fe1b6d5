import re

import pytest

from benchmarks.report.blocks import (
    Fold,
    Gallery,
    Heading,
    Picture,
    Table,
    Text,
    as_markdown,
)
from benchmarks.report.html import as_page

ODD = "<b>x</b> | *y* [z](u) `c` a_b"


def test_plain_text_stays_text_in_both_forms(tmp_path):
    parts = [Heading(1, ODD), Table([["a", "b"], [ODD, "1"]]), Fold(ODD, [Text("in")])]
    told = as_markdown(parts)
    assert r"\<b>x\</b> \| \*y\* \[z\](u) \`c\` a_b" in told
    page = as_page(parts, tmp_path)
    assert "<b>" not in page and page.count("&lt;b&gt;x") == 4


@pytest.mark.parametrize("name", ["runs/my_run", "a__b", "_x_"])
def test_a_policys_name_reads_as_it_is_written(name):
    from markdown_it import MarkdownIt

    told = MarkdownIt("js-default").enable("table").render(as_markdown([Table([["p"], [name]])]))
    assert f"<td>{name}</td>" in told


def test_what_is_folded_on_the_page_stands_open_in_markdown(tmp_path):
    fold = Fold("more", [Text("inner *text*")])
    assert as_markdown([fold]) == "**more**\n\ninner *text*"
    page = as_page([fold], tmp_path)
    assert "<details><summary>more</summary>" in page and "<em>text</em>" in page


def test_intervals_are_set_small_and_other_brackets_are_not(tmp_path):
    page = as_page([Table([["p"], ["5.0% (1.0 to 9.0)"], ["x (y)"]])], tmp_path)
    assert "5.0% <small>(1.0 to 9.0)</small>" in page
    assert "<td>x (y)</td>" in page


def test_headings_of_any_letters_have_names_of_their_own(tmp_path):
    titles = ["迷宫", "织物", "Maze", "maze", "maze!"]
    table = Table([["p", *titles]], links=tuple((title, title) for title in titles))
    page = as_page([table, *(Heading(2, title) for title in titles)], tmp_path)
    names = re.findall(r'<h2 id="([^"]+)"', page)
    assert len(set(names)) == len(titles)
    assert re.findall(r'href="#([^"]+)"', page) == names


def test_drawings_of_any_letters_keep_their_names_apart(tmp_path):
    pictures = [Picture("a", "迷"), Picture("b", "织")]
    for picture in pictures:
        (tmp_path / f"{picture.file}.svg").write_text('<svg width="1"><g id="x"/></svg>')
    page = as_page([Gallery(pictures)], tmp_path)
    assert len(set(re.findall(r'<g id="([^"]+)"', page))) == 2
