"""Names short enough for a table and a legend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence


def short_names(paths: Sequence[str], *, least: int = 1) -> dict[str, str]:
    """Name each path by the fewest of its last parts that no other path ends with.

    Paths that differ in their slashes alone keep them: they are their own names.

    Args:
        paths: folders, addresses or plain names; parts stand between slashes.
        least: parts that a name has at least, where its path has as many; 2 keeps `org/model`
            whole.

    Returns:
        the name of each path; different paths have different names.
    """
    known = list(dict.fromkeys(paths))
    parts = {path: [part for part in path.split("/") if part] for path in known}
    endings = Counter(
        tuple(names[-count:]) for names in parts.values() for count in range(1, len(names) + 1)
    )
    return {path: _name(path, parts[path], endings, least) for path in known}


def _name(path: str, parts: Sequence[str], endings: Counter[tuple[str, ...]], least: int) -> str:
    for count in range(max(1, min(least, len(parts))), len(parts) + 1):
        if endings[tuple(parts[-count:])] == 1:
            return "/".join(parts[-count:])
    return path
