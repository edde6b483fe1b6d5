"""Pictures of studies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

CURVES = "curves.png"
"""A study's picture, in its folder."""


@contextmanager
def drawing(path: Path, panels: int = 1, *, width: float = 5.0) -> Iterator[list[Any]]:
    """Yield panels beside each other, with one scale upwards from 0; then write the picture.

    Matplotlib is imported here: whoever only prints tables does without.

    Args:
        path: of the picture.
        panels: how many axes.
        width: inches of each.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * panels, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = list(figure.subplots(1, panels, sharey=True, squeeze=False)[0])
    yield axes
    axes[0].set_ylim(bottom=0)
    for panel in axes:
        panel.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=130)
