"""Questions over the world: structures, wording, their one right answer, the oracle path."""
