from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentgym_envs import Trajectory, read_jsonl
from agentgym_envs.trajectories.agenttraj import read_trajectories
from trainers.options.arguments import RolloutArguments
from trainers.runs.records import MOST_WAITING, TrajectoryFiles


def episodes(*names: str) -> list[Trajectory]:
    return [Trajectory("toy/Letters-v0", name) for name in names]


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "trajectories").iterdir())


def test_each_of_several_processes_writes_files_of_its_own(tmp_path: Path) -> None:
    for rank, world_size in ((0, 1), (0, 2), (1, 2)):
        args = SimpleNamespace(output_dir=tmp_path, process_index=rank, world_size=world_size)
        files = TrajectoryFiles.from_args(args, RolloutArguments())
        files.write("eval", 5, [])
        files.flush()
    assert names_in(tmp_path) == [
        "eval_000005.jsonl",
        "eval_000005_rank0.jsonl",
        "eval_000005_rank1.jsonl",
    ]


@pytest.mark.parametrize("compress", [False, True])
def test_batches_of_a_step_stand_in_order_and_a_step_played_again_replaces_them(
    tmp_path: Path, compress: bool
) -> None:
    path = tmp_path / "trajectories" / ("train_000003.jsonl" + ".gz" * compress)
    for names in (["a", "b"], ["c"]):
        files = TrajectoryFiles(tmp_path, compress=compress)
        for name in names:
            files.write("train", 3, episodes(name))
        files.flush()
        assert [t.task_id for t in read_trajectories(path)] == names


def test_a_step_that_is_played_again_and_compressed_replaces_the_plain_file(tmp_path: Path) -> None:
    for compress in (False, True):
        files = TrajectoryFiles(tmp_path, compress=compress)
        files.write("train", 3, episodes("a"))
        files.flush()
    assert names_in(tmp_path) == ["train_000003.jsonl.gz"]


def test_training_goes_on_while_episodes_are_written_until_too_many_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_write = threading.Event()
    to_line = Trajectory.to_line

    def slow(self: Trajectory) -> bytes:
        may_write.wait(10)
        return to_line(self)

    monkeypatch.setattr(Trajectory, "to_line", slow)
    files = TrajectoryFiles(tmp_path)
    for number in range(MOST_WAITING):
        files.write("train", number, episodes("a"))
    further = threading.Thread(target=files.write, args=("train", MOST_WAITING, episodes("b")))
    further.start()
    further.join(0.2)
    assert further.is_alive()
    may_write.set()
    further.join()
    files.flush()
    assert len(names_in(tmp_path)) == MOST_WAITING + 1


def test_what_cannot_be_written_is_an_error_of_the_next_call(tmp_path: Path) -> None:
    (tmp_path / "trajectories").write_text("no folder")
    files = TrajectoryFiles(tmp_path)
    files.write("train", 0, episodes("a"))
    with pytest.raises(FileExistsError):
        files.flush()


@pytest.mark.full
def test_nothing_is_lost_where_a_process_ends_by_an_error(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from agentgym_envs import Trajectory\n"
        "from trainers.runs.records import TrajectoryFiles\n"
        "files = TrajectoryFiles(sys.argv[1])\n"
        "files.write('train', 0, [Trajectory('toy/Letters-v0', 'x' * 1000)] * 2000)\n"
        "raise SystemExit(3)\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert ended.returncode == 3
    assert len(list(read_jsonl(tmp_path / "trajectories" / "train_000000.jsonl"))) == 2000


@pytest.mark.parametrize("compress", [False, True])
def test_a_bound_on_the_disk_ends_the_writing_with_one_sentence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, compress: bool
) -> None:
    bound = 5000
    files = TrajectoryFiles(tmp_path, compress=compress, max_bytes=bound)
    for step in range(200):
        files.write("train", step, episodes("a", "b"))
    files.flush()
    sizes = [path.stat().st_size for path in (tmp_path / "trajectories").iterdir()]
    assert bound / 2 < sum(sizes) <= bound
    (record,) = caplog.records
    assert "--max_trajectory_gb" in record.getMessage()


def test_a_run_that_breaks_has_written_the_episodes_that_it_played(
    trainer_in: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = trainer_in(max_steps=2, rollout={"compress_trajectories": True})

    def broken(*_args: Any, **_kwargs: Any) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(trainer, "_compute_loss", broken)
    with pytest.raises(RuntimeError, match="broken"):
        trainer.train()
    folder = Path(trainer.args.output_dir)
    assert list(read_jsonl(folder / "trajectories" / "train_000001.jsonl.gz"))
