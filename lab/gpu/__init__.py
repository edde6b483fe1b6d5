"""`python -m lab.gpu`: what only a GPU can show, measured and tried in one command."""
