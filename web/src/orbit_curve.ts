// SPDX-License-Identifier: Apache-2.0
// An orbit as a closed curve in two quantities of the state that the reader chooses. Jumps are dashed, events are marked.
import { el } from "./dom";
import { type Layer, type Point, xyPlot } from "./xyplot";

/// Values of all positions and velocities over one period. At an event there are two entries: before it, and after it at `index`.
export interface Curve {
    t: number[];
    x: Record<string, number[]>;
    events: { index: number; kind: string; contacts: string[] }[];
}

function layersOf(curve: Curve, a: string, b: string): Layer[] {
    const at = (k: number): Point => [curve.x[a][k], curve.x[b][k]];
    const after = new Set(curve.events.map((e) => e.index));
    const path = curve.t.flatMap((_, k): (Point | null)[] => (after.has(k) ? [null, at(k)] : [at(k)]));
    const moved = (p: Point, q: Point) => p[0] !== q[0] || p[1] !== q[1];
    const jumps = curve.events.flatMap((e): (Point | null)[] => (e.index > 0 && moved(at(e.index - 1), at(e.index)) ? [at(e.index - 1), at(e.index), null] : []));
    const kinds = [...new Set(curve.events.map((e) => e.kind))];
    return [
        { label: "orbit", kind: "path", points: path, hue: 0 },
        ...(jumps.length ? [{ label: "jumps", kind: "path", points: jumps, hue: 1, dash: [4, 4] } as Layer] : []),
        ...kinds.map((kind, k): Layer => {
            const list = curve.events.filter((e) => e.kind === kind);
            return { label: kind, kind: "points", points: list.map((e) => at(e.index)), names: list.map((e) => e.contacts.join(", ")), hue: 2 + (k % 6), size: 4 };
        }),
    ];
}

/// The first coordinate that returns at the end of the period; a position that drifts does not.
function returning(curve: Curve): string {
    const names = Object.keys(curve.x);
    const gap = (v: number[]) => Math.abs(v[v.length - 1] - v[0]) / (v.reduce((a, b) => Math.max(a, b)) - v.reduce((a, b) => Math.min(a, b)) || 1);
    return names.find((name) => !name.endsWith("'") && gap(curve.x[name]) < 1e-6) ?? names[0];
}

/// The curve with two lists from which the quantities are chosen. At first they are a coordinate and its velocity.
export function orbitCurve(curve: Curve, title = "Orbit"): HTMLElement {
    const names = Object.keys(curve.x);
    const list = (label: string, chosen: string) => {
        const choice = el("select", { "aria-label": label }, ...names.map((name) => el("option", { value: name }, name)));
        choice.value = chosen;
        return choice;
    };
    const first = returning(curve);
    const across = list("quantity to the right", first);
    const up = list("quantity upwards", `${first}'`);
    const plot = el("div");
    const draw = () => plot.replaceChildren(xyPlot({ title, x: across.value, y: up.value, layers: layersOf(curve, across.value, up.value), height: 320 }));
    across.onchange = up.onchange = draw;
    draw();
    return el("div", { class: "orbit-curve" }, el("p", {}, up, " over ", across), plot);
}
