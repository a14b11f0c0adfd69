# SPDX-License-Identifier: Apache-2.0
"""Points on the boundary of the Coulomb-Contensou body of a round contact patch with uniform pressure.

The patch slides with the velocity v and turns with the rate w about its centre; k = |v|/(w R). It turns about the point at the distance
k R from its centre, so the friction power is F w R I(k), where I(k) is the mean distance of the points of the unit disk
from a point at distance k. Force and moment are F phi and F R psi with

    phi = I'(k),   psi = I(k) - k I'(k).

With the complete elliptic integrals K and E of the parameter m = k^2 (k <= 1):

    phi = 4/(3 pi k) [(1 + m) E - (1 - m) K],   psi = 4/(9 pi) [(4 - 2m) E - (1 - m) K]

and of n = 1/k^2 (k > 1):

    phi = 4/(3 pi n) [(1 + n) E - (1 - n) K],   psi = 4/(9 pi k n^2) [(4n - 2) E + (1 - n)(2 - 3n) K].

check() compares k phi + psi with the integral I(k) in polar coordinates, which does not use elliptic integrals.
"""

from mpmath import mp, mpf

DIGITS = 60  # k = 1e9 loses 36 of them in the formula of psi

RATIOS = [1e-9, 0.001, 0.0625, 0.25, 0.5, 0.6875, 0.75, 0.875, 0.96875, 0.9990234375, 0.9999999990686774, 1.0,
          1.0009765625, 1.25, 1.5, 2.0, 8.0, 1024.0, 1e9]


def boundary(k):
    k = mpf(k)
    if k <= 1:
        m = k * k
        E, C = mp.ellipe(m), (1 - m) * mp.ellipk(m) if k < 1 else mpf(0)
        return 4 / (3 * mp.pi * k) * ((1 + m) * E - C), 4 / (9 * mp.pi) * ((4 - 2 * m) * E - C)
    n = 1 / k**2
    E, C = mp.ellipe(n), (1 - n) * mp.ellipk(n)
    return 4 / (3 * mp.pi * n) * ((1 + n) * E - C), 4 / (9 * mp.pi * k * n**2) * ((4 * n - 2) * E + (2 - 3 * n) * C)


def mean_distance(k):
    """I(k) in polar coordinates about the point: rays from it meet the unit circle at distances r with |r e + k| = 1."""
    k = mpf(k)
    if k <= 1:
        def ray(angle):  # both directions of a line through the point
            root = mp.sqrt(1 - (k * mp.sin(angle)) ** 2)
            return (root - k * mp.cos(angle)) ** 3 + (root + k * mp.cos(angle)) ** 3
        return mp.quad(ray, mp.linspace(0, mp.pi / 2, 5)) * 2 / (3 * mp.pi)
    def chord(t):  # k sin(angle) = sin(t)
        cosine, c = mp.sqrt(1 - (mp.sin(t) / k) ** 2), mp.cos(t)
        return ((k * cosine + c) ** 3 - (k * cosine - c) ** 3) * c / (k * cosine)
    return mp.quad(chord, mp.linspace(0, mp.pi / 2, 5)) * 2 / (3 * mp.pi)


def check():
    for k in RATIOS:
        phi, psi = boundary(k)
        expected = mean_distance(k)
        # At the rim, k = 1, the integrand has a kink at the end of the interval.
        assert abs(mpf(k) * phi + psi - expected) < mpf("1e-18") * expected, k


def entries():
    mp.dps = DIGITS
    check()
    rows = [{"k": k, "phi": mp.nstr(boundary(k)[0], 20), "psi": mp.nstr(boundary(k)[1], 20)} for k in RATIOS]
    return {
        "additional_contensou_boundary": {
            "source": "[Contensou]; friction of a round patch with uniform pressure",
            "inputs": {"k": "the ratio |v|/(w R)"},
            "outputs": {"rows": rows},
            "tolerance": 1e-19,
            "how_obtained": "scripts/contensou.py: closed forms with 60 digits, compared with quadrature of the mean distance. The tolerance is relative.",
        }
    }
