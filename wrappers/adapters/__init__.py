"""Other libraries' text environments as ours, and ours as theirs: a module for each library."""
