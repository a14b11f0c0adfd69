// SPDX-License-Identifier: Apache-2.0
// The view of `saltus orbit`: numbers of a periodic orbit, the orbit as a curve, and its multipliers in the unit circle. The motion of one period has a
// tab of its own.
import { el, facts, num, section, table, verdict } from "./dom";
import type { Known } from "./motion_view";
import { orbitCurve } from "./orbit_curve";
import { xyPlot } from "./xyplot";

const stability = (o: any): string => (o.stable === true ? "stable" : o.stable === false ? `unstable, ${o.unstable_count} outside the unit circle` : "undecided");

function multiplierPlot(o: any): HTMLElement {
    const points = (o.multipliers ?? []).map((m: number[]): [number, number] => [m[0], m[1]]);
    const size = 1.15 * Math.max(1, ...points.map((p: [number, number]) => Math.hypot(p[0], p[1])));
    return xyPlot({
        title: "Multipliers",
        x: "real part",
        y: "imaginary part",
        equal: [1, 1],
        range: [
            [-size, size],
            [-size, size],
        ],
        layers: [
            { label: "unit circle", kind: "circle", points: [[0, 0]], radius: 1, hue: 1 },
            { label: "multipliers", kind: "points", points, hue: 0, size: 6 },
        ],
    });
}

function orbitPanel(o: any, title: string): HTMLElement {
    const names = Object.keys(o.state?.q ?? {});
    const energy = Object.entries(o.averages?.energy ?? {}).filter(([, value]) => value !== 0);
    return section(
        title,
        facts([
            ["status", verdict(o.status)],
            ["reason", o.reason ?? ""],
            ["period", num(o.period, 12)],
            ["stability", stability(o)],
            ["multipliers", (o.multipliers ?? []).map((m: number[]) => (m[1] ? `${num(m[0], 8)} ${m[1] < 0 ? "−" : "+"} ${num(Math.abs(m[1]), 8)}i` : num(m[0], 8))).join(", ")],
            ["residuals", (o.iterations ?? []).map((r: number) => num(r, 2)).join(", ")],
            ["impacts in a period", String(o.averages?.impacts ?? 0)],
        ]),
        table([{ title: "start", left: true }, { title: "q" }, { title: "u" }], names.map((x) => [x, num(o.state.q[x], 12), num(o.state.u[x], 12)])),
        table([{ title: "energy in a period", left: true }, { title: "J" }], energy.map(([name, value]) => [name.replace("_", " "), num(value as number, 8)])),
        table(
            [{ title: "element", left: true }, { title: "takes out" }, { title: "brings in" }, { title: "mean force" }],
            Object.entries(o.averages?.elements ?? {}).map(([name, e]: [string, any]) => [name, num(e.dissipated, 8), num(e.supplied, 8), e.force === undefined ? "" : num(e.force, 8)]),
        ),
    );
}

export function orbitView(data: any, _known: Known): HTMLElement {
    const view = el("div", { class: "columns" });
    const orbits: any[] = data.orbits ?? [data];
    orbits.forEach((o, k) => {
        view.append(orbitPanel(o, orbits.length > 1 ? `Orbit ${k + 1}` : "Periodic orbit"));
        if (o.curve) view.append(orbitCurve(o.curve, orbits.length > 1 ? `Orbit ${k + 1} as a curve` : "Orbit as a curve"));
        if (o.multipliers) view.append(multiplierPlot(o));
    });
    return view;
}
