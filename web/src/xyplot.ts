// SPDX-License-Identifier: Apache-2.0
// Plots of one quantity over another. uPlot draws axes and legend and handles zoom; layers are painted on top.
import uPlot from "uplot";
import { el, num } from "./dom";
import { drawn } from "./drawn_registry";
import { color, curveColor, onTheme } from "./theme";
import { fit, type LivePlot, wheelZoom } from "./timeplot";

export type Point = [number, number];

/// A layer of a plot: a curve (null interrupts it), an area, marks, circles, or a function that paints.
export interface Layer {
    label: string;
    kind: "path" | "polygon" | "points" | "circle" | "custom";
    points?: (Point | null)[];
    radius?: number; // of circles, in units of the axes
    hue?: number;
    color?: () => string; // in the place of the colour of `hue`
    dash?: number[];
    width?: number;
    opacity?: number; // of the inside of a polygon
    dots?: boolean; // small marks at the points of a path
    size?: number; // of marks
    names?: string[];
    hidden?: boolean;
    aside?: boolean; // does not count for the ranges of the axes
    paint?: (u: uPlot) => void;
    at?: (x: number, y: number) => string | null; // text for the place under the pointer
}

/// A plot.
export interface Plane {
    title: string;
    x: string;
    y: string;
    layers: Layer[];
    range?: [Point, Point]; // x and y
    equal?: [number, number]; // lengths on the screen of one unit of x and of y, up to a common factor
    rows?: string[]; // names of y = 0, 1, … in the place of numbers
    log?: boolean; // both axes logarithmic
    height?: number;
    onPick?: (x: number, y: number) => void; // the user clicked here
}

/// Values that differ by less than this part of the largest, or by less than leastRange in the unit of the axis, are one:
/// axes of rounding noise have no numbers.
const rounding = 1e-12;
const leastRange = 1e-14;

/// The ranges of x and y over all layers, with 7 % of space around them.
function extent(layers: Layer[]): [Point, Point] {
    let x: Point = [Infinity, -Infinity];
    let y: Point = [Infinity, -Infinity];
    for (const l of layers.filter((k) => !k.aside))
        for (const p of l.points ?? []) {
            if (!p || !Number.isFinite(p[0]) || !Number.isFinite(p[1])) continue;
            const r = l.kind === "circle" ? (l.radius ?? 0) : 0;
            x = [Math.min(x[0], p[0] - r), Math.max(x[1], p[0] + r)];
            y = [Math.min(y[0], p[1] - r), Math.max(y[1], p[1] + r)];
        }
    const wide = ([a, b]: Point): Point => {
        if (!(b >= a)) return [-1, 1];
        const largest = Math.max(Math.abs(a), Math.abs(b));
        const margin = b - a > Math.max(leastRange, rounding * largest) ? 0.07 * (b - a) : largest > leastRange ? largest : 1;
        return [a - margin, b + margin];
    };
    return [wide(x), wide(y)];
}

/// The width of a vertical axis whose numbers do not reach its name.
const numbersWidth = (_u: uPlot, values: string[] | null): number => Math.max(58, 19 + 7 * Math.max(0, ...(values ?? []).map((v) => v.length)));

/// Draws a plot. uPlot gets the corners of the ranges as data, so that it scales the axes, and an empty series for each
/// layer, so that it has a legend; the layers are painted by the draw hook.
export function xyPlot(plane: Plane): HTMLElement {
    return liveXyPlot(plane).frame;
}

/// The same for layers that change. The new ones must have the same kinds, labels and colours, in the same order.
export function liveXyPlot(plane: Plane): LivePlot<[Layer[]]> {
    let { layers } = plane;
    const frame = el("section", { class: "panel plot xy" }, el("h3", {}, plane.title));
    let [rx, ry] = plane.range ?? extent(layers);
    if (plane.log) {
        const positive = layers.flatMap((l) => (l.points ?? []).filter((p): p is Point => !!p && p[0] > 0 && p[1] > 0));
        const span = (k: 0 | 1): Point => {
            const v = positive.map((p) => p[k]);
            const lo = Math.min(...v);
            const hi = Math.max(...v);
            return v.length === 0 ? [0.1, 10] : lo < hi ? [lo / 1.5, hi * 1.5] : [lo / 3, hi * 3];
        };
        [rx, ry] = [span(0), span(1)];
    }
    const hue = (k: number) => layers[k].color?.() ?? curveColor(layers[k].hue ?? k);
    const place = (u: uPlot, p: Point): Point => [u.valToPos(p[0], "x", true), u.valToPos(p[1], "y", true)];
    // Series 0 is x, series 1 the corners; layer k is series k + 2.
    const shown = (u: uPlot, k: number) => u.series[k + 2].show !== false;

    const paintLayer = (u: uPlot, k: number) => {
        const l = layers[k];
        const c = u.ctx;
        c.strokeStyle = c.fillStyle = hue(k);
        c.lineWidth = (l.width ?? 1.5) * devicePixelRatio;
        c.setLineDash((l.dash ?? []).map((d) => d * devicePixelRatio));
        if (l.kind === "custom") return l.paint?.(u);
        const points = l.points ?? [];
        if (l.kind === "points") {
            points.forEach((p, i) => {
                if (!p) return;
                const [x, y] = place(u, p);
                c.beginPath();
                c.arc(x, y, (l.size ?? 4) * devicePixelRatio, 0, 7);
                c.fill();
                if (l.names?.[i]) labels.push({ text: l.names[i], x, y, style: hue(k) });
            });
            return;
        }
        if (l.kind === "circle") {
            for (const p of points) {
                if (!p) continue;
                const [x, y] = place(u, p);
                const r = l.radius ?? 0;
                const a = Math.abs(u.valToPos(p[0] + r, "x", true) - x);
                const b = Math.abs(u.valToPos(p[1] + r, "y", true) - y);
                c.beginPath();
                c.ellipse(x, y, a, b, 0, 0, 7);
                c.stroke();
            }
            return;
        }
        c.beginPath();
        let pen = false;
        for (const p of points) {
            if (!p) {
                pen = false;
                continue;
            }
            const [x, y] = place(u, p);
            if (pen) c.lineTo(x, y);
            else c.moveTo(x, y);
            pen = true;
        }
        if (l.kind === "polygon") {
            c.closePath();
            c.globalAlpha = l.opacity ?? 0.25;
            c.fill();
            c.globalAlpha = 1;
        }
        c.stroke();
        // The name of a line stands beside the middle of the ends of each of its parts.
        if (l.kind === "path" && l.names) {
            let part = 0;
            let first: Point | null = null;
            points.forEach((p, i) => {
                if (!p) return;
                first ??= p;
                if (points[i + 1]) return;
                const [x, y] = place(u, [(first[0] + p[0]) / 2, (first[1] + p[1]) / 2]);
                if (l.names![part]) labels.push({ text: l.names![part], x, y, style: hue(k) });
                ++part;
                first = null;
            });
        }
        if (!l.dots) return;
        c.setLineDash([]);
        for (const p of points) {
            if (!p) continue;
            c.beginPath();
            c.arc(...place(u, p), 2.2 * devicePixelRatio, 0, 7);
            c.fill();
        }
    };
    let labels: { text: string; x: number; y: number; style: string }[] = []; // beside marks, drawn last
    const paint = (u: uPlot) => {
        const c = u.ctx;
        c.save();
        c.beginPath();
        c.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
        c.clip();
        c.lineJoin = "round";
        labels = [];
        for (let k = 0; k < layers.length; ++k) if (shown(u, k)) paintLayer(u, k);
        c.setLineDash([]);
        writeLabels(u, labels);
        c.restore();
    };
    const axis = (label: string): uPlot.Axis => ({
        label,
        labelSize: 20,
        labelFont: "12px system-ui, sans-serif",
        font: "12px system-ui, sans-serif",
        size: label === plane.x ? 34 : plane.rows ? (plane.rows.some((n) => n) ? 120 : 20) : numbersWidth,
        stroke: () => color("muted"),
        grid: { stroke: () => color("grid"), width: 1 },
        ticks: { stroke: () => color("grid"), width: 1 },
        ...(plane.rows && label === plane.y ? named(plane.rows) : {}),
        ...(plane.rows && label === plane.y ? {} : plane.log ? decades : { values: (_u: uPlot, ticks: number[]) => ticks.map((v) => num(v, 5)) }),
    });
    const height = plane.height ?? 320;
    const scale = plane.log ? { distr: 3 as const } : {};
    const opts: uPlot.Options = {
        width: 600,
        height,
        cursor: { drag: { x: true, y: true, uni: 12 }, points: { show: false } },
        legend: { live: false },
        scales: {
            x: { time: false, range: (_u, a, b) => [a, b], ...scale },
            y: { range: (_u, a, b) => [a, b], ...scale },
        },
        series: [
            { label: plane.x },
            { label: "", stroke: "transparent", points: { show: false } },
            ...layers.map((l, k) => ({
                label: l.label,
                stroke: () => hue(k),
                show: !l.hidden,
                paths: () => null,
                points: { show: false },
            })),
        ],
        axes: [axis(plane.x), axis(plane.y)],
        hooks: { draw: [paint] },
        plugins: [wheelZoom(true), tip(plane, () => layers, shown)],
    };
    /// The ranges as data. With `equal` one of the two ranges is extended.
    const corners = (): uPlot.AlignedData => {
        let [ax, ay] = [rx, ry];
        if (plane.equal && plot) {
            const [w, h] = [plot.over.clientWidth || 1, plot.over.clientHeight || 1];
            const [sx, sy] = plane.equal;
            const pixel = Math.max(((rx[1] - rx[0]) * sx) / w, ((ry[1] - ry[0]) * sy) / h);
            const grow = (r: Point, length: number): Point => {
                const more = (length - (r[1] - r[0])) / 2;
                return [r[0] - more, r[1] + more];
            };
            [ax, ay] = [grow(rx, (pixel * w) / sx), grow(ry, (pixel * h) / sy)];
        }
        return [ax, ay, ...layers.map(() => [null, null])] as uPlot.AlignedData;
    };
    let plot: uPlot | null = null;
    plot = new uPlot(opts, corners(), frame);
    plot.setData(corners());
    if (plane.equal) new ResizeObserver(() => plot!.setData(corners())).observe(plot.over);
    fit(plot, frame, height);
    const p = plot;
    if (plane.onPick) pick(p, plane.onPick);
    onTheme(() => p.redraw(false, true), frame);
    drawn.plots.push({
        title: plane.title,
        element: frame,
        axes: () => ({ x: plane.x, y: plane.y }),
        series: () =>
            layers.map((l, k) => {
                const y = (l.points ?? []).filter((q): q is Point => !!q).map((q) => q[1]);
                return {
                    label: l.label,
                    min: y.reduce((a, b) => Math.min(a, b), Infinity),
                    max: y.reduce((a, b) => Math.max(a, b), -Infinity),
                    jumps: (l.points ?? []).filter((q) => !q).length,
                    visible: shown(p, k),
                    points: l.points,
                };
            }),
    });
    const update = (newLayers: Layer[]) => {
        layers = newLayers;
        if (!plane.range) [rx, ry] = extent(layers);
        p.setData(corners());
    };
    return { frame, update };
}

/// Calls f where the user clicks without dragging.
function pick(u: uPlot, f: (x: number, y: number) => void): void {
    const still = 4; // pixels that the pointer may move between press and release
    let down: Point = [NaN, NaN];
    u.over.style.cursor = "crosshair";
    u.over.addEventListener("mousedown", (e) => (down = [e.clientX, e.clientY]));
    u.over.addEventListener("click", (e) => {
        if (!(Math.hypot(e.clientX - down[0], e.clientY - down[1]) <= still)) return;
        const box = u.over.getBoundingClientRect();
        f(u.posToVal(e.clientX - box.left, "x"), u.posToVal(e.clientY - box.top, "y"));
    });
}

/// Writes the names beside their marks, each at the first of eight places inside the plot where it covers no other name and no
/// mark. If there is none then where it is inside the plot.
function writeLabels(u: uPlot, labels: { text: string; x: number; y: number; style: string }[]): void {
    const c = u.ctx;
    const r = devicePixelRatio;
    const height = 13 * r;
    c.font = `${12 * r}px system-ui, sans-serif`;
    c.lineWidth = 3 * r;
    c.textAlign = "left";
    c.textBaseline = "alphabetic";
    const taken = labels.map((l) => ({ x: l.x - 4 * r, y: l.y - 4 * r, w: 8 * r, h: 8 * r }));
    labels.forEach((l, own) => {
        const w = c.measureText(l.text).width;
        const [right, left, up, down] = [l.x + 7 * r, l.x - 7 * r - w, l.y - 7 * r, l.y + 7 * r + height];
        const places = [[right, up], [right, down], [left, up], [left, down], [right, l.y + height / 3], [left, l.y + height / 3], [l.x - w / 2, up - 4 * r], [l.x - w / 2, down + 4 * r]];
        const box = ([x, y]: number[]) => ({ x, y: y - height, w, h: height });
        const free = (p: number[]) => {
            const b = box(p);
            return taken.every((t, k) => k === own || b.x > t.x + t.w || t.x > b.x + b.w || b.y > t.y + t.h || t.y > b.y + b.h);
        };
        const inside = (p: number[]) => p[0] >= u.bbox.left && p[0] + w <= u.bbox.left + u.bbox.width && p[1] - height >= u.bbox.top && p[1] <= u.bbox.top + u.bbox.height;
        const at = places.find((p) => free(p) && inside(p)) ?? places.find(inside) ?? places[0];
        taken.push(box(at));
        c.strokeStyle = color("panel");
        c.strokeText(l.text, at[0], at[1]);
        c.fillStyle = l.style;
        c.fillText(l.text, at[0], at[1]);
    });
}

/// An axis with a name at each whole number.
const named = (rows: string[]): Pick<uPlot.Axis, "splits" | "values" | "grid" | "ticks"> => ({
    splits: () => rows.map((_, k) => k),
    values: (_u, ticks) => ticks.map((k) => rows[k] ?? ""),
    grid: { show: false },
    ticks: { show: false },
});

/// Ticks of a logarithmic axis at 1, 2, … 9 times each power of ten. Powers of ten have numbers; 2 and 5 have numbers if
/// there is less than two powers of ten.
const decades: Pick<uPlot.Axis, "splits" | "values" | "filter"> = {
    splits: (_u, _axis, low, high) => {
        const ticks: number[] = [];
        for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); ++e)
            for (let m = 1; m < 10; ++m) {
                const v = Number(`${m}e${e}`);
                if (v >= low && v <= high) ticks.push(v);
            }
        return ticks;
    },
    filter: (_u, ticks) => ticks,
    values: (_u, ticks) => {
        const digit = (v: number) => Number(v.toExponential(0)[0]);
        const whole = ticks.filter((v) => digit(v) === 1).length;
        const every = Math.ceil(whole / 8);
        return ticks.map((v) => {
            if (digit(v) === 1) return Math.round(Math.log10(v)) % every === 0 ? num(v, 5) : "";
            return whole < 2 && (digit(v) === 2 || digit(v) === 5) ? num(v, 5) : "";
        });
    },
};

/// A text beside the pointer: the nearest visible point within 24 pixels, or the text of a layer.
function tip(plane: Plane, current: () => Layer[], shown: (u: uPlot, k: number) => boolean): uPlot.Plugin {
    const box = el("div", { class: "tip" });
    return {
        hooks: {
            ready: (u: uPlot) => {
                u.over.append(box);
                u.over.addEventListener("mouseleave", () => (box.style.display = "none"));
            },
            setCursor: (u: uPlot) => {
                const { left, top } = u.cursor;
                if (left == null || top == null || left < 0) return;
                let best = 24;
                let text: string | null = null;
                current().forEach((l, k) => {
                    if (!shown(u, k)) return;
                    if (l.at) text = l.at(u.posToVal(left, "x"), u.posToVal(top, "y")) ?? text;
                    if (l.kind === "custom") return;
                    (l.points ?? []).forEach((p, i) => {
                        if (!p) return;
                        const d = Math.hypot(u.valToPos(p[0], "x") - left, u.valToPos(p[1], "y") - top);
                        if (d >= best) return;
                        best = d;
                        text = `${l.names?.[i] ?? l.label}: ${plane.x} ${num(p[0])}, ${plane.y} ${num(p[1])}`;
                    });
                });
                box.style.display = text ? "block" : "none";
                if (text) box.textContent = text;
                box.style.left = Math.min(left + 12, u.over.clientWidth - 180) + "px";
                box.style.top = Math.max(top - 28, 0) + "px";
            },
        },
    };
}
