"""Pins the content of the world: `python -m agentgym_envs.searchqa.world.pin`.

Makes the world, draws the paper's test panel from its test split and writes both into the source:
the content hash into `embedded.py` and the 400 numbers into `world/paper_panel.py`.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

from agentgym_envs.searchqa import embedded
from agentgym_envs.searchqa.questions import FAMILIES, Question
from agentgym_envs.searchqa.world.asking.families import PAPER_SIZES
from agentgym_envs.searchqa.world.dice import stable_number
from agentgym_envs.searchqa.world.store import fingerprint, unpack

_HEAD = '''"""The numbers of the pinned test panel; `pin` writes them."""

PAPER_TEST = tuple(
    int(number)
    for number in """
'''


def draw_panel(questions: list[Question]) -> list[int]:
    """Draw the test panel, of each family as many as in the paper and no structure too often."""
    panel: list[int] = []
    for family in FAMILIES:
        pool = [q for q in questions if q.family == family and q.split == "test"]
        pool.sort(key=lambda question: stable_number("paper_test", question.text))
        taken: dict[str, int] = {}
        rank = {}
        for question in pool:
            rank[question.number] = taken[question.structure] = taken.get(question.structure, 0) + 1
        pool.sort(key=lambda question: rank[question.number])
        panel.extend(question.number for question in pool[: PAPER_SIZES[family]])
    return sorted(panel)


def main() -> None:
    """Write the pins."""
    content = embedded.generate()
    source = Path(embedded.__file__)
    text = re.sub(
        r"^CONTENT_HASH = .*$",
        f'CONTENT_HASH = "{fingerprint(content)}"',
        source.read_text("utf-8"),
        flags=re.MULTILINE,
    )
    source.write_text(text, "utf-8")
    numbers = " ".join(map(str, draw_panel(unpack(content)[1])))
    body = textwrap.fill(numbers, 96, initial_indent="    ", subsequent_indent="    ")
    panel = Path(__file__).with_name("paper_panel.py")
    panel.write_text(f'{_HEAD}{body}\n    """.split()\n)\n', "utf-8")
    print(f"version {embedded.VERSION}: {fingerprint(content)[:12]}")


if __name__ == "__main__":
    main()
