"""Makes the questions of SQL: templates in TOML, filled from the sites' databases."""
