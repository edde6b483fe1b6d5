"""Broken machinery, signals, full disks and damaged checkpoints: a run goes on, or says how."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from safetensors.torch import load_file

from tests.faults.disks import fill, small_disk
from tests.faults.wrappers import CAUSE, Breaks, SignalledAt
from tests.trainers.command import EPISODES, start, wait_for
from tests.trainers.toys import ENV_ID, make_folder
from trainers.collect import main as collect
from trainers.evaluate import main as evaluate
from trainers.grpo import main
from trainers.options.errors import run_command
from trainers.runs import stopping
from trainers.runs.checkpoints import CHECKSUMS_FILE, last_checkpoint
from trainers.runs.folder import LOCK_FILE, holding
from trainers.runs.stopping import SaveOnSignal, StopNow
from wrappers import failures

STEPS = 3
BREAKS = ("--wrapper", "tests.faults.wrappers:Breaks")
SIGNALLED = ("--wrapper", "tests.faults.wrappers:SignalledAt")
Train = Callable[..., int]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return make_folder(tmp_path_factory.mktemp("model"))


def options(model: str, folder: Path, *further: str) -> list[str]:
    return [
        *("--model", model, "--output_dir", str(folder), "--max_steps", str(STEPS)),
        *("--save_strategy", "steps", "--save_steps", "100", "--max_turns", "3"),
        *EPISODES,
        *further,
    ]


@pytest.fixture
def train(model: str, tmp_path: Path) -> Train:
    """Return a function that trains in this process, in the folder `run`."""
    return lambda *further: main(options(model, tmp_path / "run", *further))


@pytest.fixture(scope="module")
def undisturbed(model: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the run that nothing has broken."""
    folder = tmp_path_factory.mktemp("undisturbed")
    assert main(options(model, folder)) == 0
    return folder


@pytest.fixture(autouse=True)
def mended() -> Iterator[None]:
    """Mend what a test has broken."""
    yield
    Breaks.is_broken = staticmethod(lambda: False)
    SignalledAt.turns_left = 0


def breaks_at(step: int, folder: Path, *, turns: int = 10**9) -> None:
    """Let the machinery break for so many turns when a step's episodes are played."""
    left = [turns]

    def is_broken() -> bool:
        if steps_of(folder) != list(range(1, step)) or left[0] == 0:
            return False
        left[0] -= 1
        return True

    Breaks.is_broken = staticmethod(is_broken)


def steps_of(folder: Path) -> list[int]:
    path = folder / "metrics.jsonl"
    lines = path.read_text().splitlines() if path.exists() else []
    return [entry["global_step"] for entry in map(json.loads, lines) if "loss" in entry]


def assert_equal_runs(folder: Path, other: Path) -> None:
    assert steps_of(folder) == steps_of(other) == list(range(1, STEPS + 1))
    one, two = (load_file(path / "model.safetensors") for path in (folder, other))
    assert all((one[name] == two[name]).all() for name in one)
    for step in range(1, STEPS + 1):
        name = f"trajectories/train_{step:06d}.jsonl"
        lines = [(path / name).read_text().splitlines() for path in (folder, other)]
        ids = [[json.loads(line)["traces"][0]["completion_ids"] for line in of] for of in lines]
        assert ids[0] == ids[1]


# Outages ----------------------------------------------------------------------------------------


@pytest.mark.full
def test_a_run_waits_for_machinery_and_ends_as_if_nothing_had_been(
    train: Train, undisturbed: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    breaks_at(2, tmp_path / "run", turns=16)  # two waves of the 8 episodes
    assert train(*BREAKS) == 0
    assert f"8 episodes wait 1 s and are played again: {CAUSE}" in caplog.text
    assert f"8 episodes wait 2 s and are played again: {CAUSE}" in caplog.text
    assert (tmp_path / "run/checkpoint-1" / CHECKSUMS_FILE).exists()
    assert_equal_runs(tmp_path / "run", undisturbed)


@pytest.mark.parametrize("step", [1, 2])
def test_machinery_that_stays_broken_ends_a_run_with_a_checkpoint(
    step: int, train: Train, undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    breaks_at(step, folder)
    with pytest.raises(SystemExit) as ended:
        train(*BREAKS, "--max_outage", "0")
    assert ended.value.code == 75
    told = capsys.readouterr().err
    assert "the machinery stayed broken: 8 of 8 episodes failed" in told
    assert CAUSE in told
    assert f"checkpoint-{step - 1} is what it goes on from" in told
    assert told.rstrip().endswith("--resume")
    Breaks.is_broken = staticmethod(lambda: False)
    assert train(*BREAKS, "--resume") == 0
    assert_equal_runs(folder, undisturbed)


@pytest.mark.full
def test_a_resumed_run_waits_as_long_as_one_that_has_played(
    train: Train, undisturbed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    breaks_at(2, folder)
    with pytest.raises(SystemExit):
        train(*BREAKS, "--max_outage", "0")
    monkeypatch.setattr(failures, "MAX_FIRST_OUTAGE", 0.0)
    breaks_at(2, folder, turns=8)
    assert train(*BREAKS, "--resume") == 0
    assert_equal_runs(folder, undisturbed)


def test_the_first_checkpoint_proves_no_machinery(
    train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "MAX_FIRST_OUTAGE", 0.0)
    breaks_at(1, tmp_path / "run")
    for further in ((), ("--resume",)):
        with pytest.raises(SystemExit) as ended:
            train(*BREAKS, *further)
        assert ended.value.code == 75
    assert last_checkpoint(tmp_path / "run") == tmp_path / "run/checkpoint-0"


def test_a_signal_amid_a_rollout_saves_at_once(
    train: Train, undisturbed: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    SignalledAt.turns_left = 30  # 8 episodes of at most 3 turns: within the second step
    with pytest.raises(SystemExit) as ended:
        train(*SIGNALLED)
    assert ended.value.code == 130
    assert SignalledAt.turns_left == 0, "no further turn is played"
    assert "SIGTERM: a checkpoint is saved" in capfd.readouterr().err
    assert last_checkpoint(folder) == folder / f"checkpoint-{steps_of(folder)[-1]}"
    assert not (folder / f"trajectories/train_{len(steps_of(folder)) + 1:06d}.jsonl").exists()
    assert train("--resume") == 0
    assert_equal_runs(folder, undisturbed)


def test_after_a_signal_that_came_before_no_further_turn_is_played() -> None:
    with SaveOnSignal() as on_signal:
        os.kill(os.getpid(), signal.SIGTERM)
        with pytest.raises(StopNow), on_signal.at_once():
            pytest.fail("a further batch is played")


def test_a_signal_that_comes_twice_at_once_is_one_and_a_later_one_ends_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with SaveOnSignal():
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
        monkeypatch.setattr(stopping, "TOGETHER", 0.0)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


# Evaluations and collections --------------------------------------------------------------------


@pytest.mark.parametrize("command", [evaluate, collect], ids=["eval", "collect"])
def test_what_broke_off_is_played_to_its_end_by_the_same_command(
    command: Callable[[list[str]], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def words(name: str, *further: str) -> list[str]:
        out = str(tmp_path / f"{name}.jsonl")
        return [
            *("--env", ENV_ID, "--action_format", "plain", "--policy", "random", "--num_envs", "2"),
            *("--max_turns", "3", "--split", "train", "--max_outage", "0", *BREAKS, *further),
            *(("--trajectories", out) if command is evaluate else ("--out", out)),
        ]

    assert run_command(lambda: command(words("whole"))) == 0
    whole = (tmp_path / "whole.jsonl").read_bytes()
    left = [12]

    def is_broken() -> bool:
        left[0] -= 1
        return left[0] < 0

    Breaks.is_broken = staticmethod(is_broken)
    assert run_command(lambda: command(words("parts"))) == 75
    told = capsys.readouterr().err
    kept = (tmp_path / "parts.unfinished.jsonl").read_text().splitlines()
    assert f"{len(kept)} episodes had ended" in told
    assert "with --resume plays the others" in told
    assert 0 < len(kept) < len(whole.splitlines())
    Breaks.is_broken = staticmethod(lambda: False)
    assert run_command(lambda: command(words("parts", "--resume"))) == 0
    assert (tmp_path / "parts.jsonl").read_bytes() == whole
    assert not (tmp_path / "parts.unfinished.jsonl").exists()


def test_what_broke_off_is_not_gone_on_with_under_another_sampling(
    tmp_path: Path, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def words(*further: str) -> list[str]:
        return [
            *("--env", ENV_ID, "--action_format", "plain", "--policy", model, "--num_envs", "2"),
            *("--max_turns", "3", "--split", "train", "--max_outage", "0", *BREAKS, *further),
            *("--max_tokens_per_turn", "4", "--out", str(tmp_path / "out.jsonl")),
        ]

    left = [12]

    def is_broken() -> bool:
        left[0] -= 1
        return left[0] < 0

    Breaks.is_broken = staticmethod(is_broken)
    assert run_command(lambda: collect(words("--top_k", "4"))) == 75
    Breaks.is_broken = staticmethod(lambda: False)
    capsys.readouterr()
    assert run_command(lambda: collect(words("--top_k", "3", "--resume"))) == 2
    assert "were played with other options" in capsys.readouterr().err
    assert run_command(lambda: collect(words("--top_k", "4", "--resume"))) == 0


# Checkpoints ------------------------------------------------------------------------------------


def test_resuming_a_run_that_is_complete_trains_nothing(
    train: Train, undisturbed: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    assert train("--save_steps", "1") == 0
    (folder / "model.safetensors").unlink()  # as a kill after the last checkpoint leaves it
    assert train("--save_steps", "1", "--resume") == 0
    assert_equal_runs(folder, undisturbed)
    assert sorted(path.name for path in folder.glob("checkpoint-*")) == [
        f"checkpoint-{step}" for step in (STEPS - 1, STEPS)
    ]


def test_a_damaged_checkpoint_is_known_and_the_one_before_is_taken(
    train: Train, undisturbed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    assert train("--save_steps", "1") == 0
    weights = folder / f"checkpoint-{STEPS}/model.safetensors"
    damaged = bytearray(weights.read_bytes())
    damaged[-1] ^= 1
    weights.write_bytes(damaged)
    (folder / f"checkpoint-{STEPS - 1}/optimizer.pt").unlink()
    capsys.readouterr()
    assert train("--save_steps", "1", "--resume") == 0
    said = capsys.readouterr().out
    assert f"checkpoint-{STEPS} has a damaged model.safetensors and is passed over" in said
    assert f"checkpoint-{STEPS - 1} lacks optimizer.pt and is passed over" in said
    assert_equal_runs(folder, undisturbed)


def test_a_checkpoint_without_an_optimizer_is_an_error(
    train: Train, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train("--save_steps", "1", "--save_only_model", "true") == 0
    with pytest.raises(Exception, match=r"checkpoint-3 has no state of the optimizer"):
        train("--resume", "--max_steps", "5")


def test_a_full_disk_leaves_no_half_checkpoint_and_says_how_to_go_on(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    words = [*options(model, folder, "--max_outage", "0"), "--save_steps", "2"]
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    # No file may have more than 40 kB: metrics and episodes fit, weights do not.
    resource.setrlimit(resource.RLIMIT_FSIZE, (40_960, hard))
    try:
        with pytest.raises(SystemExit) as ended:
            main(words)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert ended.value.code == 75
    told = capsys.readouterr().err
    assert "agentgym: the disk took no more: " in told
    assert "there is no checkpoint yet. When that is mended:" in told
    assert list(folder.glob("checkpoint-*")) == []
    assert list(folder.rglob("*.tmp")) == []


@pytest.mark.slow
def test_a_disk_that_is_full_for_a_while_changes_nothing(
    model: str, undisturbed: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    with start("grpo", options(model, folder, "--save_steps", "1")) as process:
        wait_for((folder / "metrics.jsonl").exists, process)
        _, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1, hard))  # a byte in a file at most
        time.sleep(4)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (hard, hard))
        _, complained = process.communicate()
    assert process.returncode == 0, complained[-3000:]
    assert "once more in 1 s: " in complained
    assert_equal_runs(folder, undisturbed)
    assert last_checkpoint(folder) == folder / f"checkpoint-{STEPS}"


def test_a_disk_that_is_full_from_the_start_is_told_and_the_same_command_begins_later(
    model: str, undisturbed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with small_disk() as disk:
        folder = disk / "run"
        filler = fill(disk)
        assert run_command(lambda: main(options(model, folder))) == 2
        assert f"No space left on device: '{folder}" in capsys.readouterr().err
        assert [path for path in folder.rglob("*") if path.is_file()] == []
        filler.unlink()
        assert run_command(lambda: main(options(model, folder))) == 0
        assert_equal_runs(folder, undisturbed)


def test_a_folder_that_cannot_be_written_is_refused_in_a_sentence(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "run"
    assert run_command(lambda: main(options(model, folder))) == 2
    assert f"cannot write {folder}, for {folder.parent} is not a folder" in capsys.readouterr().err


# Owners -----------------------------------------------------------------------------------------


@pytest.mark.full
def test_a_second_run_is_told_who_holds_the_folder(
    model: str, train: Train, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    with start("grpo", options(model, folder, "--max_steps", "10000")) as first:
        wait_for((folder / "trajectories/train_000001.jsonl").exists, first)
        before = (folder / "run.json").read_text()
        with pytest.raises(
            Exception, match=rf"held by `agentgym train grpo` \(process {first.pid} "
        ):
            train()
        assert (folder / "run.json").read_text() == before
        first.kill()
    assert (folder / LOCK_FILE).exists()
    assert train() == 0  # a lock ends with its process
    assert not (folder / LOCK_FILE).exists()


def test_a_folder_is_held_while_the_block_lasts(tmp_path: Path) -> None:
    with holding(tmp_path, "train grpo"):
        with pytest.raises(Exception, match="is held by"), holding(tmp_path, "train sft"):
            pass
        owner = json.loads((tmp_path / LOCK_FILE).read_text())
        assert owner["command"] == "train grpo"
        assert owner["pid"] == os.getpid()
    with holding(tmp_path, "train sft"):
        pass
    shutil.rmtree(tmp_path)
