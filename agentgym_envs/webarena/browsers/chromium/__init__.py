"""The Chromium backend: the sites through a real server, read and driven by Playwright."""

try:
    import playwright as _playwright  # noqa: F401
    import uvicorn as _uvicorn  # noqa: F401
except ImportError as error:
    raise ImportError(
        f"The Chromium backend needs the browser extra ({error}): "
        'pip install "agentgym-envs[browser]"'
    ) from error
