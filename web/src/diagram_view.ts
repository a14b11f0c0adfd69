// SPDX-License-Identifier: Apache-2.0
// The view of `saltus diagram`: points of the section over the parameter, exponents and repetitions below.
import { max_plots, plotsLeftOut } from "./branch_view";
import { el, facts, num, section, table } from "./dom";
import type { Known } from "./motion_view";
import { type Layer, type Point, xyPlot } from "./xyplot";

interface Sweep {
    sweep: string;
    section: number[][][];
    periods: number[];
    exponents?: (number | null)[][];
    remarks: string[];
}

/// The diagram itself and, after `--sweep both`, the one of the sweep downwards.
const sweeps = (data: any): Sweep[] => (data.down ? [data, data.down] : [data]);

function pointsPlot(data: any, component: number): HTMLElement {
    const values: number[] = data.parameter.values;
    const layers = sweeps(data).map(
        (s, k): Layer => ({
            label: s.sweep,
            kind: "points",
            points: s.section.flatMap((points, i) => points.map((p): Point => [values[i], p[component]])),
            hue: k,
            size: 1.2,
        }),
    );
    const name: string = data.coordinates[component];
    return xyPlot({ title: `${name} on the section`, x: data.parameter.name, y: name, layers, height: 360 });
}

function exponentsPlot(data: any): HTMLElement | null {
    const values: number[] = data.parameter.values;
    const layers: Layer[] = [];
    sweeps(data).forEach((s) => {
        const count = Math.max(0, ...(s.exponents ?? []).map((e) => e.length));
        for (let k = 0; k < count; ++k)
            layers.push({
                label: `exponent ${k + 1}${data.down ? `, ${s.sweep}` : ""}`,
                kind: "path",
                points: values.map((v, i): Point | null => {
                    const e = s.exponents?.[i]?.[k];
                    return typeof e === "number" ? [v, e] : null;
                }),
                hue: layers.length,
            });
    });
    if (layers.length === 0) return null;
    layers.push({ label: "zero", kind: "path", points: [[values[0], 0], [values[values.length - 1], 0]], hue: 7, dash: [4, 4] });
    return xyPlot({ title: "Lyapunov exponents", x: data.parameter.name, y: "1/s", layers, height: 240 });
}

/// Neighbouring values whose motions repeat equally often, one row each.
function repetitions(data: any, s: Sweep): string[][] {
    const values: number[] = data.parameter.values;
    const kind = (i: number): string =>
        s.section[i].length === 0 ? s.remarks[i] || "no points" : s.periods[i] === 0 ? "does not repeat" : `after ${s.periods[i]}`;
    const rows: string[][] = [];
    for (let i = 0; i < values.length; ) {
        let last = i;
        while (last + 1 < values.length && kind(last + 1) === kind(i)) ++last;
        rows.push([num(values[i], 8), num(values[last], 8), kind(i)]);
        i = last + 1;
    }
    return rows;
}

export function diagramView(data: any, _known: Known): HTMLElement {
    const view = el("div", { class: "columns" });
    for (let k = 0; k < Math.min(data.coordinates.length, max_plots); ++k) view.append(pointsPlot(data, k));
    view.append(...plotsLeftOut(data.coordinates.length));
    const exponents = exponentsPlot(data);
    if (exponents) view.append(exponents);
    for (const s of sweeps(data))
        view.append(
            section(
                data.down ? `Repetitions, ${s.sweep}` : "Repetitions",
                facts([
                    ["parameter", `${data.parameter.name}, ${data.parameter.values.length} values`],
                    ["points", String(s.section.reduce((n, p) => n + p.length, 0))],
                ]),
                table([{ title: "from" }, { title: "to" }, { title: "repeats", left: true }], repetitions(data, s).slice(0, 300)),
            ),
        );
    return view;
}
