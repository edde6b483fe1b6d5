"""How a command ends where it cannot do what it was told: a sentence and a status, no traceback.

Knows the errors that are meant for whoever typed the command; no command.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from agentgym_envs import EnvFailure, NoExpert, UnknownTask
from trainers.mistakes import CommandError

REMEDY = 'pip install "agentgym-envs['  # what every missing extra's error says


def run_command(command: Callable[[], int | None]) -> int:
    """Run a command, and tell its mistakes on stderr.

    Returns:
        the exit status: the command's own, 1 where an extra is missing or the machinery broke, 2
        for a mistake on the command line, 130 on Ctrl-C.
    """
    try:
        return int(command() or 0)
    except ImportError as error:
        if REMEDY not in str(error):
            raise
        print(f"agentgym: {error}", file=sys.stderr)
        return 1
    except (CommandError, NoExpert, UnknownTask) as error:
        return refuse(str(error))
    except EnvFailure as error:
        print(f"agentgym: the machinery broke, not the policy: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        return 130


def refuse(message: str) -> int:
    """Tell a mistake on the command line; return the status for it."""
    print(f"agentgym: {message}\nTry: agentgym --help", file=sys.stderr)
    return 2
