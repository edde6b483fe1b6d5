"""The table of private hooks is whole, and holds of the installed TRL; a change is one sentence."""

from __future__ import annotations

import inspect
from collections import Counter

import pytest
from trl.trainer.dpo_trainer import DataCollatorForPreference

from trainers.agentevol import AgentEvolConfig  # noqa: F401 - imports every trainer
from trainers.dpo import AgentDPOTrainer
from trainers.grpo import AgentGRPOTrainer
from trainers.ppo import AgentPPOTrainer
from trainers.reinforce_pp import AgentReinforcePPTrainer
from trainers.rloo import AgentRLOOTrainer
from trainers.sft import AgentSFTTrainer
from trainers.trl_bridge import MaskedPreferenceCollator
from trainers.trl_bridge.hooks import ANY, HOOKS, UnsupportedTRL, check_hooks

THEIRS = ("trl.", "transformers.")
OURS = (
    AgentGRPOTrainer,
    AgentPPOTrainer,
    AgentSFTTrainer,
    AgentDPOTrainer,
    MaskedPreferenceCollator,
)
PUBLIC = {"train", "save_model", "create_model_card"}


def overridden(kind: type) -> set[str]:
    """Return the methods of TRL's and transformers' classes that a class of ours overrides."""
    mro = kind.__mro__
    ours = {name for base in mro if not base.__module__.startswith(THEIRS) for name in vars(base)}
    theirs = {
        name
        for base in mro
        if base.__module__.startswith(THEIRS)
        for name, value in vars(base).items()
        if inspect.isfunction(value)
    }
    return {name for name in ours & theirs if not name.startswith("__")} - PUBLIC


@pytest.mark.parametrize("kind", OURS, ids=lambda kind: kind.__name__)
def test_every_method_that_a_trainer_overrides_is_in_the_table(kind: type) -> None:
    listed = {name for hooks in HOOKS.values() for name in hooks}
    assert overridden(kind) - listed == set()


@pytest.mark.parametrize(
    ("kind", "most"),
    [(kind, 3) for kind in (AgentGRPOTrainer, AgentRLOOTrainer, AgentReinforcePPTrainer)]
    + [(AgentSFTTrainer, 3), (AgentDPOTrainer, 3), (AgentPPOTrainer, 4)],
)
def test_a_trainer_is_few_classes_and_each_hook_is_overridden_once(kind: type, most: int) -> None:
    ours = [base for base in kind.__mro__ if base.__module__.startswith("trainers.")]
    assert len(ours) <= most
    counts = Counter(name for base in ours for name in overridden(kind) & set(vars(base)))
    assert {name for name, count in counts.items() if count > 1} == set()
    assert len(counts) <= 24


def test_the_table_holds_of_the_installed_versions() -> None:
    check_hooks()


COLLATOR = "trl.trainer.dpo_trainer:DataCollatorForPreference"


@pytest.mark.parametrize(
    ("hooks", "told"),
    [
        ({COLLATOR: {"torch_cull": ""}}, "DataCollatorForPreference.torch_cull is missing"),
        ({COLLATOR: {"torch_call": "rows"}}, r"torch_call takes \(examples\), expected \(rows\)"),
        ({COLLATOR: {"torch_call": ""}}, r"takes \(examples\), expected \(\)"),
        ({COLLATOR: {"torch_call": f"rows {ANY}"}}, r"expected \(rows, \.\.\.\)"),
        ({"trl.trainer.nowhere:Nothing": {}}, "trl.trainer.nowhere:Nothing is missing"),
        ({"trl:GRPOTrainor": {}}, "trl:GRPOTrainor is missing"),
    ],
)
def test_a_changed_hook_is_named_with_the_versions_that_are_allowed(
    hooks: dict[str, dict[str, str]], told: str
) -> None:
    with pytest.raises(UnsupportedTRL, match=f"{told}; install versions .*pip install"):
        check_hooks(hooks)


def test_a_hook_may_go_on_where_it_is_passed_on() -> None:
    check_hooks({COLLATOR: {"torch_call": ANY}})
    assert inspect.signature(DataCollatorForPreference.torch_call).parameters


def test_a_library_that_is_not_installed_is_another_matter() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        check_hooks({"no_such_library:Trainer": {}})
