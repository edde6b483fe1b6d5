"""`agentgym rescore`: recorded episodes, played again and compared."""
