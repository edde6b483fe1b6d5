"""The Chromium backend: the sites through a real server, read and driven by Playwright."""

from agentgym_envs.errors import needs_extra

with needs_extra("browser", "The Chromium backend"):
    import playwright as _playwright  # noqa: F401
    import uvicorn as _uvicorn  # noqa: F401
