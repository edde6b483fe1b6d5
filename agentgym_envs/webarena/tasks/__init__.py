"""Tasks: how their files are read, and how they are numbered and listed."""
