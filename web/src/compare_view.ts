// SPDX-License-Identifier: Apache-2.0
// The views of `saltus compare` and `saltus compare --penalty`.
import { el, num, section, table } from "./dom";
import { type Layer, type Point, xyPlot } from "./xyplot";

/// A straight line with the slope of this order in a logarithmic plot, through the last point of a series.
function slope(points: Point[], order: number | null, label: string): Layer | null {
    if (order == null || points.length < 2) return null;
    const [x1, y1] = points[points.length - 1];
    const x0 = points[0][0];
    return { label, kind: "path", points: [[x0, y1 * (x0 / x1) ** order], [x1, y1]], dash: [3, 4], hue: 7, width: 1 };
}

/// Plot and table of the runs of one method. `toX` maps the parameter of a run to the x axis.
function series(data: any, name: string, parameter: string, x: string, toX: (p: number) => number): HTMLElement[] {
    const runs: any[] = data?.runs ?? [];
    if (!runs.length) return data?.left_out ? [section(name, el("p", {}, "no runs: " + data.left_out))] : [];
    const of = (f: (r: any) => number | null): Point[] =>
        runs.map((r) => [toX(r[parameter]), f(r) ?? NaN] as Point).filter((p) => p[1] > 0);
    const q = of((r) => r.position_error);
    const layers: Layer[] = [
        { label: "sup |Δq|", kind: "path", points: q, hue: 0 },
        { label: "end |Δq|", kind: "path", points: of((r) => r.end_error.q), hue: 2 },
        { label: "end |Δu|", kind: "path", points: of((r) => r.end_error.u), hue: 1 },
        { label: "runs", kind: "points", points: q, hue: 0, size: 3 },
    ];
    const line = slope(q, data.order, `order ${num(data.order, 3)}`);
    if (line) layers.push(line);
    const rows = runs.map((r) => [
        num(r[parameter]), num(r.position_error, 4), num(r.end_error.q, 4), num(r.end_error.u, 4), num(r.order, 3),
        String(r.events), r.status,
    ]);
    return [
        xyPlot({ title: `${name} against event-driven, observed order ${num(data.order, 3)}`, x, y: "error", layers, log: true }),
        section(
            name + " runs",
            table(
                [{ title: x }, { title: "sup |Δq|" }, { title: "end |Δq|" }, { title: "end |Δu|" }, { title: "order" }, { title: "events" }, { title: "status", left: true }],
                rows,
            ),
        ),
    ];
}

/// `saltus compare`: time-stepping and penalty against the event-driven motion.
export function compareView(data: any): HTMLElement {
    const view = el("div", { class: "columns" });
    view.append(...series(data.moreau, "Moreau's time-stepping", "h", "h", (h) => h));
    view.append(...series(data.penalty, "Penalty", "k_factor", "1/factor on k", (k) => 1 / k));
    const list = (d: any): number[] => d?.closing_times ?? [];
    const last = (d: any) => d?.runs?.[d.runs.length - 1];
    const columns = [list(data.event), list(last(data.moreau)), list(last(data.penalty))];
    const n = Math.min(40, Math.max(...columns.map((c) => c.length)));
    if (n > 0)
        view.append(
            section(
                "Times at which contacts close (finest runs)",
                table(
                    [{ title: "event-driven" }, { title: "Moreau" }, { title: "penalty" }],
                    Array.from({ length: n }, (_, k) => columns.map((c) => (k < c.length ? num(c[k], 10) : ""))),
                ),
            ),
        );
    return view;
}

/// `saltus compare --penalty`: contact springs of growing stiffness against the rigid motion with e = 1.
export function springsView(data: any): HTMLElement {
    const runs: any[] = data.penalty?.runs ?? [];
    const varied: string = data.penalty?.varied ?? "k";
    const of = (f: (r: any) => number | null): Point[] => runs.map((r) => [r[varied], f(r) ?? NaN] as Point).filter((p) => p[1] > 0);
    const view = el("div", { class: "columns" });
    const positions = of((r) => r.sup_q);
    const layers: Layer[] = [
        { label: "sup |Δq|", kind: "path", points: positions, hue: 0 },
        { label: "sup |Δu|", kind: "path", points: of((r) => r.sup_u), hue: 1 },
        { label: "steady |Δq|", kind: "path", points: of((r) => r.steady_error?.q), hue: 2 },
        { label: "runs", kind: "points", points: positions, hue: 0, size: 3 },
    ];
    const line = slope(positions, data.penalty?.order_in_k ?? null, `order ${num(data.penalty?.order_in_k, 3)}`);
    if (line) layers.push(line);
    view.append(xyPlot({ title: "Springs against the rigid motion with e = 1", x: varied, y: "difference", layers, log: true }));
    view.append(
        section(
            "Runs",
            table(
                [{ title: varied }, { title: "sup |Δq|" }, { title: "at t" }, { title: "sup |Δu|" }, { title: "order" }, { title: "contact phases" }, { title: "first contact" }, { title: "restitution" }],
                runs.map((r) => [num(r[varied]), num(r.sup_q, 4), num(r.at_t), num(r.sup_u, 4), num(r.order_in_k, 3), String(r.contact_phases), num(r.first_contact_duration, 4), num(r.effective_restitution)]),
            ),
        ),
    );
    const rows: any[] = data.theorem1?.rows ?? [];
    if (rows.length)
        view.append(
            section(
                "Stationary paths of the penalised action",
                table(
                    [{ title: varied }, { title: "Ã" }, { title: "∫P_f" }, { title: "A" }, { title: "Morse index" }, { title: "lowest eigenvalue" }],
                    rows.map((r) => [num(r[varied] ?? r.k), num(r.A_tilde, 6), num(r.int_P_f), num(r.A, 6), num(r.morse_index), num(r.lowest_eigenvalue, 4)]),
                ),
            ),
        );
    return view;
}
