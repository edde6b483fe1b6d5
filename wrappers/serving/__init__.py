"""Serves environments over HTTP and WebSocket, by OpenEnv's protocol and by AgentGym's.

`app.make_app` is the whole server as an ASGI application; `agentgym serve` runs it.
"""
