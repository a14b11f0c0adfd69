# SPDX-License-Identifier: Apache-2.0
"""Results that the program has written to a folder."""

import builtins
import json
import os
from pathlib import Path

from ._error import Error
from ._motion import read
from ._result import Result


def open(path):
    """The results in a folder that `saltus ... --out` has written, or in a trajectory.h5: a Motion, or a Result."""
    path = Path(os.fspath(path))
    if path.suffix == ".h5":
        return read(path)
    if not path.is_dir():
        raise Error("is not a folder of results", str(path), 0, 0, "write one with `saltus simulate MODEL --out DIR`")
    motion = path / "trajectory.h5"
    if motion.exists():
        return read(motion)
    documents = [name for name in sorted(path.glob("*.json")) if name.name != "contents.json"]
    if not documents:
        raise Error("holds no results", str(path), 0, 0, "write some with --out")
    with builtins.open(documents[0], encoding="utf-8") as file:
        return Result(json.load(file))
