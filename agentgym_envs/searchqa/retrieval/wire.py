"""How a passage is written as one string: the title in quotes, a line break, the text.

It is the form of the wiki-18 corpus and of Search-R1's server.
"""

from __future__ import annotations

from agentgym_envs.searchqa.documents import Passage


def contents_of(passage: Passage) -> str:
    """Write title and text as one string."""
    return f'"{passage.title}"\n{passage.text}'


def split_contents(contents: str) -> tuple[str, str]:
    """Return (title, text) of such a string; the quotes around the title are left out."""
    title, _, text = contents.partition("\n")
    if len(title) >= 2 and title[0] == title[-1] == '"':
        title = title[1:-1]
    return title, text
