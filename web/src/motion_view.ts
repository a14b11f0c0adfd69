// SPDX-License-Identifier: Apache-2.0
// The view of a motion: summary, animation, curves over time, table of events, phase planes.
import { animation } from "./animation";
import { Clock } from "./clock";
import { contour, levels } from "./contour";
import { el, facts, largest, num, section, table, verdict } from "./dom";
import { type Line, type Stem, TimeGroup, timePlot } from "./timeplot";
import type { Force, Motion, Plane } from "./report_document";
import { type Layer, type Point, xyPlot } from "./xyplot";

let motions = 0; // on this page; gives each motion its own cursor

/// What other results of the page say about the same model, for its phase planes.
export interface Known {
    sets: { extent: Record<string, [number, number]> }[]; // equilibrium sets
    level?: number; // value of T + U on the boundary of the certified level set { V < ρ* }
    rho?: number; // ρ*
    basin?: any; // the first basin with T + U over a plane
    units?: { time: string; force: string; q: Record<string, string> }; // by coordinate
}

/// All of a motion. Its plots share zoom and cursor; its animation and plots show the same time.
export function motionView(m: Motion, known: Known): HTMLElement {
    const view = el("div", { class: "motion" });
    const group = new TimeGroup(m.t, m.breaks, "motion" + motions++, withUnit("t", m.units?.time));
    const clock = new Clock(m.t_begin, m.t_end);
    group.onPick = (t) => {
        clock.pause();
        clock.set(t);
    };
    clock.follow((t) => group.mark(t));
    const top = el("div", { class: "columns" });
    if (m.drawing) top.append(animation(m, clock));
    top.append(summary(m));
    view.append(top);
    for (const w of m.warnings) view.append(el("p", { class: "warning" }, w));

    const plots = el("div", { class: "columns" });
    const many = m.q.length > 8; // then only the first six curves are visible at first
    const curves = (list: { name: string; values: (number | null)[] }[], suffix = ""): Line[] =>
        list.map((c, k) => ({ label: c.name + suffix, values: c.values, hidden: many && k > 5 }));
    const some = m.q.length < m.coordinates.length ? ` (${m.q.length} of ${m.coordinates.length})` : "";
    for (const g of byUnit(m)) {
        const title = (kind: string, unit: string) => kind + (unit ? ` in ${unit}` : "") + some;
        const [q, u] = [g.curves.map((k) => m.q[k]), g.curves.map((k) => m.u[k])];
        plots.append(timePlot(group, title("Coordinates", g.unit), curves(q), { label: withUnit(listed(q.map((c) => c.name)), g.unit) }));
        plots.append(timePlot(group, title("Velocities", g.rate), curves(u, "′"), { label: withUnit(listed(u.map((c) => c.name + "′")), g.rate) }));
    }
    if (m.gaps.length) plots.append(timePlot(group, "Gaps", curves(m.gaps), { label: withUnit("gap gN", m.units?.length) }));
    for (const o of obstacles(m)) plots.append(normalPlot(group, m, o));
    // Quantities of one unit share an axis.
    const unitOf = (name: string): string => /\[(.*)\]$/.exec(name)?.[1] ?? "";
    const units = [...new Set((m.outputs ?? []).map((c) => unitOf(c.name)))];
    for (const unit of units) {
        const list = (m.outputs ?? []).filter((c) => unitOf(c.name) === unit);
        plots.append(timePlot(group, "Outputs" + (unit ? ` in ${unit}` : ""), curves(list)));
    }
    if (m.forces.length) plots.append(forcePlot(group, m));
    if (m.energy.length) plots.append(energyPlot(group, m));
    const energy = largest(m.energy.flatMap((c) => c.values));
    const work = m.work.filter((w) => largest(w.values) > 1e-12 * energy); // less is rounding residue
    if (work.length) plots.append(workPlot(group, m, work));
    view.append(plots);

    view.append(eventTable(m, clock));
    const planes = el("div", { class: "columns" });
    for (const p of phasePlanes(m, known)) planes.append(p);
    view.append(planes);
    return view;
}

/// An obstacle of mass points, with its place K + θ(t) and those of points along its normal.
export interface Obstacle {
    name: string;
    place: number[];
    points: { name: string; values: (number | null)[] }[];
}

/// The obstacles of a motion of mass points. A point's place along the normal n is n·x = gap + place of the obstacle.
export function obstacles(m: Motion): Obstacle[] {
    return (m.drawing?.planes ?? []).flatMap((plane): Obstacle[] => {
        const offset = m.drawing!.values[plane.offset];
        const place = m.t.map((_, k) => (typeof offset === "number" ? offset : offset[k]));
        const points = m.gaps
            .filter((g) => g.name.startsWith(plane.name))
            .map((g) => ({ name: g.name, values: g.values.map((v, k) => (v == null ? null : v + place[k])) }));
        return points.length ? [{ name: plane.name, place, points }] : [];
    });
}

/// A range along the normal in which the motion of the obstacle can be seen; undefined if the obstacle does not move.
export function nearObstacle(places: number[][]): [number, number] | undefined {
    const all = places.flat().filter(Number.isFinite);
    const [lo, hi] = [all.reduce((a, b) => Math.min(a, b), Infinity), all.reduce((a, b) => Math.max(a, b), -Infinity)];
    const width = hi - lo;
    return width > 0 ? [lo - width, hi + 4 * width] : undefined;
}

const visible_points = 4; // of a plot along a normal; the others can be switched on

/// Places along the normal of an obstacle, on an axis of their own, with the motion of the obstacle. [Alscher] Figure 2
function normalPlot(group: TimeGroup, m: Motion, o: Obstacle): HTMLElement {
    const lines: Line[] = o.points.map((c, k) => ({ label: c.name, values: c.values, hidden: k >= visible_points }));
    lines.push({ label: `obstacle ${o.name}`, values: o.place, hue: 7, dash: [5, 4] });
    return timePlot(group, `Places along the normal of ${o.name}`, lines, { label: withUnit("n·x", m.units?.length), range: nearObstacle([o.place]) });
}

/// "x in m"; the name alone if the unit is unknown.
export function withUnit(name: string, unit: string | undefined): string {
    return unit ? `${name} in ${unit}` : name;
}

/// "x, y, phi"; of a long list the first three names.
function listed(names: string[]): string {
    return names.length > 4 ? names.slice(0, 3).join(", ") + ", …" : names.join(", ");
}

/// The curves of m.q by their units: quantities of one kind share an axis. One group if the units are unknown.
export function byUnit(m: Motion): { unit: string; rate: string; curves: number[] }[] {
    const groups = new Map<string, number[]>();
    m.q.forEach((c, k) => {
        const unit = m.units?.q[m.coordinates.indexOf(c.name)] ?? "";
        groups.set(unit, [...(groups.get(unit) ?? []), k]);
    });
    return [...groups].map(([unit, curves]) => ({ unit, rate: unit ? `${unit}/${m.units!.time}` : "", curves }));
}

function summary(m: Motion): HTMLElement {
    const count = Object.entries(m.event_kinds).map(([k, n]) => `${n} ${k}`).join(", ");
    // Numbers are small if they are small compared with those of the whole motion.
    const size = (list: { values: (number | null)[] }[], k: number) => largest(list[k]?.values ?? []);
    const final = m.coordinates
        .slice(0, 8)
        .map((x, i) => `${x} ${num(m.end.q[i], 6, size(m.q, i))}, ${x}′ ${num(m.end.u[i], 6, size(m.u, i))}`);
    if (m.coordinates.length > 8) final.push("…");
    return section(
        "Summary",
        facts([
            ["method", `${m.method}  ${m.options}`],
            ["status", el("span", {}, verdict(m.status), m.reason ? " " + m.reason : "")],
            ["time", `${num(m.t_begin)} to ${num(m.t_end)}, ${m.steps} steps`],
            ["events", m.event_count ? `${m.event_count}: ${count}` : "none"],
            ["energy", `${num(m.balance.initial, 8)} → ${num(m.balance.final, 8)}, balance closed to ${num(m.balance.error, 2)}`],
            ["created by impacts", m.energy_created > 0 ? num(m.energy_created) : null],
            ["violation", `gap ${num(m.violation.gap, 2)}, constraint ${num(m.violation.constraint, 2)}`],
            ["at the end", el("span", {}, ...final.flatMap((f, i) => (i ? [el("br"), f] : [f])))],
            ["shown", m.decimated ? "extremes only: the motion has more detail than a screen can show" : null],
        ]),
    );
}

/// "λN left": the normal force of a contact, ν of a constraint.
export const forceName = (f: Force) => `${f.kind === "contact" || f.kind === "slider" ? "λ" : "ν"}N ${f.name}`;

/// Contact forces over time; impulses as stems at the breaks.
function forcePlot(group: TimeGroup, m: Motion): HTMLElement {
    const lines: Line[] = [];
    const stems: Stem[] = [];
    m.forces.forEach((f, i) => {
        if (f.kind !== "slider") lines.push({ label: forceName(f), values: f.N, hue: i, hidden: i > 5 });
        f.T.forEach((T, k) =>
            lines.push({
                label: `λT${f.T.length > 1 ? k + 1 : ""} ${f.name}`,
                values: T,
                hue: i,
                dash: [5, 4],
                hidden: i > 5,
            }),
        );
        const at = new Map<number, number>(); // break → normal impulse there
        let acts = false;
        const sameTime = 1e-11; // relative: times of samples have 12 digits
        for (const b of m.breaks)
            for (const e of m.events) {
                if (Math.abs(e.t - m.t[b]) > sameTime * Math.max(1, Math.abs(e.t))) continue;
                const impulse = e.impulses?.find((r) => r.name === f.name);
                if (impulse) at.set(b, (at.get(b) ?? 0) + impulse.N), (acts = acts || impulse.N !== 0);
            }
        if (acts) stems.push({ label: `ΛN ${f.name}`, at, hue: i });
    });
    const impulse = m.units ? `${m.units.force} ${m.units.time}` : undefined;
    return timePlot(group, "Contact forces" + (stems.length ? ", impulses as stems" : ""), lines, {
        stems,
        label: withUnit("force λ", m.units?.force),
        stemLabel: withUnit("impulse Λ", impulse),
    });
}

function energyPlot(group: TimeGroup, m: Motion): HTMLElement {
    const [T, U] = m.energy;
    const total = T.values.map((v, k) => (v == null || U.values[k] == null ? null : v + U.values[k]!));
    return timePlot(group, "Energy", [
        { label: "total", values: total },
        { label: "kinetic T", values: T.values },
        { label: "potential U", values: U.values },
    ], { label: withUnit("energy", m.units?.energy) });
}

/// The causes that change T + U, in words.
const causes: Record<string, string> = {
    applied: "applied forces",
    damping: "damping",
    friction: "friction",
    springs: "contact springs",
    obstacles: "moving obstacles",
    impacts: "impacts",
};

/// The work of each cause since the start, and the rest of the energy balance that no cause explains.
function workPlot(group: TimeGroup, m: Motion, work: Motion["work"]): HTMLElement {
    const [T, U] = m.energy;
    const start = (T.values[0] ?? 0) + (U.values[0] ?? 0);
    const change = T.values.map((v, k) => (v ?? 0) + (U.values[k] ?? 0) - start);
    const lines: Line[] = [{ label: "change of T + U", values: change, hue: 7 }];
    work.forEach((w, k) => lines.push({ label: causes[w.name] ?? w.name, values: w.values, hue: k }));
    // The curves have six digits: a difference below that is shown as 0.
    const digits = 3e-6 * largest([...T.values, ...U.values]);
    const rest = change.map((c, k) => c - work.reduce((s, w) => s + (w.values[k] ?? 0), 0)).map((r) => (Math.abs(r) <= digits ? 0 : r));
    lines.push({ label: "unexplained", values: rest, hue: 6, dash: [2, 3] });
    return timePlot(group, "Work balance", lines, { label: withUnit("work", m.units?.energy) });
}

function eventTable(m: Motion, clock: Clock): HTMLElement | string {
    if (!m.events.length) return "";
    const impulse = largest(m.events.flatMap((e) => (e.impulses ?? []).flatMap((r) => [r.N, ...r.T])));
    const energy = largest(m.events.flatMap((e) => [e.work, ...(e.energy ?? [])]));
    const jump = largest(m.events.map((e) => e.jump));
    const rows = m.events.map((e) => {
        const go = el("button", { class: "link", type: "button" }, num(e.t, 10));
        go.onclick = () => {
            clock.pause();
            clock.set(e.t);
        };
        const impulses = (e.impulses ?? [])
            .filter((r) => r.N !== 0 || r.T.some((x) => x !== 0))
            .slice(0, 4)
            .map((r) => `${r.name} ${num(r.N, 6, impulse)}` + (r.T.length ? ` | ${r.T.map((x) => num(x, 6, impulse)).join(", ")}` : ""));
        const note = [e.impacts ? `${e.impacts} impacts seen` : "", e.note ?? ""].filter(Boolean).join("; ");
        const names = e.contacts.length > 4 ? e.contacts.slice(0, 3).join(", ") + `, … ${e.contacts.length}` : e.contacts.join(", ");
        return [
            go,
            e.kind,
            names,
            e.jump ? num(e.jump, 6, jump) : "",
            impulses.join("; "),
            e.work !== undefined ? num(e.work, 6, energy) : "",
            e.energy ? num(e.energy[1] - e.energy[0], 6, energy) : "",
            note,
        ];
    });
    const more = m.event_count > m.events.length ? `, ${m.events.length} of ${m.event_count} listed` : "";
    return section(
        `Events${more}`,
        table(
            [
                { title: "t" },
                { title: "kind", left: true },
                { title: "contacts", left: true },
                { title: "largest |Δu|" },
                { title: "impulses N | T", left: true },
                { title: "contact work" },
                { title: "ΔE" },
                { title: "", left: true },
            ],
            rows,
            "events",
        ),
    );
}

/// For each of the first six coordinates the curve in (x, x′), interrupted where x′ jumps, over level lines of T + U.
function phasePlanes(m: Motion, known: Known): HTMLElement[] {
    const after = new Set(m.breaks);
    const initial = m.balance.initial;
    return m.q.slice(0, 6).map((q, i) => {
        const u = m.u[i];
        const points: (Point | null)[] = [];
        const jumps: (Point | null)[] = [];
        const jump = 1e-9 * largest(u.values); // smaller differences are errors of the integrator
        q.values.forEach((x, k) => {
            points.push([x ?? NaN, u.values[k] ?? NaN]);
            if (!after.has(k) || Math.abs(u.values[k]! - u.values[k + 1]!) <= jump) return;
            points.push(null);
            jumps.push([x!, u.values[k]!], [q.values[k + 1]!, u.values[k + 1]!], null);
        });
        const layers: Layer[] = [];
        const plane = m.planes.find((p) => p.coordinate === i);
        if (plane) layers.push(...energyLevels(plane, initial, known));
        const rest = known.sets.flatMap((e): (Point | null)[] => {
            const r = e.extent?.[q.name];
            return r && Number.isFinite(r[0]) && Number.isFinite(r[1]) ? [[r[0], 0], [r[1], 0], null] : [];
        });
        if (rest.length) layers.push({ label: "equilibrium sets", kind: "path", points: rest, hue: 3, width: 5, aside: true });
        layers.push({ label: "motion", kind: "path", points, hue: 0, width: 1.8 });
        if (jumps.length) layers.push({ label: "jumps", kind: "path", points: jumps, hue: 1, dash: [2, 3], width: 1 });
        const last = points.length - 1;
        layers.push({
            label: "start and end",
            kind: "points",
            points: [points[0], points[last]],
            names: ["start", "end"],
            hue: 2,
        });
        const unit = m.units?.q[m.coordinates.indexOf(q.name)] ?? "";
        return xyPlot({
            title: `Phase plane of ${q.name}`,
            x: withUnit(q.name, unit),
            y: withUnit(q.name + "′", unit && `${unit}/${m.units!.time}`),
            layers,
        });
    });
}

/// Level lines of T + U, the level of the initial state, and the certified level.
function energyLevels(p: Plane, initial: number, known: Known): Layer[] {
    const grid = { x: p.q, y: p.u, nx: p.nq, ny: p.nu, values: p.values };
    const lines = levels(grid, 7).flatMap((l) => contour(grid, l));
    return [
        { label: p.least ? "least T + U" : "T + U, others as at the end", kind: "path", points: lines, hue: 7, width: 0.7 },
        { label: "T + U of the start", kind: "path", points: contour(grid, initial), hue: 4, width: 1.2, dash: [6, 4] },
        ...(known.level === undefined
            ? []
            : [{ label: `V = ρ* = ${num(known.rho)}`, kind: "path" as const, points: contour(grid, known.level), hue: 2, width: 2 }]),
    ];
}
