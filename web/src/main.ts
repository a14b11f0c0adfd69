// SPDX-License-Identifier: Apache-2.0
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { el } from "./dom";
import { type Known, motionView } from "./motion";
import { toggleTheme } from "./theme";
import type { Part, Report } from "./types";
import { views } from "./views";

function header(report: Report): HTMLElement {
    const button = el("button", { class: "theme", type: "button", "aria-label": "light or dark" }, "◐");
    button.onclick = toggleTheme;
    const back = report.back ? el("a", { class: "back", href: report.back.href }, "← " + report.back.text) : null;
    return el("header", {}, back, el("h1", {}, report.title), button);
}

/// What the equilibria, basins and certificates of the page say, for its phase planes.
function knownOf(parts: Part[]): Known {
    const known: Known = { sets: [] };
    for (const kind of ["equilibria", "basin"])
        for (const p of parts)
            if (p.kind === kind && !known.sets.length) known.sets = p.data.sets ?? [];
    const level = parts.find((p) => p.kind === "certify" && typeof p.data.rho === "number");
    if (level) known.rho = level.data.rho;
    return known;
}

function partView(part: Part, known: Known): HTMLElement {
    const body = part.kind === "motion" ? motionView(part.data, known) : (views[part.kind] ?? views.other)(part.data);
    const title = el("h2", {}, part.kind === "motion" ? "simulate" : part.kind);
    const command = part.command ? el("code", { class: "command" }, part.command) : null;
    return el("article", { id: part.kind }, el("div", { class: "parthead" }, title, command, el("span", { class: "source" }, part.source)), body);
}

function start(): void {
    const page = document.getElementById("page")!;
    const report: Report = JSON.parse(document.getElementById("saltus-report")!.textContent!);
    document.title = report.title + " – Saltus";
    page.append(header(report));
    if (report.parts.length > 1)
        page.append(
            el("nav", {}, ...report.parts.map((p) => el("a", { href: "#" + p.kind }, p.kind === "motion" ? "simulate" : p.kind))),
        );
    if (report.text) page.append(el("p", { class: "intro" }, report.text));
    if (report.numbers?.length) page.append(views.numbers(report.numbers));
    for (const note of report.notes ?? []) page.append(el("p", { class: "warning" }, note));
    const known = knownOf(report.parts);
    for (const part of report.parts) page.append(partView(part, known));
    page.append(el("footer", {}, `Saltus ${report.version ?? ""}. This file needs no network.`));
}

start();
