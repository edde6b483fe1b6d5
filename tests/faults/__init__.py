"""Faults on purpose: what breaks, when, and what a run makes of it."""
