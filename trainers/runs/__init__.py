"""A run's folder: what it holds, how it is written, resumed and drawn."""
