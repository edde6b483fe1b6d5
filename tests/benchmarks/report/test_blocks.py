import pytest

from benchmarks.report.blocks import Fold, Heading, Table, Text, as_markdown
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
