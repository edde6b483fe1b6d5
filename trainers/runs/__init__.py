"""A run's folder: its files, and how a run writes, resumes and draws them."""
