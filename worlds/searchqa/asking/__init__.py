"""Questions over the world: structures, wording, a single right answer, the oracle path."""
