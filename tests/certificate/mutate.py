#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutates certificates and sees that tools/check_certificate accepts none that is false.

    mutate.py [--count N] [--seed S] [FILE.json ...]

Without files the certificates of examples.py are mutated. A mutated certificate may still be true; so each one that is
accepted is given to judge.py, which looks for a false claim by samples. Exit code 1 if there is one.
"""
import argparse
import copy
import hashlib
import json
import random
import re
import sys
import time

import examples
import judge
from support import checker


def accepted(document):
    """Whether the checker accepts the text of a document, and what it says."""
    try:
        data = json.loads(json.dumps(document), object_pairs_hook=checker.unique_keys, parse_constant=checker.no_number,
                          parse_float=checker.no_number)
        checker.check(data)
        return True, ""
    except (checker.Refused, checker.Unreadable) as e:
        return False, str(e)
    except Exception as e:           # as in the program: a structure that is not that of a certificate
        return False, "unreadable: %r" % e


def places(value, path=()):
    """All (container, key, value) of a document, depth first."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        yield value, key, child, path + (key,)
        yield from places(child, path + (key,))


def is_number(x):
    return isinstance(x, str) and (x in ("inf", "-inf") or x.startswith(("0x", "-0x")))


def other_number(rng, text):
    x = judge.number(text)
    return rng.choice([examples.h(-x), examples.h(2 * x), examples.h(x / 2), examples.h(x * 1.1), examples.h(x * 0.9), examples.h(x + 1), examples.h(x - 1),
                       "0x0p+0", "inf", "-inf", examples.h(x * 1000), examples.h(x + rng.uniform(-1, 1))]) if abs(x) < 1e300 else \
        rng.choice(["0x0p+0", "0x1p+3", "-0x1p+3", "-inf", "inf"])


def mutate_number(rng, doc, others):
    spots = [(c, k) for part in ("setting", "conditions") for c, k, v, _ in places(doc[part]) if is_number(v)]
    c, k = rng.choice(spots)
    c[k] = other_number(rng, c[k])


def mutate_junk(rng, doc, others):
    spots = [(c, k) for part in ("setting", "conditions") for c, k, v, _ in places(doc[part]) if is_number(v)]
    c, k = rng.choice(spots)
    c[k] = rng.choice(["nan", "NaN", 1.5, 0, None, "0x1p+99999", "1.5", "0x1.8", "", [], "1e999", "infinity", True])


def mutate_tree(rng, doc, others):
    """Drops a part of a tree, exchanges its parts, or replaces one by a leaf from somewhere else."""
    spots = [(c, k, v) for c, k, v, _ in places(doc["conditions"]) if isinstance(v, list) and v and isinstance(v[0], str) and not is_number(v[0])
             and (k == "tree" or isinstance(c, list))]
    splits = [s for s in spots if s[2][0] == "split"]
    kind = rng.randrange(4)
    if kind < 2 and splits:
        c, k, v = rng.choice(splits)
        c[k] = v[3 + kind]
    elif kind == 2 and splits:
        v = rng.choice(splits)[2]
        v[3], v[4] = v[4], v[3]
    else:
        (c, k, _), (_, _, v) = rng.choice(spots), rng.choice(spots)
        c[k] = copy.deepcopy(v) if rng.random() < 0.7 else rng.choice([["level"], ["below"], ["definite"], ["local"], ["bounded"], ["gap", "floor"]])


def mutate_domain(rng, doc, others):
    side = rng.choice(doc["setting"]["domain"])
    end = rng.randrange(2)
    x = judge.number(side[end])
    factor = rng.choice([1.01, 1.5, 4, 1e6])
    side[end] = rng.choice(["-inf", "inf"][end:end + 1] + [examples.h(x + (1 if end else -1) * factor * (1 + abs(x)))] * 3) if abs(x) < 1e300 else \
        examples.h((1 if end else -1) * factor)


def mutate_delete(rng, doc, others):
    spots = [(c, k) for part in ("setting", "conditions", "assumptions") for c, k, v, p in places(doc[part]) if isinstance(c, list)]
    spots += [(doc["assumptions"], k) for k in range(len(doc["assumptions"]))]
    c, k = rng.choice(spots)
    del c[k]


def mutate_key(rng, doc, others):
    spots = [(c, k) for c, k, v, _ in places(doc) if isinstance(c, dict)]
    c, k = rng.choice(spots)
    if rng.random() < 0.5:
        del c[k]
    else:
        c[k + "_"] = copy.deepcopy(c[k])


def mutate_words(rng, doc, others):
    """Theorems, verdicts, names and signs."""
    words = sorted({v for _, _, v, _ in places([doc["setting"], doc["conditions"]]) if isinstance(v, str) and not is_number(v) and len(v) < 30})
    kind = rng.randrange(6)
    if kind == 0:
        key = rng.choice(["theorem", "basis", "verdict", "grade", "format"])
        doc[key] = rng.choice(["attractivity", "equilibria", "instability", "linear", "regulation", "one mode", "function", "Theorem 1", "Corollary 2",
                               "Corollary 3", "proved", "numerical", "attractive", "unstable", "stable", "complete"])
    elif kind == 1:
        row = rng.choice(doc["conditions"])
        row[rng.choice(["verdict", "certified", "id"])] = rng.choice(["proved", "numerical", "assumed", True, False, "9", "8", 1])
    elif kind == 2:
        doc["setting"]["I_C"] = rng.choice([[], ["floor", "floor"], ["wall"], doc["setting"]["I_C"] * 2, [c["id"] for c in doc["conditions"]]])
    elif kind == 3:
        a, b = rng.sample(doc["conditions"], 2)
        a["claims"], b["claims"] = b["claims"], a["claims"]
    elif kind == 4:
        spots = [(c, k) for c, k, v, _ in places(doc["conditions"]) if type(v) is int and not isinstance(v, bool)]
        if spots:
            c, k = rng.choice(spots)
            c[k] = rng.choice([-1, 0, 1, 2, 7, 10 ** 30])
    else:
        spots = [(c, k) for c, k, v, _ in places([doc["setting"], doc["conditions"]]) if v in words and isinstance(v, str)]
        c, k = rng.choice(spots)
        c[k] = rng.choice(words)


def mutate_model(rng, doc, others):
    """Another number in the model, with or without the right hash, and with or without the right list of parameters."""
    model = doc["model"]
    kind = rng.randrange(5)
    if kind == 0:
        model["text"] = model["text"].replace(rng.choice("123459xy"), rng.choice("0678-"), 1)
        return
    if kind == 1:
        other = rng.choice(others)["model"]
        model.update(copy.deepcopy(other))
        return
    if kind == 2:
        name = rng.choice(sorted(model["parameters"]))
        model["parameters"][name] = other_number(rng, model["parameters"][name])
        return
    name = rng.choice(sorted(model["parameters"]))
    value = rng.choice([0.0, 1.0, -1.0, 0.5, 2.0, 10.0, -judge.number(model["parameters"][name]), judge.number(model["parameters"][name]) * rng.uniform(0.5, 1.5)])
    if kind == 3:
        model["overrides"][name] = repr(value)
    else:
        model["text"] = re.sub(r"(?m)^%s = .*$" % name, "%s = %r" % (name, value), model["text"])
        model["sha256"] = hashlib.sha256(model["text"].encode()).hexdigest()
    if rng.random() < 0.9:
        model["parameters"][name] = examples.h(value)


def mutate_text(rng, doc, others):
    """A model with one changed symbol or number, and the right hash: the certificate may now be false."""
    model = doc["model"]
    words = list(re.finditer(r"[-+*/^]|\d+\.\d+|\b\d+\b|\b(?:sin|cos|sqrt|abs)\b|(?<=[\w)])'|\b[a-z]\w*\b(?=[*/^+ )])", model["text"]))
    word = rng.choice(words)
    if word[0] in "+-*/^":
        new = rng.choice("+-*/^")
    elif word[0][0].isdigit():
        new = rng.choice(["0", "1", "2", "3", "0.5", "1e6", "-" + word[0]])
    elif word[0] == "'":
        new = ""
    else:
        new = rng.choice(["sin", "cos", "abs", "1", "0", "x", "y", "t", "c", "k", "m"])
    model["text"] = model["text"][:word.start()] + new + model["text"][word.end():]
    model["sha256"] = hashlib.sha256(model["text"].encode()).hexdigest()


def mutate_exchange(rng, doc, others):
    """The proof of another certificate: its conditions, or all of it but the model."""
    other = copy.deepcopy(rng.choice(others))
    if rng.random() < 0.5:
        rows = {c["id"]: c for c in other["conditions"]}
        row = rng.choice(doc["conditions"])
        row["claims"] = rows.get(row["id"], rng.choice(other["conditions"]))["claims"]
    else:
        other["model"] = doc["model"]
        doc.clear()
        doc.update(other)


def mutate_level(rng, doc, others):
    key = rng.choice(["level", "reference"])
    doc["setting"][key] = other_number(rng, doc["setting"][key])


def mutate_function(rng, doc, others):
    """Another function V, another state of an element, another list of states along which V falls, other supports and cones."""
    setting, claims = doc["setting"], {c["kind"]: c for row in doc["conditions"] for c in row["claims"]}
    kinds = [k for k, here in enumerate(["V" in setting, "mode" in setting, "sliding" in setting, "decrease" in claims, "minimum of V" in claims, "point" in setting,
                                         "dissipative impacts" in claims]) if here]
    kind = rng.choice(kinds)
    if kind == 0:
        word = rng.choice(list(re.finditer(r"[-+*/]|\d+", setting["V"])))
        new = rng.choice("+-*/") if word[0] in "+-*/" else rng.choice(["0", "1", "2", "3", "10", "-" + word[0]])
        setting["V"] = setting["V"][:word.start()] + new + setting["V"][word.end():]
    elif kind in (1, 2):
        states = setting["mode" if kind == 1 else "sliding"]
        states[rng.choice(sorted(states))] = rng.choice(["sticks", "forwards", "backwards", "closed", "free"])
    elif kind == 3:
        claims["decrease"]["along"] = rng.sample(range(2 * len(setting["coordinates"])), rng.randint(0, 2 * len(setting["coordinates"])))
    elif kind == 4:
        support = claims["minimum of V"]["support"]
        support[rng.choice(sorted(support) + ["floor", "stop"])] = rng.choice([0, 1, 2, examples.h(rng.choice([0, 1, 4.905, 8, 9.81, -1]))])
    elif kind == 5:
        setting["point"][rng.randrange(len(setting["point"]))] = examples.h(rng.choice([0, 0.1, -0.5, 1]))
    else:
        size = rng.choice([1, 2, 4])
        claims["dissipative impacts"]["tree"] = ["copositive", [[examples.h(rng.choice([0, 0, 0.5, 2, -1])) for _ in range(size)] for _ in range(size)]]


def mutate_region(rng, doc, others):
    """A side of the domain or of the velocities that is narrower, or ends at the point or at 0."""
    setting = doc["setting"]
    side = rng.choice(setting["domain"] + setting.get("velocities", []) * 2)
    ends = [max(min(judge.number(x), 1e3), -1e3) for x in side]
    side[rng.randrange(2)] = rng.choice([examples.h(0), examples.h(sum(ends) / 2), examples.h(rng.uniform(*ends)), *setting.get("point", [])])


def mutate_to_expression(rng, doc, others):
    """A number of the model that is written as an expression, with a listed value that differs a little, or not at all."""
    model = doc["model"]
    name = rng.choice(sorted(model["parameters"]))
    value, near = judge.number(model["parameters"][name]), rng.choice([0, 0, 1e-15, 1e-13, -5e-13, 9e-13, 2e-12, -1e-9])
    model["text"] = re.sub(r"(?m)^%s = .*$" % name, "%s = \"%r/2 + %r/2\"" % (name, value, value), model["text"])
    model["sha256"] = hashlib.sha256(model["text"].encode()).hexdigest()
    model["parameters"][name] = examples.h(value * (1 + near))


def mutate_corner(rng, doc, others):
    """A coordinate or velocity in the model is replaced by a function of it with a corner."""
    model = doc["model"]
    name = rng.choice([q + end for q in doc["setting"]["coordinates"] for end in ("", "'")])
    places_of_name = list(re.finditer(r"\b%s(?![\w'])" % name, model["text"].split("q = ", 1)[1].split("\n", 1)[1]))
    start = model["text"].index("q = ") + 4 + model["text"].split("q = ", 1)[1].index("\n") + 1
    word = rng.choice(places_of_name)
    new = rng.choice(["max(%s, 0)", "max(0, %s)", "min(%s, 0)", "abs(%s)", "(%s + 2*max(0, -%s))", "(2*%s - 3*max(%s, 0))"]).replace("%s", name)
    model["text"] = model["text"][:start + word.start()] + new + model["text"][start + word.end():]
    model["sha256"] = hashlib.sha256(model["text"].encode()).hexdigest()


MUTATIONS = [mutate_region] * 2 + [mutate_to_expression, mutate_corner] + [mutate_function] * 2 + [mutate_number] * 4 + [mutate_tree] * 3 + [mutate_domain, mutate_domain, mutate_delete, mutate_delete, mutate_words, mutate_words, mutate_model,
                                                       mutate_model, mutate_level, mutate_key, mutate_junk, mutate_text, mutate_text, mutate_exchange]


def run(documents, count, seed, report=None, samples=6, enough=None):
    """Returns (numbers of mutated, accepted, accepted and false certificates, list of the latter). Ends early with `enough` false ones."""
    rng, taken, wrong = random.Random(seed), 0, []
    for number in range(count):
        original = rng.choice(documents)
        document = copy.deepcopy(original)
        mutations = [rng.choice(MUTATIONS) for _ in range(1 if rng.random() < 0.8 else 2)]
        for mutation in mutations:
            try:
                mutation(rng, document, documents)
            except (IndexError, ValueError, OverflowError, KeyError, TypeError, AttributeError):
                pass                                  # the second mutation may not apply to what the first one left
        if document == original or not accepted(document)[0]:
            continue
        taken += 1
        found = judge.violation(document, number, samples, original)
        if found:
            wrong.append((number, [m.__name__ for m in mutations], found, document))
            if report:
                report(wrong[-1])
            if len(wrong) == enough:
                return number + 1, taken, len(wrong), wrong
    return count, taken, len(wrong), wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    documents = [json.load(open(name, encoding="utf-8")) for name in options.files] or examples.all_examples()
    start = time.time()
    count, taken, false, wrong = run(documents, options.count, options.seed, lambda w: print("accepted although false:", *w[:3], flush=True))
    print("%d mutated certificates, %d accepted, %d of them false, %.0f s" % (count, taken, false, time.time() - start))
    for number, *_, document in wrong[:3]:
        with open("mutated-%d.json" % number, "w", encoding="utf-8") as f:
            json.dump(document, f)
    return 1 if false else 0


if __name__ == "__main__":
    sys.exit(main())
