# SPDX-License-Identifier: Apache-2.0
"""Results that the program has written to a folder."""

import builtins
import json
import os
from pathlib import Path

from ._error import Error
from ._model import Basin, Sensitivity, Study
from ._motion import read
from ._program import done, failed, interrupted
from ._result import Result


class _Report:
    """The words of a command line that makes the page of stored results; a value, so that results can be pickled."""

    def __init__(self, path):
        self._path = str(Path(path).resolve())

    def __call__(self, folder):
        return ["report", self._path, "--output", str(Path(folder) / "report.html")]


def open(path):
    """The results in a folder that `saltus ... --out` has written, or in a trajectory.h5: a Motion, a Sensitivity, a Basin,
    a Study or another Result. Forces and gaps of a motion need the file model.toml beside it, which --out writes."""
    path = Path(os.fspath(path))
    if path.suffix == ".h5":
        return _shown(read(path), path)
    if not path.is_dir():
        raise Error("is not a folder of results", str(path), 0, 0, "write one with `saltus simulate MODEL --out DIR`")
    motion = path / "trajectory.h5"
    if motion.exists():
        return _shown(read(motion), path)
    documents = [name for name in sorted(path.glob("*.json")) if name.name != "contents.json"]
    if not documents:
        raise Error("holds no results", str(path), 0, 0, "write some with --out")
    with builtins.open(documents[0], encoding="utf-8") as file:
        try:
            document = json.load(file)
        except ValueError as e:
            raise Error(f"is not JSON: {e}", str(documents[0])) from None
    kind, code = documents[0].stem, _exit_code(documents[0].stem, document)
    if kind == "sensitivity" and "final" in document:
        return Sensitivity(document, code, _Report(path))
    if kind == "basin" and (path / "basin.csv").exists():
        return Basin(document, code, _Report(path), path / "basin.csv")
    if kind == "study" and (path / "study.csv").exists():
        return Study(document, code, _Report(path), path / "study.csv")
    return Result(document, code, _Report(path))


def _exit_code(command, document):
    """The exit code with which the program has ended, by the status in its document."""
    status = document.get("status") if isinstance(document, dict) else None
    if status == "interrupted":
        return interrupted
    successes = {"orbit": ("converged",), "continue": ("completed",)}.get(command)
    return failed if successes and status not in successes else done


def _shown(motion, path):
    """The motion, with the page of its files."""
    motion._command = _Report(path)
    return motion
