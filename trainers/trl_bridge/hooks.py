"""Private methods of TRL's and transformers' trainers that ours extend, checked at import.

Another version may rename one or change its arguments. The check then raises one sentence, in place
of an error during a run, or of none at all.
"""

from __future__ import annotations

import inspect
import warnings
from importlib import import_module, metadata

from agentgym_envs.errors import pip_install
from agentgym_envs.machinery.requirements import own_packages
from trainers.options.errors import UsageError

ANY = "..."
"""Ends a list of parameters that may go on. An extending hook passes all of them on."""

HOOKS: dict[str, dict[str, str]] = {
    "transformers:Trainer": {
        "_clip_grad_norm": "model",
        "_get_output_dir": "trial",
        "_get_train_sampler": "train_dataset",
        "_issue_warnings_after_load": "load_result",
        "_load_best_model": "",
        "_load_from_checkpoint": "resume_from_checkpoint model",
        "_load_optimizer_and_scheduler": "checkpoint",
        "_load_rng_state": "checkpoint",
        "_maybe_log_save_evaluate": ANY,
        "_run_epoch": ANY,
        "_save_checkpoint": "model trial",
        "_save_optimizer_and_scheduler": "output_dir",
        "_save_rng_state": "output_dir",
        "create_optimizer": "model",
        "get_batch_samples": "epoch_iterator num_batches device",
        "evaluate": "eval_dataset ignore_keys metric_key_prefix",
        "training_step": ANY,
    },
    "trl:GRPOTrainer": {
        "_calculate_rewards": "inputs prompts completions completion_ids_list",
        "_compute_loss": "model inputs",
        "_generate_and_score_completions": "inputs",
        "_get_per_token_logps_and_entropies": "model input_ids attention_mask logits_to_keep "
        f"batch_size compute_entropy compute_aux_loss {ANY}",
        "_get_train_sampler": "dataset",
        "_log_metric": "name value",
        "_prepare_inputs": "generation_batch",
        "compute_loss": "model inputs return_outputs num_items_in_batch",
    },
    "trl:DPOTrainer": {
        "_precompute_ref_logps": "dataset name batch_size",
        "_prepare_dataset": f"dataset {ANY}",
    },
    "trl.trainer.dpo_trainer:DataCollatorForPreference": {"torch_call": "examples"},
}
"""By class: the methods that ours extend or call, with their parameters."""


class UnsupportedTRL(UsageError):
    """The installed TRL or transformers is not one that our trainers are written for."""


def check_hooks(hooks: dict[str, dict[str, str]] = HOOKS) -> None:
    """Check that every hook exists and takes the expected arguments.

    Raises:
        UnsupportedTRL: one does not.
    """
    for home, methods in hooks.items():
        module, _, name = home.partition(":")
        try:
            with warnings.catch_warnings():
                # About TRL's own use of vLLM; our backends do not use it.
                warnings.filterwarnings("ignore", message="TRL currently supports vLLM versions")
                owner = getattr(import_module(module), name)
        except (AttributeError, ModuleNotFoundError) as error:
            if isinstance(error, ModuleNotFoundError) and error.name == module.partition(".")[0]:
                raise  # it is not installed at all
            raise _unsupported(f"{home} is missing") from error
        for method, expected in methods.items():
            hook = getattr(owner, method, None)
            if hook is None:
                raise _unsupported(f"{name}.{method} is missing")
            _, *actual = inspect.signature(hook).parameters
            names = expected.removesuffix(ANY).split()
            if actual[: len(names)] != names or (actual != names and not expected.endswith(ANY)):
                raise _unsupported(
                    f"{name}.{method} takes ({', '.join(actual)}), expected "
                    f"({', '.join(expected.split())})"
                )


def _unsupported(problem: str) -> UnsupportedTRL:
    names = ("trl", "transformers")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in names)
    try:
        required = [own.requirement for own in own_packages("train") if own.name in names]
    except metadata.PackageNotFoundError:  # run from its sources
        required = []
    return UnsupportedTRL(
        f"the trainers are not written for {versions}: {problem}; install versions that they are "
        f"written for: {pip_install(' '.join(map(repr, required or ['agentgym-envs[train]'])))}"
    )
