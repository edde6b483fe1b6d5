from __future__ import annotations

import numpy as np
import pytest

from tests.trainers.models.gguf_files import F32, Q4_1, Q8_0, gguf_bytes
from trainers.models.gguf import GGUFFile

HALF = np.float16


def test_metadata_come_back_as_they_were_written() -> None:
    metadata = {"a": "text ⟨é⟩", "b": 7, "c": 0.5, "d": ["x", "y"], "e": [3, 1, 2]}
    assert GGUFFile(gguf_bytes(metadata, {})).metadata == metadata


def test_each_quantization_gives_the_weights_that_a_hand_computes() -> None:
    plain = np.arange(64, dtype=np.float32).reshape(2, 32)
    # Lower four bits are the first 16 weights, upper ones the next 16.
    nibbles = bytes(low | high << 4 for low, high in zip(range(16), range(15, -1, -1), strict=True))
    q4 = HALF(0.5).tobytes() + HALF(-3.0).tobytes() + nibbles
    q8 = HALF(0.25).tobytes() + np.arange(-16, 16, dtype=np.int8).tobytes()
    tensors = {
        "one": (Q4_1, (1, 32), q4),  # 20 bytes, so that what follows must be aligned
        "two": (F32, (2, 32), plain.tobytes()),
        "three": (Q8_0, (32,), q8),
    }
    weights = dict(GGUFFile(gguf_bytes({"name": "x"}, tensors)).tensors())
    levels = np.array([*range(16), *range(15, -1, -1)])
    np.testing.assert_array_equal(weights["one"], (0.5 * levels - 3.0)[None])
    np.testing.assert_array_equal(weights["two"], plain)
    np.testing.assert_array_equal(weights["three"], np.arange(-16, 16) / 4)
    assert {tensor.dtype for tensor in weights.values()} == {np.dtype(np.float32)}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"PK\3\4" + b"\0" * 60, r"begins with b'GGUF', got b'PK"),
        (gguf_bytes({}, {}, version=2), "version 3 is read, got 2"),
        (gguf_bytes({}, {"w": (12, (1, 256), b"")}), "w has shape .256, 1. and quantization 12"),
        (gguf_bytes({}, {"w": (Q4_1, (3, 5), b"")}), "w has shape .5, 3. and quantization 3"),
    ],
)
def test_what_is_not_read_is_refused(content: bytes, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        GGUFFile(content)
