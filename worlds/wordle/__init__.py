"""Makes Wordle's lists of words."""
