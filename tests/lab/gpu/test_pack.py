"""What travels to a machine that can fetch nothing: cut here, joined and checked there."""

from __future__ import annotations

import platform
import subprocess
import sys
from pathlib import Path

import pytest

from agentgym_envs.content.files import atomic_folder
from lab.gpu.pack import BASE, closure, cut, installed_there, make_pack, missing, unmet
from lab.gpu.unpack import PackError, join, main, make_environment
from trainers.options.errors import UsageError

HERE = ".".join(platform.python_version_tuple()[:2])
CONTENTS = {"a.whl": b"a" * 700, "b.whl": bytes(range(256)) * 10, "model.whl": b"m" * 900}


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    files = []
    for name, content in CONTENTS.items():
        files.append(tmp_path / name)
        files[-1].write_bytes(content)
    with atomic_folder(tmp_path / "pack") as draft:
        cut(files, draft, installed=["a.whl", "b.whl"], python=HERE, part_bytes=1000)
    return tmp_path / "pack"


def test_files_are_cut_into_parts_of_a_size_and_joined_again(pack: Path, tmp_path: Path) -> None:
    parts = sorted(pack.iterdir())
    assert [part.name for part in parts] == [f"part_{n}" for n in range(1, 6)]
    for part in parts:
        assert sum(f.stat().st_size for f in part.iterdir() if f.name != "pack.json") <= 1000
    wheels, installed = join(pack, tmp_path / "joined")
    assert {path.name: path.read_bytes() for path in wheels.iterdir()} == CONTENTS
    assert installed == ["a.whl", "b.whl"]


def test_a_missing_part_and_a_damaged_one_are_named(pack: Path, tmp_path: Path) -> None:
    (piece,) = (pack / "part_3").glob("b.whl.*")
    piece.write_bytes(b"x" + piece.read_bytes()[1:])
    with pytest.raises(PackError, match=f"{piece} is missing or damaged; carry part_3 over again"):
        join(pack, tmp_path / "joined")
    (pack / "part_4").rename(tmp_path / "elsewhere")
    with pytest.raises(PackError, match="lacks part_4; carry"):
        join(pack, tmp_path / "joined")


def test_a_pack_for_another_python_or_of_two_packs_is_refused(
    pack: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = pack / "part_2" / "pack.json"
    manifest.write_text(manifest.read_text().replace(HERE, "2.7"))
    with pytest.raises(PackError, match="parts of several packs"):
        join(pack, tmp_path / "joined")
    for part in pack.iterdir():
        (part / "pack.json").write_text(manifest.read_text())
    assert main([str(pack), str(tmp_path / "venv")]) == 2
    told = capsys.readouterr().err
    assert f"packed for Python 2.7, and this is {HERE}" in told and f"--python {HERE}" in told
    assert main([str(pack)]) == 2
    assert "takes FOLDER VENV" in capsys.readouterr().err


def test_what_is_there_does_not_travel(tmp_path: Path) -> None:
    pytest.importorskip("trl")
    base = closure(BASE, "3.12")
    assert {"torch", "transformers", "numpy", "tokenizers"} <= set(base)
    names = {one.partition("==")[0] for one in missing("3.12", installed_there(None, "3.12"))}
    assert {"trl", "datasets", "gymnasium", "minigrid", "pytest"} <= names
    assert not (names - {"setuptools"}) & {*base, "agentgym-envs"}
    # A list from the other machine: what it has, unless in a version that is not allowed.
    listed = tmp_path / "there.txt"
    others = {one.partition("==")[0] for one in missing("3.12", {})} - {"trl", "setuptools"}
    listed.write_text("\n".join(["trl==1.0.0", "setuptools==80", *others]))
    (named,) = missing("3.12", installed_there(str(listed), "3.12"))
    assert named.startswith("trl==")


def test_parts_that_lack_a_package_are_named() -> None:
    wheels = ["bitsandbytes==0.48", "/tmp/deepspeed-0.19-py3-none-any.whl"]
    assert unmet(wheels) == {"vllm": ["vllm", "vllm_step", "vllm_precision"]}
    assert unmet([*wheels, "vllm"]) == {}
    assert unmet(["trl==1.16"])["deepspeed"] == ["zero2", "zero3"]


def test_a_pack_is_not_written_over_another(pack: Path) -> None:
    with pytest.raises(UsageError, match="not there yet"):
        make_pack(pack)


def test_the_environment_finds_what_is_installed_beside_it(tmp_path: Path) -> None:
    """Also where this Python is a virtual environment's own, as here."""
    python = make_environment(tmp_path / "venv")
    code = "import sys, pytest, packaging; print(sys.prefix, pytest.__file__)"
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, check=False)
    prefix, found = done.stdout.split()
    assert Path(prefix) == tmp_path / "venv"
    assert Path(found) == Path(pytest.__file__)
    assert Path(sys.prefix) != Path(prefix)
