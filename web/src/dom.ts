// SPDX-License-Identifier: Apache-2.0
// Helpers that create elements: tables, lists of facts, numbers.

type Child = Node | string | null | undefined | false;

/// An element with attributes and children; text is text, never markup.
export function el<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    attributes: Record<string, string> = {},
    ...children: Child[]
): HTMLElementTagNameMap[K] {
    const e = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
    for (const c of children) if (c) e.append(c);
    return e;
}

/// Numbers below this ratio of the quantities that they were computed from are rounding residue.
const rounding = 1e-13;

/// A number with `digits` significant digits; "–" for null, "∞" for infinity, exponents for very large and small numbers.
/// `scale` is the size of the quantities that the number was computed from: what is below rounding is shown as 0.
export function num(x: unknown, digits = 6, scale = 0): string {
    if (x === null || x === undefined) return "–";
    if (typeof x !== "number") return String(x);
    if (!Number.isFinite(x)) return x > 0 ? "∞" : x < 0 ? "−∞" : "–";
    if (x === 0 || Math.abs(x) <= rounding * scale) return "0";
    const a = Math.abs(x);
    const power = () => x.toExponential(Math.min(digits - 1, 4)).replace(/\.?0+e/, "e");
    const text = a >= 1e6 || a < 1e-4 ? power() : String(Number(x.toPrecision(digits)));
    return text.replace("-", "−").replace(/e\+?/, "e").replace("e-", "e−");
}

export interface Column {
    title: string;
    left?: boolean;
}

/// A table. Long tables scroll inside their frame.
export function table(columns: Column[], rows: Child[][], className = ""): HTMLElement {
    const head = el("tr", {}, ...columns.map((c) => el("th", { class: c.left ? "left" : "" }, c.title)));
    const body = rows.map((r) =>
        el("tr", {}, ...r.map((cell, k) => el("td", { class: columns[k]?.left ? "left" : "" }, cell))),
    );
    return el("div", { class: "table " + className }, el("table", {}, el("thead", {}, head), el("tbody", {}, ...body)));
}

/// A panel with a title.
export function section(title: string, ...children: Child[]): HTMLElement {
    return el("section", { class: "panel" }, el("h3", {}, title), ...children);
}

/// The largest absolute value of the finite numbers in a list; 0 if there is none. To be used as `scale` of `num`.
export function largest(values: Iterable<unknown>): number {
    let size = 0;
    for (const v of values) if (typeof v === "number" && Number.isFinite(v)) size = Math.max(size, Math.abs(v));
    return size;
}

/// A list of terms with their values. Entries without a value are left out.
export function facts(list: [string, Child][]): HTMLElement {
    const dl = el("dl", { class: "facts" });
    for (const [term, value] of list) if (value) dl.append(el("dt", {}, term), el("dd", {}, value));
    return dl;
}

/// A verdict or status, coloured as good, bad or neutral.
export function verdict(word: string): HTMLElement {
    const good = ["proved", "holds", "attractive", "stable", "completed", "converged", "yes", "true"];
    const bad = ["fails", "failed", "unstable", "no", "false", "energy-created", "inaccurate"];
    const tone = good.includes(word) ? "good" : bad.includes(word) ? "bad" : "neutral";
    return el("span", { class: "verdict " + tone }, word);
}
