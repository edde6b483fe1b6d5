"""Trains the shipped start of the `tiny` policy from nothing: `python -m trainers.warm_start`.

Next-token training on play: the player knows how things are done in the games, and heeds the goal
that it is shown in two plays of five. So does the policy that comes out, and reinforcement learning
has something to teach it. `textcraft_play` and `babyai_play` write the texts, `training` learns
them. With `--rooms`, `continuing` goes on from the shipped policy with `babyai_rooms`. The
validation and test splits are never read.
"""
