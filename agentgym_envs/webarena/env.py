"""WebArenaEnv: tasks in a web browser on the embedded sites, in process or in Chromium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentgym_envs.core import ExpertMove
from agentgym_envs.errors import NoExpert
from agentgym_envs.sites.content import open_content
from agentgym_envs.webarena.browser_task import BrowserTaskEnv
from agentgym_envs.webarena.deployments import EmbeddedDeployment
from agentgym_envs.webarena.expert import play_record, read_record
from agentgym_envs.webarena.prompts import instructions
from agentgym_envs.webarena.sources import TasksFile, embedded_source, read_source


class WebArenaEnv(BrowserTaskEnv):
    """Web tasks on embedded sites.

    Args:
        backend: `"text"`, in process, or `"chromium"`.
        tasks_file: tasks in WebArena's own JSON form, to be played on the embedded sites: a file,
            in the test split where a task names none, or `{split: file}`. None takes the embedded
            tasks.
        sites_dir: a folder made by `python -m worlds sites`: embedded sites of other content, with
            tasks of their own.
        **kwargs: as `BrowserTaskEnv`.

    Raises:
        ValueError: an argument has a value that is not allowed.
        ImportError: a package is missing; the message says what to install.
    """

    default_max_turns = 30
    shows_state = True
    moved_arguments = dict.fromkeys(
        "sites accounts log_in headers services reset_hook reset evaluation".split(),
        "make agentgym/WebArenaOfficial-v0 with it, and without backend=, for it plays in Chromium",
    )
    """Arguments of 0.1, refused until 0.3 with the remedy.

    They are not forwarded: `gymnasium.make` writes the id that it was asked for into what it made,
    so records of the official sites would name the embedded ones.
    """

    def __init__(
        self,
        *,
        backend: str = "text",
        tasks_file: TasksFile | None = None,
        sites_dir: str | Path | None = None,
        **kwargs: Any,
    ) -> None:
        for name in kwargs:
            if name in self.moved_arguments:
                raise ValueError(f"WebArenaEnv takes no {name}=; {self.moved_arguments[name]}")
        content = open_content() if sites_dir is None else open_content(Path(sites_dir).resolve())
        if tasks_file is None:
            source = embedded_source(content)
        else:
            source = read_source(tasks_file, sites_name=content.name)
        super().__init__(EmbeddedDeployment(backend, content), source, **kwargs)
        self.instructions = instructions(self.action_format, compat=self.compat)
        self._content = content

    def expert_moves(self) -> Iterator[ExpertMove]:
        """Yield the task's recorded moves, with the scrolling that they need.

        Raises:
            NoExpert: `tree` is not `"short"`.
        """
        task = self.web_task
        if self.tree != "short":
            raise NoExpert(f"the expert reads tree='short', not {self.tree!r}")
        starts, moves = read_record(self._content, task)
        return play_record(starts, moves, self.browser.page, self._view)
