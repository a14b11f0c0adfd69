// SPDX-License-Identifier: Apache-2.0
// Names of the results of a page, and the view that draws several motions of one model over each other.
import { el, largest } from "./dom";
import { byUnit, forceName, nearObstacle, obstacles, withUnit } from "./motion_view";
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

const max_open = 8; // coordinates with plots that are shown at once; those of the others appear on demand
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
    // The places of points on an obstacle, with the motion of the obstacle in each run. [Alscher] Figure 2
    for (const o of obstacles(first))
        for (const point of o.points.slice(0, max_contacts)) {
            const own = motions.map((m) => obstacles(m).find((x) => x.name === o.name));
            const paths = layers((m) => own[motions.indexOf(m)]?.points.find((c) => c.name === point.name)?.values);
            const walls = motions.flatMap((m, k): Layer[] =>
                own[k] ? [{ label: `${o.name}: ${labels[k]}`, kind: "path", points: overTime(m, own[k]!.place), hue: k, width: 1, dash: [2, 3] }] : [],
            );
            // If the obstacle moves then the plot begins a little before the first contact and shows its neighbourhood.
            const near = nearObstacle(own.map((x) => x?.place ?? []));
            const end = Math.max(...motions.map((m) => m.t_end));
            const contact = Math.min(...motions.map((m) => m.events[0]?.t ?? m.t_begin));
            const range: [Point, Point] | undefined = near && [[contact - 0.1 * (end - contact), end], near];
            view.append(xyPlot({ title: `Place of ${point.name} along the normal, of all runs`, x: t, y: withUnit("n·x", first.units?.length), layers: [...walls, ...paths], range }));
        }
    const coordinates = byUnit(first).flatMap((g) => g.curves.map((k) => ({ k, ...g })));
    const addCoordinate = ({ k, unit, rate }: (typeof coordinates)[0]) => {
        const name = first.q[k].name;
        add(name, withUnit(name, unit), (m) => m.q[k]?.values);
        add(name + "′", withUnit(name + "′", rate), (m) => m.u[k]?.values);
    };
    coordinates.slice(0, max_open).forEach(addCoordinate);
    const others = coordinates.slice(max_open);
    if (others.length) {
        const choice = el("select", { "aria-label": "further coordinates" }, el("option", { value: "" }, `${others.length} further coordinates …`), el("option", { value: "all" }, "all of them"));
        others.forEach((c, i) => choice.append(el("option", { value: String(i) }, first.q[c.k].name)));
        choice.onchange = () => {
            const chosen = choice.value === "all" ? others : others.filter((_, i) => String(i) === choice.value);
            const before = view.childElementCount;
            chosen.forEach(addCoordinate);
            // New plots come behind the choice and not behind the plots of contacts.
            [...view.children].slice(before).reverse().forEach((plot) => choice.parentElement!.after(plot));
            for (const c of chosen) choice.querySelector(`option[value="${others.indexOf(c)}"]`)?.remove();
            if (choice.value === "all" || choice.options.length === 2) choice.parentElement!.remove();
            else choice.value = "";
        };
        view.append(el("section", { class: "panel" }, el("h3", {}, "Coordinates"), choice));
    }
    for (const gap of first.gaps.slice(0, max_contacts)) {
        add(`Gap ${gap.name}`, withUnit(`gN ${gap.name}`, first.units?.length), (m) => m.gaps.find((c) => c.name === gap.name)?.values);
    }
    for (const f of first.forces.filter((c) => c.kind !== "slider").slice(0, max_contacts)) {
        add(forceName(f), withUnit(forceName(f), first.units?.force), (m) => m.forces.find((c) => c.name === f.name)?.N);
    }
    return view;
}
