"""Between trajectories and TRL: all that uses TRL's dict keys and private hooks.

`run` is the mixin of every trainer, `parts` what it keeps in checkpoints, `hooks` checks the
private methods that ours extend. `rows` turns trajectories into rows, `episode_batch` is what an
algorithm is given, `batches` works on TRL's padded tensors, `layout` places their tokens in a pass
and `passes` takes them through the model, `loss` is the loss of a pass, `measures` asks the policy
about turns, `metrics` is what is logged, `critics` trains a critic beside a policy, `sampler`
orders the data, `offline` has the trainers on saved episodes, `rollout` and `rollout_worker` serve
stock trainers.
"""

from trainers.trl_bridge.hooks import check_hooks

# ruff: noqa: E402 - the hooks are checked before what needs them is imported
check_hooks()

from trainers.trl_bridge.batch import EpisodeBatch
from trainers.trl_bridge.offline import (
    ImitationTrainer,
    MaskedPreferenceCollator,
    PreferenceTrainer,
    preference_dataset,
)
from trainers.trl_bridge.rollout import make_rollout_func
from trainers.trl_bridge.rows import IGNORED, Rows, labelled_dataset, rows_of, task_dataset
from trainers.trl_bridge.sampler import EpochOrder

__all__ = [
    "IGNORED",
    "EpisodeBatch",
    "EpochOrder",
    "ImitationTrainer",
    "MaskedPreferenceCollator",
    "PreferenceTrainer",
    "Rows",
    "labelled_dataset",
    "make_rollout_func",
    "preference_dataset",
    "rows_of",
    "task_dataset",
]
