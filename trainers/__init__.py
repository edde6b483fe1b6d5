"""Trainers: rollouts with exact tokens, and thin adapters into TRL."""

import os

# Read once, when torch starts its threads: beside any other busy process, threads that spin while
# they wait made two cores twenty times slower than one.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
