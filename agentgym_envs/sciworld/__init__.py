"""SciWorld (science): the experiments of ScienceWorld, in its own simulator."""
