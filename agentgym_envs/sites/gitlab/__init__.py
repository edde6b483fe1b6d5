"""Forgeyard, the code host: projects, files, issues, merge requests and people."""
