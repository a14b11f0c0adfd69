# SPDX-License-Identifier: Apache-2.0
"""Integration of stiff and non-stiff differential equations with many digits.

Collocation at the Radau points (Radau IIA, order 2s - 1) with s = 9 stages:

    Z_i = x + h sum_j A_ij f(Z_j),    x(t + h) = Z_s.

The stages are solved by Newton's method with the Jacobian at the beginning of the step. The step is chosen by the highest
Legendre coefficient of the stage derivatives, times h; it is of the order h^s, while the error of the step is of the order h^2s.
So `estimate` = 1e-14 gives about 25 correct digits for smooth solutions. Integrate with two values to see the accuracy.
"""

from mpmath import mp, mpf

STAGES = 9


def legendre(n, x):
    """P_0 ... P_n at x in [-1, 1]."""
    values = [mpf(1), x]
    for k in range(1, n):
        values.append(((2 * k + 1) * x * values[k] - k * values[k - 1]) / (k + 1))
    return values[: n + 1]


def solve(matrix, right):
    """Solves with several right-hand sides (Gaussian elimination with pivots); `right` is a list of columns."""
    factors = factorised(matrix)
    return [substituted(factors, column) for column in right]


def factorised(matrix):
    a = [row[:] for row in matrix]
    n = len(a)
    order = list(range(n))
    for k in range(n):
        pivot = max(range(k, n), key=lambda i: abs(a[i][k]))
        a[k], a[pivot] = a[pivot], a[k]
        order[k], order[pivot] = order[pivot], order[k]
        row, inverse = a[k], 1 / a[k][k]
        for i in range(k + 1, n):
            factor = a[i][k] * inverse
            if factor == 0:
                continue
            target = a[i]
            target[k] = factor
            for j in range(k + 1, n):
                target[j] -= factor * row[j]
    return a, order


def substituted(factors, right):
    a, order = factors
    n = len(a)
    y = [right[i] for i in order]
    for i in range(n):
        row = a[i]
        y[i] -= sum((row[j] * y[j] for j in range(i)), mpf(0))
    for i in reversed(range(n)):
        row = a[i]
        y[i] = (y[i] - sum((row[j] * y[j] for j in range(i + 1, n)), mpf(0))) / row[i]
    return y


def radau(s):
    """Nodes c and the matrix A of Radau IIA; the row of A with c = 1 is last and gives the weights."""
    # The nodes are the roots of P_s - P_(s-1) on [0, 1], found between sign changes on a fine grid; c = 1 is one of them.
    def q(c):
        values = legendre(s, 2 * c - 1)
        return values[s] - values[s - 1]

    grid = [(1 - mp.cos(mp.pi * k / (40 * s))) / 2 for k in range(40 * s)]
    nodes = [mp.findroot(q, (a, b), solver="anderson") for a, b in zip(grid, grid[1:]) if q(a) * q(b) < 0]
    nodes = sorted(nodes)[: s - 1] + [mpf(1)]
    # A integrates the powers 1 ... c^(s-1) exactly: sum_j A_ij c_j^k = c_i^(k+1)/(k + 1).
    powers = [[c**k for c in nodes] for k in range(s)]
    A = solve(powers, [[c ** (k + 1) / (k + 1) for k in range(s)] for c in nodes])
    return nodes, A


def highest_coefficient(nodes):
    """The weights that give the coefficient of P_(s-1) from values at the nodes."""
    s = len(nodes)
    table = [legendre(s - 1, 2 * c - 1) for c in nodes]
    transposed = [[table[i][k] for i in range(s)] for k in range(s)]
    unit = [mpf(0)] * (s - 1) + [mpf(1)]
    return solve(transposed, [unit])[0]


# Stages are solved to this part of the sizes of the components.
STAGE_TOLERANCE = mpf("1e-25")


def integrate(f, jacobian, x, duration, first_step, estimate, floors):
    """The state after `duration` from x. `f` and `jacobian` take the state. Errors are measured relative to the size of each
    component, which is its magnitude, but at least its floor."""
    n, s = len(x), STAGES
    nodes, A = radau(s)
    last = highest_coefficient(nodes)
    t, h = mpf(0), mpf(first_step)
    while t < duration:
        h = min(h, duration - t)
        scale = [max(abs(value), floor) for value, floor in zip(x, floors)]
        J = jacobian(x)
        matrix = [[(1 if i == j and a == b else 0) - h * A[i][j] * J[a][b] for j in range(s) for b in range(n)]
                  for i in range(s) for a in range(n)]
        factors = factorised(matrix)
        Z = [x[:] for _ in range(s)]
        converged, previous = False, None
        for _ in range(60):
            F = [f(z) for z in Z]
            right = [x[a] + h * sum(A[i][j] * F[j][a] for j in range(s)) - Z[i][a] for i in range(s) for a in range(n)]
            change = substituted(factors, right)
            for i in range(s):
                for a in range(n):
                    Z[i][a] += change[i * n + a]
            size = max(abs(change[i * n + a]) / scale[a] for i in range(s) for a in range(n))
            if size < STAGE_TOLERANCE:
                converged = True
                break
            if previous is not None and size > mpf("0.5") * previous:
                break
            previous = size
        if not converged:
            h /= 2
            continue
        F = [f(z) for z in Z]
        error = max(abs(h * sum(w * F[i][a] for i, w in enumerate(last))) / scale[a] for a in range(n))
        if error > estimate:
            h *= max(mpf("0.2"), mpf("0.8") * (estimate / error) ** (mpf(1) / s))
            continue
        t += h
        x = Z[-1]
        h *= min(mpf(3), mpf("0.9") * (estimate / max(error, STAGE_TOLERANCE)) ** (mpf(1) / s))
    return x
