"""Takes the pictures of docs/howto/resume.md in headless Chromium.

    agentgym quickstart
    agentgym train grpo --env TextCraft --seed 1 --learning_rate 3e-4 --max_steps 24 \
        --save_trajectories_every 8 --output_dir runs/grpo
    agentgym sweep --suite babyai --policy random --policy expert --max-turns 10,20 \
        --out runs/sweep_babyai
    python .ci/viewer_pictures.py runs docs/images

Needs the `browser` extra, and these three folders in the first argument.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from agentgym_envs.browsing.chromium.pool import find_executable
from benchmarks.viewer.index import Index
from benchmarks.viewer.server import ViewerServer

WIDE = {"width": 1400, "height": 900}
SMALL = {"width": 1280, "height": 860}
EPISODE = "cells/{policy}/BabyAI/turns_20/seed_0/batch_0000.jsonl:{number}"


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a folder's viewer and give its address."""
    server = ViewerServer(Index(folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.url
    server.shutdown()
    server.server_close()


def main(runs: Path, out: Path) -> None:
    """Take every picture."""
    with sync_playwright() as playwright, serving(runs) as url:
        browser = playwright.chromium.launch(
            executable_path=find_executable(), chromium_sandbox=False
        )

        def opened(address: str, size: Any = SMALL) -> Page:
            page = browser.new_context(viewport=size).new_page()
            page.goto(url + address)
            page.wait_for_selector("html[data-ready]")
            return page

        def take(page: Page, name: str) -> None:
            page.wait_for_load_state("networkidle")
            page.wait_for_timeout(500)  # what moves has come to rest
            page.screenshot(path=out / f"viewer_{name}.png")
            page.context.close()

        take(opened("#run=quickstart", WIDE), "list")
        page = opened("#run=quickstart&vs=grpo", WIDE)
        page.click(".options summary")
        page.wait_for_selector(".options table")
        take(page, "options")
        take(opened(""), "runs")
        expert = "sweep_babyai/" + EPISODE.format(policy="expert", number=1)
        take(opened(f"#t={expert}"), "trajectory")
        random = "sweep_babyai/" + EPISODE.format(policy="random", number=1)
        page = opened(f"#t={expert}&with={random}")
        page.wait_for_selector(".pair")
        take(page, "comparison")
        first = sorted((runs / "quickstart" / "trajectories").glob("train_*.jsonl"))[-1]
        page = opened(f"#t={first.relative_to(runs)}:1&tokens=")
        page.click(".token-ways [value=advantage]")
        take(page, "tokens")
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
