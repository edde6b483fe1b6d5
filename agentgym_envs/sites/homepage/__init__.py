"""The home page: where every site is listed."""
