"""The plan of a run, printed before its first step, and its result at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from transformers import TrainerCallback

from agentgym_envs.core.text import counted
from trainers.models.loading import describe_policy
from trainers.options.arguments import EnvArguments
from trainers.runs.success import final_success
from trainers.tokens.chat import ChatFormat

MEASURES_BEFORE = "--eval_on_start true"
"""The option that measures success before training."""
CHOSEN = "the evaluation that chose these weights, a maximum over noise"
"""The remark beside a best evaluation."""
NOT_BETTER = "no evaluation was better than the start; `agentgym headroom` looks for the reason"
"""The advice where the weights before training are kept."""
Plan = Mapping[str, str]
"""The lines of an announcement, by their labels: `{"policy": "tiny, 1.1M parameters"}`."""


class Announcement(TrainerCallback):  # type: ignore[misc]
    """Prints a run's plan where training begins or goes on. Add it before a progress bar."""

    def __init__(self, title: str, plan: Callable[[], Plan]) -> None:
        self._title = title
        self._plan = plan

    def on_train_begin(self, args: Any, state: Any, control: Any, **_kwargs: Any) -> None:
        """Print the plan."""
        if not state.is_world_process_zero:
            return
        steps = counted(state.max_steps, "optimizer step")
        if state.global_step >= state.max_steps:
            steps = f"all {state.max_steps} optimizer steps are taken"
        elif state.global_step:
            steps = f"optimizer steps {state.global_step + 1} to {state.max_steps}"
        print_plan(f"{self._title}: {steps}, written to {args.output_dir}", self._plan())


def print_plan(title: str, plan: Plan) -> None:
    """Print a plan as a title and one indented line for each entry."""
    entries = {about: text for about, text in plan.items() if text}
    width = max(map(len, entries))
    lines = [f"  {about:<{width}}  {text}" for about, text in entries.items()]
    print("\n".join([title, *lines]), flush=True)


def evaluation_plan(trainer: Any, split: str) -> str:
    """Return when evaluations play which tasks, or an empty string without any."""
    args, validation = trainer.args, trainer.validation
    if args.eval_strategy == "no":
        return ""
    when = "after every epoch"
    if args.eval_strategy == "steps":
        every = int(trainer.state.eval_steps)  # an option below 1 is a share of all steps
        when = f"every {'step' if every == 1 else f'{every} steps'} and at the end"
    when = f"at the start, {when}" if args.eval_on_start else when
    each = "" if validation.samples == 1 else f", {validation.samples} episodes each"
    before = "" if args.eval_on_start else f"; {MEASURES_BEFORE} before the first step too"
    return f"{when} on {counted(len(validation.tasks()), 'task')} of {split}{each}{before}"


def _evaluated(args: EnvArguments) -> str:
    """Return the split of evaluations, and whether it has tasks that are not trained on."""
    return args.eval_split + ", of all subtasks" * bool(args.tasks and not args.eval_tasks)


def rate_plan(args: Any) -> str:
    """Return the learning rate of a training config, and the critic's where it has one."""
    schedule = getattr(args.lr_scheduler_type, "value", args.lr_scheduler_type)
    critic = getattr(args, "critic_learning_rate", None)
    others = "" if critic is None else f", the critic's {critic:g}"
    still = ", so the policy does not change" if args.learning_rate == 0 else ""
    return f"learning rate {args.learning_rate:g}{others} ({schedule}){still}"


def history_plan(tokenizer: Any) -> str:
    """Return the cost of a chat template that changes earlier turns, empty for another one."""
    if not ChatFormat.from_tokenizer(tokenizer).rewrites_history:
        return ""
    return (
        "the chat template changes earlier turns, so turns are rows of their own: an episode of n "
        "turns costs n/2 to n times the tokens of one row"
    )


def print_end(
    title: str, folder: str, *, global_step: int, weights_step: int, best_by: str | None
) -> None:
    """Print the step of a run's final weights, and their success beside that before training.

    `best_by` is the metric that chose the weights;
    None where they are the last ones.
    """
    which = "" if weights_step == global_step else f", the best by {best_by}"
    print_plan(
        f"{title}: ended after step {global_step} with the weights of step {weights_step}{which}",
        success_plan(folder, weights_step, is_chosen=best_by is not None),
    )


def success_plan(folder: str, weights_step: int, *, is_chosen: bool) -> Plan:
    """Return the success of a run's final weights, with the evaluations that it stands beside."""
    success = final_success(folder, weights_step, is_chosen=is_chosen)
    if success is None:
        return {"measured": f"not yet: agentgym eval --env NAME --model {folder}"}
    measured, best, before = success.measured, success.best, success.before
    lost = 0.0
    if before is not None and measured is not None and weights_step:
        lost = before.success - measured.success
    fresh = ", fresh episodes of these weights" * (measured is not None and measured.is_fresh)
    return {
        "measured": "" if measured is None else f"success {measured}{fresh}",
        "plateau": str(success.plateau or ""),
        "best": "" if best is None else f"{best} at step {weights_step}; {CHOSEN}",
        "before training": str(before or f"not measured; {MEASURES_BEFORE} does that"),
        "lost by training": f"{100 * lost:.1f} points of success" if lost > 0 else "",
        "advice": NOT_BETTER if is_chosen and not weights_step else "",
    }


def algorithm_title(trainer: Any) -> str:
    """Return a trainer's algorithm: `"GRPO"` of an `AgentGRPOTrainer`."""
    return type(trainer).__name__.removeprefix("Agent").removesuffix("Trainer")


def online_plan(trainer: Any) -> Plan:
    """Return the plan of a trainer that plays while it learns."""
    args, environments = trainer.args, trainer.task_environments
    _, rollout, _, rewards = trainer.run_options
    split = environments.args.split
    tasks = trainer.train_dataset
    num_tasks = len(tasks) if hasattr(tasks, "__len__") else None
    tasks_shown = environments.plan(split, num_tasks=num_tasks)
    for option, value in (("horizon", rollout.horizon), ("start", rollout.start)):
        if isinstance(value, dict):
            value = ", ".join(f"{name} {one}" for name, one in value.items())
        if value is not None:
            tasks_shown += f", {option} {value}"
    batch = args.generation_batch_size
    steps = args.steps_per_generation * args.num_iterations / args.gradient_accumulation_steps
    per_batch = "a step" if steps == 1 else f"every {steps:g} steps"
    experts = ""
    if args.expert_episodes:
        where = " where it has no success" * (args.expert_episodes_when == "unsolved")
        experts = f", {args.expert_episodes} of each group the expert's{where}"
    return {
        "policy": describe_policy(
            trainer.accelerator.unwrap_model(trainer.model), trainer.accelerator.autocast
        ),
        **trainer.further_plan(),
        "tasks": tasks_shown,
        "reward": rewards.plan(args.reward_weights),
        "history": history_plan(trainer.processing_class),
        "batch": f"{batch} episodes {per_batch}: {counted(batch // args.num_generations, 'task')} "
        f"x {args.num_generations}{experts}; {rate_plan(args)}",
        "measured": evaluation_plan(trainer, _evaluated(environments.args)),
    }


def offline_plan(trainer: Any, trained_on: str) -> Plan:
    """Return the plan of a trainer on saved episodes."""
    args = trainer.args
    per_step = args.per_device_train_batch_size * args.gradient_accumulation_steps * args.world_size
    rows = len(trainer.train_dataset)
    passes = args.max_steps * per_step / rows if args.max_steps > 0 else args.num_train_epochs
    plan = {
        "policy": describe_policy(
            trainer.accelerator.unwrap_model(trainer.model), trainer.accelerator.autocast
        ),
        "history": history_plan(trainer.processing_class),
        "batch": f"{per_step} a step, of {rows} {trainer.row_name} of {trained_on}, "
        f"{passes:.1f} times each; {rate_plan(args)}",
    }
    if args.eval_strategy != "no":
        environments = trainer.task_environments
        names, split = ", ".join(environments.names.values()), _evaluated(environments.args)
        split = split if names == trained_on else f"{names} ({split})"
        plan["measured"] = evaluation_plan(trainer, split)
    return plan
