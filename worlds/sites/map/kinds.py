"""Numbers of the towns' places of each kind, and their opening hours."""

from __future__ import annotations

from dataclasses import dataclass

from worlds.words import read_words


@dataclass(frozen=True)
class Kind:
    """Parameters for drawing the places of a category.

    Attributes:
        usual: how many a town of middle size has.
        from_population: smaller towns have none.
        opens: to choose from, in hours: 9 is 9:00, 9.5 is 9:30.
        closes: to choose from.
        saturday: `"same"`, `"short"` (shuts at 13:00 or 14:00) or `"closed"`.
        sunday: share of the places that open on Sundays, shorter than on other days.
        rest_day: share of the places that shut on one day from Monday to Wednesday.
        always: share of the places that never shut.
    """

    usual: int
    from_population: int = 0
    opens: tuple[float, ...] = (9,)
    closes: tuple[float, ...] = (18,)
    saturday: str = "same"
    sunday: float = 0.0
    rest_day: float = 0.0
    always: float = 0.0


KINDS = {name: Kind(**values) for name, values in read_words("sites/map/kinds.toml").items()}
"""By category, in the order in which a town gets them."""
