"""Registration with Gymnasium, and the ids of environments that servers play."""
