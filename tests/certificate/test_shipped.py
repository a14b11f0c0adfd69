#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Certificates that Saltus writes for shipped models are accepted, and mutated ones are not accepted if they are false.

    test_shipped.py SALTUS [COUNT]       COUNT: number of mutations, 150 if it is not given

Every shipped model is examined by every theorem. What is called proved or complete must have a certificate that
tools/check_certificate accepts in less than a minute, and what is not must have none.
"""
import glob
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib

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
# What is proved of the shipped models: a proof that is lost is a failure of this test.
PROVED = {"certify": "bouncing-ball constrained-beam falling-block flexible-arm friction-oscillator rocking-bar rocking-block single-link-arm "
                     "two-link-underactuated",
          "certify --theorem attractivity": "bouncing-ball constrained-beam decoupled-pair falling-block friction-oscillator rocking-bar "
                                            "rocking-block two-link-underactuated",
          "certify --theorem instability": "constrained-beam friction-oscillator rocking-bar rocking-block rough-double-pendulum",
          "certify --theorem regulation": "flexible-arm single-link-arm two-link-underactuated",
          "equilibria": "bouncing-ball constrained-beam damped-contact decoupled-pair falling-block friction-oscillator hertz-impact painleve-rod "
                        "rocking-bar rocking-block rough-double-pendulum single-link-arm sphere-on-plane super-ball two-link-underactuated woodpecker"}
SECONDS = 60.0               # of processor time, for one certificate
TEXTS = small_models.TEXTS | {name: text for name, (text, _) in small_models.FUNCTIONS.items()}


def examined(saltus, command, model, path, more=()):
    """What Saltus says of a model: whether something is proved, or the message if the command does not apply to the model."""
    if os.path.exists(path):
        os.remove(path)
    result = subprocess.run([saltus, *command.split(), model, *more, "--certificate", path, "--json", "--seconds", "300"], capture_output=True, text=True)
    if result.returncode == 2:
        return False, result.stderr.strip()
    answer = json.loads(result.stdout)
    return answer.get("complete", False) if command == "equilibria" else answer.get("grade") == "proved", ""


def answer_of_checker(path, model):
    """Exit code, first line and processor time of the checker."""
    before = os.times()
    result = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "check_certificate"), path, "--model", model], capture_output=True, text=True)
    after = os.times()
    return result.returncode, result.stdout.split("\n")[0], after.children_user + after.children_system - before.children_user - before.children_system


def audit(saltus, folder):
    """The number of failures over all shipped models and theorems."""
    failures, slowest, accepted, path = 0, 0.0, 0, os.path.join(folder, "audit.json")
    for model in sorted(glob.glob(os.path.join(ROOT, "models", "*.toml"))):
        name = os.path.basename(model).removesuffix(".toml")
        with open(model, "rb") as f:
            controlled = "control" in tomllib.load(f)
        for command in PROVED:
            # Without a controller `certify` examines attractivity or instability, as the next two commands do.
            if command in ("certify", "certify --theorem regulation") and not controlled:
                continue
            proved, refusal = examined(saltus, command, model, path)
            code, line, seconds = answer_of_checker(path, model) if os.path.exists(path) else (1, "no certificate: " + refusal, 0.0)
            accepted, slowest = accepted + (code == 0), max(slowest, seconds)
            if proved != (name in PROVED[command].split()) or proved != (code == 0) or seconds > SECONDS:
                print(command, name, "proved" if proved else "not proved", line, "%.1f s" % seconds)
                failures += 1
    print("%d certificates of shipped models are accepted, the slowest in %.1f s" % (accepted, slowest))
    return failures


def main(saltus, count=150):
    if "--certificate" not in subprocess.run([saltus, "certify", "--help"], capture_output=True, text=True).stdout:
        print("this program writes no certificates")
        return 77
    documents, failures = [], 0
    with tempfile.TemporaryDirectory() as folder:
        failures += audit(saltus, folder)
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
