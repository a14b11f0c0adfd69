// SPDX-License-Identifier: Apache-2.0
// Plots of quantities over time, drawn by uPlot.
import uPlot from "uplot";
import { el, largest, num } from "./dom";
import { drawn } from "./drawn_registry";
import { color, curveColor, onTheme } from "./theme";

/// A curve: a value for each time of its group.
export interface Line {
    label: string;
    values: (number | null)[];
    dash?: number[];
    hidden?: boolean;
    hue?: number; // number of its colour
}

/// A quantity that acts at single times, such as an impulse; drawn as stems against the right axis.
export interface Stem {
    label: string;
    at: Map<number, number>; // break → value
    hue?: number;
}

/// Plots over the same times. They share cursor and zoom, and show the time of the animation as a line.
export class TimeGroup {
    plots: uPlot[] = [];
    private setting = false; // zoom is being passed on; do not pass it back
    private now: number | null = null;
    /// Called with the time at which the user clicked.
    onPick: (t: number) => void = () => {};

    constructor(
        public t: number[],
        public breaks: number[],
        readonly key: string,
        readonly label = "t", // of the axis of time
    ) {}

    /// Passes the zoom of one plot to the others.
    zoom(from: uPlot): void {
        if (this.setting) return;
        this.setting = true;
        const { min, max } = from.scales.x;
        for (const p of this.plots)
            if (p !== from && min != null && max != null) p.setScale("x", { min, max });
        this.setting = false;
    }

    /// Sets the time that the animation shows.
    mark(t: number): void {
        this.now = t;
        for (const p of this.plots) p.redraw(false, false);
    }
    marked(): number | null {
        return this.now;
    }
}

interface TimeOptions {
    stems?: Stem[];
    stemLabel?: string;
    height?: number;
    label?: string;
    range?: [number, number]; // of y
}

/// A plot whose data can change. The new data must have the same curves and stems, in the same order.
export interface LivePlot<Data extends unknown[]> {
    frame: HTMLElement;
    update: (...data: Data) => void;
}

/// The rows of a plot over time: times, curves and stems.
interface Rows {
    x: number[];
    columns: (number | null)[][];
    stemColumns: (number | null)[][];
    breakRows: { row: number; at: number }[];
    stemEnds: number[]; // least and largest stem, with 0
}

function rowsOf(t: number[], breaks: number[], given: Line[], stems: Stem[]): Rows {
    // Rounding residue is drawn as 0, so that an axis never magnifies it.
    const residue = 1e-12 * given.reduce((s, l) => Math.max(s, largest(l.values)), 0);
    const values = given.map((l) => l.values.map((v) => (v != null && Math.abs(v) <= residue ? 0 : v)));
    const after = new Set(breaks);
    const x: number[] = [];
    const columns: (number | null)[][] = given.map(() => []);
    const stemColumns: (number | null)[][] = stems.map(() => []);
    // A row without values is inserted at each break, which interrupts the curves. Stems have their values there.
    const breakRows: { row: number; at: number }[] = [];
    for (let k = 0; k < t.length; ++k) {
        x.push(t[k]);
        values.forEach((v, i) => columns[i].push(v[k]));
        stemColumns.forEach((c) => c.push(null));
        if (!after.has(k)) continue;
        breakRows.push({ row: x.length, at: k });
        x.push(t[k]);
        columns.forEach((c) => c.push(null));
        stems.forEach((s, i) => stemColumns[i].push(s.at.get(k) ?? null));
    }
    const stemEnds = stemColumns.flat().reduce((r: number[], v) => (v == null ? r : [Math.min(r[0], v), Math.max(r[1], v)]), [0, 0]);
    return { x, columns, stemColumns, breakRows, stemEnds };
}

/// A plot of curves over time. At a break a curve ends with its left limit and continues with its right limit; if both
/// differ then a dotted line joins them.
export function timePlot(group: TimeGroup, title: string, lines: Line[], options: TimeOptions = {}): HTMLElement {
    return liveTimePlot(group, title, lines, options).frame;
}

/// The same for data that change; the times are those of the group at each update.
export function liveTimePlot(group: TimeGroup, title: string, lines: Line[], options: TimeOptions = {}): LivePlot<[Line[], Stem[]]> {
    const stems = options.stems ?? [];
    let { x, columns, stemColumns, breakRows, stemEnds } = rowsOf(group.t, group.breaks, lines, stems);
    const hue = (k: number) => curveColor(k < lines.length ? (lines[k].hue ?? k) : (stems[k - lines.length].hue ?? k));

    const frame = el("section", { class: "panel plot" }, el("h3", {}, title));
    const paint = (u: uPlot) => {
        const c = u.ctx;
        c.save();
        c.beginPath();
        c.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
        c.clip();
        c.lineWidth = devicePixelRatio;
        c.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
        lines.forEach((_, i) => {
            if (!u.series[i + 1].show) return;
            c.strokeStyle = hue(i);
            for (const b of breakRows) {
                const left = columns[i][b.row - 1];
                const right = columns[i][b.row + 1];
                if (left == null || right == null || left === right) continue;
                const px = u.valToPos(x[b.row], "x", true);
                c.beginPath();
                c.moveTo(px, u.valToPos(left, "y", true));
                c.lineTo(px, u.valToPos(right, "y", true));
                c.stroke();
            }
        });
        c.setLineDash([]);
        stems.forEach((_, i) => {
            if (!u.series[lines.length + i + 1].show) return;
            c.strokeStyle = c.fillStyle = hue(lines.length + i);
            for (const b of breakRows) {
                const v = stemColumns[i][b.row];
                if (v == null) continue;
                const px = u.valToPos(x[b.row], "x", true);
                const py = u.valToPos(v, "stem", true);
                c.beginPath();
                c.moveTo(px, u.valToPos(0, "stem", true));
                c.lineTo(px, py);
                c.stroke();
                c.beginPath();
                c.arc(px, py, 2.5 * devicePixelRatio, 0, 7);
                c.fill();
            }
        });
        const now = group.marked();
        if (now !== null) {
            c.strokeStyle = color("accent");
            c.beginPath();
            const px = u.valToPos(now, "x", true);
            c.moveTo(px, u.bbox.top);
            c.lineTo(px, u.bbox.top + u.bbox.height);
            c.stroke();
        }
        c.restore();
    };
    const value = (_: uPlot, v: number | null) => (v == null ? "–" : num(v));
    const axis = (side: number, scale: string): uPlot.Axis => ({
        side,
        scale,
        stroke: () => color("muted"),
        grid: { stroke: () => color("grid"), width: 1, show: scale !== "stem" },
        ticks: { stroke: () => color("grid"), width: 1 },
        size: side === 2 ? 30 : 54,
        font: "12px system-ui, sans-serif",
        label: side === 2 ? group.label : side === 3 ? options.label : options.stemLabel,
        labelSize: 18,
        labelGap: 0,
        labelFont: "12px system-ui, sans-serif",
        values: (_u: uPlot, ticks: number[]) => ticks.map((v) => num(v, 5)),
    });
    /// A range with some space around the values.
    const around = (_: uPlot, min: number, max: number): [number, number] => {
        if (min == null || max == null) return [-1, 1];
        const margin = max > min ? 0.06 * (max - min) : Math.abs(max) * 0.1 || 1;
        return [min - margin, max + margin];
    };
    /// With stems both vertical axes have their zero at one height: the range of forces contains 0 and has room on each
    /// side on which there are stems, and the range of the stems is a multiple of it.
    const withZero = (u: uPlot, min: number, max: number): [number, number] => {
        let [lo, hi] = around(u, Math.min(0, min ?? 0), Math.max(0, max ?? 0));
        const room = 0.25 * (hi - lo);
        if (stemEnds[1] > 0) hi = Math.max(hi, room);
        if (stemEnds[0] < 0) lo = Math.min(lo, -room);
        return [lo, hi];
    };
    const multiple = (_u: uPlot, min: number, max: number): [number, number] => {
        const margin = 1.06;
        const factor = Math.max(max > 0 ? stemEnds[1] / max : 0, min < 0 ? stemEnds[0] / min : 0) * margin || 1;
        return [min * factor, max * factor];
    };
    const height = options.height ?? 250;
    const opts: uPlot.Options = {
        width: 600,
        height,
        cursor: {
            sync: { key: group.key, setSeries: false },
            drag: { x: true, y: false },
            points: { size: 6 },
        },
        legend: { live: true },
        scales: {
            x: { time: false },
            y: { range: options.range ?? (stems.length ? withZero : around) },
            ...(stems.length ? { stem: { from: "y", range: multiple } } : {}),
        },
        series: [
            { label: group.label, value },
            ...lines.map((l, i) => ({
                label: l.label,
                stroke: () => hue(i),
                width: 1.5,
                dash: l.dash,
                show: !l.hidden,
                spanGaps: false,
                points: { show: false },
                value,
            })),
            ...stems.map((s, i) => ({
                label: s.label,
                scale: "stem",
                stroke: () => hue(lines.length + i),
                paths: () => null,
                points: { show: false },
                value,
            })),
        ],
        axes: [axis(2, "x"), axis(3, "y"), ...(stems.length ? [axis(1, "stem")] : [])],
        hooks: { draw: [paint], setScale: [(u, key) => key === "x" && group.zoom(u)] },
        plugins: [wheelZoom()],
    };
    const plot = new uPlot(opts, [x, ...columns, ...stemColumns] as uPlot.AlignedData, frame);
    group.plots.push(plot);
    plot.over.addEventListener("click", () => {
        if (plot.cursor.idx != null) group.onPick(x[plot.cursor.idx]);
    });
    fit(plot, frame, height);
    onTheme(() => plot.redraw(false, true), frame);
    drawn.plots.push({
        title,
        element: frame,
        axes: () => ({ t: group.label, y: options.label ?? "", stem: options.stemLabel ?? "" }),
        scales: () => Object.fromEntries(Object.entries(plot.scales).map(([k, s]) => [k, [s.min ?? NaN, s.max ?? NaN]])),
        series: () =>
            [...lines, ...stems].map((s, i) => {
                const values = (plot.data[i + 1] as (number | null)[]).filter((v): v is number => v != null);
                const min = values.reduce((a, b) => Math.min(a, b), Infinity);
                const max = values.reduce((a, b) => Math.max(a, b), -Infinity);
                const jump = (b: { row: number }) =>
                    Math.abs((columns[i][b.row + 1] ?? 0) - (columns[i][b.row - 1] ?? 0)) > 1e-9 * (max - min);
                return {
                    label: s.label,
                    min,
                    max,
                    jumps: i < lines.length ? breakRows.filter(jump).length : values.filter((v) => v !== 0).length,
                    visible: plot.series[i + 1].show !== false,
                };
            }),
    });
    const update = (newLines: Line[], newStems: Stem[]) => {
        ({ x, columns, stemColumns, breakRows, stemEnds } = rowsOf(group.t, group.breaks, newLines, newStems));
        plot.setData([x, ...columns, ...stemColumns] as uPlot.AlignedData);
    };
    return { frame, update };
}

/// Lets the width of a plot follow its frame.
export function fit(plot: uPlot, frame: HTMLElement, height: number | ((width: number) => number)): void {
    const set = () => {
        const width = Math.floor(frame.clientWidth - 16);
        const tall = typeof height === "number" ? height : height(width);
        if (width > 80 && (width !== plot.width || tall !== plot.height)) plot.setSize({ width, height: tall });
    };
    new ResizeObserver(set).observe(frame);
}

/// Lets the wheel zoom around the pointer while Ctrl is held or after a click into the plot. Otherwise the page scrolls.
/// With `both` the y axis is zoomed too.
export function wheelZoom(both = false): uPlot.Plugin {
    return {
        hooks: {
            ready: (u: uPlot) => {
                let armed = false;
                u.over.addEventListener("mousedown", () => (armed = true));
                u.over.addEventListener("mouseleave", () => (armed = false));
                u.over.addEventListener(
                    "wheel",
                    (e) => {
                        if (!e.ctrlKey && !armed) return;
                        e.preventDefault();
                        const factor = e.deltaY < 0 ? 0.8 : 1.25;
                        const box = u.over.getBoundingClientRect();
                        for (const key of both ? ["x", "y"] : ["x"]) {
                            const at = key === "x" ? e.clientX - box.left : e.clientY - box.top;
                            const v = u.posToVal(at, key);
                            const { min, max } = u.scales[key];
                            if (min == null || max == null) continue;
                            u.setScale(key, { min: v - (v - min) * factor, max: v + (max - v) * factor });
                        }
                    },
                    { passive: false },
                );
            },
        },
    };
}
