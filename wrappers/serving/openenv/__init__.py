"""OpenEnv's protocol: sessions over a WebSocket, descriptions and tasks over HTTP, tools by MCP."""
