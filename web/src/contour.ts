// SPDX-License-Identifier: Apache-2.0
// Level lines of a function on a grid.
import type { Point } from "./xyplot";

/// A function on a regular grid: rows of nx values, from the lowest y upwards.
export interface Grid {
    x: [number, number];
    y: [number, number];
    nx: number;
    ny: number;
    values: (number | null)[];
}

/// The line on which the function has this value, as segments with null between them (marching squares). The function is
/// interpolated linearly on the sides of each cell.
export function contour(g: Grid, level: number): (Point | null)[] {
    const out: (Point | null)[] = [];
    const dx = (g.x[1] - g.x[0]) / (g.nx - 1);
    const dy = (g.y[1] - g.y[0]) / (g.ny - 1);
    for (let j = 0; j + 1 < g.ny; ++j)
        for (let i = 0; i + 1 < g.nx; ++i) {
            const corner = [
                [i, j],
                [i + 1, j],
                [i + 1, j + 1],
                [i, j + 1],
            ];
            const v = corner.map(([a, b]) => g.values[b * g.nx + a]);
            if (v.some((f) => f == null || !Number.isFinite(f))) continue;
            const cross: Point[] = [];
            for (let k = 0; k < 4; ++k) {
                const a = v[k]! - level;
                const b = v[(k + 1) % 4]! - level;
                if (a < 0 === b < 0) continue;
                const s = a / (a - b);
                const [p, q] = [corner[k], corner[(k + 1) % 4]];
                cross.push([g.x[0] + dx * (p[0] + s * (q[0] - p[0])), g.y[0] + dy * (p[1] + s * (q[1] - p[1]))]);
            }
            for (let k = 0; k + 1 < cross.length; k += 2) out.push(cross[k], cross[k + 1], null);
        }
    return out;
}

/// The value at a point, interpolated linearly between the nodes; null outside the grid or beside a missing node.
export function valueAt(g: Grid, [x, y]: Point): number | null {
    const fx = ((x - g.x[0]) / (g.x[1] - g.x[0])) * (g.nx - 1);
    const fy = ((y - g.y[0]) / (g.y[1] - g.y[0])) * (g.ny - 1);
    if (!(fx >= 0 && fy >= 0 && fx <= g.nx - 1 && fy <= g.ny - 1)) return null;
    const [i, j] = [Math.min(Math.floor(fx), g.nx - 2), Math.min(Math.floor(fy), g.ny - 2)];
    const [s, t] = [fx - i, fy - j];
    const at = (a: number, b: number) => g.values[(j + b) * g.nx + i + a];
    const corners = [at(0, 0), at(1, 0), at(0, 1), at(1, 1)];
    if (corners.some((v) => v == null)) return null;
    const [a, b, c, d] = corners as number[];
    return (1 - t) * ((1 - s) * a + s * b) + t * ((1 - s) * c + s * d);
}

/// Levels between the lowest and the highest value, denser near the lowest: an energy grows quadratically around its
/// minimum, so that these level lines are about equally far apart.
export function levels(g: Grid, count: number): number[] {
    const v = g.values.filter((f): f is number => f != null && Number.isFinite(f));
    const lo = v.reduce((a, b) => Math.min(a, b), Infinity);
    const hi = v.reduce((a, b) => Math.max(a, b), -Infinity);
    return Array.from({ length: count }, (_, k) => lo + ((hi - lo) * (k + 1) ** 2) / (count + 1) ** 2);
}
