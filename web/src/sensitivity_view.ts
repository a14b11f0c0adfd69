// SPDX-License-Identifier: Apache-2.0
// The view of `saltus sensitivity`: derivatives, the error of a perturbed motion with its bound, and event times over
// parameters.
import { el, facts, largest, num, section, table, verdict } from "./dom";
import { type Known, withUnit } from "./motion_view";
import { axisLabel } from "./stability_view";
import { studyView } from "./study_view";
import { type Layer, type Point, xyPlot } from "./xyplot";

export function sensitivityView(data: any, known: Known): HTMLElement {
    const view = el("div", {});
    if (data.reason) view.append(el("p", { class: "warning" }, "There are no derivatives: " + data.reason + "."));
    if (data.with_respect_to && !data.reason) view.append(...derivatives(data, known));
    const pair = data.pair ?? (data.c_bar ? data : null);
    if (pair) view.append(pairView(pair, known));
    if (data.study) view.append(studyView(data.study));
    return view;
}

/// Derivatives of the final state and of event times.
function derivatives(data: any, known: Known): HTMLElement[] {
    const wrt: string[] = data.with_respect_to;
    const out: HTMLElement[] = [];
    const final: (string | Node)[][] = [];
    for (const [group, prime] of [["q", ""], ["u", "′"]] as const)
        for (const [name, d] of Object.entries<any>(data.final?.[group] ?? {}).slice(0, 40))
            final.push([name + prime, ...wrt.map((p) => num(d?.[p]))]);
    const columns = [{ title: "d at the end / d", left: true }, ...wrt.map((p) => ({ title: p }))];
    const error = data.finite_difference?.max_relative_error;
    out.push(
        section(
            "Derivatives of the final state",
            error != null ? el("p", {}, `central differences of whole motions agree to ${num(error, 2)}`) : null,
            table(columns, final),
        ),
    );
    const events: any[] = data.events ?? [];
    if (events.length) {
        // Derivatives are correct to about 1e-10 of the largest of them. What is below 1e-12 of it is rounding residue.
        const last = largest(events.map((e) => e.t));
        const size = wrt.map((p) => 10 * largest(events.map((e) => e.dt?.[p])));
        const rows = events.slice(0, 500).map((e) => [
            num(e.t, 10, last), e.kind, (e.contacts ?? []).slice(0, 4).join(", "), ...wrt.map((p, k) => num(e.dt?.[p], 6, size[k])), num(e.transversality, 4),
        ]);
        out.push(
            section(
                "Derivatives of event times",
                table([{ title: "t" }, { title: "kind", left: true }, { title: "contacts", left: true }, ...wrt.map((p) => ({ title: `dt/d${p}` })), { title: "transversality" }], rows),
            ),
        );
        const layers: Layer[] = wrt.slice(0, 8).map((p, k) => ({
            label: p,
            kind: "path",
            points: events.filter((e) => e.dt?.[p] != null).map((e) => [e.t, e.dt[p]] as Point),
            hue: k,
        }));
        out.push(xyPlot({ title: "Derivatives of event times, event by event", x: withUnit("t", known.units?.time), y: "dt/d·", layers, height: 260 }));
    }
    const remarks: any[] = data.remarks ?? [];
    if (remarks.length) {
        const rows = remarks.slice(0, 100).map((r) => [num(r.t, 10), r.variable ?? "", r.text]);
        out.push(section("Places without a derivative", table([{ title: "t" }, { title: "by", left: true }, { title: "", left: true }], rows)));
    }
    return out;
}

/// A perturbed pair: error, bound, hypotheses of the theorem.
function pairView(pair: any, known: Known): HTMLElement {
    const view = el("div", { class: "columns" });
    const t: number[] = pair.times ?? pair.error?.map((_: number, k: number) => k) ?? [];
    const curve = (values: (number | null)[] | undefined): (Point | null)[] =>
        (values ?? []).map((v, k) => (v != null && v > 0 ? [t[k], v] : null));
    const C = pair.bound_constant;
    const layers: Layer[] = [
        { label: "error", kind: "path", points: curve(pair.error), hue: 1 },
        { label: "bound (C = 1)", kind: "path", points: curve(pair.bound), hue: 0 },
    ];
    if (C != null)
        layers.push({ label: `C·bound, C = ${num(C, 4)}`, kind: "path", points: curve(pair.bound?.map((b: number | null) => (b == null ? null : C * b))), hue: 2, dash: [5, 4] });
    layers.push({ label: "positions", kind: "path", points: curve(pair.error_q), hue: 4, hidden: true });
    layers.push({ label: "velocities", kind: "path", points: curve(pair.error_u), hue: 3, hidden: true });
    const time = withUnit("t", known.units?.time);
    view.append(xyPlotLogY("Error of the perturbed motion and its bound", time, layers));
    const reactions = reactionErrors(pair, time, curve);
    if (reactions) view.append(reactions);
    for (const plot of pairMotions(pair, t, known)) view.append(plot);
    view.append(
        section(
            "Perturbed pair",
            facts([
                ["theorem", pair.theorem ?? "none: " + (pair.reason ?? "")],
                ["observed constant", `${num(C)} at t = ${num(pair.bound_time)}`],
            ]),
            table(
                [{ title: "hypothesis", left: true }, { title: "" }, { title: "value" }],
                (pair.hypotheses ?? []).map((h: any) => [h.name, verdict(h.holds ? "holds" : "fails"), num(h.value)]),
            ),
            table(
                [{ title: "event nominal" }, { title: "perturbed" }, { title: "shift" }],
                (pair.c_bar ?? []).map((c: number, k: number) => [num(c, 10), num(pair.c_hat?.[k], 10), num((pair.c_hat?.[k] ?? NaN) - c, 4)]),
            ),
        ),
        estimateTable(pair),
    );
    return view;
}

/// The errors of the reactions λ and ν with their bound (37), (47). The constant is the largest ratio of error and bound.
function reactionErrors(pair: any, time: string, curve: (values: (number | null)[] | undefined) => (Point | null)[]): HTMLElement | null {
    const bound: (number | null)[] = pair.bound_reactions ?? [];
    const errors = ([["λ", pair.error_lambda], ["ν", pair.error_nu]] as const).filter(([, e]) => (e ?? []).some((v: number | null) => v != null && v > 0));
    if (!errors.length || !bound.some((b) => b != null && b > 0)) return null;
    // An error may vanish at single times, which would stretch the logarithmic axis without end.
    const least = 1e-3 * Math.min(...bound.filter((b): b is number => b != null && b > 0));
    const shown = (e: (number | null)[]) => curve(e.map((v) => (v != null && v < least ? null : v)));
    const layers: Layer[] = errors.map(([name, e], k) => ({ label: `error of ${name}`, kind: "path", points: shown(e), hue: 1 + k }));
    layers.push({ label: "bound (C = 1)", kind: "path", points: curve(bound), hue: 0 });
    errors.forEach(([name, e], k) => {
        const C = Math.max(...e.map((v: number | null, i: number) => (v != null && bound[i] != null && bound[i]! > 0 ? v / bound[i]! : 0)));
        if (C > 0)
            layers.push({ label: `C·bound of ${name}, C = ${num(C, 4)}`, kind: "path", points: curve(bound.map((b) => (b == null ? null : C * b))), hue: 1 + k, dash: [5, 4], width: 1 });
    });
    return xyPlotLogY("Errors of the reactions and their bound", time, layers);
}

/// The estimates of a pair piece by piece: equation, error, bound, observed constant.
function estimateTable(pair: any): HTMLElement | string {
    const rows = (pair.pieces ?? []).flatMap((p: any) =>
        (p.estimates ?? []).map((e: any) => [
            `${num(p.from, 5)} – ${num(p.to, 5)}`, e.equation, e.text, num(e.error, 4), num(e.bound, 4),
            e.bound_constant > 0 ? num(e.bound_constant, 4) : "–", e.bound_constant > 0 ? num(e.bound_time, 6) : "–",
        ]),
    );
    if (!rows.length) return "";
    return section(
        "Estimates of λ, ν and u⁺",
        el("p", {}, "Each error is at most C times its bound; the observed C is the largest ratio of both on the piece."),
        table(
            [{ title: "t", left: true }, { title: "equation", left: true }, { title: "of what", left: true }, { title: "error" }, { title: "bound / C" }, { title: "observed C" }, { title: "at t" }],
            rows.slice(0, 200),
        ),
    );
}

/// Both motions around the first event that they do not have at the same time: every coordinate and velocity over a few
/// widths of the critical interval, which is shaded. If all event times are equal then over the whole time.
function pairMotions(pair: any, t: number[], known: Known): HTMLElement[] {
    const { nominal, perturbed } = pair.motions ?? {};
    if (!nominal || !perturbed || t.length < 2) return [];
    const intervals: Point[] = (pair.c_bar ?? []).flatMap((c: number, k: number): Point[] => {
        const d = pair.c_hat?.[k];
        return typeof d === "number" && d !== c ? [[Math.min(c, d), Math.max(c, d)]] : [];
    });
    const widths = 4; // of the critical interval on each side of it
    const [first] = intervals;
    const w = first ? first[1] - first[0] : 0;
    const range: Point = first ? [Math.max(t[0], first[0] - widths * w), Math.min(t[t.length - 1], first[1] + widths * w)] : [t[0], t[t.length - 1]];
    return Object.keys(nominal).map((name) => {
        const shown = name.replace(/'$/, "′");
        const curve = (values: (number | null)[]) =>
            values.flatMap((v, k): (Point | null)[] => {
                if (v == null) return [null];
                const jumps = t[k + 1] === t[k] && values[k + 1] !== v;
                return jumps ? [[t[k], v], null] : [[t[k], v]];
            });
        const layers: Layer[] = [
            { label: "nominal", kind: "path", points: curve(nominal[name]), hue: 0, width: 2 },
            { label: "perturbed", kind: "path", points: curve(perturbed[name]), hue: 1, width: 2, dash: [7, 3] },
        ];
        const inside = [...layers[0].points!, ...layers[1].points!].filter((p): p is Point => !!p && p[0] >= range[0] && p[0] <= range[1]);
        const [lo, hi] = [Math.min(...inside.map((p) => p[1])), Math.max(...inside.map((p) => p[1]))];
        const margin = 0.1 * (hi - lo) || Math.abs(hi) * 0.1 || 1;
        const [low, high] = [lo - 9 * margin, hi + 9 * margin];
        const areas = intervals.flatMap(([a, b], k): (Point | null)[] => [...(k ? [null] : []), [a, low], [b, low], [b, high], [a, high], [a, low]]);
        if (first) layers.unshift({ label: "critical interval", kind: "polygon", points: areas, hue: 3, opacity: 0.2, width: 0.5 });
        const title = `${shown} of both motions${first ? " around the critical interval" : ""}`;
        return xyPlot({ title, x: withUnit("t", known.units?.time), y: axisLabel(name, known), layers, range: [range, [lo - margin, hi + margin]] });
    });
}

/// A plot over time whose y axis shows log₁₀ of the values.
function xyPlotLogY(title: string, x: string, layers: Layer[]): HTMLElement {
    const log = layers.map((l) => ({ ...l, points: (l.points ?? []).map((p) => (p ? ([p[0], Math.log10(p[1])] as Point) : null)) }));
    return xyPlot({ title, x, y: "log₁₀", layers: log, height: 320 });
}
