"""Loads and saves policies; the shipped `tiny` policy and the fetched `smollm2`; the critic."""
