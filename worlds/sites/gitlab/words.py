"""Words and sentence patterns for issues, merge requests, commits and comments."""

from __future__ import annotations

from worlds.words import read_words

_WORDS = read_words("sites/gitlab/words.toml")

PARTS: dict[str, tuple[str, ...]] = _WORDS["parts"]
"""Parts of a project, by its kind."""

BUG_TITLES: tuple[str, ...] = _WORDS["bug_titles"]
WISH_TITLES: tuple[str, ...] = _WORDS["wish_titles"]
MERGE_TITLES: tuple[str, ...] = _WORDS["merge_titles"]
COMMIT_MESSAGES: tuple[str, ...] = _WORDS["commit_messages"]
FIRST_LINES: tuple[str, ...] = _WORDS["first_lines"]
MIDDLE_LINES: tuple[str, ...] = _WORDS["middle_lines"]
LAST_LINES: tuple[str, ...] = _WORDS["last_lines"]
COMMENTS: tuple[str, ...] = _WORDS["comments"]
REVIEWS: tuple[str, ...] = _WORDS["reviews"]
LABELS: tuple[tuple[str, ...], ...] = _WORDS["labels"]
MILESTONES: tuple[str, ...] = _WORDS["milestones"]
BIOS: tuple[str, ...] = _WORDS["bios"]
STATUSES: tuple[str, ...] = _WORDS["statuses"]
