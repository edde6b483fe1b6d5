"""The benchmark sweep: a grid of policies and panels, played in parallel, never twice."""
