"""Lists MiniWoB's tasks: the page and seed that a number means, and the split that holds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agentgym_envs.core.tasks import TaskSet

NAMES = tuple(
    """
    ascending-numbers bisect-angle book-flight book-flight-nodelay buy-ticket choose-date
    choose-date-easy choose-date-medium choose-date-nodelay choose-list circle-center click-button
    click-button-sequence click-checkboxes click-checkboxes-large click-checkboxes-soft
    click-checkboxes-transfer click-collapsible click-collapsible-2 click-collapsible-2-nodelay
    click-collapsible-nodelay click-color click-dialog click-dialog-2 click-link click-menu
    click-menu-2 click-option click-pie click-pie-nodelay click-scroll-list click-shades click-shape
    click-tab click-tab-2 click-tab-2-easy click-tab-2-hard click-tab-2-medium click-test
    click-test-2 click-test-transfer click-widget copy-paste copy-paste-2 count-shape count-sides
    daily-calendar drag-box drag-circle drag-cube drag-items drag-items-grid drag-shapes
    drag-shapes-2 drag-single-shape drag-sort-numbers draw-circle draw-line email-inbox
    email-inbox-delete email-inbox-forward email-inbox-forward-nl email-inbox-forward-nl-turk
    email-inbox-important email-inbox-nl-turk email-inbox-noscroll email-inbox-reply
    email-inbox-star-reply enter-date enter-password enter-text enter-text-2 enter-text-dynamic
    enter-time find-greatest find-midpoint find-word focus-text focus-text-2 form-sequence
    form-sequence-2 form-sequence-3 generate-number grid-coordinate guess-number highlight-text
    highlight-text-2 hot-cold identify-shape login-user login-user-popup multi-layouts
    multi-orderings navigate-tree number-checkboxes odd-or-even order-food phone-book read-table
    read-table-2 resize-textarea right-angle scroll-text scroll-text-2 search-engine sign-agreement
    simple-algebra simple-arithmetic social-media social-media-all social-media-some stock-market
    terminal text-editor text-transform tic-tac-toe unicode-test use-autocomplete
    use-autocomplete-nodelay use-colorwheel use-colorwheel-2 use-slider use-slider-2 use-spinner
    visual-addition
    """.split()
)
"""The tasks that the package registers, by name; a task's place in here is part of its ids."""

SEEDS = 1_000_000
"""Seeds of a task: its ids are its place times this, plus the seed."""

SPLIT_SEEDS: Mapping[str, range] = {
    "train": range(80),
    "validation": range(80, 85),
    "test": range(85, 90),
}
"""The seeds of every task in a split; a task's other seeds can be played too."""

HELD_OUT = (
    "buy-ticket", "choose-list", "click-collapsible", "click-collapsible-2",
    "click-collapsible-2-nodelay", "click-collapsible-nodelay", "click-menu", "click-menu-2",
    "copy-paste", "copy-paste-2", "email-inbox", "email-inbox-delete", "email-inbox-forward",
    "email-inbox-forward-nl", "email-inbox-forward-nl-turk", "email-inbox-important",
    "email-inbox-nl-turk", "email-inbox-noscroll", "email-inbox-reply", "email-inbox-star-reply",
    "find-word", "login-user", "login-user-popup", "odd-or-even", "search-engine",
)  # fmt: skip
"""The tasks of the panel `holdout`, whole families each; the panel `others` has the rest."""

BY_CLOSENESS = frozenset(
    """
    bisect-angle circle-center draw-circle find-midpoint right-angle use-colorwheel use-colorwheel-2
    """.split()
)
"""The tasks whose raw reward says how close an answer is, and is 1 for hardly any.

`draw-line` is none of them: a straight line through the dot gives 1, and one beside it up to 0.95.
"""

UNLISTED = "unlisted"


class MiniWoBTasks(TaskSet):
    """Every page with every seed."""

    env_name = "miniwob"
    splits = tuple(SPLIT_SEEDS)
    panels = {"others": "train", "holdout": "test"}

    def numbers(self, split: str) -> Sequence[int]:
        """List the numbers of a split or panel: task by task, the seeds in order."""
        seeds = SPLIT_SEEDS[self.panels.get(split, split)]
        return [
            place * SEEDS + seed
            for place, name in enumerate(NAMES)
            if split not in self.panels or (name in HELD_OUT) == (split == "holdout")
            for seed in seeds
        ]

    def describe(self, number: int) -> tuple[str, str]:
        """Return a number's task and split, or `"unlisted"` for a seed of no split."""
        place, seed = divmod(number, SEEDS)
        if not 0 <= place < len(NAMES):
            raise ValueError(
                f"unknown task_id '{self.env_name}_{number}'; there are '{self.env_name}_0' to "
                f"'{self.env_name}_{len(NAMES) * SEEDS - 1}': a task's place in {len(NAMES)} tasks "
                f"times {SEEDS}, plus a seed; env.unwrapped.task_ids(split) lists the splits"
            )
        split = next((name for name, seeds in SPLIT_SEEDS.items() if seed in seeds), UNLISTED)
        return NAMES[place], split


def success_threshold(name: str) -> float:
    """Return the least raw reward of a task that is done."""
    return 0.9 if name in BY_CLOSENESS else 1.0


def seed_of(number: int) -> int:
    """Return the seed of a task number."""
    return number % SEEDS
