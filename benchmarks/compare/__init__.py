"""`agentgym compare`: policies on the tasks both played."""
