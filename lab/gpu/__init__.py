"""`python -m lab.gpu`: measures and tries a GPU in one command."""
