"""Rewards, returns and advantages of multi-turn episodes, and preference pairs."""
