// SPDX-License-Identifier: Apache-2.0
import { Clock, locate } from "./clock";
import { el } from "./dom";
import { Projection, type Vec } from "./projection";
import { drawn } from "./drawn_registry";
import { color, curveColor, onTheme } from "./theme";
import type { LivePlot } from "./timeplot";
import type { Drawing, Motion, Shape } from "./report_document";

/// The numbers of a drawing at one time, interpolated linearly between two samples.
class Values {
    private k = 0;
    private s = 0;
    constructor(
        private readonly d: Drawing,
        private readonly t: number[],
    ) {}
    /// Sets the time.
    at(t: number): void {
        [this.k, this.s] = locate(this.t, t);
    }
    get(index: number): number {
        const v = this.d.values[index];
        if (typeof v === "number") return v;
        const a = v[this.k];
        return a + this.s * ((v[this.k + 1] ?? a) - a);
    }
    point(indices: number[], first = 0): Vec {
        const n = this.d.dimension;
        return [this.get(indices[first]), this.get(indices[first + 1]), n > 2 ? this.get(indices[first + 2]) : 0];
    }
    /// All samples of a number; one entry if it is constant.
    course(index: number): number[] {
        const v = this.d.values[index];
        return typeof v === "number" ? [v] : v;
    }
}

/// The box around a drawing over all times, or its `view`.
function bounds(d: Drawing): [Vec, Vec] {
    if (d.view) return [[d.view[0], d.view[1], 0], [d.view[2], d.view[3], 0]];
    const low: Vec = [Infinity, Infinity, Infinity];
    const high: Vec = [-Infinity, -Infinity, -Infinity];
    const take = (k: number, lo: number, hi: number) => {
        if (Number.isFinite(lo)) low[k] = Math.min(low[k], lo);
        if (Number.isFinite(hi)) high[k] = Math.max(high[k], hi);
    };
    const range = (index: number): [number, number] => {
        const v = d.values[index];
        if (typeof v === "number") return [v, v];
        return [v.reduce((a, b) => Math.min(a, b), Infinity), v.reduce((a, b) => Math.max(a, b), -Infinity)];
    };
    for (const s of d.shapes) {
        const n = s.kind === "circle" ? d.dimension : s.values.length;
        const r = s.kind === "circle" ? range(s.values[d.dimension])[1] : 0;
        for (let i = 0; i < n; ++i) {
            const [lo, hi] = range(s.values[i]);
            take(i % d.dimension, lo - r, hi + r);
        }
    }
    for (const frame of d.points ?? []) for (let i = 0; i < frame.length; ++i) take(i % 3, frame[i], frame[i]);
    for (let k = 0; k < 3; ++k) if (!(high[k] >= low[k])) [low[k], high[k]] = [0, 0];
    return [low, high];
}

/// The animation of a motion. It follows the clock.
export function animation(m: Motion, clock: Clock): HTMLElement {
    return liveAnimation(m, clock).frame;
}

/// The same for motions of one model that change. The camera stays.
export function liveAnimation(m: Motion, clock: Clock): LivePlot<[Motion]> {
    let d = m.drawing!;
    const canvas = el("canvas", { class: "scene", role: "img", "aria-label": "animation of " + m.model });
    const forces = el("input", { type: "checkbox" });
    forces.checked = true;
    const tools = el("label", { class: "tool" }, forces, " forces");
    const hint = d.dimension > 2 ? "drag to turn, shift-drag to move, Ctrl-wheel to zoom" : "drag to move, Ctrl-wheel to zoom";
    const frame = el(
        "section",
        { class: "panel animation" },
        el("h3", {}, "Motion"),
        canvas,
        clock.bar,
        el("div", { class: "hint" }, m.forces.length && d.contacts.length ? tools : null, el("span", {}, hint)),
    );
    let values = new Values(d, m.t);
    const [low, high] = bounds(d);
    const draw = () => paint(clock.time());
    const projection = new Projection(canvas, d.dimension > 2, low, high, draw);
    const size = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2]);
    // Ground first, bodies last; in space lines are in front of bodies.
    const order = { ground: 0, line: d.dimension > 2 ? 3 : 1, body: 2 };
    const sorted = () => [...d.shapes].sort((a, b) => order[a.style] - order[b.style]);
    let shapes = sorted();
    // The largest normal force has an arrow of a quarter of the drawing. 1e-300: no division by zero.
    const largestForce = () => m.forces.reduce((s, f) => f.N.reduce((r: number, v) => Math.max(r, Math.abs(v ?? 0)), s), 1e-300);
    let largest = largestForce();

    const paint = (t: number) => {
        values.at(t);
        const c = projection.begin();
        c.lineJoin = c.lineCap = "round";
        for (const s of shapes) paintShape(c, s);
        if (d.points) paintPoints(c, t);
        for (const mark of d.contacts) paintContact(c, mark, t);
    };

    /// Sets colours and line width for a shape.
    const ink = (c: CanvasRenderingContext2D, s: Shape, stroke: number) => {
        c.lineWidth = stroke * devicePixelRatio;
        c.strokeStyle = s.style === "body" ? color("body") : s.style === "ground" ? color("ground") : color("muted");
        c.fillStyle = s.style === "body" ? color("bodyfill") : color("groundfill");
    };

    const paintShape = (c: CanvasRenderingContext2D, s: Shape) => {
        const n = d.dimension;
        ink(c, s, s.style === "body" ? 2.5 : 1.5);
        if (s.kind === "segment") {
            const [a, b] = [projection.place(values.point(s.values)), projection.place(values.point(s.values, n))];
            if (s.style === "body") c.lineWidth = 4 * devicePixelRatio;
            if (s.style === "line") c.lineWidth = devicePixelRatio;
            line(c, [a, b]);
            if (s.style === "ground" && n === 2) hatch(c, a, b);
        } else if (s.kind === "spring") {
            spring(c, projection.place(values.point(s.values)), projection.place(values.point(s.values, n)));
        } else if (s.kind === "circle") {
            const at = values.point(s.values);
            const r = projection.length(values.get(s.values[n]));
            const p = projection.place(at);
            c.beginPath();
            c.arc(p[0], p[1], Math.max(r, 2 * devicePixelRatio), 0, 7);
            c.fill();
            c.stroke();
            const angle = s.values[n + 1];
            if (n === 2 && (typeof d.values[angle] !== "number" || d.values[angle] !== 0)) {
                const a = values.get(angle);
                line(c, [p, [p[0] + r * Math.cos(a), p[1] - r * Math.sin(a), 0]]);
            }
        } else if (s.kind === "polygon") {
            const corners: Vec[] = [];
            for (let i = 0; i + n <= s.values.length; i += n) corners.push(projection.place(values.point(s.values, i)));
            c.beginPath();
            corners.forEach((p, i) => (i ? c.lineTo(p[0], p[1]) : c.moveTo(p[0], p[1])));
            c.closePath();
            c.fill();
            c.stroke();
        } else {
            const xs = s.values.map((v) => values.course(v));
            const [k] = locate(m.t, clock.time());
            c.strokeStyle = color("accent");
            c.lineWidth = devicePixelRatio;
            c.globalAlpha = 0.6;
            const path: Vec[] = [];
            for (let i = 0; i <= k; ++i)
                path.push(projection.place(xs.map((v) => (v.length > 1 ? v[i] : v[0])) as unknown as Vec));
            path.push(projection.place(values.point(s.values)));
            line(c, path);
            c.globalAlpha = 1;
        }
    };

    /// Mass points with the lines between them; closed ones are highlighted. Contacts of obstacles are named "name.pK".
    const paintPoints = (c: CanvasRenderingContext2D, t: number) => {
        const [k, s] = locate(d.frames!, t);
        const [a, b] = [d.points![k], d.points![Math.min(k + 1, d.points!.length - 1)]];
        const p: Vec[] = [];
        for (let i = 0; i + 2 < a.length; i += 3)
            p.push(projection.place([0, 1, 2].map((x) => a[i + x] + s * (b[i + x] - a[i + x]))));
        for (const plane of d.planes ?? []) paintPlane(c, plane.normal, values.get(plane.offset));
        c.strokeStyle = color("body");
        c.globalAlpha = 0.55;
        c.lineWidth = devicePixelRatio;
        c.beginPath();
        for (const [i, j] of d.lines ?? []) {
            c.moveTo(p[i][0], p[i][1]);
            c.lineTo(p[j][0], p[j][1]);
        }
        c.stroke();
        c.globalAlpha = 1;
        const closed = new Set<number>();
        const arc = arcAt(m, t);
        for (const f of m.forces) {
            const point = /\.p(\d+)$/.exec(f.name);
            if (point && (f.modes?.[arc] ?? "o") !== "o") closed.add(Number(point[1]));
        }
        p.forEach((q, i) => {
            c.fillStyle = closed.has(i) ? color("accent") : color("body");
            c.beginPath();
            c.arc(q[0], q[1], (closed.has(i) ? 4 : 2.5) * devicePixelRatio, 0, 7);
            c.fill();
        });
    };

    /// A square part of the plane normal·x = offset, near the drawing, with a grid.
    const paintPlane = (c: CanvasRenderingContext2D, normal: Vec, offset: number) => {
        const other: Vec = Math.abs(normal[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
        const a = unit(cross(normal, other));
        const b = cross(normal, a);
        const length = Math.hypot(...normal);
        const centre = [0, 1, 2].map((k) => (low[k] + high[k]) / 2);
        const away = (offset - centre[0] * normal[0] - centre[1] * normal[1] - centre[2] * normal[2]) / length ** 2;
        const half = size * 0.22;
        const at = (x: number, y: number) =>
            projection.place([0, 1, 2].map((k) => centre[k] + away * normal[k] + half * (x * a[k] + y * b[k])));
        c.fillStyle = color("groundfill");
        c.strokeStyle = color("ground");
        c.lineWidth = devicePixelRatio;
        c.beginPath();
        [at(-1, -1), at(1, -1), at(1, 1), at(-1, 1)].forEach((q, i) => (i ? c.lineTo(q[0], q[1]) : c.moveTo(q[0], q[1])));
        c.closePath();
        c.globalAlpha = 0.6;
        c.fill();
        c.globalAlpha = 1;
        c.stroke();
        for (let k = -1; k <= 1; k += 0.5) {
            line(c, [at(k, -1), at(k, 1)]);
            line(c, [at(-1, k), at(1, k)]);
        }
    };

    /// The mark of a contact, filled if it is closed, and the arrow of its force.
    const paintContact = (c: CanvasRenderingContext2D, mark: Drawing["contacts"][0], t: number) => {
        const at = values.point(mark.at);
        const p = projection.place(at);
        const f = m.forces.find((g) => g.name === mark.name);
        const mode = f?.modes?.[arcAt(m, t)] ?? "o";
        const closed = mode !== "o";
        c.beginPath();
        c.arc(p[0], p[1], 4 * devicePixelRatio, 0, 7);
        c.lineWidth = 1.5 * devicePixelRatio;
        c.strokeStyle = c.fillStyle = closed ? (mode === "l" ? curveColor(1) : color("accent")) : color("muted");
        if (closed) c.fill();
        else c.stroke();
        if (!f || !closed || !forces.checked || mark.normal.length === 0) return;
        const [k, s] = locate(m.t, t);
        const between = (v: (number | null)[]) => (v[k] ?? 0) + s * ((v[k + 1] ?? v[k] ?? 0) - (v[k] ?? 0));
        const normal = unit(values.point(mark.normal));
        const tangent: Vec = mark.tangent.length ? unit(values.point(mark.tangent)) : [normal[1], -normal[0], 0];
        const N = between(f.N);
        const T = f.T.length === 1 ? between(f.T[0]) : 0;
        const scale = (0.25 * size) / largest;
        const tip = [0, 1, 2].map((i) => at[i] + scale * (N * normal[i] + T * tangent[i]));
        arrow(c, p, projection.place(tip));
    };

    forces.onchange = draw;
    clock.follow(paint);
    new ResizeObserver(draw).observe(canvas);
    onTheme(draw, frame);
    drawn.animations.push({ title: m.model, element: frame, time: () => clock.time(), playing: () => clock.playing() });
    const update = (motion: Motion) => {
        m = motion;
        d = m.drawing!;
        values = new Values(d, m.t);
        shapes = sorted();
        largest = largestForce();
        draw();
    };
    return { frame, update };
}

/// The number of the arc at time t.
function arcAt(m: Motion, t: number): number {
    let k = 0;
    while (k < m.arcs.length && m.arcs[k] <= t) ++k;
    return k;
}

function cross(a: Vec, b: Vec): Vec {
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

function unit(v: Vec): Vec {
    const n = Math.hypot(v[0], v[1], v[2]) || 1;
    return [v[0] / n, v[1] / n, v[2] / n];
}

function line(c: CanvasRenderingContext2D, points: Vec[]): void {
    c.beginPath();
    points.forEach((p, i) => (i ? c.lineTo(p[0], p[1]) : c.moveTo(p[0], p[1])));
    c.stroke();
}

/// Hatches the side of a line on which the ground lies: to the right of a → b.
function hatch(c: CanvasRenderingContext2D, a: Vec, b: Vec): void {
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
    if (length < 1) return;
    const step = 9 * devicePixelRatio;
    const [ux, uy] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
    c.lineWidth = devicePixelRatio;
    c.beginPath();
    for (let s = step; s <= length; s += step) {
        const [x, y] = [a[0] + ux * s, a[1] + uy * s];
        c.moveTo(x, y);
        c.lineTo(x - (ux + uy) * step * 0.8, y + (ux - uy) * step * 0.8);
    }
    c.stroke();
}

function spring(c: CanvasRenderingContext2D, a: Vec, b: Vec): void {
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]) || 1;
    const [ux, uy] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
    const wide = 5 * devicePixelRatio;
    const coils = 12;
    c.lineWidth = 1.5 * devicePixelRatio;
    c.beginPath();
    c.moveTo(a[0], a[1]);
    for (let k = 0; k <= coils; ++k) {
        const s = length * (0.12 + (0.76 * k) / coils);
        const w = k === 0 || k === coils ? 0 : k % 2 ? wide : -wide;
        c.lineTo(a[0] + ux * s - uy * w, a[1] + uy * s + ux * w);
    }
    c.lineTo(b[0], b[1]);
    c.stroke();
}

function arrow(c: CanvasRenderingContext2D, a: Vec, b: Vec): void {
    const length = Math.hypot(b[0] - a[0], b[1] - a[1]);
    if (length < 2) return;
    const [ux, uy] = [(b[0] - a[0]) / length, (b[1] - a[1]) / length];
    const head = Math.min(8 * devicePixelRatio, length);
    c.strokeStyle = c.fillStyle = curveColor(3);
    c.lineWidth = 2 * devicePixelRatio;
    line(c, [a, b]);
    c.beginPath();
    c.moveTo(b[0], b[1]);
    c.lineTo(b[0] - head * (ux + 0.45 * uy), b[1] - head * (uy - 0.45 * ux));
    c.lineTo(b[0] - head * (ux - 0.45 * uy), b[1] - head * (uy + 0.45 * ux));
    c.fill();
}
