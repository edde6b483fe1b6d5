"""MiniWoB++: small web tasks that the `miniwob` package brings as pages, in Chromium."""
