"""Generation backends, one file each."""
