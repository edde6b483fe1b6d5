"""Environments that servers play: OpenEnv's WebSocket and AgentGym's HTTP."""
