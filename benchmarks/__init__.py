"""Commands, evaluations and measurements."""
