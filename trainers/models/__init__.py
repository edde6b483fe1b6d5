"""Loads and saves policies; the shipped `tiny` policy; the critic."""
