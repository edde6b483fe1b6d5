"""Makes the map: towns, roads, places, reviews and lists."""
