"""Makes the map: towns, roads, places, and what people left there."""
