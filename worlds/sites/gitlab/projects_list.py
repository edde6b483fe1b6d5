"""The projects: kind (as in `words` and `sources`), name, description and topics."""

from __future__ import annotations

from worlds.words import read_words

_WORDS = read_words("sites/gitlab/projects_list.toml")

PROJECTS: tuple[tuple[str, str, str, str], ...] = _WORDS["projects"]

OWN: tuple[tuple[str, str], ...] = _WORDS["own"]
"""The agent's own projects and their visibility."""

JOINED: tuple[tuple[str, str], ...] = _WORDS["joined"]
"""The agent's roles in others' projects."""

PRIVATE: tuple[str, ...] = _WORDS["private"]
INTERNAL: tuple[str, ...] = _WORDS["internal"]

FORKED: tuple[tuple[str, str], ...] = _WORDS["forked"]
"""Local editions: forks of a project, named after a town."""

TOPICS = tuple(sorted({topic for row in PROJECTS for topic in row[3].split(", ")}))
