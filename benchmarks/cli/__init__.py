"""The `agentgym` command and its small subcommands."""
