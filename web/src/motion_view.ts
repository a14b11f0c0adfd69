// SPDX-License-Identifier: Apache-2.0
// The view of a motion: summary, animation, curves over time, table of events, phase planes.
import { liveAnimation } from "./animation";
import { Clock } from "./clock";
import { contour, levels } from "./contour";
import { el, facts, largest, num, section, table, verdict } from "./dom";
import { type Line, liveTimePlot, type Stem, TimeGroup } from "./timeplot";
import type { Force, ModelUnits, Motion, Plane } from "./report_document";
import { type Layer, liveXyPlot, type Plane as XyPlane, type Point } from "./xyplot";

let motions = 0; // on this page; gives each motion its own cursor

/// Curves that are drawn only if they differ from 0, by name. A page whose motion changes keeps those that it has drawn
/// once, so that it need not make its plots again.
export interface Curves {
    stems: Set<string>; // elements with impulses
    work: Set<string>; // causes that change T + U
}

/// What other results of the page say about the same model, for its phase planes.
export interface Known {
    sets: { extent: Record<string, [number, number]> }[]; // equilibrium sets
    level?: number; // value of T + U on the boundary of the certified level set { V < ρ* }
    rho?: number; // ρ*
    basin?: any; // the first basin with T + U over a plane
    units?: ModelUnits;
    live?: Curves; // the motion changes while it is shown; these curves are drawn from now on
    onPick?: (start: Record<string, number>) => void; // the user clicked on this start in a phase plane
}

/// All of a motion. Its plots share zoom and cursor; its animation and plots show the same time.
export function motionView(m: Motion, known: Known): HTMLElement {
    return liveMotionView(m, known).element;
}

/// A view whose motion can change. `update` returns false if the new motion needs other plots; it is then not shown.
export interface LiveMotionView {
    element: HTMLElement;
    update: (m: Motion) => boolean;
}

const tables_delay = 200; // ms after the last change, then summary and events follow: they are slower than plots

export function liveMotionView(m: Motion, known: Known): LiveMotionView {
    const view = el("div", { class: "motion" });
    const group = new TimeGroup(m.t, m.breaks, "motion" + motions++, withUnit("t", m.units?.time));
    const clock = new Clock(m.t_begin, m.t_end);
    group.onPick = (t) => {
        clock.pause();
        clock.set(t);
    };
    clock.follow((t) => group.mark(t));
    const top = el("div", { class: "columns" });
    const scene = m.drawing ? liveAnimation(m, clock) : null;
    let about = summary(m);
    if (scene) top.append(scene.frame);
    top.append(about);
    const warnings = el("div", {}, ...warningsOf(m));
    const curves = timePlotsOf(m, known.live);
    const plots = curves.map((p) => liveTimePlot(group, p.title, p.lines, p.options));
    let events = eventTable(m, clock);
    const planes = phasePlanes(m, known);
    const pictures = planes.map((p) => liveXyPlot(p));
    view.append(top, warnings, el("div", { class: "columns" }, ...plots.map((p) => p.frame)), events);
    view.append(el("div", { class: "columns" }, ...pictures.map((p) => p.frame)));
    const structure = structureOf(m, curves, planes);
    let tables = 0; // timer
    // What is outside of the window follows when there is time. The browser says what is inside: asking for places
    // would make it compute its layout at each update.
    const outside = new Set<Element>();
    const watch = new IntersectionObserver((list) => list.forEach((e) => (e.isIntersecting ? outside.delete(e.target) : outside.add(e.target))));
    if (known.live) for (const frame of [...(scene ? [scene.frame] : []), ...plots.map((p) => p.frame), ...pictures.map((p) => p.frame)]) watch.observe(frame);

    const update = (motion: Motion): boolean => {
        const newCurves = timePlotsOf(motion, known.live);
        const newPlanes = phasePlanes(motion, known);
        if (structureOf(motion, newCurves, newPlanes) !== structure) return false;
        m = motion;
        [group.t, group.breaks] = [m.t, m.breaks];
        clock.span(m.t_begin, m.t_end);
        const seen = (frame: HTMLElement) => !outside.has(frame);
        const work: [HTMLElement, () => void][] = [];
        if (scene) work.push([scene.frame, () => scene.update(m)]);
        plots.forEach((p, k) => work.push([p.frame, () => p.update(newCurves[k].lines, newCurves[k].options.stems ?? [])]));
        pictures.forEach((p, k) => work.push([p.frame, () => p.update(newPlanes[k].layers)]));
        const hidden = work.filter(([frame]) => !seen(frame));
        for (const [frame, f] of work) if (seen(frame)) f();
        clearTimeout(tables);
        tables = window.setTimeout(() => {
            for (const [, f] of hidden) f();
            const [oldAbout, oldEvents] = [about, events];
            oldAbout.replaceWith((about = summary(m)));
            oldEvents.replaceWith((events = eventTable(m, clock)));
            warnings.replaceChildren(...warningsOf(m));
        }, tables_delay);
        return true;
    };
    return { element: view, update };
}

/// Two motions with the same text here have the same plots.
function structureOf(m: Motion, curves: TimePlot[], planes: XyPlane[]): string {
    return JSON.stringify([
        m.model, m.stepped, m.coordinates, m.drawing?.dimension, m.drawing?.shapes.length, m.drawing?.contacts.map((c) => c.name), m.units,
        curves.map((p) => [p.title, p.lines.map((l) => l.label), p.options.stems?.map((l) => l.label), p.options.range]),
        planes.map((p) => [p.title, p.layers.map((l) => l.label)]),
    ]);
}

const warningsOf = (m: Motion) => m.warnings.map((w) => el("p", { class: "warning" }, w));

/// A plot over time as a value.
interface TimePlot {
    title: string;
    lines: Line[];
    options: { stems?: Stem[]; stemLabel?: string; label?: string; range?: [number, number] };
}

/// The plots over time of a motion. `drawn`: also curves without values that were drawn before.
function timePlotsOf(m: Motion, drawn: Curves = { stems: new Set(), work: new Set() }): TimePlot[] {
    const plots: TimePlot[] = [];
    const many = m.q.length > 8; // then only the first six curves are visible at first
    const curves = (list: { name: string; values: (number | null)[] }[], suffix = ""): Line[] =>
        list.map((c, k) => ({ label: c.name + suffix, values: c.values, hidden: many && k > 5 }));
    const some = m.q.length < m.coordinates.length ? ` (${m.q.length} of ${m.coordinates.length})` : "";
    for (const g of byUnit(m)) {
        const title = (kind: string, unit: string) => kind + (unit ? ` in ${unit}` : "") + some;
        const [q, u] = [g.curves.map((k) => m.q[k]), g.curves.map((k) => m.u[k])];
        plots.push({ title: title("Coordinates", g.unit), lines: curves(q), options: { label: withUnit(listed(q.map((c) => c.name)), g.unit) } });
        plots.push({ title: title("Velocities", g.rate), lines: curves(u, "′"), options: { label: withUnit(listed(u.map((c) => c.name + "′")), g.rate) } });
    }
    if (m.gaps.length) plots.push({ title: "Gaps", lines: curves(m.gaps), options: { label: withUnit("gap gN", m.units?.length) } });
    for (const o of obstacles(m)) plots.push(normalPlot(m, o));
    // Quantities of one unit share an axis.
    const unitOf = (name: string): string => /\[(.*)\]$/.exec(name)?.[1] ?? "";
    const units = [...new Set((m.outputs ?? []).map((c) => unitOf(c.name)))];
    for (const unit of units) {
        const list = (m.outputs ?? []).filter((c) => unitOf(c.name) === unit);
        plots.push({ title: "Outputs" + (unit ? ` in ${unit}` : ""), lines: curves(list), options: {} });
    }
    if (m.forces.length) plots.push(forcePlot(m, drawn.stems));
    if (m.energy.length) plots.push(energyPlot(m));
    const energy = largest(m.energy.flatMap((c) => c.values));
    for (const w of m.work) if (largest(w.values) > 1e-12 * energy) drawn.work.add(w.name); // less is rounding residue
    const work = m.work.filter((w) => drawn.work.has(w.name));
    if (work.length) plots.push(workPlot(m, work));
    return plots;
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
function normalPlot(m: Motion, o: Obstacle): TimePlot {
    const lines: Line[] = o.points.map((c, k) => ({ label: c.name, values: c.values, hidden: k >= visible_points }));
    lines.push({ label: `obstacle ${o.name}`, values: o.place, hue: 7, dash: [5, 4] });
    const options = { label: withUnit("n·x", m.units?.length), range: nearObstacle([o.place]) };
    return { title: `Places along the normal of ${o.name}`, lines, options };
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

/// The events at each break, for breaks that have some. Both are in order of time.
function eventsAtBreaks(m: Motion): [number, Motion["events"]][] {
    const list: [number, Motion["events"]][] = [];
    const sameTime = 1e-11; // relative: times of samples have 12 digits
    let first = 0;
    for (const b of m.breaks) {
        const near = (t: number) => sameTime * Math.max(1, Math.abs(t));
        while (first < m.events.length && m.events[first].t < m.t[b] - near(m.t[b])) ++first;
        const here: Motion["events"] = [];
        for (let k = first; k < m.events.length && m.events[k].t <= m.t[b] + near(m.t[b]); ++k) here.push(m.events[k]);
        if (here.length) list.push([b, here]);
    }
    return list;
}

/// Contact forces over time; impulses as stems at the breaks.
function forcePlot(m: Motion, drawn: Set<string>): TimePlot {
    const lines: Line[] = [];
    const stems: Stem[] = [];
    const acting = eventsAtBreaks(m);
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
        for (const [b, list] of acting)
            for (const e of list) {
                const impulse = e.impulses?.find((r) => r.name === f.name);
                if (!impulse) continue;
                at.set(b, (at.get(b) ?? 0) + impulse.N);
                if (impulse.N !== 0) drawn.add(f.name);
            }
        if (drawn.has(f.name)) stems.push({ label: `ΛN ${f.name}`, at, hue: i });
    });
    const impulse = m.units ? `${m.units.force} ${m.units.time}` : undefined;
    const options = { stems, label: withUnit("force λ", m.units?.force), stemLabel: withUnit("impulse Λ", impulse) };
    return { title: "Contact forces" + (stems.length ? ", impulses as stems" : ""), lines, options };
}

function energyPlot(m: Motion): TimePlot {
    const [T, U] = m.energy;
    const total = T.values.map((v, k) => (v == null || U.values[k] == null ? null : v + U.values[k]!));
    const lines = [
        { label: "total", values: total },
        { label: "kinetic T", values: T.values },
        { label: "potential U", values: U.values },
    ];
    return { title: "Energy", lines, options: { label: withUnit("energy", m.units?.energy) } };
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
function workPlot(m: Motion, work: Motion["work"]): TimePlot {
    const [T, U] = m.energy;
    const start = (T.values[0] ?? 0) + (U.values[0] ?? 0);
    const change = T.values.map((v, k) => (v ?? 0) + (U.values[k] ?? 0) - start);
    const lines: Line[] = [{ label: "change of T + U", values: change, hue: 7 }];
    work.forEach((w, k) => lines.push({ label: causes[w.name] ?? w.name, values: w.values, hue: k }));
    // The curves have six digits: a difference below that is shown as 0.
    const digits = 3e-6 * largest([...T.values, ...U.values]);
    const rest = change.map((c, k) => c - work.reduce((s, w) => s + (w.values[k] ?? 0), 0)).map((r) => (Math.abs(r) <= digits ? 0 : r));
    lines.push({ label: "unexplained", values: rest, hue: 6, dash: [2, 3] });
    return { title: "Work balance", lines, options: { label: withUnit("work", m.units?.energy) } };
}

function eventTable(m: Motion, clock: Clock): HTMLElement {
    if (!m.events.length) return el("div");
    const impulse = largest(m.events.flatMap((e) => (e.impulses ?? []).flatMap((r) => [r.N, ...r.T])));
    const energy = largest(m.events.flatMap((e) => [e.work, ...(e.energy ?? [])]));
    const jump = largest(m.events.map((e) => e.jump));
    const rows = m.events.map((e) => {
        const go = el("button", { class: "link", type: "button" }, num(e.t, 10, Math.max(Math.abs(m.t_begin), Math.abs(m.t_end))));
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
function phasePlanes(m: Motion, known: Known): XyPlane[] {
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
        if (plane || known.live) layers.push(...energyLevels(plane, initial, known));
        const rest = known.sets.flatMap((e): (Point | null)[] => {
            const r = e.extent?.[q.name];
            return r && Number.isFinite(r[0]) && Number.isFinite(r[1]) ? [[r[0], 0], [r[1], 0], null] : [];
        });
        if (rest.length) layers.push({ label: "equilibrium sets", kind: "path", points: rest, hue: 3, width: 5, aside: true });
        layers.push({ label: "motion", kind: "path", points, hue: 0, width: 1.8 });
        if (jumps.length || known.live) layers.push({ label: "jumps", kind: "path", points: jumps, hue: 1, dash: [2, 3], width: 1 });
        const last = points.length - 1;
        layers.push({
            label: "start and end",
            kind: "points",
            points: [points[0], points[last]],
            names: ["start", "end"],
            hue: 2,
        });
        const unit = m.units?.q[m.coordinates.indexOf(q.name)] ?? "";
        return {
            title: `Phase plane of ${q.name}`,
            x: withUnit(q.name, unit),
            y: withUnit(q.name + "′", unit && `${unit}/${m.units!.time}`),
            layers,
            onPick: known.onPick && ((x: number, y: number) => known.onPick!({ [q.name]: x, [q.name + "'"]: y })),
        };
    });
}

/// Level lines of T + U, the level of the initial state, and the certified level.
function energyLevels(p: Plane | undefined, initial: number, known: Known): Layer[] {
    const grid = p && { x: p.q, y: p.u, nx: p.nq, ny: p.nu, values: p.values };
    const level = (v: number) => (grid ? contour(grid, v) : []); // while sliders move there is no plane
    const lines = grid ? levels(grid, 7).flatMap(level) : [];
    const text = known.live ? "T + U" : p!.least ? "least T + U" : "T + U, others as at the end";
    return [
        { label: text, kind: "path", points: lines, hue: 7, width: 0.7 },
        { label: "T + U of the start", kind: "path", points: level(initial), hue: 4, width: 1.2, dash: [6, 4] },
        ...(known.level === undefined
            ? []
            : [{ label: `V = ρ* = ${num(known.rho)}`, kind: "path" as const, points: level(known.level), hue: 2, width: 2 }]),
    ];
}
