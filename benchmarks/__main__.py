"""`python -m benchmarks` is the `agentgym` command."""

import sys

from benchmarks.cli.main import main

sys.exit(main())
