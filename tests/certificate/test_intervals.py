#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The interval functions of tools/check_certificate against mpmath.iv, at random points and intervals."""
import random
import unittest
from fractions import Fraction

from support import checker

try:
    import mpmath
    from mpmath import iv, mp
except ImportError:
    mpmath = None


def to_mp(x):
    """An end of an interval as an exact number of mpmath."""
    return mp.mpf(x) if isinstance(x, float) else mp.ldexp(mp.mpf(x), -checker.P)


def random_number(rng, low, high):
    """A dyadic number, often near to the ends, to whole numbers or to 0."""
    kind = rng.random()
    if kind < 0.1:
        return Fraction(rng.randint(int(low), int(high))) if int(low) <= int(high) else Fraction(low)
    if kind < 0.2:
        return Fraction(min(max(rng.choice([-1, 1]) * 2.0 ** rng.randint(-60, -2), low), high))
    return Fraction(rng.uniform(low, high))


DOMAINS = {"sin": (-40, 40), "cos": (-40, 40), "tan": (-1.5, 1.5), "exp": (-80, 80), "log": (1e-12, 1e12), "sqrt": (0, 1e9),
           "atan": (-1e6, 1e6), "sinh": (-30, 30), "cosh": (-30, 30), "tanh": (-30, 30), "asin": (-0.9999, 0.9999), "acos": (-0.9999, 0.9999)}


@unittest.skipIf(mpmath is None, "mpmath is not installed (Debian: python3-mpmath)")
class Enclosures(unittest.TestCase):
    def setUp(self):
        iv.prec = 200
        mp.prec = 260
        self.rng = random.Random(20061)

    def reference(self, name, x):
        """sinh, cosh, tanh, asin and acos are not functions of mpmath.iv: they are evaluated with 260 digits."""
        function = getattr(iv, name, None) if name in ("sin", "cos", "tan", "exp", "log", "sqrt") else None
        if function is not None:
            y = function(iv.mpf(mp.mpf(x.numerator) / x.denominator))
            return mp.mpf(y.a), mp.mpf(y.b)
        y = getattr(mp, name)(mp.mpf(x.numerator) / x.denominator)
        slack = mp.ldexp(abs(y) + mp.mpf(2) ** -100, -240)
        return y - slack, y + slack

    def test_every_function_encloses_the_value_at_random_points_and_is_sharp(self):
        for name, (low, high) in DOMAINS.items():
            for _ in range(400):
                x = random_number(self.rng, low, high)
                box = checker.from_fraction(x)
                self.assertEqual(box[0], box[1], "the point is dyadic with at most %d digits" % checker.P)
                y = function(name, box)
                lo, hi = self.reference(name, x)
                self.assertLessEqual(to_mp(y[0]), lo, (name, x))
                self.assertGreaterEqual(to_mp(y[1]), hi, (name, x))
                width = to_mp(y[1]) - to_mp(y[0])
                self.assertLess(width, mp.ldexp(1 + abs(hi), 40 - checker.P), (name, float(x)))

    def test_every_function_encloses_its_values_over_random_intervals(self):
        enclosed = 0
        for name, (low, high) in DOMAINS.items():
            for _ in range(150):
                a, b = sorted(random_number(self.rng, low, high) for _ in range(2))
                try:
                    y = function(name, (checker.from_fraction(a)[0], checker.from_fraction(b)[1]))
                except checker.Undefined:
                    continue                 # asin(x) is atan(x/sqrt(1 - x^2)): wide intervals may be refused
                enclosed += 1
                for x in [a, b] + [a + (b - a) * Fraction(self.rng.random()) for _ in range(4)]:
                    value = self.reference(name, x)
                    self.assertLessEqual(to_mp(y[0]), value[1], (name, float(a), float(b), float(x)))
                    self.assertGreaterEqual(to_mp(y[1]), value[0], (name, float(a), float(b), float(x)))
        self.assertGreater(enclosed, 1500)

    def test_sine_and_cosine_of_intervals_agree_with_mpmath(self):
        for name in ("sin", "cos"):
            for _ in range(600):
                a, b = sorted(random_number(self.rng, -9, 9) for _ in range(2))
                y = function(name, (checker.from_fraction(a)[0], checker.from_fraction(b)[1]))
                z = getattr(iv, name)(iv.mpf([mp.mpf(a.numerator) / a.denominator, mp.mpf(b.numerator) / b.denominator]))
                self.assertLess(abs(to_mp(y[0]) - mp.mpf(z.a)), mp.ldexp(1, 20 - checker.P), (name, float(a), float(b)))
                self.assertLess(abs(to_mp(y[1]) - mp.mpf(z.b)), mp.ldexp(1, 20 - checker.P), (name, float(a), float(b)))

    def test_arithmetic_encloses_exact_rational_results(self):
        rng = self.rng
        for _ in range(3000):
            a, b, c, d = (random_number(rng, -50, 50) for _ in range(4))
            x = (checker.from_fraction(min(a, b))[0], checker.from_fraction(max(a, b))[1])
            y = (checker.from_fraction(min(c, d))[0], checker.from_fraction(max(c, d))[1])
            p, q = a + (b - a) * Fraction(rng.random()), c + (d - c) * Fraction(rng.random())
            n = rng.randint(0, 7)
            cases = [(checker.add, p + q), (checker.sub, p - q), (checker.mul, p * q)]
            if y[0] > 0 or y[1] < 0:
                cases.append((checker.div, p / q))
            for function, value in cases:
                z = function(x, y)
                self.assertTrue(Fraction(z[0], checker.ONE) <= value <= Fraction(z[1], checker.ONE), (function, a, b, c, d))
            z = checker.power(x, n)
            self.assertTrue(Fraction(z[0], checker.ONE) <= p ** n <= Fraction(z[1], checker.ONE), (a, b, n))

    def test_two_argument_functions_enclose_the_value(self):
        for _ in range(1500):
            x, y = (random_number(self.rng, -5, 5) for _ in range(2))
            if x <= 0 and abs(y) < Fraction(1, 10 ** 9):      # next to its jump the angle is refused
                continue
            box = checker.evaluate([checker.call("atan2", Y, X)], {"x": checker.from_fraction(x), "y": checker.from_fraction(y)})[0]
            value = mp.atan2(mp.mpf(y.numerator) / y.denominator, mp.mpf(x.numerator) / x.denominator)
            self.assertTrue(to_mp(box[0]) <= value + mp.ldexp(1, -250) and value - mp.ldexp(1, -250) <= to_mp(box[1]), (x, y))
            if x > 0:
                box = checker.evaluate([checker.call("pow", X, checker.wrap(y))], {"x": checker.from_fraction(x)})[0]
                value = mp.power(mp.mpf(x.numerator) / x.denominator, mp.mpf(y.numerator) / y.denominator)
                slack = mp.ldexp(value, -240)
                self.assertTrue(to_mp(box[0]) <= value + slack and value - slack <= to_mp(box[1]), (x, y))

    def test_unbounded_ends_are_enclosed(self):
        inf, one = checker.INF, checker.ONE
        self.assertEqual(checker.mul((0, inf), (-inf, 0)), (-inf, 0))
        self.assertEqual(checker.mul((0, 0), (-inf, inf)), (0, 0))
        self.assertEqual(checker.sub((one, inf), (one, inf)), (-inf, inf))
        self.assertEqual(checker.add((-inf, one), (one, inf)), (-inf, inf))
        self.assertEqual(checker.power((-inf, one), 2), (0, inf))
        self.assertEqual(checker.reciprocal((one, inf))[0], 0)
        self.assertEqual(checker.sine((0, inf)), (-one, one))
        self.assertEqual(checker.exponential((-inf, 0))[0], 0)
        self.assertGreaterEqual(checker.exponential((-inf, 0))[1], one)
        self.assertEqual(checker.exponential((0, inf))[1], inf)
        self.assertEqual(checker.logarithm((one, inf))[1], inf)
        self.assertGreaterEqual(function("tanh", (-inf, inf))[1], one)
        self.assertGreater(checker.arctan((-inf, inf))[1], 3 * one // 2)

    def test_pi_is_enclosed(self):
        self.assertTrue(to_mp(checker.PI[0]) < mp.pi < to_mp(checker.PI[1]))
        self.assertLessEqual(checker.PI[1] - checker.PI[0], 2)
        self.assertTrue(2 * to_mp(checker.HALF_PI[0]) < mp.pi < 2 * to_mp(checker.HALF_PI[1]))


X, Y = checker.Node("sym", "x"), checker.Node("sym", "y")


def function(name, box):
    """Enclosure of a function; some are written with others."""
    return checker.evaluate([checker.call(name, X)], {"x": box})[0]


class Partial(unittest.TestCase):
    def test_a_function_outside_its_domain_is_undefined_and_not_a_number(self):
        one = checker.ONE
        for name, box in [("sqrt", (-1, one)), ("log", (0, one)), ("asin", (0, one + 1)), ("tan", (one, 2 * one))]:
            with self.assertRaises(checker.Undefined, msg=name):
                function(name, box)
        with self.assertRaises(checker.Undefined):
            checker.div((one, one), (-1, 1))


if __name__ == "__main__":
    unittest.main()
