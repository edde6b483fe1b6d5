"""`agentgym export`: an environment as a package that other programs take."""
