// SPDX-License-Identifier: Apache-2.0
// Names of the results of a page, and the view that draws several motions of one model over each other.
import { el, largest } from "./dom";
import { byUnit, forceName, withUnit } from "./motion_view";
import type { Motion, Part } from "./report_document";
import { type Layer, type Point, xyPlot } from "./xyplot";

/// The command that computed a part, as the reader calls it. Some commands have several kinds of results.
const commandOf = (part: Part) => commands[part.kind] ?? part.kind;
const commands: Record<string, string> = { motion: "simulate", springs: "compare --penalty", gains: "simulate --vary", audit: "impact --trajectory" };

/// The options of a command line: "--set a=1" and "--t-end 5", each as one text. Words in quotes stay together.
function optionsOf(command: string): string[] {
    const words = command.match(/'[^']*'|"[^"]*"|\S+/g) ?? [];
    const list: string[] = [];
    for (const word of words) {
        if (word.startsWith("--")) list.push(word);
        else if (list.length) list[list.length - 1] += " " + word.replace(/^["']|["']$/g, "");
    }
    return list;
}

/// "--set a=0.01" as "a = 0.01", "--t-end 5" as "t-end 5".
const spoken = (option: string) =>
    option.startsWith("--set ") ? option.slice(6).replace("=", " = ") : option.replace(/^--/, "").replace("u-plus ", "u⁺ ").replace("u-minus ", "u⁻ ");

/// A name for each part. If several parts come from one command then the name says what tells them apart: the options in
/// which they differ, otherwise the name of the run.
export function partNames(parts: Part[]): string[] {
    return parts.map((part) => {
        const alike = parts.filter((p) => commandOf(p) === commandOf(part));
        const command = commandOf(part);
        if (alike.length < 2) return command;
        const own = optionsOf(part.command ?? "");
        const common = own.filter((o) => alike.every((p) => optionsOf(p.command ?? "").includes(o)));
        const special = own.filter((o) => !common.includes(o)).map(spoken);
        const options = special.join(", ");
        // A name with digits abbreviates the options, which say it better.
        const named = part.name && part.name !== command && !(options && /\d/.test(part.name));
        const given = named ? part.name! : "";
        if (given || options) return `${command}: ${given && options ? `${given} (${options})` : given || options}`;
        return alike.indexOf(part) === 0 ? command : `${command} ${alike.indexOf(part) + 1}`;
    });
}

/// Groups of at least two motions with the same coordinates.
export function comparableMotions(parts: Part[]): Part[][] {
    const groups = new Map<string, Part[]>();
    for (const p of parts) {
        if (p.kind !== "motion") continue;
        const key = (p.data as Motion).model + ":" + (p.data as Motion).coordinates.join(",");
        groups.set(key, [...(groups.get(key) ?? []), p]);
    }
    return [...groups.values()].filter((g) => g.length > 1);
}

/// A curve over time; null where it jumps.
function overTime(m: Motion, values: (number | null)[]): (Point | null)[] {
    const after = new Set(m.breaks);
    const points: (Point | null)[] = [];
    values.forEach((v, k) => {
        points.push(v == null ? null : [m.t[k], v]);
        if (after.has(k) && v !== values[k + 1]) points.push(null);
    });
    return points;
}

const max_coordinates = 4; // with plots of their own
const max_contacts = 4;

/// Several motions over the same axes: every coordinate, its velocity, gaps and normal forces, a curve for each run.
export function runsView(parts: Part[], names: string[]): HTMLElement {
    const motions = parts.map((p) => p.data as Motion);
    const first = motions[0];
    const labels = names.map((n) => n.replace(/^simulate:? ?/, "") || "as in the model"); // without the command
    const t = withUnit("t", first.units?.time);
    const layers = (of: (m: Motion) => (number | null)[] | undefined): Layer[] =>
        motions.flatMap((m, k): Layer[] => {
            const values = of(m);
            return values ? [{ label: labels[k], kind: "path", points: overTime(m, values), hue: k, dash: dashes[k % dashes.length] }] : [];
        });
    const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3]];
    const view = el("div", { class: "columns" });
    /// A plot, unless the curves of all runs are zero.
    const add = (title: string, y: string, of: (m: Motion) => (number | null)[] | undefined) => {
        if (motions.some((m) => largest(of(m) ?? []) > 0)) view.append(xyPlot({ title: `${title} of all runs`, x: t, y, layers: layers(of) }));
    };
    for (const g of byUnit(first))
        for (const k of g.curves.slice(0, max_coordinates)) {
            const name = first.q[k].name;
            add(name, withUnit(name, g.unit), (m) => m.q[k]?.values);
            add(name + "′", withUnit(name + "′", g.rate), (m) => m.u[k]?.values);
        }
    for (const gap of first.gaps.slice(0, max_contacts)) {
        add(`Gap ${gap.name}`, withUnit(`gN ${gap.name}`, first.units?.length), (m) => m.gaps.find((c) => c.name === gap.name)?.values);
    }
    for (const f of first.forces.filter((c) => c.kind !== "slider").slice(0, max_contacts)) {
        add(forceName(f), withUnit(forceName(f), first.units?.force), (m) => m.forces.find((c) => c.name === f.name)?.N);
    }
    return view;
}
