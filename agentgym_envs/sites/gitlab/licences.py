"""The licences that projects have, and the text of the file `LICENSE`."""

from __future__ import annotations

LICENCES = (
    "MIT License", "Apache License 2.0", "BSD 3-Clause License", "GNU GPL v3",
    "Mozilla Public License 2.0",
)  # fmt: skip
"""Choices of the form for new projects."""

LICENCE = """<licence>

Copyright (c) <year> <owner> and the contributors to <name>

You may use, change and pass on this work under the terms of the <licence>.
It comes without any warranty.
"""


def fill_slots(text: str, slots: dict[str, str]) -> str:
    """Replace every `<slot>` that there is."""
    for name, value in slots.items():
        text = text.replace(f"<{name}>", value)
    return text
