// SPDX-License-Identifier: Apache-2.0
// Builds the page from the document in <script id="saltus-report">: a header, then a view for each part.
import "uplot/dist/uPlot.min.css";
import "./style.css";
import { el } from "./dom";
import type { Known } from "./motion_view";
import { toggleTheme } from "./theme";
import { knownOf } from "./known";
import type { Part, Report } from "./report_document";
import { startStudio } from "./studio";
import { comparableMotions, partNames, runsView } from "./runs";
import { numbersView, resultView } from "./views";

function header(report: Report): HTMLElement {
    const button = el("button", { class: "theme", type: "button", "aria-label": "light or dark" }, "◐");
    button.onclick = toggleTheme;
    const back = report.back ? el("a", { class: "back", href: report.back.href }, "← " + report.back.text) : null;
    return el("header", {}, back, el("h1", {}, report.title), button);
}

/// The anchor of a part, for links.
const idOf = (part: Part, index: number) => `${part.kind}-${index + 1}`;

function partView(part: Part, index: number, name: string, known: Known): HTMLElement {
    const body = resultView(part, known);
    const title = part.kind === "document" ? null : el("h2", {}, name); // a document has its own title
    const command = part.command ? el("code", { class: "command" }, part.command) : null;
    return el("article", { id: idOf(part, index) }, el("div", { class: "parthead" }, title, command, el("span", { class: "source" }, part.source)), body);
}

function start(): void {
    const page = document.getElementById("page")!;
    const report: Report = JSON.parse(document.getElementById("saltus-report")!.textContent!);
    document.title = report.title + " – Saltus";
    if (report.format === "saltus studio") return startStudio(page, report);
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
    const known = knownOf(report.parts, report.units);
    for (const group of compared)
        page.append(
            el("article", { id: "runs" }, el("div", { class: "parthead" }, el("h2", {}, "Runs compared")), runsView(group, group.map((p) => names[report.parts.indexOf(p)]))),
        );
    report.parts.forEach((part, k) => page.append(partView(part, k, names[k], known)));
    page.append(el("footer", {}, `Saltus ${report.version ?? ""}. This file needs no network.`));
}

start();
