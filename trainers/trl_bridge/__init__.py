"""Between trajectories and TRL: all that uses TRL's dict keys and private hooks.

`run` is the mixin of every trainer, `parts` its state in checkpoints, and `hooks` checks the
private methods that ours extend. `batch` turns trajectories into TRL's rows and tensors and holds
an algorithm's episodes, `layout` places their tokens in a pass, `passes` takes them through the
model, `loss` is the loss of a pass and the policy's measures of turns, `metrics` is logged,
`critics` trains a critic beside a policy, `sampler` orders the data, `offline` trains on saved
episodes, `rollout` and `rollout_worker` serve stock trainers.
"""

from trainers.trl_bridge.hooks import check_hooks

# ruff: noqa: E402 - the hooks are checked before what needs them is imported
check_hooks()

from trainers.trl_bridge.batch import (
    IGNORED,
    EpisodeBatch,
    Rows,
    labelled_dataset,
    make_rows,
    task_dataset,
)
from trainers.trl_bridge.offline import (
    MaskedPreferenceCollator,
    PreferenceTrainer,
    saved_order,
)
from trainers.trl_bridge.rollout import make_rollout_func
from trainers.trl_bridge.sampler import EpochOrder

__all__ = [
    "IGNORED",
    "EpisodeBatch",
    "EpochOrder",
    "MaskedPreferenceCollator",
    "PreferenceTrainer",
    "Rows",
    "labelled_dataset",
    "make_rollout_func",
    "make_rows",
    "saved_order",
    "task_dataset",
]
