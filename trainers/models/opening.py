"""Says which policy it is that cannot be opened, and why."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from trainers.options.errors import CommandError
from trainers.runs.folder import explain_missing_model


@contextmanager
def opening(policy: str, *, names: Sequence[str], otherwise: str) -> Iterator[None]:
    """Turn what transformers and the servers' clients raise into a sentence.

    Args:
        policy: what was named.
        names: words that are allowed in its place.
        otherwise: what is allowed, told where `policy` is none of them misspelt.

    Raises:
        CommandError: it cannot be opened.
    """
    try:
        yield
    except CommandError:
        raise
    except (OSError, ValueError) as error:
        missing = explain_missing_model(policy)
        if missing is not None:
            raise CommandError(missing) from error
        from trainers.options.files import did_you_mean  # it needs the train extra, as models do

        hint = did_you_mean(policy, tuple(names), otherwise=f"allowed: {otherwise}")
        message = " ".join(str(error).split())
        raise CommandError(f"cannot open the policy {policy!r}{hint} ({message})") from error
