from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    # Every `Trainer.train` begins with a full collection; without this each one walks all of torch.
    gc.collect()
    gc.freeze()
