# SPDX-License-Identifier: Apache-2.0
"""End states of test problems for integrators: Van der Pol's oscillator, Robertson's kinetics, Arenstorf's orbit."""

from mpmath import mp, mpf

from collocation import integrate

DIGITS = 40


def van_der_pol(estimate):
    """x'' = ((1 - x^2) x' - x)/eps with eps = 1e-6 from (2, 0), at t = 2."""
    rate = mpf(10) ** 6

    def f(x):
        return [x[1], ((1 - x[0] ** 2) * x[1] - x[0]) * rate]

    def jacobian(x):
        return [[mpf(0), mpf(1)], [(-2 * x[0] * x[1] - 1) * rate, (1 - x[0] ** 2) * rate]]

    return integrate(f, jacobian, [mpf(2), mpf(0)], mpf(2), "1e-8", estimate, [mpf(1), mpf(1)])


def robertson(estimate):
    """Three reacting substances from (1, 0, 0), at t = 40 and at t = 1e11."""
    slow, middle, fast = mpf("0.04"), mpf(10) ** 4, 3 * mpf(10) ** 7

    def f(x):
        first, third = -slow * x[0] + middle * x[1] * x[2], fast * x[1] ** 2
        return [first, -first - third, third]

    def jacobian(x):
        first = [-slow, middle * x[2], middle * x[1]]
        third = [mpf(0), 2 * fast * x[1], mpf(0)]
        return [first, [-a - b for a, b in zip(first, third)], third]

    # At t = 1e11 the first substance is 2e-8 and the second 8e-14. The floors are below what an error of 1e-16 needs there.
    floors = [mpf("1e-6"), mpf("1e-9"), mpf(1)]
    at_40 = integrate(f, jacobian, [mpf(1), mpf(0), mpf(0)], mpf(40), "1e-7", estimate, floors)
    return at_40, integrate(f, jacobian, at_40, mpf(10) ** 11 - 40, "1e-2", estimate, floors)


# Arenstorf's orbit as published ([Hairer] I, II.0): mass of the moon, speed at the start, period.
MOON = "0.012277471"
SPEED = "-2.00158510637908252240537862224"
PERIOD = "17.0652165601579625588917206249"


def arenstorf_after_one_period(estimate):
    moon = mpf(MOON)
    earth = 1 - moon

    def parts(x):
        a, b, y = x[0] + moon, x[0] - earth, x[1]
        return a, b, y, (a * a + y * y) ** mpf("-1.5"), (b * b + y * y) ** mpf("-1.5")

    def f(x):
        a, b, y, p, q = parts(x)
        return [x[2], x[3], x[0] + 2 * x[3] - earth * a * p - moon * b * q, y - 2 * x[2] - earth * y * p - moon * y * q]

    def jacobian(x):
        a, b, y, p, q = parts(x)
        r, w = p / (a * a + y * y), q / (b * b + y * y)
        xx = 1 - earth * (p - 3 * a * a * r) - moon * (q - 3 * b * b * w)
        xy = 3 * (earth * a * y * r + moon * b * y * w)
        yy = 1 - earth * (p - 3 * y * y * r) - moon * (q - 3 * y * y * w)
        return [[0, 0, 1, 0], [0, 0, 0, 1], [xx, xy, 0, 2], [xy, yy, -2, 0]]

    start = [mpf("0.994"), mpf(0), mpf(0), mpf(SPEED)]
    return integrate(f, jacobian, start, mpf(PERIOD), "1e-4", estimate, [mpf(1)] * 4)


def entries():
    mp.dps = DIGITS
    digits = 20
    text = lambda values: [mp.nstr(v, digits) for v in values]
    estimate = mpf("1e-13")
    at_40, at_1e11 = robertson(estimate)
    return {
        "additional_van_der_pol": {
            "source": "[Hairer] IV.1; x'' = ((1 - x^2) x' - x)/eps",
            "inputs": {"eps": 1e-6, "initial": [2, 0], "t": 2},
            "outputs": {"x": text(van_der_pol(estimate))},
            "tolerance": 1e-18,
            "how_obtained": "scripts/ode_problems.py, Radau IIA with 9 stages and 40 digits. A Taylor series of degree 30 with 113 bits gives the same 19 digits.",
        },
        "additional_robertson": {
            "source": "[Hairer] IV.1, [IVPTestSet]; x1' = -0.04 x1 + 1e4 x2 x3, x3' = 3e7 x2^2, x1 + x2 + x3 = 1",
            "inputs": {"initial": [1, 0, 0], "t": [40, 1e11]},
            "outputs": {"at_40": text(at_40), "at_1e11": text(at_1e11)},
            "tolerance": 1e-16,
            "how_obtained": "scripts/ode_problems.py, Radau IIA with 9 stages and 40 digits. The tolerance is relative for each component. The values of [IVPTestSet] at 1e11 differ by 2e-14.",
        },
        "additional_arenstorf": {
            "source": "[Hairer] II.0; Arenstorf's orbit between earth and moon",
            "inputs": {"mu": MOON, "initial": ["0.994", "0", "0", SPEED], "period": PERIOD},
            "outputs": {"return_error": mp.nstr(max(abs(a - b) for a, b in zip(
                arenstorf_after_one_period(estimate), [mpf("0.994"), 0, 0, mpf(SPEED)])), 2)},
            "tolerance": 1e-15,
            "how_obtained": "Speed and period as published. scripts/ode_problems.py integrates one period with 40 digits; return_error is the largest difference to the start.",
        },
    }
