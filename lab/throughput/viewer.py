"""Seconds until the viewer's list shows ten thousand trajectories in Chromium.

The episodes are TextCraft's, played by the expert and kept with the tokens of `tiny`'s tokenizer;
the file repeats them, each time as other tasks. Nothing is kept between two openings: every one
starts the command again and has a page of its own.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any

from agentgym_envs.trajectories.trajectory import TokenTrace, Trajectory, write_jsonl
from benchmarks.viewer.index import Index
from lab.processes import Child
from lab.throughput.measure import Row, Side, Stopwatch, compare
from lab.throughput.webarena import has_chromium

_NUM_EPISODES = 200
_WAIT_SECONDS = 120.0


def viewer_rows(
    repeats: int, *, num_episodes: int = 10_000, with_chromium: bool | None = None
) -> Iterator[Row]:
    """Measure the index, and the time from a page's address to its complete list.

    Args:
        repeats: timed openings.
        num_episodes: trajectories in the file.
        with_chromium: measure the page; None does where Chromium and Playwright are installed.
    """
    if with_chromium is None:
        with_chromium = has_chromium()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_jsonl(folder / "played.jsonl", _many(num_episodes))
        megabytes = round((folder / "played.jsonl").stat().st_size / 1e6)
        label = f"viewer, {num_episodes:,} trajectories"

        def read(watch: Stopwatch) -> None:
            with watch.running():
                Index(folder).update()
            watch.units += num_episodes

        side = Side(f"{label} read", "trajectories", read)
        row = compare("viewer", side, repeats=repeats, megabytes=megabytes)
        row.notes["seconds"] = round(num_episodes / row.rate, 2)
        yield row
        if not with_chromium:
            return
        with closing(_Opening(folder, num_episodes)) as opening:
            side = Side(f"{label} in the page's list", "trajectories", opening.run)
            row = compare("viewer", side, repeats=repeats)
            row.notes["seconds"] = round(num_episodes / row.rate, 2)
            row.notes["seconds_until_the_command_listens"] = round(min(opening.starts), 2)
        yield row


class _Opening:
    """A browser that opens one folder again and again.

    Attributes:
        starts: seconds that each start of the command took.
    """

    def __init__(self, folder: Path, num_episodes: int) -> None:
        from playwright.sync_api import sync_playwright

        from agentgym_envs.browsing.chromium.pool import find_executable

        self.starts: list[float] = []
        self._folder = folder
        self._awaited = f"{num_episodes:,} "
        self._playwright = sync_playwright().start()
        self._browser = self._playwright.chromium.launch(
            executable_path=find_executable(), chromium_sandbox=False
        )

    def run(self, watch: Stopwatch) -> None:
        """Start the command, and time its page."""
        start = time.perf_counter()
        command = [sys.executable, "-m", "benchmarks", "view", str(self._folder)]
        with Child([*command, "--no-browser", "--port", "0"]) as server:
            # "FOLDER at http://127.0.0.1:PORT/ (Ctrl-C ends it)"
            address = server.first_line().rpartition(" at ")[2].split(" ")[0]
            self.starts.append(time.perf_counter() - start)
            page = self._browser.new_page()
            try:
                with watch.running():
                    page.goto(address)
                    page.locator("#summary", has_text=self._awaited).wait_for(
                        timeout=_WAIT_SECONDS * 1000
                    )
                watch.units += int(self._awaited.replace(",", ""))
            finally:
                page.close()

    def close(self) -> None:
        """End the browser."""
        self._browser.close()
        self._playwright.stop()


def _many(count: int) -> Iterator[Trajectory]:
    """Yield `count` episodes, the same few repeated under other ids."""
    episodes = _with_tokens(_expert_episodes())
    for number, episode in enumerate(islice(cycle(episodes), count)):
        yield replace(episode, task_id=f"textcraft_{number}", goal=f"{episode.goal} ({number})")


def _expert_episodes() -> list[Trajectory]:
    from trainers.collect import expert_episodes
    from trainers.options.arguments import EnvArguments
    from trainers.rollout.environments import Environments

    with closing(Environments(EnvArguments(env=["TextCraft"]))) as environments:
        return expert_episodes(
            environments, environments.task_ids("train"), num_episodes=_NUM_EPISODES
        )


def _with_tokens(episodes: Sequence[Trajectory]) -> list[Trajectory]:
    from transformers import AutoTokenizer

    from trainers.models.fetched import tiny_folder

    tokenizer: Any = AutoTokenizer.from_pretrained(tiny_folder())
    traced = []
    for episode in episodes:
        trace = TokenTrace(tokenizer.encode(episode.system_prompt))
        for turn in episode.turns:
            trace.append_given(tokenizer.encode(turn.observation))
            sampled = tokenizer.encode(turn.completion)
            trace.append_action(sampled, [-0.123456789] * len(sampled))
        trace.advantages = [0.123456789 * mask for mask in trace.action_mask]
        traced.append(replace(episode, traces=[trace]))
    return traced
