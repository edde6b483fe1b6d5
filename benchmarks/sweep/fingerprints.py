"""Fingerprints of policies' files: a folder may hold another policy later."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from trainers.options.models import BASE, TemplateArguments
from trainers.options.policies import Endpoint, is_text_policy
from trainers.options.values import ADDRESS

_FILES = (
    "*config.json",
    "*.safetensors",
    "*.index.json",
    "pytorch_model*",
    "adapter_model*",
    "tokenizer*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab*",
    "merges.txt",
    "*.model",
    "chat_template*",
    "*.py",
    f"{BASE}/*.safetensors",
)
"""Patterns of the files that transformers reads of a folder.

A run's own also holds metrics, plots and episodes, which change without the policy.
"""

READ_WHOLE = 64 * 2**20
"""Bytes of the largest file that is read whole."""

SAMPLE, STRIDE = 4 * 2**10, 2**20
"""Bytes read of a larger file, per interval of bytes.

To read 15 GB whole would cost every call a minute. The ends alone would not do: a LoRA merged into
its base may leave the first and the last tensor as they were. Times of change would not either: a
copy has others.
"""


def policy_fingerprint(
    policy: str,
    named: Mapping[str, Endpoint] | None = None,
    *,
    template: TemplateArguments | None = None,
) -> str:
    """Return a digest of a policy: of the files that it is loaded from, or of its endpoint.

    It is empty for expert, random policy and baselines, which have no files, and for addresses and
    Hugging Face ids. `named` are the policies of `--policies`, `template` a model's chat template.

    Raises:
        OSError: a file cannot be read.
    """
    if is_text_policy(policy) or policy.startswith(ADDRESS):
        return ""
    if named and policy in named:
        return hashlib.sha256(named[policy].identity.encode()).hexdigest()[:16]
    folder = _folder(policy)
    has_template = template is not None and template.has_template
    if not folder.is_dir() and not has_template:
        return ""
    paths = {path for pattern in _FILES for path in folder.glob(pattern) if path.is_file()}
    digest = hashlib.sha256()
    for path in sorted(paths):
        digest.update(f"{path.name}\t{path.stat().st_size}\n".encode())
        _take_in(digest, path)
    if template is not None and has_template:
        kwargs = json.dumps(template.chat_template_kwargs, sort_keys=True)
        digest.update(f"chat_template_kwargs\t{kwargs}\n".encode())
        if template.chat_template is not None:
            _take_in(digest, Path(template.chat_template))
    return digest.hexdigest()[:16]


def _folder(policy: str) -> Path:
    # Imported here: it brings torch, which the policies without files do not wait for.
    from trainers.models.loading import resolve_model

    return Path(resolve_model(policy))


def _take_in(digest: hashlib._Hash, path: Path) -> None:
    size = path.stat().st_size
    sample, stride = (size, max(size, 1)) if size <= READ_WHOLE else (SAMPLE, STRIDE)
    with path.open("rb", buffering=0) as file:
        for start in range(0, size, stride):
            file.seek(start)
            digest.update(file.read(sample))
