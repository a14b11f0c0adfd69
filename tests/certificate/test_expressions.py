#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How tools/check_certificate reads expressions and model files, and what it derives from them."""
import math
import random
import unittest
from fractions import Fraction

from support import checker

SYMBOLS = {name: checker.Node("sym", name) for name in ("x", "y", "x'", "t")}


def read(text):
    return checker.parse(text, lambda name: checker.Node("pi") if name == "pi" else SYMBOLS[name])


def at(node, **values):
    box = {name.replace("_v", "'"): checker.from_fraction(Fraction(v)) for name, v in values.items()}
    lo, hi = checker.evaluate([node], box)[0]
    return lo / checker.ONE, hi / checker.ONE


def model(text, **settings):
    return checker.Model(text, {k: v for k, v in settings.items()})


BALL = '''
[system]
q = ["y"]
T = "m/2*y'^2"
U = "m*g*y"
[parameters]
m = 2.0
g = 9.81
[[contact]]
name = "floor"
gN = "y"
eN = 0.5
'''


class Grammar(unittest.TestCase):
    def test_powers_bind_strongest_and_to_the_right(self):
        for text, value in [("-x^2", -9), ("2^-1", 0.5), ("2^3^2", 512), ("-2^2", -4), ("2*3^2", 18), ("x/2/3", 0.5), ("1 - 2 - 3", -4),
                            ("--x", 3), ("+x", 3), ("2^-x^0", 0.5), ("(x)", 3), (".5 + 1.e0 + 1e-1", 1.6), ("x - - x", 6)]:
            lo, hi = at(read(text), x=3)
            self.assertAlmostEqual(lo, value, 12, text)
            self.assertAlmostEqual(hi, value, 12, text)

    def test_numbers_are_the_nearest_binary64(self):
        self.assertEqual(read("0.1").args[0], Fraction(0.1))
        self.assertEqual(read("9007199254740993").args[0], Fraction(9007199254740992))

    def test_text_outside_the_grammar_is_refused(self):
        for text in ["", "x +", "x x", "x < 1", "if(x, 1, 2)", "if(x < 1 < 2, 1, 2)", "if(x < 1, 2)", "sin(x, x)", "sin", "x'x", "0x10", "1_0",
                     "x if x else x", "lambda", "x**2", "x//2", "x.y", "[x]", "x = 1", "f(x)", "min(x)", "x; x", "1j", "1e999", "1e-40", "x\n+",
                     "not x", "x == 1", "sin(x)(x)", "(" * 300 + "x" + ")" * 300, "x#", "x:=1", "*x", "min(*x)", "sin(x=1)",
                     "if(x, 1, 2, 3)", "if(x, x, 1, 2, 3)", "if((x < 1), 1, 2)", "(x < 1, 2)", "min(x < x)", "(x, x)", "()", "x(x)", "2(3)",
                     "(x, x) + (x, x)", "min(x, x,)", "min(*(x, x))", "(x < 1)", "sin((x, x))", "if(x <, 1, 2)", "x''"]:
            with self.assertRaises((checker.Refused, KeyError), msg=text):
                read(text)

    def test_equal_terms_cancel_and_zero_over_zero_does_not(self):
        self.assertIs(read("x*y - y*x"), checker.ZERO)
        self.assertIs(read("2*x*x - x^2*2"), checker.ZERO)
        self.assertIs(read("(x + y)*3 - 3*x - 3*y"), checker.ZERO)
        with self.assertRaises(checker.Undefined):
            checker.evaluate([read("x/x")], {"x": (-checker.ONE, checker.ONE)})

    def test_conditions_take_both_sides_where_they_are_undecided(self):
        node = read("if(x < 0, -1, 2)")
        self.assertEqual(checker.evaluate([node], {"x": (-1, 1)})[0], (-checker.ONE, 2 * checker.ONE))
        self.assertEqual(at(node, x=0), (2, 2))
        with self.assertRaises(checker.Undefined):
            checker.evaluate([checker.derivative(read("if(x < 0, -x, 2)"), "x")], {"x": (-1, 1)})


class Derivatives(unittest.TestCase):
    FORMS = ["sin({})", "cos({})", "exp({}/4)", "atan({})", "tanh({})", "sinh({}/3)", "cosh({}/3)", "({})^2", "({})^3/4", "sqrt(2 + ({})^2)",
             "log(3 + ({})^2)", "1/(2 + ({})^2)", "abs({})", "(3 + ({})^2)^0.7", "hypot(1, {})", "asin(({})/(9 + ({})^2))", "tan(({})/(9 + ({})^2))",
             "atan2({}, 2 + x^2)", "acos(({})/(9 + ({})^2))", "(2 + sin({}))^x"]
    PAIRS = ["({}) + ({})", "({}) - 2*({})", "({})*({})", "({})/(4 + ({})^2)", "min({}, {})", "max({}, {})", "if({} < {}, x^2, y)"]

    def grow(self, rng, depth):
        if depth == 0:
            return rng.choice(["x", "y", "%d" % rng.randint(-3, 3), "%.2f" % rng.uniform(-2, 2), "pi"])
        if rng.random() < 0.5:
            form = rng.choice(self.FORMS)
            return form.replace("{}", self.grow(rng, depth - 1))
        return rng.choice(self.PAIRS).format(self.grow(rng, depth - 1), self.grow(rng, depth - 1))

    def plain(self, text, x, y):
        names = {k: getattr(math, k) for k in "sin cos exp atan tanh sinh cosh sqrt log hypot asin acos tan atan2 pi".split()}
        names.update(abs=abs, min=min, max=max, x=x, y=y, choose=lambda c, a, b: a if c else b)
        return eval(text.replace("^", "**").replace("if(", "choose("), {"__builtins__": {}}, names)

    def test_values_and_derivatives_of_random_expressions_agree_with_floating_point(self):
        rng, compared = random.Random(7), 0
        for _ in range(700):
            text = self.grow(rng, rng.randint(1, 4))
            x, y = (Fraction(rng.randint(-300, 300), 128) for _ in range(2))
            node = read(text)
            lo, hi = at(node, x=x, y=y)
            value = self.plain(text, float(x), float(y))
            slack = 1e-9 * (1 + abs(value))
            self.assertTrue(lo - slack <= value <= hi + slack, (text, x, y, lo, value, hi))
            if "if(" not in text:            # equal sides, as in pi < pi, do not decide a condition
                self.assertLess(hi - lo, 1e-9 * (1 + abs(value)), text)
            step = 2.0 ** -20
            both = [self.plain(text, float(x) + s * step, float(y)) for s in (-2, -1, 1, 2)]
            slope = (8 * (both[2] - both[1]) - (both[3] - both[0])) / (12 * step)
            try:
                lo, hi = at(checker.derivative(node, "x"), x=x, y=y)
            except checker.Undefined:
                continue                     # at a kink, such as |x| at x = 0
            if abs(both[3] - 2 * value + both[0]) > 1e-3 * step * (1 + abs(slope)) * 4:
                continue                     # a kink or a jump next to the point
            compared += 1
            self.assertTrue(lo - 1e-5 * (1 + abs(slope)) <= slope <= hi + 1e-5 * (1 + abs(slope)), (text, x, y, lo, slope, hi))
        self.assertGreater(compared, 500)

    def test_enclosures_over_boxes_contain_the_values_inside(self):
        rng = random.Random(8)
        for _ in range(300):
            text = self.grow(rng, 3)
            node = read(text)
            ends = [sorted(Fraction(rng.randint(-200, 200), 64) for _ in range(2)) for _ in "xy"]
            box = {n: (checker.from_fraction(a)[0], checker.from_fraction(b)[1]) for n, (a, b) in zip("xy", ends)}
            try:
                lo, hi = checker.evaluate([node], box)[0]
            except checker.Undefined:
                continue
            for _ in range(10):
                x, y = (float(a + (b - a) * Fraction(rng.random())) for a, b in ends)
                value = self.plain(text, x, y)
                self.assertTrue(checker.to_float(lo) - 1e-9 <= value + 1e-9 * abs(value) and value - 1e-9 * abs(value) <= checker.to_float(hi) + 1e-9,
                                (text, x, y))


class Models(unittest.TestCase):
    def test_the_double_pendulum_has_the_known_mass_matrix_and_forces(self):
        m = model('''
[system]
q = ["a", "b"]
T = "(xd^2 + yd^2)/2 + (x2d^2 + y2d^2)/2"
U = "-9.81*cos(a)*2 - 9.81*cos(b)"
R = "0.1*(a' - b')^2/2"
f = { b = "-0.2*b'" }
[let]
xd = "a'*cos(a)"
yd = "a'*sin(a)"
x2d = "xd + b'*cos(b)"
y2d = "yd + b'*sin(b)"
''')
        a, b, p, r = 0.5, -0.75, 1.25, 2.0
        box = {n: checker.from_fraction(Fraction(v)) for n, v in {"a": a, "b": b, "a'": p, "b'": r}.items()}
        mass = [[checker.to_float(v[0]) for v in checker.evaluate(row, box)] for row in m.M]
        expected = [[2, math.cos(a - b)], [math.cos(a - b), 1]]
        for i in range(2):
            for j in range(2):
                self.assertAlmostEqual(mass[i][j], expected[i][j], 12)
        h = [checker.to_float(v[0]) for v in checker.evaluate(m.h, box)]
        s = math.sin(a - b)
        self.assertAlmostEqual(h[0], -s * r * r - 2 * 9.81 * math.sin(a) - 0.1 * (p - r), 12)
        self.assertAlmostEqual(h[1], s * p * p - 9.81 * math.sin(b) + 0.1 * (p - r) - 0.2 * r, 12)

    def test_settings_replace_parameters_and_repeated_blocks_are_unrolled(self):
        m = model(BALL.replace('name = "floor"\ngN = "y"', 'name = "step{i}"\nfor = "i in 2..4"\ngN = "y - i*m"'), m="3")
        self.assertEqual([e.name for e in m.contacts], ["step2", "step3", "step4"])
        self.assertEqual(at(m.contacts[2].gap, y=0), (-12, -12))
        self.assertEqual(m.M[0][0].args[0], 3)

    def test_bend_is_the_matrix_of_second_derivatives_of_a_gap(self):
        m = model('[system]\nq = ["x", "y"]\nT = "x\'^2 + y\'^2"\n[[contact]]\nname = "c"\ngN = "y - x^3 - x*y^2"\n')
        bend = [[at(e, x=2, y=3)[0] for e in row] for row in m.contacts[0].bend]
        self.assertEqual(bend, [[-12, -6], [-6, -4]])

    def test_the_loop_is_closed_by_gains_of_every_form(self):
        base = '[system]\nq = ["x", "y"]\nT = "x\'^2 + y\'^2"\nU = "x^4"\n[control]\nactuated = ["x", "y"]\n'
        box = {n: checker.from_fraction(Fraction(v)) for n, v in {"x": 2, "y": 3, "x'": 5, "y'": 7}.items()}
        for gains, expected in [('Kp = 2\nKv = [1, 3]\nreference = { x = 1 }', (-32 - 2 - 5, -6 - 21)),
                                ("Kp = 2\nfeedforward = { y = \"x - y'\" }", (-32 - 4, -6 + 2 - 7)),
                                ('Kp = 2\nKv = 1\nshaping = "Kp*x^2*y"', (-24 - 5, -8 - 7)),
                                ('Kp = [[2, 1], [1, 4]]', (-32 - 4 - 3, -2 - 12)),
                                ('Kv = [[2, -1], [-1, 4]]', (-32 - 10 + 7, 5 - 28))]:
            m = model(base + gains)
            self.assertEqual(tuple(v[0] / checker.ONE for v in checker.evaluate(m.h, box)), expected, gains)
        for gains in ("Kp = [[2, 1], [3, 4]]", "Kp = [1]", 'saturation = 1', 'velocity = "estimated"', 'reference = { x = "t" }',
                      "feedforward = { z = 1 }", 'feedforward = { x = "t" }', 'shaping = "z^2"', 'Kp = [1, 2]\nshaping = "Kp*x^2"'):
            with self.assertRaises(checker.Refused, msg=gains):
                model(base + gains)
        with self.assertRaises(checker.Refused):               # shaping replaces U of a system that is driven completely
            model(base.replace('["x", "y"]\n', '["x"]\n').replace('q = ["x"]', 'q = ["x", "y"]') + 'shaping = "x^2"')

    def test_elements_without_a_name_have_that_of_their_kind_and_a_number(self):
        slider, clutch = "[[slider]]\ngammaT = \"y'\"\nmu = 1\nFN = 1\n", "[[clutch]]\ngamma = \"y'\"\n"
        self.assertEqual([e.name for e in model(BALL + slider + clutch).elements], ["floor", "slider", "clutch"])
        self.assertEqual([e.name for e in model(BALL + slider + slider).elements], ["floor", "slider 1", "slider 2"])

    def test_models_that_are_not_understood_are_refused(self):
        for old, new in [('q = ["y"]', 'q = ["y", "y"]'), ('q = ["y"]', 'q = []'), ("m/2*y'^2", "m/2*y'^3"), ('g = 9.81', 'g = "g"'), ("m = 2.0", "m = nan"),
                         ("m = 2.0", "m = inf"), ("eN = 0.5", "eN = true"), ("eN = 0.5", "e_n = 0.5"), ('gN = "y"', "gN = \"y'\""), ('gN = "y"', 'gN = "z"'),
                         ("[parameters]", "[jump]"), ("m*g*y", "m*g*y*t"), ("m*g*y", "m*g*y'"),
                         ("m/2*y'^2", "m/2*y'^2 + y'"), ("eN = 0.5", "c = 0.5"),
                         ("m = 2.0", "m = 2.0\nsin = 1"), ("m = 2.0", "m = 2.0\ny = 1"), ("m = 2.0", 'm = "y"'), ("m = 2.0", "m = 1e40"),
                         ('name = "floor"', 'name = "floor"\ngammaT = "y\'^2"'), ('name = "floor"', 'name = "floor"\nif = "y > 0"'),
                         ("m = 2.0", "m = 2.0\nm = 3.0"), ("eN = 0.5", 'eN = 0.5\n[[contact]]\nname = "floor"\ngN = "y"')]:
            self.assertIn(old, BALL)
            with self.assertRaises(checker.Refused, msg=new):
                model(BALL.replace(old, new))
        with self.assertRaises(checker.Refused):
            model(BALL, k="1")


if __name__ == "__main__":
    unittest.main()
