"""`python -m benchmarks` is the `agentgym` command."""

import sys

from benchmarks.cli import main

sys.exit(main())
