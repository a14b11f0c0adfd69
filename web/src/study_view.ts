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
    for (const name of names) if (study.vary[name].length > 1) view.append(times(study, { [name]: 1 }));
    const product = bestProduct(study);
    if (product) view.append(times(study, product));
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

/// A product of powers of parameters, such as a b²: exponents by parameter.
type Product = Record<string, number>;
const valueOf = (p: Product, run: any) => Object.entries(p).reduce((x, [n, k]) => x * Math.pow(run.parameters[n], k), 1);
const nameOf = (p: Product) => Object.entries(p).map(([n, k]) => (k === 1 ? n : `${n}^${num(k, 3)}`)).join(" ");

/// The law of an event's time: exponents that are numbers.
function timeLaw(event: any): { exponents: Product; rms: number } | null {
    const law = (event.fits ?? []).find((f: any) => f.quantity === "time");
    const exponents = Object.fromEntries(Object.entries<number>(law?.exponents ?? {}).filter(([, k]) => typeof k === "number" && Number.isFinite(k)));
    return law && typeof law.rms === "number" && Object.keys(exponents).length ? { exponents, rms: law.rms } : null;
}

/// A curve through points by least squares: a parabola in log x, or in x where some x is not positive. It has no theory behind
/// it; its rms says how well x alone determines y. Null if there are fewer than four different x.
function curveFit(points: Point[]): { at: (x: number) => number; rms: number } | null {
    if (new Set(points.map((p) => p[0])).size < 4) return null;
    const logarithmic = points.every((p) => p[0] > 0);
    const raw = (x: number) => (logarithmic ? Math.log(x) : x);
    const list = points.map((p) => raw(p[0]));
    const [lo, hi] = [Math.min(...list), Math.max(...list)];
    const u = (x: number) => (2 * (raw(x) - lo)) / (hi - lo) - 1; // in [−1, 1]
    // Normal equations for the coefficients c of c0 + c1 u + c2 u², by Cramer's rule.
    const sum = (f: (v: number, y: number) => number) => points.reduce((s, [x, y]) => s + f(u(x), y), 0);
    const m = [0, 1, 2, 3, 4].map((k) => sum((v) => v ** k));
    const r = [0, 1, 2].map((k) => sum((v, y) => y * v ** k));
    const det = (a: number[][]) =>
        a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) + a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
    const A = [[m[0], m[1], m[2]], [m[1], m[2], m[3]], [m[2], m[3], m[4]]];
    const D = det(A);
    const c = [0, 1, 2].map((k) => det(A.map((row, i) => row.map((v, j) => (j === k ? r[i] : v)))) / D);
    const at = (x: number) => c[0] + c[1] * u(x) + c[2] * u(x) ** 2;
    return Number.isFinite(D) && D !== 0 ? { at, rms: Math.sqrt(sum((v, y) => (c[0] + c[1] * v + c[2] * v * v - y) ** 2) / points.length) } : null;
}

/// The times of event k over a product, run by run.
const timesOver = (study: any, quantity: Product, k: number): Point[] =>
    study.runs.flatMap((r: any): Point[] => (typeof r.changes?.[k]?.t === "number" ? [[valueOf(quantity, r), r.changes[k].t]] : []));

/// Of the products of two parameters a b, a b² and a² b the one that determines the event times best: the one with the least sum
/// over all events of rms/spread. With amplitude a and frequency b of an obstacle it tells whether an event feels the
/// obstacle's velocity (a b) or its acceleration (a b²). Nothing if not exactly two parameters vary.
function bestProduct(study: any): Product | null {
    const names = Object.keys(study.vary ?? {}).filter((n) => study.vary[n].length > 1);
    if (names.length !== 2) return null;
    const badness = (quantity: Product) =>
        (study.nominal ?? []).slice(0, max_events).reduce((s: number, _: any, k: number) => {
            const points = timesOver(study, quantity, k);
            const mean = points.reduce((t, p) => t + p[1], 0) / points.length;
            const spread = Math.sqrt(points.reduce((t, p) => t + (p[1] - mean) ** 2, 0) / points.length);
            const fit = curveFit(points);
            return fit && spread > 0 ? s + fit.rms / spread : s;
        }, 0);
    const candidates = [[1, 1], [1, 2], [2, 1]].map(([p, q]): Product => ({ [names[0]]: p, [names[1]]: q }));
    const best = candidates.reduce((x, y) => (badness(y) < badness(x) ? y : x));
    return badness(best) > 0 ? best : null;
}

/// The times of the first events over a parameter or a product of parameters. Over a parameter, runs with the same other
/// parameters are joined by a line. Each event has a curve by least squares, whose rms says how well the quantity alone determines
/// the time.
function times(study: any, quantity: Product): HTMLElement {
    const names = Object.keys(quantity);
    const others = (r: any) => (names.length > 1 ? "" : JSON.stringify(Object.entries(r.parameters).filter(([n]) => n !== names[0])));
    const x = (r: any) => valueOf(quantity, r);
    const runs: any[] = [...study.runs].sort((a, b) => (others(a) < others(b) ? -1 : others(a) > others(b) ? 1 : x(a) - x(b)));
    const layers: Layer[] = (study.nominal ?? []).slice(0, max_events).flatMap((e: any, k: number): Layer[] => {
        const points: (Point | null)[] = [];
        runs.forEach((r, i) => {
            if (i > 0 && others(r) !== others(runs[i - 1])) points.push(null);
            const t = r.changes?.[k]?.t;
            points.push(typeof t === "number" ? [x(r), t] : null);
        });
        const own = points.filter((p): p is Point => !!p);
        const fit = curveFit(own);
        const single = names.length === 1;
        const list: Layer[] = [{ label: eventName(e), kind: single ? "path" : "points", points, hue: k, dots: single }];
        if (fit) {
            const [lo, hi] = [Math.min(...own.map((p) => p[0])), Math.max(...own.map((p) => p[0]))];
            const x = Array.from({ length: 81 }, (_, n) => lo + (hi - lo) * (n / 80) ** 2); // dense near the lowest
            list.push({ label: `fit, rms ${num(fit.rms, 2)}`, kind: "path", points: x.map((v): Point => [v, fit.at(v)]), hue: k, dash: [6, 4], width: 1.2 });
        }
        return list;
    });
    return xyPlot({ title: `Event times over ${nameOf(quantity)}`, x: nameOf(quantity), y: "t", layers });
}

/// |change of the time of an event| over the product of powers of the parameters that fits it best, with that law. With
/// one parameter the product is the parameter itself.
function change(study: any, k: number): HTMLElement | null {
    const event = study.events[k];
    const law = timeLaw(event);
    if (!law) return null;
    const exponents = Object.entries(law.exponents);
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
