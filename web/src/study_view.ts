// SPDX-License-Identifier: Apache-2.0
// The view of a study of event times over parameters (`saltus sensitivity --vary`).
import { el, num, section, table } from "./dom";
import { type Layer, type Point, xyPlot } from "./xyplot";

const max_events = 8; // curves in one plot

/// "impact of floor 0.4515"
function eventName(e: any): string {
    const contacts = (e.contacts ?? []).slice(0, 2).join(", ");
    return `${e.kind}${contacts ? " of " + contacts : ""} ${num(e.t, 5)}`;
}

export function studyView(study: any): HTMLElement {
    const names: string[] = Object.keys(study.vary ?? {});
    const view = el("div", { class: "columns" });
    for (const name of names) if (study.vary[name].length > 1) view.append(times(study, name));
    for (let k = 0; k < Math.min(study.events?.length ?? 0, max_events); ++k) {
        const plot = change(study, k);
        if (plot) view.append(plot);
    }
    view.append(
        section(
            "Event times over parameters",
            table(
                [...names.map((n) => ({ title: n })), ...(study.nominal ?? []).map((e: any) => ({ title: `${e.kind} ${num(e.t, 5)}` })), { title: "status", left: true }],
                (study.runs ?? []).slice(0, 500).map((r: any) => [
                    ...names.map((n) => num(r.parameters[n])), ...(r.changes ?? []).map((c: any) => num(c.t, 8)), r.status,
                ]),
            ),
        ),
    );
    return view;
}

/// The times of the first events over one parameter. Runs with the same other parameters are joined by a line.
function times(study: any, name: string): HTMLElement {
    const others = (r: any) => JSON.stringify(Object.entries(r.parameters).filter(([n]) => n !== name));
    const runs: any[] = [...study.runs].sort((a, b) => (others(a) < others(b) ? -1 : others(a) > others(b) ? 1 : a.parameters[name] - b.parameters[name]));
    const layers: Layer[] = (study.nominal ?? []).slice(0, max_events).map((e: any, k: number) => {
        const points: (Point | null)[] = [];
        runs.forEach((r, i) => {
            if (i > 0 && others(r) !== others(runs[i - 1])) points.push(null);
            const t = r.changes?.[k]?.t;
            points.push(typeof t === "number" ? [r.parameters[name], t] : null);
        });
        return { label: eventName(e), kind: "path", points, hue: k };
    });
    return xyPlot({ title: `Event times over ${name}`, x: name, y: "t", layers });
}

/// |change of the time of an event| over the product of powers of the parameters that fits it best, with that law. With
/// one parameter the product is the parameter itself.
function change(study: any, k: number): HTMLElement | null {
    const event = study.events[k];
    const law = (event.fits ?? []).find((f: any) => f.quantity === "time");
    const exponents = Object.entries<number>(law?.exponents ?? {}).filter(([, a]) => typeof a === "number" && Number.isFinite(a));
    if (!law || typeof law.rms !== "number" || exponents.length === 0) return null;
    const single = exponents.length === 1;
    const product = (r: any) => exponents.reduce((x, [n, a]) => x * Math.pow(r.parameters[n], single ? 1 : a), 1);
    const power = single ? exponents[0][1] : 1;
    const points: Point[] = [];
    for (const r of study.runs) {
        const dt = r.changes?.[k]?.dt;
        const x = product(r);
        if (typeof dt === "number" && dt !== 0 && x > 0) points.push([x, Math.abs(dt)]);
    }
    if (points.length < 2) return null;
    // The law is known up to its factor, which is the geometric mean of |Δt|/x^power.
    const factor = Math.exp(points.reduce((s, [x, y]) => s + Math.log(y / Math.pow(x, power)), 0) / points.length);
    const ends = [Math.min(...points.map((p) => p[0])), Math.max(...points.map((p) => p[0]))];
    const axis = exponents.map(([n, a]) => (single ? n : `${n}^${num(a, 3)}`)).join(" ");
    return xyPlot({
        title: `Change of the time: ${eventName(event)}`,
        x: axis,
        y: "|Δt|",
        log: true,
        layers: [
            { label: "runs", kind: "points", points, hue: 0 },
            { label: `${num(factor, 3)} · ${single ? `${axis}^${num(power, 3)}` : axis}, rms ${num(law.rms, 2)}`, kind: "path", points: ends.map((x): Point => [x, factor * Math.pow(x, power)]), hue: 1 },
        ],
    });
}
