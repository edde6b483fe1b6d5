"""The words of every relation, from `words/questions/`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from worlds.searchqa.asking.wording import Wording, amount, in_year, where, which, who
from worlds.searchqa.tables import table

_FORMS: dict[str, Callable[..., Wording]] = {
    "who": who,
    "in_year": in_year,
    "amount": amount,
    "where": where,
    "which": which,
}


def _wording(row: dict[str, Any]) -> Wording:
    if "form" in row:
        return _FORMS[row["form"]](**{key: row[key] for key in row if key != "form"})
    first, second, third = row["ask"]
    return Wording((first, second, third), tuple(row.get("phrase", ())), row["keys"])


WORDING: dict[tuple[str, ...], Wording] = {
    tuple(key.split()): _wording(row)
    for name in ("people", "organisations", "works")
    for key, row in table(f"questions/{name}").items()
}
"""By relation, or by kind and relation where a kind has words of its own."""


def wording_of(kind: str, relation: str) -> Wording | None:
    """Return the words for a kind's relation, or None if no question asks about it."""
    return WORDING.get((kind, relation), WORDING.get((relation,)))
