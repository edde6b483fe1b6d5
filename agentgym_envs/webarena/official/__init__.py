"""The official WebArena: its 812 tasks, on a deployment of its sites that the user hosts."""
