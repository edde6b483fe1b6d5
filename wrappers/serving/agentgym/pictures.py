"""Writes pictures as PNG in a data URL, as AgentGym's viewer reads them."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray


def data_url(pixels: NDArray[Any]) -> str:
    """Return a picture as text.

    Args:
        pixels: (H, W, 3) uint8, red, green and blue.
    """
    height, width, _ = pixels.shape
    eight_bits, colours = 8, 2
    header = struct.pack(">IIBBBBB", width, height, eight_bits, colours, 0, 0, 0)
    no_filter = np.zeros((height, 1), np.uint8)
    rows = np.hstack([no_filter, pixels.astype(np.uint8).reshape(height, width * 3)])
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes())), (b"IEND", b"")
    png = b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)
    return f"data:image/png;base64,{b64encode(png).decode()}"


def _chunk(kind: bytes, data: bytes) -> bytes:
    checksum = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum)
