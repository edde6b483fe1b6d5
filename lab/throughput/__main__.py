"""`python -m lab.throughput`."""

import sys

from lab.throughput.command import main
from trainers.options.errors import run_command

sys.exit(run_command(main))
