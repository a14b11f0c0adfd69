#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whatever the parameters of a model are, what Saltus calls proved or complete has a certificate that the checker accepts.

    test_parameters.py SALTUS [COUNT [SEED]]       COUNT: number of runs, 40 if it is not given

Parameters of shipped models and of small_models.py are multiplied by random factors (mostly near to 1, some of them up to a
million), or get the values 0, 1/2, 1 and -1, as numbers or as expressions. A model that is refused, or a verdict that is not
proved, is no failure. At least a tenth of the runs must prove something.
"""
import glob
import os
import random
import sys
import tempfile
import tomllib

import small_models
from support import ROOT
from test_shipped import PROVED, answer_of_checker, examined


# Runs that once were called proved and had a certificate that the checker refused. They come before the random ones.
REFUSED_BEFORE = [("certify --theorem instability", "rocking-block", ["--set", "m=0.5"])]


def settings(rng, parameters):
    """Random values of some or all parameters, as words of a command line."""
    words, few = [], rng.random() < 0.3
    for name, value in parameters.items():
        if few and rng.random() > 1.5 / len(parameters):
            continue
        size = rng.choice([0.05, 0.1, 0.1, 0.3, 0.3, 1, 3, 6])
        value = value * 10 ** rng.uniform(-size, size) if value else rng.choice([0, 0, rng.uniform(-1, 1), 10 ** rng.uniform(-3, 1)])
        value = rng.choice([-value] + [0, 0.5, 1, -1]) if rng.random() < 0.06 else value
        text = repr(value) if rng.random() < 0.5 else "%.3g" % value
        text = "sqrt(2)*%s/sqrt(2)" % text if rng.random() < 0.1 and value > 0 else text
        words += ["--set", "%s=%s" % (name, text)]
    return words


def main(saltus, count=40, seed=1):
    rng, proved, failures, slowest = random.Random(seed), 0, 0, 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, text in small_models.TEXTS.items():
            with open(os.path.join(folder, name + ".toml"), "w", encoding="utf-8") as f:
                f.write(text)
        choices = [(command, os.path.join(ROOT, "models", name + ".toml")) for command, names in PROVED.items() for name in names.split()]
        choices += [(command, path) for path in glob.glob(os.path.join(folder, "*.toml")) for command in ("certify", "equilibria")]
        choices.sort()
        path = os.path.join(folder, "certificate.json")
        runs = [(command, os.path.join(ROOT, "models", name + ".toml"), words) for command, name, words in REFUSED_BEFORE]
        for command, model, words in runs:
            claimed, _ = examined(saltus, command, model, path, words)
            code, line, _ = answer_of_checker(path, model) if os.path.exists(path) else (1, "no certificate", 0.0)
            if claimed != (code == 0):
                print(command, model, *words, "proved" if claimed else "not proved", line, flush=True)
                failures += 1
        for _ in range(count):
            command, model = rng.choice(choices)
            with open(model, "rb") as f:
                parameters = {k: v for k, v in tomllib.load(f).get("parameters", {}).items() if isinstance(v, (int, float))}
            words = settings(rng, parameters)
            if command != "equilibria" and "regulation" not in command and rng.random() < 0.15:
                words += ["--V", rng.choice(["T+U", "2*(T+U)"])]
            claimed, _ = examined(saltus, command, model, path, words)
            code, line, seconds = answer_of_checker(path, model) if os.path.exists(path) else (1, "no certificate", 0.0)
            proved, slowest = proved + claimed, max(slowest, seconds)
            if claimed != (code == 0) or seconds > 60:
                print(command, model, *words, "proved" if claimed else "not proved", line, "%.1f s" % seconds, flush=True)
                failures += 1
    print("%d runs, %d proved, %d failures, the slowest check %.1f s" % (count, proved, failures, slowest))
    return 1 if failures or proved < count / 10 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
