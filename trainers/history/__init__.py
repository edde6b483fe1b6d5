"""Histories, a turn's view of its episode: the last turns, a summary, or notes."""
