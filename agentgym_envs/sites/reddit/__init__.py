"""Commonplace, the forum: communities, posts, nested comments, votes, profiles and messages."""
