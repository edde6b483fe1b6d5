"""Makes the forum: communities, posts and comments."""
