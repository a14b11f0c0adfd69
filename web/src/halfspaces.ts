// SPDX-License-Identifier: Apache-2.0
// Polygons and polyhedra that half planes and half spaces cut out.

/// All p with normal·p + distance >= 0.
export interface HalfSpace {
    normal: number[];
    distance: number;
}

const dot = (a: number[], b: number[]) => a.reduce((s, x, k) => s + x * b[k], 0);

/// The part of a convex polygon (in the plane or in space) in a half space. The corners keep their order; the polygon is
/// empty if nothing of it is left (Sutherland and Hodgman).
export function clip(polygon: number[][], h: HalfSpace): number[][] {
    const out: number[][] = [];
    polygon.forEach((p, k) => {
        const q = polygon[(k + 1) % polygon.length];
        const [a, b] = [dot(h.normal, p) + h.distance, dot(h.normal, q) + h.distance];
        if (a >= 0) out.push(p);
        if (a * b < 0) out.push(p.map((x, i) => x + (a / (a - b)) * (q[i] - x)));
    });
    return out.length > 2 ? out : [];
}

/// The box between two corners, cut by half planes: a polygon, counter-clockwise.
export function clippedBox(low: number[], high: number[], list: HalfSpace[]): number[][] {
    let polygon = [[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]];
    for (const h of list) polygon = clip(polygon, h);
    return polygon;
}

/// The faces of the polyhedron that half spaces cut out of a ball of the radius `size` around `centre` (approximately):
/// for each half space the part of its plane that satisfies all others. Faces beyond the ball are cut by its box.
export function faces(list: HalfSpace[], centre: number[], size: number): number[][][] {
    const box: HalfSpace[] = [0, 1, 2].flatMap((k) =>
        [1, -1].map((s) => ({ normal: [0, 1, 2].map((i) => (i === k ? s : 0)), distance: size - s * centre[k] })),
    );
    const out: number[][][] = [];
    list.forEach((h, k) => {
        const length = Math.hypot(...h.normal);
        if (length === 0) return;
        const n = h.normal.map((x) => x / length);
        const away = dot(n, centre) + h.distance / length;
        if (Math.abs(away) > 2 * size) return;
        const foot = centre.map((x, i) => x - away * n[i]);
        const [e, f] = orthogonal(n);
        const reach = 4 * size;
        let face = [[1, 1], [-1, 1], [-1, -1], [1, -1]].map(([a, b]) => foot.map((x, i) => x + reach * (a * e[i] + b * f[i])));
        for (const other of [...list.filter((_, i) => i !== k), ...box]) face = clip(face, other);
        if (face.length) out.push(face);
    });
    return out;
}

/// Two unit vectors that are orthogonal to the unit vector n and to each other.
function orthogonal(n: number[]): [number[], number[]] {
    const k = n.map(Math.abs).indexOf(Math.min(...n.map(Math.abs)));
    const axis = [0, 1, 2].map((i) => (i === k ? 1 : 0));
    const part = dot(axis, n);
    const raw = axis.map((x, i) => x - part * n[i]);
    const length = Math.hypot(...raw);
    const e = raw.map((x) => x / length);
    return [e, cross(n, e)];
}

export function cross(a: number[], b: number[]): number[] {
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

/// The Cholesky factor L of a symmetric positive definite matrix: A = L Lᵀ, lower triangular.
export function cholesky(A: number[][]): number[][] {
    const n = A.length;
    const L = A.map(() => new Array<number>(n).fill(0));
    for (let i = 0; i < n; ++i)
        for (let j = 0; j <= i; ++j) {
            let s = A[i][j];
            for (let k = 0; k < j; ++k) s -= L[i][k] * L[j][k];
            L[i][j] = i === j ? Math.sqrt(Math.max(0, s)) : s / L[j][j];
        }
    return L;
}

/// The solution x of Lᵀ x = y for a lower triangular L. Unit vectors y give the points with xᵀ(L Lᵀ)x = 1.
export function solveTransposed(L: number[][], y: number[]): number[] {
    const n = L.length;
    const x = new Array<number>(n).fill(0);
    for (let i = n - 1; i >= 0; --i) {
        let s = y[i];
        for (let k = i + 1; k < n; ++k) s -= L[k][i] * x[k];
        x[i] = s / L[i][i];
    }
    return x;
}
