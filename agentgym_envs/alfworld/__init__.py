"""ALFWorld (house): household tasks in text, in the scenes of ALFRED."""
