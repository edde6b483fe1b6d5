"""Writes that wait for a disk which is full or out of reach."""

from __future__ import annotations

from collections.abc import Callable

from agentgym_envs.content.files import StorageFailure, is_storage_failure
from wrappers.failures import retry

try:
    from safetensors import SafetensorError
except ImportError:  # without the train extra, where nothing raises it

    class SafetensorError(Exception):  # type: ignore[no-redef]
        """Stands for the one of safetensors."""


_TORCH_WRITES = ("PytorchStreamWriter", "inline_container", "iostream")
"""Words of the errors that torch raises where a disk takes no more."""


def write_patiently(what: str, work: Callable[[], None], *, limit: float) -> None:
    """Write something, again and again where a disk is full or out of reach.

    Args:
        what: is written.
        work: writes; what it has written when it fails is written again.
        limit: seconds that the disk is waited for.

    Raises:
        StorageFailure: the time is over.
    """

    def write() -> None:
        try:
            work()
        except (OSError, SafetensorError, RuntimeError) as error:
            if not _is_storage_failure(error):
                raise
            raise StorageFailure(f"{what} cannot be written: {error}") from error

    retry(write, max_seconds=limit, failures=(StorageFailure,))


def _is_storage_failure(error: Exception) -> bool:
    if isinstance(error, SafetensorError):
        return "os error" in str(error)
    if isinstance(error, OSError):
        return is_storage_failure(error)
    return any(word in str(error) for word in _TORCH_WRITES)
