"""The makers' instruments: studies, speeds, GPUs, and how `tiny` was made; not installed."""
