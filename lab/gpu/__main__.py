"""`python -m lab.gpu`, whose `--unpack` needs Python alone."""

from __future__ import annotations

import sys


def main() -> int:
    """Unpack a pack, or run the command. Unpacking needs Python alone."""
    if "--unpack" in sys.argv[1:]:
        from lab.gpu.unpack import main as unpack

        return unpack([word for word in sys.argv[1:] if word != "--unpack"])
    from lab.gpu.command import main as command
    from trainers.options.errors import run_command

    return run_command(command)


if __name__ == "__main__":
    sys.exit(main())
