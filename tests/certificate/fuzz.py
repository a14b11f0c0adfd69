#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Damages certificate files and sees that tools/check_certificate ends as documented.

    fuzz.py [--count N | --seconds T] [--seed S] [--keep FOLDER] [FILE.json ...]

Without files the certificates of examples.py are damaged: single bytes, pieces of the text, values and structure of the
JSON document, and the text of the model in it. The checker has to end with one of its exit codes (0, 1, 2) and one
message without control characters. An exception that it does not handle, a crash, and a file that takes more than a
minute are findings. --seconds: as many files as fit into this time. mutate.py asks whether certificates that are accepted are true. --keep stores the files of findings.
Exit code 1 if there is a finding.
"""
import argparse
import contextlib
import copy
import hashlib
import io
import json
import mmap
import os
import pathlib
import random
import resource
import signal
import struct
import sys
import tempfile
import time
import traceback

import examples
from mutate import places
from support import checker

MAX_SECONDS = 60.0           # of one file, of processor time of the checker
MAX_MEMORY = 2 << 30         # bytes of address space of the checker; a file of some kB must not need more
FILES_IN_ONE_PROCESS = 200   # a crash ends the process; the rest goes to the next one

JUNK = [None, True, False, 0, 1, -1, 2**31, 10**400, 1.5, 1e308, "", " ", "inf", "-inf", "nan", "0x1p+99999", "0x1p-99999", "0x1p+0",
        "0x0p+0", "-0x0p+0", "0x", "0x1p", "\ud800", "\x00", "\x1b[2J", "é", "x" * 10000, [], {}, [[]], [{}], {"": None}, ["split"],
        ["split", 0, "0x0p+0", [], []], ["split", 10**9, "0x0p+0", ["local"], ["local"]], ["gap", "floor"], ["definite"]]

WORDS = ["x", "q", "'", "(", ")", "^", "**", "*", "/", "-", "+", "1e999", "1/0", "0^0", "0^(-1)", "2^1000000", "2^(2^(2^(2^9)))", "sqrt(-1)", "log(0)",
         "tan(1e300)", "abs(x)", "min(1,2)", "\"", "'''", "[system]", "[[contact]]", "= ", "\n", "#", "\\", "\\u0000", "nan", "inf", "9" * 400]


def damaged_bytes(rng, data):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 5, 20])):
        if not data:
            break
        at = rng.randrange(len(data))
        kind = rng.randrange(7)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del data[at:at + rng.choice([1, 1, 2, 10, 1000])]
        elif kind == 3:
            data[at:at] = bytes(rng.choice(b'{}[]",:0123456789+-.exX\\\x00\xff\xed') for _ in range(rng.choice([1, 1, 3])))
        elif kind == 4:
            other = rng.randrange(len(data))
            data[at:at] = data[other:other + rng.choice([1, 10, 100, 1000])]
        elif kind == 5:
            del data[at:]
        else:
            data[at:at] = rng.choice([b"[" * 100000, b'{"a":' * 100000, b"-", b"9" * 5000, b"NaN", b"1e999", b"\\ud800", b"\xef\xbb\xbf"])
    return bytes(data)


def damaged_structure(rng, document):
    document = copy.deepcopy(document)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        spots = [(c, k, v) for c, k, v, _ in places(document)]
        if not spots:
            break
        c, k, v = rng.choice(spots)
        kind = rng.randrange(8)
        if kind == 0:
            c[k] = copy.deepcopy(rng.choice(JUNK))
        elif kind == 1:
            del c[k]
        elif kind == 2:
            c[k] = copy.deepcopy(rng.choice(spots)[2])
        elif kind == 3:
            c[k] = [v]
        elif kind == 4 and isinstance(c, list):
            c.insert(k, copy.deepcopy(v))
        elif kind == 5 and isinstance(v, list):
            c[k] = v * rng.choice([2, 3, 50]) if len(v) < 50 else v[:1]
        elif kind == 6 and isinstance(v, dict):
            v[rng.choice(["kind", "tree", "", "id", "model"])] = copy.deepcopy(rng.choice(JUNK))
        elif kind == 7 and isinstance(v, list):  # a tree that is very deep
            deep = v
            for _ in range(rng.choice([50, 1500])):
                deep = ["split", 0, "0x0p+0", deep, ["local"]]
            c[k] = deep
        else:
            c[k] = copy.deepcopy(rng.choice(JUNK))
    return document


def damaged_model(rng, document):
    document = copy.deepcopy(document)
    model = document["model"]
    text = model["text"]
    for _ in range(rng.choice([1, 1, 2, 4])):
        at, end = sorted(rng.randrange(len(text) + 1) for _ in range(2))
        if rng.random() < 0.7:
            end = min(end, at + rng.choice([0, 0, 1, 3]))
        text = text[:at] + rng.choice(WORDS) + text[end:]
    model["text"] = text
    model["sha256"] = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    if rng.random() < 0.3 and model["parameters"]:
        model["parameters"][rng.choice(sorted(model["parameters"]))] = rng.choice(["0x0p+0", "inf", "-0x1p+1000", "0x1p-1074", "nan"])
    return document


def damaged(rng, originals):
    """The bytes of a damaged file."""
    document = rng.choice(originals)
    kind = rng.randrange(3)
    if kind == 0:
        return damaged_bytes(rng, json.dumps(document).encode())
    made = damaged_structure(rng, document) if kind == 1 else damaged_model(rng, document)
    return json.dumps(made).encode()


def finding(file):
    """What is wrong with the end of the checker, or None."""
    answer = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")  # as strict as the standard output
    try:
        with contextlib.redirect_stdout(answer):
            code = checker.main([file])
            answer.flush()
    except BaseException:
        return traceback.format_exc()
    text = answer.buffer.getvalue().decode()
    if code not in (0, 1, 2):
        return "exit code %r" % code
    if not text.strip():
        return "no message with exit code %d" % code
    if any(ord(c) < 32 and c != "\n" for c in text):
        return "a control character in the message %r" % text
    return None


def input_of(seed, number, originals):
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20000)  # deep trees have to be written; the checker reads them with the limit that it has
    try:
        return damaged(random.Random("%d %d" % (seed, number)), originals)
    finally:
        sys.setrecursionlimit(limit)


def work(seed, first, last, originals, folder, state, max_seconds):
    """Checks the files number first .. last - 1 in a process of its own. state: number of the present file."""
    resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    file = os.path.join(folder, "damaged.json")
    for number in range(first, last):
        state[0:8] = struct.pack("<q", number)
        signal.setitimer(signal.ITIMER_PROF, max_seconds)  # SIGPROF ends the process
        pathlib.Path(file).write_bytes(input_of(seed, number, originals))
        found = finding(file)
        if found:
            pathlib.Path(folder, "finding").write_text(found, errors="backslashreplace")
            os._exit(1)
    os._exit(0)


def run(seed, count, originals, keep=None, max_seconds=MAX_SECONDS):
    """Damages and checks `count` files. Returns the list of (number, what was found)."""
    findings = []
    state = mmap.mmap(-1, 8)
    with tempfile.TemporaryDirectory() as folder:
        first = 0
        while first < count:
            last = min(count, first + FILES_IN_ONE_PROCESS)
            state[0:8] = struct.pack("<q", first)
            child = os.fork()
            if child == 0:
                work(seed, first, last, originals, folder, state, max_seconds)
            status = os.waitpid(child, 0)[1]
            number = struct.unpack("<q", state[0:8])[0]
            if status == 0:
                first = last
                continue
            report = pathlib.Path(folder, "finding")
            what = report.read_text() if report.exists() else \
                "more than %g s" % max_seconds if status & 127 == signal.SIGPROF else "ended by signal %d" % (status & 127)
            report.unlink(missing_ok=True)
            findings.append((number, what))
            if keep:
                os.makedirs(keep, exist_ok=True)
                pathlib.Path(keep, "seed-%d-number-%d.json" % (seed, number)).write_bytes(input_of(seed, number, originals))
            first = number + 1
    return findings


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seconds", type=float, help="go on for this time, with the next seeds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    originals = [json.load(open(f, encoding="utf-8")) for f in arguments.files] or examples.all_examples()
    started = time.monotonic()
    at_once = arguments.count if arguments.seconds is None else FILES_IN_ONE_PROCESS
    files, found, seed = 0, 0, arguments.seed
    while True:
        findings = run(seed, at_once, originals, arguments.keep)
        for number, what in findings:
            print("file %d of seed %d:\n%s" % (number, seed, what), flush=True)
        files, found, seed = files + at_once, found + len(findings), seed + 1
        if arguments.seconds is None or time.monotonic() - started >= arguments.seconds:
            break
    print("%d damaged files in %.0f s, %d findings" % (files, time.monotonic() - started, found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
