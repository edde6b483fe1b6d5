"""Measures the speed of environments, of the vector environment and of rollouts."""
