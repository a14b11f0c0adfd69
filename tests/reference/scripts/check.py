#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes values of ../additional.json again and compares them with the file.

    check.py [--write] [NAME...]      NAME: contensou (a second), ode_problems (a minute); without any: all

Exit code 0: they agree, 1: they differ, 77: mpmath is not installed. With --write the values replace those of the file.
"""

import json
import pathlib
import sys

try:
    import mpmath
except ImportError:
    print("mpmath is not installed")
    sys.exit(77)

import contensou
import ode_problems

PROGRAMS = {"contensou": contensou, "ode_problems": ode_problems}
FILE = pathlib.Path(__file__).resolve().parent.parent / "additional.json"
ACCURACY = mpmath.mpf("1e-17")  # relative; the tests compare doubles


def differences(new, stored, path=""):
    if isinstance(new, dict):
        for name in sorted(set(new) | set(stored)):
            if name not in new or name not in stored:
                yield f"{path}/{name} is in one of them only"
            elif name not in ("how_obtained", "source", "return_error"):  # texts, and an error of rounding
                yield from differences(new[name], stored[name], f"{path}/{name}")
    elif isinstance(new, list):
        if len(new) != len(stored):
            yield f"{path} has {len(new)} instead of {len(stored)} elements"
        for i, (a, b) in enumerate(zip(new, stored)):
            yield from differences(a, b, f"{path}[{i}]")
    elif new != stored:
        try:
            a, b = mpmath.mpf(new), mpmath.mpf(stored)
        except (TypeError, ValueError):
            yield f"{path}: {new!r} instead of {stored!r}"
            return
        if abs(a - b) > ACCURACY * abs(a):
            yield f"{path}: {new} instead of {stored}"


names = [name for name in sys.argv[1:] if name != "--write"] or list(PROGRAMS)
values = {name: entry for program in names for name, entry in PROGRAMS[program].entries().items()}
stored = json.loads(FILE.read_text()) if FILE.exists() else {}
if "--write" in sys.argv:
    FILE.write_text(json.dumps({**stored, **values}, indent=2) + "\n")
else:
    found = [d for name in values for d in differences(values[name], stored.get(name, {}), name)]
    print("\n".join(found) if found else f"{FILE.name}: {len(values)} entries agree")
    sys.exit(1 if found else 0)
