// SPDX-License-Identifier: Apache-2.0
// The view of `saltus solve`.
import { el, num, section, table, verdict } from "./dom";
import { type Layer, type Point, xyPlot } from "./xyplot";

/// A performance profile [Dolan and Moré 2002] and a table. The profile shows the share of problems that each method
/// solved within a time. If the same files were solved by several methods then times are relative to the fastest one.
export function solveView(data: any): HTMLElement {
    const rows: any[] = Array.isArray(data) ? data : [data];
    const methods = [...new Set(rows.map((r) => r.requested ?? r.method))];
    const files = [...new Set(rows.map((r) => r.file))];
    const several = methods.length > 1 && rows.length > files.length;
    const solved = rows.filter((r) => r.status === "converged" || r.status === "infeasible");
    const timed = solved.every((r) => typeof r.seconds === "number"); // result files have no times, --json has them
    const resolution = 1e-7; // of times in s; a time of 0 has no logarithm
    const best = new Map<string, number>();
    for (const r of timed ? solved : []) best.set(r.file, Math.min(best.get(r.file) ?? Infinity, Math.max(r.seconds, resolution)));
    const profile = (of: any[], label: string, k: number): Layer => {
        const cost = of
            .map((r) => Math.max(r.seconds, resolution) / (several ? best.get(r.file)! : 1))
            .sort((a, b) => a - b);
        const points: Point[] = [];
        cost.forEach((c, i) => points.push([c, Math.max(i, 0.5) / files.length], [c, (i + 1) / files.length]));
        return { label, kind: "path", points, hue: k };
    };
    const layers = several
        ? methods.map((m, k) => profile(solved.filter((r) => (r.requested ?? r.method) === m), m, k))
        : [profile(solved, "solved", 0)];
    const view = el("div", { class: "columns" });
    if (solved.length && timed)
        view.append(
            xyPlot({
                title: `${solved.length} of ${rows.length} problems solved`,
                x: several ? "log₁₀ of the time relative to the best" : "log₁₀ of the time in seconds",
                y: "share of problems",
                layers: layers.map((l) => ({ ...l, points: l.points!.map((p) => (p ? ([Math.log10(p[0]), p[1]] as Point) : null)) })),
                range: undefined,
            }),
        );
    view.append(
        section(
            "Problems",
            table(
                [
                    { title: "file", left: true }, { title: "kind", left: true }, { title: "contacts" }, { title: "method", left: true },
                    { title: "status", left: true }, { title: "residual" }, { title: "iterations" },
                    ...(timed ? [{ title: "seconds" }] : []),
                ],
                rows.map((r) => [
                    String(r.file).split("/").pop() ?? "", r.kind, String(r.contacts), r.method, verdict(r.status), num(r.residual, 2),
                    String(r.iterations), ...(timed ? [num(r.seconds, 3)] : []),
                ]),
            ),
        ),
    );
    return view;
}
