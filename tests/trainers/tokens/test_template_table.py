from pathlib import Path

import pytest

from tests.trainers.tokens.template_table import table

PAGE = Path(__file__).parents[3] / "docs/howto/history.md"


@pytest.mark.full
def test_the_page_shows_what_the_templates_of_families_do():
    text = PAGE.read_text("utf-8")
    shown = text.partition("<!-- families -->\n")[2].partition("\n<!-- /families -->")[0]
    assert shown == table(), "print it: python -m tests.trainers.tokens.template_table"
