"""Makes TextCraft's table of recipes."""
