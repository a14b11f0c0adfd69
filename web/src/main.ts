// SPDX-License-Identifier: Apache-2.0
// Builds the page from the document in <script id="saltus-report">: a header, then a view for each part.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { el } from "./dom";
import { type Known, motionView } from "./motion_view";
import { toggleTheme } from "./theme";
import type { Motion, Part, Report } from "./report_document";
import { comparableMotions, partNames, runsView } from "./runs";
import { numbersView, views } from "./views";

function header(report: Report): HTMLElement {
    const button = el("button", { class: "theme", type: "button", "aria-label": "light or dark" }, "◐");
    button.onclick = toggleTheme;
    const back = report.back ? el("a", { class: "back", href: report.back.href }, "← " + report.back.text) : null;
    return el("header", {}, back, el("h1", {}, report.title), button);
}

/// Collects what equilibria, basins and certificates on this page say about the model, to draw it in phase planes.
function knownOf(parts: Part[]): Known {
    const known: Known = { sets: [] };
    for (const p of parts) {
        const m = p.data as Motion;
        if (p.kind !== "motion" || !m.units) continue;
        known.units = { time: m.units.time, force: m.units.force, q: Object.fromEntries(m.coordinates.map((c, k) => [c, m.units!.q[k]])) };
    }
    for (const kind of ["equilibria", "basin"])
        for (const p of parts)
            if (p.kind === kind && !known.sets.length) known.sets = p.data.sets ?? [];
    known.basin = parts.find((p) => p.kind === "basin" && p.data.V)?.data;
    const proof = parts.find((p) => p.kind === "certify" && p.data.verdict === "attractive" && typeof p.data.rho === "number");
    if (proof) {
        known.rho = proof.data.rho;
        known.level = proof.data.rho + potentialAt(known.sets, proof.data.equilibrium?.q ?? {});
    }
    return known;
}

/// The potential energy of the equilibrium set that contains q; 0 if no set of the page contains it.
function potentialAt(sets: any[], q: Record<string, number>): number {
    const tolerance = 1e-6; // certificates and equilibria compute the set separately
    const contains = (s: any) =>
        Object.entries<[number, number]>(s.extent ?? {}).every(([n, r]) => q[n] === undefined || (q[n] > r[0] - tolerance && q[n] < r[1] + tolerance));
    const set = sets.find(contains);
    return typeof set?.potential?.[0] === "number" ? set.potential[0] : typeof set?.potential === "number" ? set.potential : 0;
}

/// The anchor of a part, for links.
const idOf = (part: Part, index: number) => `${part.kind}-${index + 1}`;

function partView(part: Part, index: number, name: string, known: Known): HTMLElement {
    const body = part.kind === "motion" ? motionView(part.data, known) : (views[part.kind] ?? views.other)(part.data, known);
    const title = part.kind === "document" ? null : el("h2", {}, name); // a document has its own title
    const command = part.command ? el("code", { class: "command" }, part.command) : null;
    return el("article", { id: idOf(part, index) }, el("div", { class: "parthead" }, title, command, el("span", { class: "source" }, part.source)), body);
}

function start(): void {
    const page = document.getElementById("page")!;
    const report: Report = JSON.parse(document.getElementById("saltus-report")!.textContent!);
    document.title = report.title + " – Saltus";
    page.append(header(report));
    const names = partNames(report.parts);
    const compared = comparableMotions(report.parts);
    if (report.parts.length > 1) {
        const tabs = report.parts.map((p, k) => el("a", { href: "#" + idOf(p, k) }, names[k]));
        if (compared.length) tabs.unshift(el("a", { href: "#runs" }, "runs compared"));
        page.append(el("nav", {}, ...tabs));
    }
    if (report.text) page.append(el("p", { class: "intro" }, report.text));
    if (report.numbers?.length) page.append(numbersView(report.numbers));
    for (const note of report.notes ?? []) page.append(el("p", { class: "warning" }, note));
    const known = knownOf(report.parts);
    for (const group of compared)
        page.append(
            el("article", { id: "runs" }, el("div", { class: "parthead" }, el("h2", {}, "Runs compared")), runsView(group, group.map((p) => names[report.parts.indexOf(p)]))),
        );
    report.parts.forEach((part, k) => page.append(partView(part, k, names[k], known)));
    page.append(el("footer", {}, `Saltus ${report.version ?? ""}. This file needs no network.`));
}

start();
