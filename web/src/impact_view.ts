// SPDX-License-Identifier: Apache-2.0
// The view of `saltus impact`: verdict, picture of the velocities, work, and what each impact law leads to.
import { el, facts, largest, num, section, table, verdict } from "./dom";
import { type Known, withUnit } from "./motion_view";
import { velocityPicture, workLine } from "./velocity_picture";
import { type Layer, xyPlot } from "./xyplot";

/// "left 1 | 0.5": normal and tangential impulses of each contact.
function reactions(of: Record<string, { N: number | null; T: number[] }> | undefined): string {
    if (!of) return "–";
    const size = largest(Object.values(of).flatMap((r) => [r.N, ...(r.T ?? [])]));
    return Object.entries(of)
        .map(([name, r]) => `${name} ${num(r.N, 6, size)}` + (r.T?.length ? ` | ${r.T.map((x) => num(x, 6, size)).join(", ")}` : ""))
        .join("; ");
}

/// An end of the interval of the contact work: a number, or infinite if the reason says that the work has no bound.
function workEnd(value: unknown, why: string | undefined, infinite: string, energy: number): string {
    return typeof value === "number" ? num(value, 10, energy) : why?.includes("without bound") ? infinite : "–";
}

/// One collision.
export function impactView(data: any, known: Known): HTMLElement {
    const names = Object.keys(data.u_minus);
    const work = data.work ?? {};
    const speed = largest([...Object.values(data.u_minus), ...Object.values(data.u_plus), ...Object.values(work.b0 ?? {})]);
    const energy = largest([data.energy?.before, data.energy?.after, work.min, work.max]);
    const rows = names.map((n) => [n + "′", num(data.u_minus[n], 10, speed), num(data.u_plus[n], 10, speed)]);
    const view = el("div", {});
    const top = el("div", { class: "columns" });
    top.append(
        section(
            "Verdict",
            el("p", {}, data.text ?? ""),
            facts([
                ["u⁺", data.u_plus_from],
                ["kinematic", el("span", {}, verdict(data.kinematic?.holds ? "holds" : "fails"), ` slack ${num(data.kinematic?.slack, 6, speed)}`)],
                ["kinetic", el("span", {}, verdict(data.kinetic?.holds ? "holds" : "fails"), ` distance ${num(data.kinetic?.distance, 6, data.kinetic?.jump)}`)],
                ["contact work", `${workEnd(work.min, work.why_min, "−∞", energy)} to ${workEnd(work.max, work.why_max, "∞", energy)}`],
                ["energy", `changes by ${num(data.energy_change, 10, energy)}`],
                ["consistent", verdict(String(data.consistent))],
                ["Λ at the least work", reactions(work.Lambda_min)],
                ["Λ at the greatest", reactions(work.Lambda_max)],
                ["b₀", work.b0 ? Object.entries(work.b0).map(([k, v]) => `${k}′ ${num(v, 6, speed)}`).join(", ") : null],
            ]),
            table([{ title: "", left: true }, { title: "u⁻" }, { title: "u⁺" }], rows),
            ...(data.remarks ?? []).map((r: any) => el("p", { class: "hint" }, r.text)),
        ),
    );
    top.append(velocityPicture(data, known));
    const work_line = workLine(data, known);
    if (work_line) top.append(work_line);
    if (data.laws?.length) top.append(lawTable(data, names), lawPlot(data, known));
    view.append(top);
    return view;
}

/// The contact work that each impact law does, over e. Positive work means that the contacts supplied energy.
function lawPlot(data: any, known: Known): HTMLElement {
    const layers: Layer[] = data.laws.map(
        (l: any, k: number): Layer => ({
            label: l.law,
            kind: "path",
            points: l.e.map((e: number, i: number) => (typeof l.work[i] === "number" ? [e, l.work[i]] : null)),
            hue: [1, 5, 6][k],
            dots: true,
        }),
    );
    layers.push({ label: "allowed", kind: "path", points: [[0, data.alpha ?? 0], [1, data.alpha ?? 0]], hue: 2, dash: [6, 4] });
    return xyPlot({ title: "Contact work of each impact law", x: "e of all contacts", y: withUnit("work", known.units?.energy), layers });
}

/// u⁺ of each law for five values of e, and whether it lies in the consistency set.
function lawTable(data: any, names: string[]): HTMLElement {
    const rows = data.laws.flatMap((l: any) =>
        [0, 0.25, 0.5, 0.75, 1].map((e) => {
            const k = l.e.findIndex((x: number) => Math.abs(x - e) < 1e-9);
            const u: number[] | null = l.u_plus[k];
            if (!u) return [l.law, num(e), "no outcome", ...names.map(() => "")];
            const inside = ["dissipates", "may-dissipate"].includes(l.verdict[k]);
            return [l.law, num(e), verdict(inside ? "yes" : "no"), ...u.map((x) => num(x, 6, largest(u)))];
        }),
    );
    return section(
        "u⁺ of each impact law, all contacts with the same e",
        table([{ title: "law", left: true }, { title: "e" }, { title: "consistent", left: true }, ...names.map((n) => ({ title: n + "′" }))], rows),
    );
}
