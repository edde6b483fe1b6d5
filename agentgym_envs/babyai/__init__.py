"""BabyAI (embodied): grid worlds in text."""
