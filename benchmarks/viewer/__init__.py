"""The viewer: reads training runs, sweeps and evaluations in a browser."""
