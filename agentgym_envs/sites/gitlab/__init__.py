"""Forgeyard, the code host: projects, files, issues, merge requests and the people behind them."""
