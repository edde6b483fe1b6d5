from __future__ import annotations

import pytest

from trainers.options.arguments import EpisodeArguments


@pytest.mark.parametrize("share", [-0.1, 1.1, 20, float("nan")])
def test_a_share_is_in_0_to_1(share: float) -> None:
    with pytest.raises(ValueError, match=r"max_failed_share must be in 0\.\.1, got"):
        EpisodeArguments(max_failed_share=share)
    assert EpisodeArguments(max_failed_share=1.0).max_failed_share == 1.0
