"""OpenEnv's protocol: sessions over a WebSocket, tasks over HTTP, tools by MCP."""
