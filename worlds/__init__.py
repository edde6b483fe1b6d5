"""Makers of the worlds that the packages ship as data. They are not installed."""
