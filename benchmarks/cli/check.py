"""`agentgym check`: runs the conformance suite on an environment, check by check."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from agentgym_envs import resolve_env_id
from agentgym_envs.checking import ConformanceError, conformance_checks
from trainers.options.parser import OptionParser
from trainers.options.values import read_object


def main(argv: Sequence[str] | None = None) -> int:
    """Run every check and print how each went.

    Returns:
        0 where all passed, else 1.
    """
    parser = OptionParser(
        prog="agentgym check",
        description="Check that a text environment keeps the contract of this package and of "
        "Gymnasium: splits, formats, info, determinism, turn limits, the expert. Ends with status "
        "1 where it does not.",
        epilog="example: agentgym check tidy_up:mylab/TidyUp-v0",
    )
    parser.add_argument("env", help="an id, a short name, or module:id")
    parser.add_argument("--num-tasks", type=int, default=3, help="tasks of each split (default: 3)")
    parser.add_argument(
        "--imperfect-expert",
        action="store_true",
        help="let pass that the expert does not solve a task",
    )
    parser.add_argument("--env-kwargs", help="further arguments of the environment, as JSON")
    options = parser.parse_args(argv)
    try:
        env_id = resolve_env_id(options.env)
        checks = conformance_checks(
            env_id,
            num_tasks=options.num_tasks,
            expert_solves=not options.imperfect_expert,
            **read_object("env_kwargs", options.env_kwargs),
        )
    except ValueError as error:
        parser.error(str(error))
    print(env_id)
    passed = 0
    failed: dict[str, str] = {}  # the first check with each reason
    num_failed = 0
    for check in checks:
        try:
            check.run()
        except ConformanceError as error:
            num_failed += 1
            first = failed.setdefault(error.reason, check.name)
            if first != check.name:
                print(f"  FAILED  {check.name}: as above under {first!r}", flush=True)
                continue
            print(f"  FAILED  {check.name}")
            remedy = check.remedy if error.remedy is None else error.remedy
            lines = f"{error}\nremedy: {remedy}" if remedy else str(error)
            print(textwrap.indent(lines, " " * 10), flush=True)
        else:
            passed += 1
            print(f"  passed  {check.name}", flush=True)
    print(f"{passed} passed, {num_failed} failed")
    return 1 if num_failed else 0
