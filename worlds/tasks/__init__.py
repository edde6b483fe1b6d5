"""Draws the tasks on the embedded sites, with their evaluation."""
