"""Writes files of rows as users bring them."""

from __future__ import annotations

import gzip
import json
from codecs import BOM_UTF8
from pathlib import Path
from typing import Any

import pytest


def write_rows(path: Path, *rows: Any) -> Path:
    """Write rows by the file's ending; texts begin with a byte-order mark."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(row) + "\n" for row in rows).encode()
    if path.suffix == ".json":
        text = json.dumps(rows).encode()
    if path.suffix == ".parquet":
        parquet = pytest.importorskip("pyarrow.parquet", reason="the train extra is missing")
        import pyarrow

        parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    elif path.suffix == ".gz":
        path.write_bytes(gzip.compress(text))
    else:
        path.write_bytes(BOM_UTF8 + text)
    return path
