// SPDX-License-Identifier: Apache-2.0
// The picture of a collision: admissible velocities P⁺, approaching velocities P⁻, what impulses reach, balls, the
// consistency set. The space is `picture` of the JSON of `saltus impact`: a velocity u is drawn at p = map·u + offset, and
// lengths are measured by `metric`.
import { el, largest, num, section } from "./dom";
import { type Known, withUnit } from "./motion_view";
import { axisLabel } from "./stability_view";
import { cholesky, clippedBox, cross, faces, type HalfSpace, solveTransposed } from "./halfspaces";
import { spaceView, type SpaceLayer } from "./space_view";
import { type Layer, type Point, xyPlot } from "./xyplot";

type Vector = number[];

/// The numbers of a picture with the velocities of the collision in its space.
interface Drawn {
    axes: string[];
    at: (u: Vector) => Vector; // place of a velocity
    turn: (du: Vector) => Vector; // place of a difference of velocities
    L: number[][]; // metric = L Lᵀ
    scale: number[]; // length on the screen of one unit of each axis: balls are round if the metric is diagonal
    plus: HalfSpace[]; // γ >= 0
    minus: HalfSpace[]; // γ <= 0
    z: Vector;
    jumps: Vector[];
    balls: { centre: Vector; radius: number; name: string }[];
    marks: { label: string; p: Vector; hue: number }[];
}

/// Whether a mark is a corner point of P⁺.
const isCorner = (label: string) => /^b\d*( = b₀)?$/.test(label);

/// "gammaN left" as the reader knows it, with its unit if the page knows it.
function axisName(name: string, known: Known): string {
    const contact = /^gamma[NT] /.test(name);
    return contact ? withUnit(name.replace(/^gamma/, "γ"), known.units && `${known.units.length}/${known.units.time}`) : axisLabel(name, known);
}

function drawnOf(data: any, known: Known): Drawn | null {
    const P = data.picture;
    if (!P || !(P.dimension >= 1)) return null;
    const linear = (u: Vector) => P.map.map((row: Vector) => row.reduce((s, a, k) => s + a * u[k], 0));
    const at = (u: Vector) => linear(u).map((x: number, k: number) => x + P.offset[k]);
    const names = Object.keys(data.u_minus);
    const listed = (of: any): Vector | null => {
        const u = names.map((n) => of?.[n]);
        return u.every((x) => typeof x === "number") ? u : null;
    };
    const plus: HalfSpace[] = P.contacts.map((c: any) => ({ normal: c.normal, distance: c.distance }));
    const marks: Drawn["marks"] = [];
    const mark = (label: string, u: Vector | null, hue: number) => {
        if (u) marks.push({ label, p: at(u), hue });
    };
    (data.corner_points ?? []).forEach((b: Vector, k: number) => mark(`b${data.corner_points.length > 1 ? k + 1 : ""}`, b, 4));
    mark("u⁻", listed(data.u_minus), 7);
    if (Object.keys(data.impulse ?? {}).length) marks.push({ label: "z⁻", p: P.z_minus, hue: 7 });
    const b0 = data.work?.min == null ? null : listed(data.work?.b0);
    // b₀ is often one of the corner points; then both share a name.
    const corner = b0 && marks.find((m) => isCorner(m.label) && m.p.every((x, k) => Math.abs(x - at(b0)[k]) <= 1e-9 * Math.max(1, Math.abs(x))));
    if (corner) corner.label += " = b₀";
    else mark("b₀", b0, 3);
    if (data.nearest?.distance > 1e-9) mark("nearest", listed(data.nearest?.u), 2);
    mark("u⁺", listed(data.u_plus), 1);
    return {
        axes: P.axes.map((name: string) => axisName(name, known)),
        at,
        turn: linear,
        L: cholesky(P.metric),
        scale: P.metric.map((row: Vector, k: number) => Math.sqrt(row[k])),
        plus,
        minus: plus.map((h) => ({ normal: h.normal.map((x) => -x), distance: -h.distance })),
        z: P.z_minus,
        jumps: P.jumps,
        balls: P.balls
            .filter((b: any) => b.radius_squared > 0)
            .map((b: any, k: number) => ({ centre: b.centre, radius: Math.sqrt(b.radius_squared), name: b.contacts?.join(", ") || `b${k + 1}` })),
        marks,
    };
}

/// The picture of a collision: on a line, in a plane, or in space. A sentence if there is none.
export function velocityPicture(data: any, known: Known): HTMLElement {
    const d = drawnOf(data, known);
    if (!d) return section("Velocities after the impact", el("p", {}, `No picture: ${data.picture?.why ?? "the result has none"}.`));
    const view = d.axes.length === 1 ? line(data, d) : d.axes.length === 2 ? plane(data, d) : space(data, d);
    if (data.picture.relative)
        view.append(el("p", { class: "hint" }, "The axes are relative velocities of contacts. Motions that no contact changes are left out."));
    return view;
}

const title = "Velocities after the impact that supply no energy";

/// Points on a piece of the boundary of the consistency set: the first end of a segment, 60 points of an elliptic arc.
function piecePoints(piece: any, d: Drawn): Vector[] {
    if (piece.kind !== "arc") return [d.at(piece.from)];
    const [a, b] = piece.phi;
    return Array.from({ length: 60 }, (_, k) => {
        const phi = a + ((b - a) * k) / 60;
        const u = piece.centre.map((x: number, c: number) => x + Math.cos(phi) * piece.first[c] + Math.sin(phi) * piece.second[c]);
        return d.at(u);
    });
}

/// The ball ‖p − centre‖ = radius in the metric, along two unit vectors of its space.
function ellipse(d: Drawn, centre: Vector, radius: number, e: Vector, f: Vector, count = 121): Vector[] {
    return Array.from({ length: count }, (_, i) => {
        const phi = (2 * Math.PI * i) / (count - 1);
        const x = solveTransposed(d.L, e.map((a, k) => radius * (Math.cos(phi) * a + Math.sin(phi) * f[k])));
        return centre.map((c, k) => c + x[k]);
    });
}

/// The half planes of the cone z + cone(jumps) in the plane. The clockwise extreme generator a has all others on its
/// left, the counter-clockwise one b on its right. A cone without such generators is the whole plane.
function coneHalfPlanes(d: Drawn): HalfSpace[] {
    const turn = (a: Vector, b: Vector) => a[0] * b[1] - a[1] * b[0];
    const size = (a: Vector) => Math.hypot(a[0], a[1]);
    const tolerance = 1e-9; // of the sine of an angle
    const left = (a: Vector, b: Vector) => turn(a, b) >= -tolerance * size(a) * size(b);
    const list: HalfSpace[] = [];
    const half = (n: Vector) => ({ normal: n, distance: -(n[0] * d.z[0] + n[1] * d.z[1]) });
    const a = d.jumps.find((j) => size(j) > 0 && d.jumps.every((k) => left(j, k)));
    const b = d.jumps.find((j) => size(j) > 0 && d.jumps.every((k) => left(k, j)));
    if (a) list.push(half([-a[1], a[0]]));
    if (b) list.push(half([b[1], -b[0]]));
    return list;
}

/// u⁺ of each impact law over e.
function lawPaths(data: any, d: Drawn): { label: string; points: (Vector | null)[]; hue: number }[] {
    return (data.laws ?? []).map((l: any, k: number) => ({
        label: `${l.law}, e = 0 … 1`,
        points: l.u_plus.map((u: Vector | null) => (u ? d.at(u) : null)),
        hue: [1, 5, 6][k],
    }));
}

/// Two dimensions.
function plane(data: any, d: Drawn): HTMLElement {
    const outline = (data.set?.pieces ?? []).flatMap((p: any) => piecePoints(p, d)) as Point[];
    const vertices = (data.set?.vertices ?? []).map((u: Vector) => d.at(u)) as Point[];
    const laws = lawPaths(data, d);
    const important = [...outline, ...vertices, ...d.marks.map((m) => m.p), d.z, ...laws.flatMap((l) => l.points.filter((p) => p))] as Point[];
    const range = [0, 1].map((k): Point => {
        const v = important.map((p) => p[k]);
        const [lo, hi] = [Math.min(...v), Math.max(...v)];
        const margin = 0.25 * (hi - lo) || Math.abs(hi) * 0.25 || 1;
        return [lo - margin, hi + margin];
    }) as [Point, Point];
    // Areas reach beyond the frame, so that the plot can be moved and zoomed out.
    const spread = 4;
    const wide = (k: 0 | 1, s: number) => (range[k][0] + range[k][1]) / 2 + s * spread * Math.max((range[k][1] - range[k][0]) * d.scale[k], (range[1 - k][1] - range[1 - k][0]) * d.scale[1 - k]) / d.scale[k];
    const area = (list: HalfSpace[]) => clippedBox([wide(0, -1), wide(1, -1)], [wide(0, 1), wide(1, 1)], list) as Point[];
    const layers: Layer[] = [];
    const add = (label: string, list: HalfSpace[], hue: number, extra: Partial<Layer> = {}) => {
        const points = area(list);
        if (points.length) layers.push({ label, kind: "polygon", points, hue, aside: true, opacity: 0.1, width: 1.2, ...extra });
    };
    if (d.plus.length) {
        add("P⁺, admissible u⁺", d.plus, 2);
        add("P⁻, approaching u⁻", d.minus, 3);
    }
    if (d.jumps.length) add("u⁻ plus impulses", coneHalfPlanes(d), 7, { dash: [7, 4], opacity: 0.06 });
    if (outline.length > 2) layers.push({ label: "consistent u⁺", kind: "polygon", points: outline, hue: 0, opacity: 0.45, width: 2.5 });
    else if (vertices.length) layers.push({ label: "consistent u⁺", kind: vertices.length > 1 ? "path" : "points", points: vertices, hue: 0, width: 5 });
    d.balls.forEach((b, k) =>
        layers.push({ label: `ball around ${b.name}`, kind: "path", points: ellipse(d, b.centre, b.radius, [1, 0], [0, 1]) as Point[], hue: 4 + 2 * (k % 2), dash: [5, 4], width: 1.2, aside: true }),
    );
    for (const l of laws) layers.push({ label: l.label, kind: "path", points: l.points as (Point | null)[], hue: l.hue, width: 2.2, dots: true });
    layers.push(...markLayers(d.marks.map((m) => ({ ...m, p: m.p as Point }))));
    return xyPlot({
        title: title + (data.set?.area > 0 && !data.picture.relative ? `, area ${num(data.set.area)}` : ""),
        x: d.axes[0],
        y: d.axes[1],
        layers,
        range,
        equal: [d.scale[0], d.scale[1]],
        height: 520,
    });
}

/// Corner points share one layer, every other mark has its own.
function markLayers(marks: { label: string; p: Point; hue: number }[]): Layer[] {
    const corners = marks.filter((m) => isCorner(m.label));
    const layers: Layer[] = [];
    if (corners.length)
        layers.push({ label: "corner points", kind: "points", points: corners.map((m) => m.p), names: corners.map((m) => m.label), hue: 4 });
    for (const m of marks)
        if (!corners.includes(m)) layers.push({ label: m.label, kind: "points", points: [m.p], names: [m.label], hue: m.hue, size: 5 });
    return layers;
}

/// One dimension: intervals above each other.
function line(data: any, d: Drawn): HTMLElement {
    const set = (data.set?.vertices ?? []).map((u: Vector) => d.at(u)[0]) as number[];
    const marks = d.marks.map((m) => m.p[0]);
    const balls = d.balls.map((b): [number, number] => [b.centre[0] - b.radius / d.L[0][0], b.centre[0] + b.radius / d.L[0][0]]);
    const all = [...set, ...marks, d.z[0], ...balls.flat(), 0];
    const [lo, hi] = [Math.min(...all), Math.max(...all)];
    const margin = 0.2 * (hi - lo) || 1;
    const far = 20 * margin; // an interval without an end leaves the frame
    /// The interval that half lines leave; empty: null.
    const interval = (list: HalfSpace[]): [number, number] | null => {
        let [a, b] = [lo - far, hi + far];
        for (const h of list) {
            const n = h.normal[0];
            if (n > 0) a = Math.max(a, -h.distance / n);
            else if (n < 0) b = Math.min(b, -h.distance / n);
            else if (h.distance < 0) return null;
        }
        return a <= b ? [a, b] : null;
    };
    const reach: HalfSpace[] = [];
    if (d.jumps.length && d.jumps.every((j) => j[0] >= 0)) reach.push({ normal: [1], distance: -d.z[0] });
    if (d.jumps.length && d.jumps.every((j) => j[0] <= 0)) reach.push({ normal: [-1], distance: d.z[0] });
    const rows: { label: string; range: [number, number] | null; hue: number }[] = [
        { label: "P⁻", range: interval(d.minus), hue: 3 },
        { label: "P⁺", range: interval(d.plus), hue: 2 },
        { label: "u⁻ plus impulses", range: d.jumps.length ? interval(reach) : null, hue: 7 },
        ...d.balls.map((b, k) => ({ label: `ball ${b.name}`, range: balls[k], hue: 4 + 2 * (k % 2) })),
        { label: "consistent u⁺", range: set.length ? ([Math.min(...set), Math.max(...set)] as [number, number]) : null, hue: 0 },
    ];
    const layers: Layer[] = rows.map((r, k) => ({
        label: r.range ? r.label : `${r.label}: empty`,
        kind: r.range && r.range[0] === r.range[1] ? "points" : "path",
        points: r.range ? [[r.range[0], rows.length - k], [r.range[1], rows.length - k]] : [],
        hue: r.hue,
        width: 9,
        aside: true,
    }));
    layers.push(...markLayers(d.marks.map((m) => ({ ...m, p: [m.p[0], 0] as Point }))));
    const names = ["", ...rows.map((r) => r.label).reverse()];
    const length = set.length > 1 ? `, length ${num(Math.max(...set) - Math.min(...set))}` : "";
    return xyPlot({
        title: title + length,
        x: d.axes[0],
        y: "",
        layers,
        rows: names,
        range: [[lo - margin, hi + margin], [-0.7, rows.length + 0.6]],
        height: 110 + 34 * rows.length,
    });
}

/// Three dimensions: the mesh of the set between the faces of P⁺, the cone of jumps, and balls by three great circles.
function space(data: any, d: Drawn): HTMLElement {
    const points: Vector[] = (data.set?.points ?? []).map((u: Vector) => d.at(u));
    const laws = lawPaths(data, d);
    const important = [...points, ...d.marks.map((m) => m.p), ...laws.flatMap((l) => l.points.filter((p): p is Vector => !!p))];
    const low = [0, 1, 2].map((k) => Math.min(...important.map((p) => p[k])));
    const high = [0, 1, 2].map((k) => Math.max(...important.map((p) => p[k])));
    const centre = low.map((x, k) => (x + high[k]) / 2);
    // Lengths on the screen are those of the scaled axes; so the size of the scene is measured there.
    const size = 0.62 * Math.max(...low.map((x, k) => (high[k] - x) * d.scale[k]), 1e-12);
    const scaled = (list: HalfSpace[]) => list.map((h) => ({ normal: h.normal.map((x, k) => x / d.scale[k]), distance: h.distance }));
    const back = (p: Vector) => p.map((x, k) => x / d.scale[k]);
    const polyhedron = (list: HalfSpace[]) => faces(scaled(list), centre.map((x, k) => x * d.scale[k]), size).map((f) => f.map(back));
    const layers: SpaceLayer[] = [];
    layers.push({ label: "P⁺, admissible u⁺", hue: 2, polygons: polyhedron(d.plus), opacity: 0.07 });
    layers.push({ label: "P⁻, approaching u⁻", hue: 3, polygons: polyhedron(d.minus), opacity: 0.07, hidden: true });
    layers.push({ label: "u⁻ plus impulses", hue: 7, polygons: coneFaces(d, size), opacity: 0.05, dash: [7, 4] });
    if (points.length) layers.push({ label: "consistent u⁺", hue: 0, mesh: { points, triangles: data.set.triangles } });
    d.balls.forEach((b, k) => {
        const unit = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];
        const lines = [[0, 1], [1, 2], [2, 0]].map(([i, j]) => ellipse(d, b.centre, b.radius, unit[i], unit[j], 91));
        layers.push({ label: `ball around ${b.name}`, hue: 4 + 2 * (k % 2), lines, dash: [4, 4], hidden: d.balls.length > 1 });
    });
    for (const l of laws) layers.push({ label: l.label, hue: l.hue, lines: [l.points.filter((p): p is Vector => !!p)] });
    layers.push({ label: "corner points", hue: 4, marks: d.marks.filter((m) => isCorner(m.label)).map((m) => ({ at: m.p, name: m.label })) });
    for (const m of d.marks.filter((k) => !isCorner(k.label))) layers.push({ label: m.label, hue: m.hue, marks: [{ at: m.p, name: m.label }] });
    const bounds = data.set?.volume_bounds;
    const volume = bounds && !data.picture.relative ? `, volume ${num(data.set.volume)} ± ${num((bounds[1] - bounds[0]) / 2, 2)}` : "";
    return spaceView({ title: title + volume, axes: d.axes, scale: d.scale, low, high, layers });
}

/// The faces of the cone of jumps at z⁻, up to the size of the scene: triangles of neighbouring extreme generators.
function coneFaces(d: Drawn, size: number): Vector[][] {
    const scaled = d.jumps.map((j) => j.map((x, k) => x * d.scale[k]));
    const unit = scaled.map((j) => j.map((x) => x / (Math.hypot(...j) || 1)));
    const dot = (a: Vector, b: Vector) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const out: Vector[][] = [];
    const tolerance = 1e-9; // of the sine of an angle
    for (let i = 0; i < unit.length; ++i)
        for (let j = i + 1; j < unit.length; ++j) {
            const n = cross(unit[i], unit[j]);
            const length = Math.hypot(...n);
            if (length < tolerance) continue;
            const sides = unit.map((u) => dot(n, u) / length);
            if (sides.some((s) => s > tolerance) && sides.some((s) => s < -tolerance)) continue;
            const tip = (u: Vector) => d.z.map((x, k) => x + (1.7 * size * u[k]) / d.scale[k]);
            out.push([d.z, tip(unit[i]), tip(unit[j])]);
        }
    return out;
}

/// The interval of the contact work on a line, with the allowed work.
export function workLine(data: any, known: Known): HTMLElement | null {
    const size = largest([data.energy?.before, data.energy?.after, data.work?.min, data.work?.max]);
    const clean = (x: unknown) => (typeof x === "number" && Math.abs(x) <= 1e-13 * size ? 0 : x);
    const work = { ...data.work, min: clean(data.work?.min) as number | null, max: clean(data.work?.max) as number | null };
    const ends = [work.min, work.max];
    const finite = ends.filter((x: unknown): x is number => typeof x === "number");
    const given = clean(work.given?.work);
    const alpha = data.alpha ?? 0;
    if (!finite.length && !work.why_min && !work.why_max) return null;
    const all = [...finite, alpha, ...(typeof given === "number" ? [given] : [])];
    const [lo, hi] = [Math.min(...all), Math.max(...all)];
    const margin = 0.15 * (hi - lo) || 1;
    const far = 20 * margin;
    const from = typeof work.min === "number" ? work.min : lo - far;
    const to = typeof work.max === "number" ? work.max : hi + far;
    const marks: { p: Point; name: string }[] = [];
    if (typeof work.min === "number") marks.push({ p: [work.min, 0], name: `least ${num(work.min)}` });
    if (typeof work.max === "number" && work.max !== work.min) marks.push({ p: [work.max, 0], name: `greatest ${num(work.max)}` });
    const layers: Layer[] = [
        { label: "contact work", kind: "path", points: [[from, 0], [to, 0]], hue: 0, width: 9, aside: true },
        { label: "ends", kind: "points", points: marks.map((m) => m.p), names: marks.map((m) => m.name), hue: 0 },
        { label: `allowed, ${num(alpha)}`, kind: "path", points: [[alpha, -0.6], [alpha, 0.6]], hue: 2, width: 2 },
    ];
    if (typeof given === "number") layers.push({ label: "by the impulses of the law", kind: "points", points: [[given, 0]], names: [num(given)], hue: 1, size: 5 });
    return xyPlot({ title: "Contact work of all impulses that lead to u⁺", x: withUnit("contact work", known.units?.energy), y: "", layers, rows: [""], range: [[lo - 2 * margin, hi + 2 * margin], [-1, 1]], height: 150 });
}
