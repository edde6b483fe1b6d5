"""`python -m lab.studies`."""

import sys

from lab.studies.command import main
from trainers.options.errors import run_command

sys.exit(run_command(main))
