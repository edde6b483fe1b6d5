"""Gets FlashRAG's files from the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path

from agentgym_envs.errors import pip_install
from agentgym_envs.searchqa.real_data.parts import FILES

try:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError, LocalEntryNotFoundError
except ImportError as error:
    raise ImportError(
        "data sets of the Hugging Face hub need huggingface_hub; name a local folder, or install "
        f"it: {pip_install('huggingface_hub')}"
    ) from error


def hub_folder(name: str) -> Path:
    """Return the local copy of a data set's question files, and download missing ones.

    Args:
        name: the hub name, such as `"RUC-NLPIR/FlashRAG_datasets"`.

    Raises:
        ValueError: the hub has no such data set, or it cannot be reached and there is no copy.
    """
    try:
        return Path(snapshot_download(name, repo_type="dataset", allow_patterns=list(FILES)))
    except (HfHubHTTPError, HFValidationError, LocalEntryNotFoundError, OSError) as error:
        raise ValueError(
            f"the data set {name!r} is neither a local folder nor one that can be had from the "
            f"Hugging Face hub now ({type(error).__name__}: {error}); download it where there is "
            "a network and name its folder"
        ) from error
