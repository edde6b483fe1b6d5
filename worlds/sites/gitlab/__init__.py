"""Makes the code host: people, projects and their work."""
