"""Chromium's window as an array of pixels, for `render`."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pygame

from agentgym_envs.browsing import Browser
from agentgym_envs.browsing.chromium.browser import ChromiumBrowser


def window_pixels(browser: Browser) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Return a picture of the window: (height, width, 3) uint8."""
    assert isinstance(browser, ChromiumBrowser)
    surface = pygame.image.load(io.BytesIO(browser.screenshot()), "window.png")
    pixels = pygame.surfarray.array3d(surface)  # (width, height, 3)
    return np.ascontiguousarray(pixels.swapaxes(0, 1))
