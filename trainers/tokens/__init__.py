"""Token ids of episodes: chat templates, histories, sampling settings and seeds."""
