"""Plays episodes: tasks in, trajectories out."""
