"""Between trajectories and TRL: all that uses TRL's dict keys and private hooks.

`rows` turns trajectories into rows, `batches` works on TRL's padded tensors, `layout` places their
tokens in a pass and `passes` takes them through the model, `episodes`, `epoch_order` and
`preference` subclass its trainers, `ahead` plays ahead of the update, `critics` trains a critic
beside a policy, `observations` adds a loss on what environments said, `measures` asks the policy
about turns, `reuse` keeps batches in checkpoints, `rollout` and `rollout_worker` serve stock
trainers. `hooks` says which private methods they need, and checks that they are there.
"""

from trainers.trl_bridge.hooks import check_hooks

# ruff: noqa: E402 - the hooks are checked before what needs them is imported
check_hooks()

from trainers.trl_bridge.episode_batch import EpisodeBatch
from trainers.trl_bridge.episodes import EpisodeTrainer
from trainers.trl_bridge.epoch_order import EpochOrder, ImitationTrainer
from trainers.trl_bridge.preference import (
    MaskedPreferenceCollator,
    PreferenceTrainer,
    preference_dataset,
)
from trainers.trl_bridge.rollout import make_rollout_func, sampling_mode
from trainers.trl_bridge.rows import IGNORED, Rows, labelled_dataset, rows_of, task_dataset

__all__ = [
    "IGNORED",
    "EpisodeBatch",
    "EpisodeTrainer",
    "EpochOrder",
    "ImitationTrainer",
    "MaskedPreferenceCollator",
    "PreferenceTrainer",
    "Rows",
    "labelled_dataset",
    "make_rollout_func",
    "preference_dataset",
    "rows_of",
    "sampling_mode",
    "task_dataset",
]
