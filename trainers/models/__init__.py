"""Loads and saves policies and the critic."""
