#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/check_certificate answers with exit code 0, 1 or 2 whatever the file contains: no traceback, and no endless computation."""
import contextlib
import copy
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

import examples
from examples import box, changed, h, numbers
from mutate import places
from support import ROOT, checker

PROGRAM = os.path.join(ROOT, "tools", "check_certificate")
SECONDS = 600            # a generous limit, for busy machines: every case needs a second of computing time or less
JUNK = [None, True, False, 0, -1, 1, 10 ** 40, "", "x", "nan", "inf", "0x1p+0", "-0x1p-1074", [], [[]], [None], {}, {"kind": "form"}, {"a": {}}, [1, 2],
        ["split"], ["split", 0, "0x0p+0", [], []], "\ud800", "\x00", "a" * 5000, [[[[[[[[]]]]]]]], {"tree": ["level"]}, ["gap", "floor"], 7.5]


class Answers(unittest.TestCase):
    def answer(self, content):
        """The exit code for a file with these bytes, and the output."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "certificate.json")
            with open(path, "wb") as f:
                f.write(content)
            output = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
            with contextlib.redirect_stdout(output):
                code = checker.main([path])
            output.flush()
            return code, output.buffer.getvalue().decode("utf-8")

    def test_json_of_any_structure_gets_an_answer(self):
        rng, codes = random.Random(5), {0: 0, 1: 0, 2: 0}
        for _ in range(1200):
            document = copy.deepcopy(rng.choice(examples.all_examples()))
            for _ in range(rng.choice([1, 1, 2, 5])):
                container, key, _, _ = rng.choice(list(places(document)))
                container[key] = copy.deepcopy(rng.choice(JUNK))
            code, output = self.answer(json.dumps(document).encode())
            codes[code] += 1
            self.assertEqual(output.split(":")[0], ["accepted", "refused", "unreadable"][code])
        self.assertGreater(codes[1], 100)
        self.assertGreater(codes[2], 100)

    def test_any_bytes_get_an_answer(self):
        rng, text = random.Random(6), json.dumps(examples.falling_block()).encode()
        for _ in range(300):
            kind, content = rng.randrange(4), bytearray(text)
            if kind == 0:
                content = bytes(rng.randrange(256) for _ in range(rng.randrange(200)))
            elif kind == 1:
                content = text[:rng.randrange(len(text))]
            else:
                for _ in range(rng.choice([1, 1, 3, 30])):
                    content[rng.randrange(len(content))] = rng.randrange(256)
            self.assertIn(self.answer(bytes(content))[0], (0, 1, 2))
        for content in (b"", b"null", b"0", b"[]", b"{}", b"\xef\xbb\xbf{}", b"[" * 100000, b'{"a":' * 100000, b"1" * 10000, b"\x00" * 100):
            self.assertEqual(self.answer(content)[0], 2, content[:20])


class Work(unittest.TestCase):
    def test_models_and_proofs_that_are_too_large_are_refused_in_time(self):
        pendulum, block, pair = examples.pendulum(), examples.falling_block(), examples.damped_pair()
        deep = "phi"
        for _ in range(60):
            deep = "sin(%s)" % deep
        let = "\n".join('a%d = "sin(a%d)*cos(a%d) + a%d*phi\'"' % (k, k - 1, k - 1, k - 1) for k in range(1, 60))
        names = ["phi"] + ["q%d" % k for k in range(200)]
        cases = {
            "a number with a billion digits": changed(pendulum, "-G*cos(phi)", "-G*cos(phi) + " + "(" * 8 + "3" + "^64)" * 8),
            "nested powers": changed(pendulum, "-G*cos(phi)", "-G*cos(phi) + (((phi^64)^64)^64)^64"),
            "a deep expression": changed(pendulum, "cos(phi)", deep),
            "a chain of names in T": changed(changed(pendulum, "[parameters]", '[let]\na0 = "phi + phi\'"\n%s\n[parameters]' % let), "J/2*phi'^2", "a59"),
            "a long product": changed(pair, "k/2*x^2", "k/2*x^2 + " + "*".join("(x + %d)" % k for k in range(8000))),
            "many coordinates": changed(pendulum, 'q = ["phi"]', "q = %s" % json.dumps(names)),
            "many contacts": changed(block, 'name = "floor"', 'name = "floor{i}"\nfor = "i in 1..100000"'),
            "combinations of many contacts": changed(changed(examples.convex_block(), 'name = "floor"', 'name = "floor{i}"\nfor = "i in 1..40"'),
                                                     "2*y^2", "3*y^2"),
        }
        cases["combinations of many contacts"]["setting"]["I_C"] = ["floor%d" % k for k in range(1, 41)]
        cases["combinations of many contacts"]["conditions"][1]["claims"] = examples.convex_block()["conditions"][1]["claims"]
        tree = ["definite"]
        for _ in range(300):
            tree = ["split", 0, h(0), tree, ["definite"]]
        cases["a split that is no split"] = copy.deepcopy(pendulum)
        cases["a split that is no split"]["conditions"][0]["claims"][1]["tree"] = tree
        leaf = ["separated", numbers(1, 0.25)]

        def grown(low, high, depth):
            return leaf if depth == 0 else ["split", 0, h((low + high) / 2), grown(low, (low + high) / 2, depth - 1), grown((low + high) / 2, high, depth - 1)]
        cases["many hard leaves"] = changed(block, "k/2*x^2", "k/2*x^2 + sin(1e9*x)*1e-3 - sin(1e9*x)*sin(1e9*y)*1e-3")
        cases["many hard leaves"]["conditions"][1]["claims"][2]["tree"] = grown(-4.0, 4.0, 9)
        cases["an unbounded box"] = copy.deepcopy(examples.falling_block(examples.INF))
        cases["an unbounded box"]["conditions"][1]["claims"][2]["N"] = box((-examples.INF, examples.INF), (-examples.INF, examples.INF))
        for name, document in cases.items():
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "certificate.json")
                with open(path, "w", encoding="utf-8") as f:
                    json.dump(document, f)
                result = subprocess.run([sys.executable, PROGRAM, path], capture_output=True, text=True, timeout=SECONDS)
            self.assertIn(result.returncode, (1, 2), name)
            self.assertEqual(result.stderr, "", name)


if __name__ == "__main__":
    unittest.main()
