"""Draws the tasks on the embedded sites: what is asked, and what decides whether it is done."""
