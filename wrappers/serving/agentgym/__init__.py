"""AgentGym's own HTTP, environment by environment."""
