"""`agentgym doctor`: checks the installation, and prints the command that mends each fault."""
