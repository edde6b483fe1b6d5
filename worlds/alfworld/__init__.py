"""Makes the tables of the ALFWorld environment from the original's facts."""
