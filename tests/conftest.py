from __future__ import annotations

from hypothesis import settings

# The same examples in every run, on slow machines too.
settings.register_profile("suite", deadline=None, derandomize=True, database=None)
settings.load_profile("suite")
