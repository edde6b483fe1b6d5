"""`agentgym sweep`: plays a suite with several policies, turn limits and seeds."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import Any, ClassVar

from agentgym_envs.core.text import counted
from benchmarks.sweep.fingerprints import policy_fingerprint
from benchmarks.sweep.opening import check_playable
from benchmarks.sweep.plan import Cell, grid
from benchmarks.sweep.players import Play, over_processes, over_ray
from benchmarks.sweep.runner import Outcome, play_missing
from benchmarks.sweep.store import SweepFolder
from benchmarks.sweep.suite_files import find_suite, suite_names
from trainers.options.arguments import EpisodeArguments
from trainers.options.environments import EnvConstructionArguments
from trainers.options.errors import BROKEN_OFF, check_folder, refuse
from trainers.options.models import default_dtype
from trainers.options.parser import CommandParser
from trainers.options.policies import (
    PolicyLoadingArguments,
    is_text_policy,
    policy_name,
)
from trainers.options.values import (
    ADDRESS,
    check_bounds,
    check_names,
    option,
    seed_list,
    whole_number,
)
from trainers.runs.provenance import run_record

LEAST_REQUESTS = 4
"""Requests under way at once that are worth a worker, where all policies are behind servers."""


@dataclass
class SweepArguments:
    """The grid, and where it is played."""

    _argument_group_name: ClassVar[str] = "sweep"

    suite: str = option(
        "quick", f"Which tasks: {', '.join(suite_names())}, or a YAML file of your own."
    )
    policy: list[str] = option(
        [],
        "expert, expert:privileged, random, baseline:NAME (a baseline of the environments), tiny, "
        "smollm2, a folder, a Hugging Face id, a name of --policies or the address of an "
        "OpenAI-compatible server; repeat for several. By default all that --policies lists.",
        action="extend",
        aliases=["--model"],
    )
    samples: int = option(1, "Episodes per task and seed.", min=1)
    turns: str = option(
        "default",
        "Turn limits, such as 5,10,20; default is each panel's or environment's own.",
        aliases=["--max_turns"],
    )
    seeds: str = option("0", "Seeds of the sampling, such as 0,1,2.")
    temperature: float = option(1.0, "Temperature; 0 is greedy.", min=0)
    out: str = option("runs/sweep", "The sweep's folder.")
    batch_size: int = option(32, "Episodes a worker plays together.", min=1)
    workers: int = option(
        0,
        "Processes; 0: one per core, one in all on a GPU, or one for each 4 of --max_requests "
        "where only servers are asked.",
        min=0,
    )
    threads: int = option(0, "torch threads of each; 0 shares the cores.", min=0)
    ray: str | None = option(None, "Play on the Ray cluster of this address instead.")
    ray_cpus: float = option(1.0, "Cores of each Ray worker.", above=0)
    ray_gpus: float = option(0.0, "GPUs of each Ray worker.", min=0)

    def __post_init__(self) -> None:
        find_suite(self.suite)
        check_bounds(self)
        check_folder("out", self.out)
        named = list(dict.fromkeys(self.policy))
        self.policy = list(map(policy_name, named))
        if len(set(self.policy)) < len(named):
            raise ValueError(
                f"policies that differ in their secrets only cannot be distinguished in one sweep, "
                f"got {self.policy}; play each with an --out of its own"
            )
        _ = self.turn_limits, self.seed_list

    @property
    def turn_limits(self) -> list[int | None]:
        """`turns`, each once, with None for the environments' own."""
        words = [word.strip() for word in self.turns.split(",")]
        limits = [None if word == "default" else whole_number("turns", word, 1) for word in words]
        return list(dict.fromkeys(limits))

    @property
    def seed_list(self) -> list[int]:
        """`seeds` as numbers, each once."""
        return seed_list(self.seeds)


def sweep(
    arguments: SweepArguments,
    *,
    construction: EnvConstructionArguments | None = None,
    budgets: EpisodeArguments | None = None,
    loading: PolicyLoadingArguments | None = None,
) -> Outcome:
    """Play a sweep's missing batches, and return the outcome.

    Args:
        arguments: the grid, and where it is played.
        construction: options of environments.
        budgets: token budgets and sampling of an episode.
        loading: options of policies.

    Raises:
        ValueError: an option does not fit the folder's sweep, or a policy cannot be opened.
    """
    return play_missing(
        *_prepare(
            arguments,
            construction or EnvConstructionArguments(),
            budgets or EpisodeArguments(),
            loading or PolicyLoadingArguments(),
        )
    )


def _prepare(
    sweep: SweepArguments,
    construction: EnvConstructionArguments,
    budgets: EpisodeArguments,
    loading: PolicyLoadingArguments,
) -> tuple[SweepFolder, list[Cell], Play]:
    """Claim the folder for the requested cells, once all of them can be played."""
    named = loading.named
    sweep.policy = sweep.policy or list(named)
    if not sweep.policy:
        raise ValueError(
            "no policy is named; pass --policy, such as --policy random --policy expert"
        )
    if loading.max_cost is not None and not any(_is_served(p, named) for p in sweep.policy):
        raise ValueError(f"--max_cost needs a policy behind a server, got {sweep.policy}")
    if loading.has_template and not any(_is_loaded(p, named) for p in sweep.policy):
        raise ValueError(
            f"--chat_template and --chat_template_kwargs need a model that is loaded here, got "
            f"{sweep.policy}"
        )
    if construction.env_backend == "ray":
        raise ValueError(
            "a sweep's workers play on a Ray cluster, each with its environments beside it: "
            "pass --ray ADDRESS in place of --env_backend ray"
        )
    folder = SweepFolder(sweep.out)
    env_ids = [panel.env_id for panel in find_suite(sweep.suite).panels]
    for options in (construction, budgets):
        check_names(options, env_ids)
    settings = {**asdict(construction), **asdict(budgets), **asdict(loading)}
    cells = _cells(sweep, settings, loading)
    play = make_player(sweep, named=named, max_requests=loading.max_requests)
    # Before the folder is claimed, or a misspelt policy would stay in every later report.
    check_playable([cell for cell in cells if folder.missing(cell)])
    folder.claim(cells)
    panels = list(dict.fromkeys(cell.scenario for cell in cells))
    folder.note_call({**run_record(command="sweep", seed=0, configs=[sweep]), "panels": panels})
    return folder, cells, play


def main(argv: Sequence[str] | None = None) -> int:
    """Run `agentgym sweep`.

    Returns:
        0 when every episode is there, 1 when batches were given up, 2 where a server refuses every
        request, 75 where machinery stayed broken and the rest was not begun, or `--max_cost` is
        spent.
    """
    parser = CommandParser(
        (SweepArguments, EnvConstructionArguments, EpisodeArguments, PolicyLoadingArguments),
        command="agentgym sweep",
        description="Play a benchmark suite with several policies, turn limits and seeds. Killed "
        "at any moment and called again, it goes on with the batches that are missing.",
        first=("suite", "policy", "turns", "seeds", "out"),
    )
    arguments, *settings = parser.parse(argv)
    try:
        folder, cells, play = _prepare(arguments, *settings)
    except (OSError, ValueError) as error:
        parser.error(str(error))
    try:
        outcome = play_missing(folder, cells, play)
    except KeyboardInterrupt:
        message = (
            f"{arguments.out} keeps the finished batches and all answers of servers; the same "
            "command continues"
        )
        print(message, file=sys.stderr)
        raise
    print(
        f"{counted(outcome.num_played, 'episode')} played, {outcome.failed:,} of them failed; "
        f"{sum(len(cell.tasks) * cell.samples for cell in cells):,} requested in all\n"
        f"the tables: agentgym report {arguments.out}\nthe episodes: agentgym view {arguments.out}"
    )
    if costs := folder.costs.by_payer():
        each = ", ".join(f"{payer} {cost:.4g}" for payer, cost in costs.items() if payer)
        print(f"the requests cost {sum(costs.values()):.4g}" + f": {each}" * bool(each))
    missing = f" with the batches that {arguments.out} lacks"
    for line in outcome.broken:
        print(f"abandoned: {line}", file=sys.stderr)
    if outcome.refused:
        return refuse(f"{outcome.refused}\nThe same command goes on{missing}")
    if outcome.budget_spent:
        print(f"agentgym: {outcome.budget_spent}{missing}", file=sys.stderr)
        return BROKEN_OFF
    if outcome.is_cut_short:
        print(
            "agentgym: the machinery stayed broken, so the rest was not begun. When that is "
            f"mended, the same command goes on{missing}",
            file=sys.stderr,
        )
        return BROKEN_OFF
    return 1 if outcome.broken else 0


def _cells(
    sweep: SweepArguments, settings: dict[str, Any], loading: PolicyLoadingArguments
) -> list[Cell]:
    named = loading.named
    cells = grid(
        find_suite(sweep.suite),
        sweep.policy,
        max_turns=sweep.turn_limits,
        seeds=sweep.seed_list,
        samples=sweep.samples,
        temperature=sweep.temperature,
        batch_size=sweep.batch_size,
        settings=settings,
        fingerprints={
            policy: policy_fingerprint(policy, named, template=loading) for policy in sweep.policy
        },
    )
    if loading.dtype is not None:
        return cells
    dtypes = {
        policy: default_dtype(policy) if _is_loaded(policy, named) else "float32"
        for policy in sweep.policy
    }
    return [cell.with_settings(dtype=dtypes[cell.policy]) for cell in cells]


def make_player(sweep: SweepArguments, *, named: Collection[str], max_requests: int) -> Play:
    """Return the player of the sweep's batches.

    `named` are policies behind servers, whose `max_requests` at once the workers share.
    """
    if sweep.ray is not None:
        return over_ray(sweep.ray, sweep.ray_cpus, sweep.ray_gpus)
    local = [policy for policy in sweep.policy if not _is_served(policy, named)]
    workers = cores = os.cpu_count() or 1
    if _uses_gpu(local):
        workers = 1
    elif not local:  # they wait, mostly
        workers = min(cores, max(1, max_requests // LEAST_REQUESTS))
    workers = sweep.workers or workers
    return over_processes(workers, sweep.threads or max(1, cores // workers))


def _is_served(policy: str, named: Collection[str]) -> bool:
    return policy in named or policy.startswith(ADDRESS)


def _is_loaded(policy: str, named: Collection[str]) -> bool:
    return not is_text_policy(policy) and not _is_served(policy, named)


def _uses_gpu(policies: Sequence[str]) -> bool:
    models = [policy for policy in policies if not is_text_policy(policy)]
    if not models or find_spec("torch") is None:
        return False
    import torch

    return torch.cuda.is_available()
