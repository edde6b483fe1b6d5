"""Makes the worlds that the packages ship as data; like `tests/`, it is not installed."""
