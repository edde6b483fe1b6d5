"""Reports of sweeps: metrics with intervals, tables in the paper's layout, plots, one page."""
