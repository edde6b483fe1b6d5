"""WebArena: doing tasks in a web browser, on embedded sites or on the official ones."""
