// SPDX-License-Identifier: Apache-2.0
// Which view shows which kind of result, and the views that are only tables.
import { Marked } from "marked";
import { branchView } from "./branch_view";
import { compareView, springsView } from "./compare_view";
import { diagramView } from "./diagram_view";
import { el, facts, num, section, table, verdict } from "./dom";
import { impactView } from "./impact_view";
import { type Known, motionView } from "./motion_view";
import { orbitView } from "./orbit_view";
import { sensitivityView } from "./sensitivity_view";
import { solveView } from "./solve_view";
import { basinView, certifyView, equilibriaView } from "./stability_view";
import type { Part, StatedNumber } from "./report_document";
import { xyPlot } from "./xyplot";

/// The view of each kind of result (Part.kind); `other` is for kinds without a view.
export const views: Record<string, (data: any, known: Known) => HTMLElement> = {
    motion: motionView,
    impact: impactView,
    compare: compareView,
    springs: springsView,
    sensitivity: sensitivityView,
    certify: certifyView,
    equilibria: equilibriaView,
    basin: basinView,
    solve: solveView,
    simulate: simulateView,
    audit: auditView,
    check: checkView,
    gains: gainsView,
    orbit: orbitView,
    diagram: diagramView,
    continue: branchView,
    document: documentView,
    other: (data) => el("pre", { class: "panel raw" }, JSON.stringify(data, null, 2).slice(0, 20000)),
};

/// A result with its warnings.
export function resultView(part: Part, known: Known): HTMLElement {
    const view = (views[part.kind] ?? views.other)(part.data, known);
    const warnings: unknown = part.kind === "motion" ? [] : part.data?.warnings; // a motion shows its own
    if (!Array.isArray(warnings) || warnings.length === 0) return view;
    return el("div", {}, ...warnings.map((w) => el("p", { class: "warning" }, String(w))), view);
}

/// Numbers that a paper states beside the computed ones.
export function numbersView(numbers: StatedNumber[]): HTMLElement {
    return section(
        "Stated numbers and computed numbers",
        table(
            [{ title: "", left: true }, { title: "where", left: true }, { title: "stated" }, { title: "ours" }, { title: "", left: true }],
            numbers.map((n) => [n.what, n.where, n.stated, n.ours, n.note]),
            "numbers",
        ),
    );
}

/// The JSON of `saltus simulate` without its trajectory file: events and the final state, no curves.
function simulateView(data: any): HTMLElement {
    const final = Object.keys(data.final?.q ?? {}).map((x) => [x, num(data.final.q[x], 10), num(data.final.u?.[x], 10)]);
    const view = el("div", { class: "columns" });
    view.append(
        section(
            "Motion",
            facts([
                ["method", data.method],
                ["status", verdict(data.status)],
                ["events", String(data.events?.length ?? 0)],
                ["energy", `${num(data.energy?.initial, 8)} → ${num(data.energy?.final, 8)}, balance ${num(data.energy?.balance_error, 2)}`],
            ]),
            table([{ title: "", left: true }, { title: "q" }, { title: "u" }], final),
        ),
        section(
            "Events",
            table(
                [{ title: "t" }, { title: "kind", left: true }, { title: "contacts", left: true }, { title: "contact work" }],
                (data.events ?? []).slice(0, 1000).map((e: any) => [num(e.t, 10, Math.abs(data.final?.t ?? 0)), e.kind, (e.contacts ?? []).join(", "), e.work ? num(e.work) : ""]),
            ),
        ),
    );
    return view;
}

/// `saltus impact --trajectory`: the energy audit of all impacts of a trajectory.
function auditView(data: any): HTMLElement {
    const a = data.audit;
    return section(
        "Audit of all impacts",
        facts([
            ["impacts", String(a.impacts)],
            ["creating energy", `${a.creating}, ${num(a.energy_created)} in all`],
            ["contact work", num(a.work)],
            ["work of obstacles", num(a.obstacle_work)],
        ]),
        table(
            [{ title: "t" }, { title: "contacts", left: true }, { title: "work" }, { title: "friction's part" }, { title: "created" }, { title: "", left: true }],
            (data.impacts ?? []).slice(0, 1000).map((i: any) => [
                num(i.t, 10), (i.contacts ?? []).join(", "), num(i.work), num(i.tangential), i.energy_created > 0 ? num(i.energy_created) : "", i.law ?? "",
            ]),
        ),
    );
}

/// `saltus check`: how the program understood a model file.
function checkView(data: any): HTMLElement {
    const parameters = Object.entries(data.parameters ?? {}).map(([k, v]) => `${k} = ${num(v)}`).join(", ");
    return section(
        "The model",
        facts([
            ["coordinates", `${data.coordinates?.slice(0, 12).join(", ")}${data.coordinates?.length > 12 ? ", …" : ""}; ${data.degrees_of_freedom} degrees of freedom`],
            ["parameters", parameters],
            ["mass matrix", `condition ${num(data.mass?.condition)}, smallest eigenvalue ${num(data.mass?.smallest_eigenvalue)}`],
            ["energy", `kinetic ${num(data.energy?.kinetic)}, potential ${num(data.energy?.potential)}`],
        ]),
        table(
            [{ title: "contact", left: true }, { title: "gap" }, { title: "mu" }, { title: "eN" }, { title: "eT" }, { title: "law", left: true }],
            (data.contacts ?? []).slice(0, 100).map((c: any) => [c.name, num(c.gN), (c.mu ?? []).map((m: number) => num(m)).join(", "), num(c.eN), num(c.eT), c.impact ?? ""]),
        ),
    );
}

/// `saltus simulate --vary`: runs over gains or other parameters.
function gainsView(data: any): HTMLElement {
    const names = Object.keys(data.vary ?? {});
    const rows: any[] = data.runs ?? [];
    const view = el("div", { class: "columns" });
    view.append(
        section(
            "Runs",
            table(
                [...names.map((n) => ({ title: n })), { title: "settled at" }, { title: "impacts" }, { title: "peak impulse" }, { title: "status", left: true }],
                rows.slice(0, 500).map((r) => [...names.map((n) => num(r.parameters?.[n])), num(r.settling_time), num(r.impacts), num(r.peak_impulse), r.status ?? ""]),
            ),
        ),
    );
    if (names.length === 1) {
        const points = rows.filter((r) => typeof r.settling_time === "number").map((r): [number, number] => [r.parameters[names[0]], r.settling_time]);
        if (points.length > 1) view.append(xyPlot({ title: "Settling time", x: names[0], y: "t", layers: [{ label: "settled at", kind: "path", points, hue: 0 }] }));
    }
    return view;
}

/// Markdown without HTML of its own: tags in the text are shown as text, and links lead to pages only.
const pages = new Marked({
    renderer: { html: ({ text }) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;") },
    walkTokens: (token) => {
        if ((token.type === "link" || token.type === "image") && !/^(https?:\/\/|[\w./-]*(#[\w-]*)?$)/.test(token.href)) token.href = "#";
    },
});

/// A page of the documentation in Markdown.
function documentView(data: any): HTMLElement {
    const body = el("div", { class: "panel document" });
    // The first heading is the title of the page, which is shown above.
    body.innerHTML = pages.parse(data.markdown.replace(/^# .*\n/, ""), { async: false }) as string;
    for (const a of body.querySelectorAll("a")) {
        const href = a.getAttribute("href") ?? "";
        if (/^[a-z-]+\.md/.test(href)) a.setAttribute("href", href.replace(".md", ".html"));
    }
    return body;
}
