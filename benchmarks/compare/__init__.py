"""`agentgym compare`: two policies on the tasks both played."""
