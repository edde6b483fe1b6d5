"""`agentgym export`: environments and episodes in forms that other programs take."""
