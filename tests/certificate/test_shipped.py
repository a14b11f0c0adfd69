#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Certificates that Saltus writes for shipped models are accepted, and mutated ones are not accepted if they are false.

    test_shipped.py SALTUS [COUNT]       COUNT: number of mutations, 150 if it is not given
"""
import json
import os
import subprocess
import sys
import tempfile

import judge
import mutate
import small_models
from support import ROOT

MODELS = [("certify", name) for name in ("falling-block", "rocking-bar", "rocking-block", "constrained-beam", "bouncing-ball")] + \
    [("equilibria", name) for name in ("falling-block", "rocking-bar", "painleve-rod", "constrained-beam")] + \
    [("certify --seconds 300 --theorem instability", "constrained-beam")] + \
    [("certify --theorem regulation", name) for name in ("two-link-underactuated", "single-link-arm", "flexible-arm")] + \
    [("certify", "friction-oscillator")] + [("certify --theorem instability --at phi=1.5708" + more, "rocking-bar") for more in ("", " --set k=200")] + \
    [("certify --V 2*T+2*U", "quartic-spring"), ("certify --set eN=1 --set mu=0", "falling-block"), ("equilibria", "ratchet"), ("equilibria", "conveyor")] + \
    [("certify", name) for name in small_models.TEXTS] + \
    [("certify --theorem %s --V %s" % ("instability" if name == "saddle" else "attractivity", V), name) for name, (_, V) in small_models.FUNCTIONS.items()]
TEXTS = small_models.TEXTS | {name: text for name, (text, _) in small_models.FUNCTIONS.items()}


def main(saltus, count=150):
    if "--certificate" not in subprocess.run([saltus, "certify", "--help"], capture_output=True, text=True).stdout:
        print("this program writes no certificates")
        return 77
    documents, failures = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for command, name in MODELS:
            path = os.path.join(folder, "%s-%s.json" % (command.replace(" ", "").replace("/", ""), name))
            model = os.path.join(ROOT, "models", name + ".toml")
            if name in TEXTS:
                model = os.path.join(folder, name + ".toml")
                with open(model, "w", encoding="utf-8") as f:
                    f.write(TEXTS[name])
            subprocess.run([saltus, *command.split(), model, "--certificate", path], check=True, capture_output=True)
            with open(path, encoding="utf-8") as f:
                document = json.load(f)
            ok, why = mutate.accepted(document)
            found = judge.violation(document, samples=4)
            print(command, name, "accepted" if ok else "refused: " + why, "and the judge finds: %s" % found if found else "")
            failures += not ok or found is not None
            documents.append(document)
    mutated, taken, false, wrong = mutate.run(documents, count, 11, lambda w: print("accepted although false:", *w[:3]), samples=4)
    print("%d mutated certificates, %d accepted, %d of them false" % (mutated, taken, false))
    return 1 if failures or false else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
