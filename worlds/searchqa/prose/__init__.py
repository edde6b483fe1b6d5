"""Documents from the world's facts: sentence patterns by kind, and the writer."""
