// SPDX-License-Identifier: Apache-2.0
// The views of `saltus certify`, `saltus equilibria` and `saltus basin`.
import type uPlot from "uplot";
import { contour, valueAt } from "./contour";
import { type Known, withUnit } from "./motion_view";
import { el, facts, largest, num, section, table, verdict } from "./dom";
import { color as themeColor, curveColor } from "./theme";
import { type Layer, type Point, xyPlot } from "./xyplot";

/// Whether the independent checker accepted the certificate file. Without a file that is said of results that are `proved`.
function certificateFile(c: any, proved: boolean): string | null {
    if (!c) return proved ? "none was written, so that nothing was checked independently" : null;
    const complete = c.certified ? "all conditions are certified" : "not all conditions are certified";
    const checked = c.checked === "not checked" ? "not checked independently" : `${c.checked} by the independent checker`;
    return `${c.file}: ${complete}, ${checked}`;
}

/// A certificate: verdict, level, and the table of conditions. Statements that the verdict does not need come last.
export function certifyView(data: any, known: Known): HTMLElement {
    const all = [...(data.conditions ?? []), ...(data.further ?? [])];
    const rows = all.map((c: any) => [
        c.id, c.text, verdict(c.verdict), evidence(c.evidence), c.witness == null ? "" : evidence(c.witness),
    ]);
    const witnessed = all.some((c: any) => c.witness != null);
    const parts = data.rho_parts ? Object.entries(data.rho_parts).map(([k, v]) => `${k} ${num(v)}`).join(", ") : null;
    return el(
        "div",
        {},
        section(
            "Certificate",
            facts([
                ["theorem", data.basis ? `${data.theorem}: ${data.basis}` : data.theorem],
                ["verdict", el("span", {}, verdict(data.verdict), data.grade ? ` (${data.grade})` : "")],
                ["scope", data.scope ?? null],
                ["ρ*", data.rho == null ? null : num(data.rho, 10) + (parts ? `; ${parts}` : "")],
                ["certificate file", certificateFile(data.certificate, data.grade === "proved")],
                ["equilibrium", data.equilibrium?.q ? pairs(data.equilibrium.q) : null],
                ["forces there", data.equilibrium?.forces ? forces(data.equilibrium.forces) : null],
                ["with springs", data.penalty?.q ? `${data.penalty.scope}; ${pairs(data.penalty.q)}; ${forces(data.penalty.forces)}` : data.penalty?.reason ?? null],
            ]),
            table(
                [{ title: "condition", left: true }, { title: "", left: true }, { title: "verdict", left: true }, { title: "evidence", left: true }, { title: witnessed ? "witness" : "", left: true }],
                rows,
                "conditions",
            ),
        ),
        instabilityPlane(data, known),
    );
}

/// Theorem 2 with V = −T − (U − U_e): the states of the phase plane with V ≥ 0, next to the equilibrium sets. T + U over
/// the plane comes from a basin on the same page.
function instabilityPlane(data: any, known: Known): HTMLElement | null {
    const basin = known.basin;
    const values: (number | null)[] | undefined = basin?.V;
    if (data.theorem !== "instability" || (data.basis ?? "").includes("with V =") || !values || !data.equilibrium?.q) return null;
    const axes: number[] = basin.image_axes ?? [0, 1];
    const names: string[] = axes.map((k) => basin.grid.coordinates[k]);
    const [nx, ny] = axes.map((k) => basin.grid.n[k]);
    const [x, y] = axes.map((k): Point => [basin.grid.from[k], basin.grid.to[k]]);
    const position = data.equilibrium.q[names[0]];
    if (names[1] !== names[0] + "'" || typeof position !== "number" || values.length !== nx * ny) return null;
    const grid = { x, y, nx, ny, values };
    const top = valueAt(grid, [position, 0]);
    if (top == null) return null;
    const [dx, dy] = [(x[1] - x[0]) / (nx - 1), (y[1] - y[0]) / (ny - 1)];
    const paint = (u: uPlot) => {
        const c = u.ctx;
        c.globalAlpha = 0.3;
        c.fillStyle = curveColor(2);
        for (let j = 0; j < ny; ++j)
            for (let i = 0; i < nx; ++i) {
                if (!((values[j * nx + i] ?? Infinity) <= top)) continue;
                const [left, right] = [i - 0.5, i + 0.5].map((k) => Math.round(u.valToPos(x[0] + k * dx, "x", true)));
                const [low, high] = [j - 0.5, j + 0.5].map((k) => Math.round(u.valToPos(y[0] + k * dy, "y", true)));
                c.fillRect(left, high, right - left, low - high);
            }
        c.globalAlpha = 1;
    };
    const layers: Layer[] = [
        { label: "V ≥ 0", kind: "custom", paint, hue: 2 },
        { label: "V = 0", kind: "path", points: contour(grid, top), hue: 2, width: 2, aside: true },
        ...setLayers(basin, names, x),
    ];
    return xyPlot({ title: "Where V = −T − (U − U_e) ≥ 0 (Theorem 2)", x: axisLabel(names[0], known), y: axisLabel(names[1], known), layers, range: [x, y], height: 420 });
}

/// "x 1, y 2"
function pairs(of: Record<string, unknown>): string {
    return Object.entries(of).map(([k, v]) => `${k} ${num(v)}`).join(", ");
}

/// "left N 1 T 0.5; right N 2"
function forces(of: Record<string, any>): string {
    return Object.entries(of)
        .map(([name, f]) => `${name} N ${num(f?.N)}` + (f?.T?.some((x: number) => x !== 0) ? ` T ${f.T.map((x: number) => num(x)).join(", ")}` : ""))
        .join("; ");
}

/// Evidence or witness of a condition as text.
function evidence(x: unknown): string {
    if (x == null) return "";
    if (typeof x === "number") return num(x);
    if (typeof x === "object" && !Array.isArray(x))
        return Object.entries(x as object).map(([k, v]) => (typeof v === "object" ? evidence(v) : `${k} ${num(v)}`)).join(", ");
    return typeof x === "string" ? x : JSON.stringify(x);
}

/// The number, or 0 if it is rounding residue.
function plain(x: number | null): number | null {
    return typeof x === "number" && Math.abs(x) < 1e-13 ? 0 : x;
}

/// Equilibrium sets: a table, and their extents in the two coordinates that vary most.
export function equilibriaView(data: any, known: Known): HTMLElement {
    const view = el("div", { class: "columns" });
    const sets: any[] = data.sets ?? [];
    const label = (s: any, k: number) => s.label ?? `set ${k + 1}`;
    const extent = ([name, r]: [string, any]) => {
        const [lo, hi] = [plain(r[0]), plain(r[1])];
        const point = lo != null && hi != null && Math.abs(hi - lo) <= 1e-12 * (1 + Math.abs(lo));
        return point ? `${name} = ${num(lo)}` : `${name} ∈ [${num(lo)}, ${num(hi)}]`;
    };
    const rows = sets.map((s, k) => [
        label(s, k),
        (s.contacts_closed ?? []).join(", ") || "none",
        Object.entries<any>(s.extent ?? {}).slice(0, 8).map(extent).join(", "),
        s.contains_frictionless == null ? "" : s.contains_frictionless ? "yes" : "no",
        s.exact == null ? "" : s.exact ? "yes" : "no",
    ]);
    view.append(
        section(
            "Equilibrium sets",
            table(
                [{ title: "", left: true }, { title: "closed contacts", left: true }, { title: "extent", left: true }, { title: "contains the frictionless one", left: true }, { title: "exact", left: true }],
                rows,
                "conditions",
            ),
            facts([["certificate file", certificateFile(data.certificate, data.complete === true)]]),
            data.point ? facts([["point", el("span", {}, verdict(data.point.is_equilibrium ? "yes" : "no"), " an equilibrium")], ["forces", data.point.forces ? forces(data.point.forces) : ""]]) : null,
        ),
    );
    const names = [...new Set<string>(sets.flatMap((s) => Object.keys(s.extent ?? {})))];
    const span = (n: string) => {
        const ends = sets.flatMap((s) => s.extent?.[n] ?? []).filter((x: number | null) => x != null);
        return Math.max(...ends) - Math.min(...ends);
    };
    const [a, b] = [...names].sort((x, y) => span(y) - span(x));
    if (a && b && sets.length) {
        const layers = sets.slice(0, 16).map((s, k): Layer => {
            const curve = alongSet(s, a, b);
            if (curve.length > 1) return { label: label(s, k), kind: "path", points: curve, hue: k, width: 4 };
            const points = outline(s, a, b);
            const single = points.every((p) => p[0] === points[0][0] && p[1] === points[0][1]);
            return single ? { label: label(s, k), kind: "points", points: points.slice(0, 1), hue: k, size: 5 } : { label: label(s, k), kind: "polygon", points, hue: k, width: 3 };
        });
        view.append(xyPlot({ title: `Equilibrium sets in ${a} and ${b}`, x: axisLabel(a, known), y: axisLabel(b, known), layers }));
    }
    sets.forEach((s, k) => {
        const plot = forcesAlong(s, label(s, k), known);
        if (plot) view.append(plot);
    });
    return view;
}

/// The points of a one-dimensional set in their order along it, in the plane of two coordinates.
function alongSet(s: any, a: string, b: string): Point[] {
    return (s.along ?? []).map((p: any): Point => [plain(p.q[a]) ?? 0, plain(p.q[b]) ?? 0]);
}

/// The forces along a one-dimensional set over the coordinate that varies most: the chosen ones as curves, the ranges of
/// the normal forces over all forces that hold the position as areas.
function forcesAlong(s: any, label: string, known: Known): HTMLElement | null {
    const points: any[] = s.along ?? [];
    if (points.length < 2) return null;
    const width = (n: string) => Math.abs((s.extent?.[n]?.[1] ?? 0) - (s.extent?.[n]?.[0] ?? 0));
    const x = Object.keys(points[0].q).sort((p, q) => width(q) - width(p))[0];
    const layers: Layer[] = [];
    Object.keys(points[0].forces ?? {}).forEach((name, k) => {
        const range = (p: any): [number, number] | null => p.normal_ranges?.[name] ?? null;
        const finite = points.filter((p) => range(p)?.every((v) => typeof v === "number"));
        const upper = finite.map((p): Point => [p.q[x], range(p)![1]]);
        const lower = finite.map((p): Point => [p.q[x], range(p)![0]]);
        const size = largest([...upper, ...lower].map((p) => p[1]));
        if (upper.some((p, i) => Math.abs(p[1] - lower[i][1]) > 1e-9 * size))
            layers.push({ label: `range of N ${name}`, kind: "polygon", points: [...upper, ...lower.reverse()], hue: k, width: 1, opacity: 0.18 });
        layers.push({ label: `N ${name}`, kind: "path", points: points.map((p): Point => [p.q[x], plain(p.forces[name]?.N) ?? 0]), hue: k, width: 2 });
        const T = points.map((p) => p.forces[name]?.T ?? []);
        for (let i = 0; i < (T[0]?.length ?? 0); ++i)
            layers.push({ label: `T${T[0].length > 1 ? i + 1 : ""} ${name}`, kind: "path", points: points.map((p, j): Point => [p.q[x], plain(T[j][i]) ?? 0]), hue: k, width: 1.5, dash: [6, 4] });
    });
    if (!layers.length) return null;
    return xyPlot({ title: `Forces that hold ${label}`, x: axisLabel(x, known), y: withUnit("force", known.units?.force), layers });
}

/// The outline of a set in the plane of two coordinates: its boundary points, sorted by the angle around their mean; if
/// there are none, the box of its extent.
function outline(s: any, a: string, b: string): Point[] {
    const points: Point[] = (s.boundary ?? []).map((p: any): Point => [plain(p[a]) ?? 0, plain(p[b]) ?? 0]);
    if (points.length < 2) {
        const [x, y] = [s.extent?.[a] ?? [0, 0], s.extent?.[b] ?? [0, 0]];
        return [[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]];
    }
    const mid: Point = [0, 1].map((k) => points.reduce((t, p) => t + p[k], 0) / points.length) as Point;
    return points.sort((p, q) => Math.atan2(p[1] - mid[1], p[0] - mid[0]) - Math.atan2(q[1] - mid[1], q[0] - mid[0]));
}

/// The name of a coordinate x or of its velocity x', with its unit if the page knows it.
export function axisLabel(name: string, known: Known): string {
    const velocity = name.endsWith("'");
    const unit = known.units?.q[name.replace(/'$/, "")];
    return withUnit(name.replace(/'$/, "′"), unit && (velocity ? `${unit}/${known.units!.time}` : unit));
}

/// The colour of a label of a basin; label 0 is "undecided".
const labelColor = (label: number) => (label === 0 ? "#9aa3ad" : curveColor(label - 1));

/// Motions as curves: those from the edge of the plane, then for each set those that leave its tips.
function pathLayers(data: any): Layer[] {
    const paths: any[] = data.paths ?? [];
    const joined = (list: any[]) => list.flatMap((p): (Point | null)[] => [...p.points, null]);
    const layers: Layer[] = [];
    // A motion that leaves the tip of an attractive set stays near it and shows nothing.
    const span = (p: any, k: 0 | 1) => {
        const v = p.points.filter((q: Point | null) => q).map((q: Point) => q[k]);
        return Math.max(...v) - Math.min(...v);
    };
    const moves = (p: any) => [0, 1].some((k) => span(p, k as 0 | 1) > 0.02 * Math.max(...paths.map((q) => span(q, k as 0 | 1))));
    const edge = paths.filter((p) => p.set == null);
    if (edge.length) layers.push({ label: "motions", kind: "path", points: joined(edge), color: () => themeColor("body"), width: 0.8, aside: true });
    for (const name of new Set(paths.filter((p) => p.set != null && moves(p)).map((p) => p.set)))
        layers.push({ label: `motions from the tips of ${name}`, kind: "path", points: joined(paths.filter((p) => p.set === name)), color: () => themeColor("accent"), width: 2.2, aside: true });
    return layers;
}

/// The equilibrium sets as thick lines on the axis of rest, with their copies if a coordinate is periodic.
function setLayers(data: any, names: string[], range: Point): Layer[] {
    const [position, velocity] = names;
    if (velocity !== position + "'") return [];
    const points: (Point | null)[] = [];
    const labels: string[] = [];
    for (const s of data.sets ?? []) {
        const e = s.known === false ? null : s.extent?.[position];
        if (!e || typeof e[0] !== "number" || typeof e[1] !== "number") continue;
        const turns = new Set<number>([0]);
        for (const l of Object.values<any>(data.set_of_label ?? {})) if (l.set === s.name) turns.add(l.turns?.[position] ?? 0);
        const period: number = data.periods?.[position] ?? 0;
        for (const t of turns) {
            const [lo, hi] = [e[0] + t * period, e[1] + t * period];
            if (hi < range[0] || lo > range[1]) continue;
            points.push([Math.max(lo, range[0]), 0], [Math.min(hi, range[1]), 0], null);
            labels.push(s.name);
        }
    }
    return points.length ? [{ label: "equilibrium sets", kind: "path", points, color: () => themeColor("text"), width: 7, aside: true, names: labels }] : [];
}

/// A basin: a cell for each start in the colour of the set it reaches, motions, equilibrium sets, and the boundary of
/// { V < ρ* }.
export function basinView(data: any, known: Known): HTMLElement {
    const g = data.grid;
    const view = el("div", { class: "columns" });
    const labels: Record<string, any> = data.labels ?? {};
    const text = (k: number) => {
        const l = labels[String(k)];
        return typeof l === "string" ? l : (l?.text ?? l?.name ?? (l === undefined ? String(k) : JSON.stringify(l)));
    };
    const image: number[] = data.image ?? [];
    const axes: number[] = data.image_axes ?? [0, 1];
    const [nx, ny] = axes.map((k) => g.n?.[k] ?? 0);
    const names = axes.map((k) => g.coordinates[k]);
    if (image.length > 0 && image.length === nx * ny) {
        const [x, y] = axes.map((k): Point => [g.from[k], g.to[k]]);
        // Starts are the nodes of the grid. The cell of a start reaches half-way to its neighbours.
        const dx = nx > 1 ? (x[1] - x[0]) / (nx - 1) : x[1] - x[0];
        const dy = ny > 1 ? (y[1] - y[0]) / (ny - 1) : y[1] - y[0];
        // One layer for each label, so that the legend shows the colours. Neighbouring cells of a row are painted at once.
        const paintLabel = (label: number) => (u: uPlot) => {
            const c = u.ctx;
            const column = (i: number) => Math.round(u.valToPos(x[0] + (i - 0.5) * dx, "x", true));
            const row = (j: number) => Math.round(u.valToPos(y[0] + (j - 0.5) * dy, "y", true));
            c.globalAlpha = 0.6;
            c.fillStyle = labelColor(label);
            for (let j = 0; j < ny; ++j)
                for (let i = 0; i < nx; ++i) {
                    if (image[j * nx + i] !== label) continue;
                    const first = i;
                    while (i + 1 < nx && image[j * nx + i + 1] === label) ++i;
                    c.fillRect(column(first), row(j + 1), column(i + 1) - column(first), row(j) - row(j + 1));
                }
            c.globalAlpha = 1;
        };
        const at = (px: number, py: number) => {
            const [i, j] = [Math.round((px - x[0]) / dx), Math.round((py - y[0]) / dy)];
            if (i < 0 || j < 0 || i >= nx || j >= ny) return null;
            return `${names[0]} ${num(x[0] + i * dx)}, ${names[1]} ${num(y[0] + j * dy)}: ${text(image[j * nx + i])}`;
        };
        const seen = [...new Set(image)].sort((p, q) => p - q);
        const layers: Layer[] = seen.map((label, k) => ({
            label: text(label),
            kind: "custom",
            paint: paintLabel(label),
            ...(k === 0 ? { at } : {}),
            color: () => labelColor(label),
        }));
        layers.push(...pathLayers(data), ...setLayers(data, names, x));
        const V: (number | null)[] | undefined = data.level_set?.values ?? data.V;
        const level = data.level_set?.rho ?? known.level;
        if (V && level != null && V.length === nx * ny)
            layers.push({ label: `V = ρ* = ${num(data.level_set?.rho ?? known.rho)}`, kind: "path", points: contour({ x, y, nx, ny, values: V }, level), color: () => themeColor("text"), width: 2.5, dash: [8, 4] });
        view.append(
            xyPlot({
                title: "Which set each start reaches",
                x: axisLabel(names[0], known),
                y: axisLabel(names[1], known),
                layers,
                range: [
                    [x[0] - dx / 2, x[1] + dx / 2],
                    [y[0] - dy / 2, y[1] + dy / 2],
                ],
                height: 560,
                onPick: known.onPick && ((px: number, py: number) => known.onPick!({ [names[0]]: px, [names[1]]: py })),
            }),
        );
    }
    const rows = Object.keys(labels).map((k) => {
        const swatch = el("span", { class: "swatch", style: `background:${labelColor(Number(k))}` });
        return [swatch, k, text(Number(k)), String(data.counts?.[k] ?? data.counts?.[text(Number(k))] ?? "")];
    });
    const level = data.level_set;
    view.append(
        section(
            "Basins",
            facts([
                ["grid", g.coordinates.map((c: string, k: number) => `${c} ${num(g.from[k])} … ${num(g.to[k])}` + (g.n ? `, ${g.n[k]}` : "")).join("; ")],
                ["{ V < ρ* }", level?.rho != null ? `ρ* ${num(level.rho)}, ${level.inside ?? "–"} starts inside, ${level.violations ?? "–"} of them leave` : null],
                ["speed", data.statistics?.trajectory_steps_per_second ? num(data.statistics.trajectory_steps_per_second, 3) + " trajectory steps a second" : null],
            ]),
            table([{ title: "" }, { title: "label" }, { title: "", left: true }, { title: "starts" }], rows),
        ),
    );
    return view;
}
