// SPDX-License-Identifier: Apache-2.0
// The view of `saltus continue`: branches over the parameter with stable and unstable parts and named special points. Clicking a
// special point, in the plot or in the table, shows its orbit as numbers and as a curve.
import { el, facts, num, section, table } from "./dom";
import type { Known } from "./motion_view";
import { type Curve, orbitCurve } from "./orbit_curve";
import { type Layer, type Point, xyPlot } from "./xyplot";

interface BranchPoint {
    parameter: Record<string, number>;
    period: number | null;
    multipliers: number[][];
    eigenvalues?: number[][];
    stable: boolean | null;
    unstable_count: number;
    amplitude: Record<string, [number, number]>;
    events: string[];
    state: { q: Record<string, number>; u: Record<string, number> };
    curve?: Curve;
}
interface Special {
    kind: string;
    error: number;
    at: BranchPoint;
    parameter: Record<string, number>;
    before?: string;
    after?: string;
    reason?: string;
}
interface Branch {
    points: BranchPoint[];
    special: Special[];
    reason: string;
    multiple: number;
    origin?: string;
}

/// The first branch and those that begin at its period doublings.
const branchesOf = (data: any): Branch[] => [data, ...(data.branches ?? [])];

/// The largest value of a coordinate over the parameter, one path for the stable and one for the other parts of all branches.
function amplitudePlot(data: any, coordinate: string, show: (s: Special, branch: number) => void): HTMLElement {
    const at = (p: BranchPoint, parameter = p.parameter[data.over]): Point => [parameter, p.amplitude[coordinate][1]];
    const path = (stable: boolean): (Point | null)[] =>
        branchesOf(data).flatMap((b) => {
            const points: (Point | null)[] = [];
            b.points.forEach((p, k) => {
                const inside = (p.stable === true) === stable;
                // The piece between a stable and an unstable point belongs to the unstable part.
                const joins = !stable && (b.points[k - 1]?.stable === true) !== (p.stable === true);
                points.push(inside || joins ? at(p) : null);
            });
            return [...points, null];
        });
    const kinds = [...new Set(branchesOf(data).flatMap((b) => b.special.map((s) => s.kind)))].filter((k) => k !== "end");
    const layers: Layer[] = [
        { label: "stable", kind: "path", points: path(true), hue: 0 },
        { label: "unstable or undecided", kind: "path", points: path(false), hue: 1, dash: [5, 4] },
        ...kinds.map(
            (kind, k): Layer => ({
                label: kind,
                kind: "points",
                points: branchesOf(data).flatMap((b) => b.special.filter((s) => s.kind === kind).map((s) => at(s.at, s.parameter[data.over]))),
                hue: 2 + (k % 6),
                size: 5,
            }),
        ),
    ];
    const all = branchesOf(data).flatMap((b, k) => b.special.filter((s) => s.kind !== "end").map((s) => ({ s, k, p: at(s.at, s.parameter[data.over]) })));
    const spread = (k: 0 | 1) => {
        const values = branchesOf(data).flatMap((b) => b.points.map((p) => at(p)[k]));
        return Math.max(...values) - Math.min(...values) || 1;
    };
    const [width, height] = [spread(0), spread(1)];
    // The special point nearest to the click, if it is near.
    const onPick = (x: number, y: number) => {
        const distance = (p: Point) => Math.hypot((p[0] - x) / width, (p[1] - y) / height);
        const nearest = all.sort((a, b) => distance(a.p) - distance(b.p))[0];
        if (nearest && distance(nearest.p) < 0.05) show(nearest.s, nearest.k);
    };
    return xyPlot({ title: `Largest ${coordinate}`, x: data.over, y: coordinate, layers, height: 320, onPick });
}

function pointPanel(s: Special, over: string): HTMLElement {
    const values = s.at.eigenvalues ?? s.at.multipliers;
    const rows = Object.keys(s.at.state.q).map((x) => [x, num(s.at.state.q[x], 12), num(s.at.state.u[x], 12)]);
    return section(
        `${s.kind} at ${over} = ${num(s.parameter[over], 12)}`,
        facts([
            ["period", s.at.period === null ? "" : num(s.at.period, 12)],
            [s.at.eigenvalues ? "eigenvalues" : "multipliers", values.map((m) => (m[1] ? `${num(m[0], 8)} ${m[1] < 0 ? "−" : "+"} ${num(Math.abs(m[1]), 8)}i` : num(m[0], 8))).join(", ")],
            ["events", s.at.events.join(", ")],
        ]),
        table([{ title: "state", left: true }, { title: "q" }, { title: "u" }], rows),
        s.at.curve ? orbitCurve(s.at.curve, "Orbit as a curve") : null,
    );
}

function branchPanel(data: any, b: Branch, k: number, shown: HTMLElement): HTMLElement {
    const rows = b.special.map((s) => [s.kind, num(s.parameter[data.over], 12), s.kind === "end" ? "" : num(s.error, 1), s.reason ?? (s.before || s.after ? `${s.before || "?"} | ${s.after || "?"}` : "")]);
    const list = table([{ title: "kind", left: true }, { title: data.over }, { title: "error" }, { title: "", left: true }], rows);
    list.querySelectorAll("tbody tr").forEach((row, i) => row.addEventListener("click", () => shown.replaceChildren(pointPanel(b.special[i], data.over))));
    return section(
        k === 0 ? "Branch" : `Branch ${k + 1}`,
        facts([
            ["points", String(b.points.length)],
            ["closes after", b.multiple > 1 ? `${b.multiple} periods` : ""],
            ["from", b.origin ?? ""],
            ["ends", b.reason],
        ]),
        list,
        shown,
    );
}

export const max_plots = 12; // a plot for each coordinate: systems of mass points have hundreds

/// Says how many coordinates have no plot.
export function plotsLeftOut(coordinates: number): HTMLElement[] {
    return coordinates > max_plots ? [el("p", { class: "source" }, `The first ${max_plots} of ${coordinates} coordinates are shown.`)] : [];
}

export function branchView(data: any, _known: Known): HTMLElement {
    const view = el("div", { class: "columns" });
    const chosen = branchesOf(data).map(() => el("div", { class: "chosen" }));
    const show = (s: Special, branch: number) => {
        chosen[branch].replaceChildren(pointPanel(s, data.over));
        chosen[branch].scrollIntoView({ block: "nearest" });
    };
    for (const coordinate of data.coordinates.slice(0, max_plots)) view.append(amplitudePlot(data, coordinate, show));
    view.append(...plotsLeftOut(data.coordinates.length));
    branchesOf(data).forEach((b, k) => view.append(branchPanel(data, b, k, chosen[k])));
    return view;
}
