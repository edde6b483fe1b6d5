"""Several text environments side by side: in this thread, in threads or in worker processes."""

from wrappers.vector.env import TextVectorEnv

__all__ = ["TextVectorEnv"]
