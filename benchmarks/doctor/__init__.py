"""`agentgym doctor`: what works on this machine, what does not, and the command that mends it."""
