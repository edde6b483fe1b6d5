"""What a turn sees of its episode: the last turns, a summary, or notes."""
