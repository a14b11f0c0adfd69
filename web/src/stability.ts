// SPDX-License-Identifier: Apache-2.0
import type uPlot from "uplot";
import { contour } from "./contour";
import { el, facts, num, section, table, verdict } from "./dom";
import { curveColor } from "./theme";
import { type Layer, type Point, xyPlot } from "./xyplot";

export function certifyView(data: any): HTMLElement {
    const rows = (data.conditions ?? []).map((c: any) => [
        c.id, c.text, verdict(c.verdict), evidence(c.evidence), c.witness == null ? "" : evidence(c.witness),
    ]);
    const parts = data.rho_parts ? Object.entries(data.rho_parts).map(([k, v]) => `${k} ${num(v)}`).join(", ") : null;
    return el(
        "div",
        {},
        section(
            "Certificate",
            facts([
                ["theorem", data.theorem],
                ["verdict", el("span", {}, verdict(data.verdict), data.grade ? ` (${data.grade})` : "")],
                ["ρ*", data.rho == null ? null : num(data.rho, 10) + (parts ? `; ${parts}` : "")],
                ["equilibrium", data.equilibrium?.q ? pairs(data.equilibrium.q) : null],
                ["forces there", data.equilibrium?.forces ? evidence(data.equilibrium.forces) : null],
            ]),
            table(
                [{ title: "condition", left: true }, { title: "", left: true }, { title: "verdict", left: true }, { title: "evidence", left: true }, { title: "witness", left: true }],
                rows,
                "conditions",
            ),
        ),
    );
}

function pairs(of: Record<string, unknown>): string {
    return Object.entries(of).map(([k, v]) => `${k} ${num(v)}`).join(", ");
}

function evidence(x: unknown): string {
    if (x == null) return "";
    if (typeof x === "number") return num(x);
    return typeof x === "string" ? x : JSON.stringify(x);
}

export function equilibriaView(data: any): HTMLElement {
    const view = el("div", { class: "columns" });
    const rows = (data.sets ?? []).map((s: any) => [
        (s.contacts_closed ?? []).join(", ") || "none",
        Object.entries<any>(s.extent ?? {}).map(([k, r]) => `${k} ∈ [${num(r[0])}, ${num(r[1])}]`).join(", "),
        s.contains_frictionless == null ? "" : s.contains_frictionless ? "yes" : "no",
        s.exact == null ? "" : s.exact ? "yes" : "no",
        s.description ?? "",
    ]);
    view.append(
        section(
            "Equilibrium sets",
            table(
                [{ title: "closed contacts", left: true }, { title: "extent", left: true }, { title: "contains the frictionless one", left: true }, { title: "exact", left: true }, { title: "", left: true }],
                rows,
            ),
            data.point ? facts([["point", el("span", {}, verdict(data.point.is_equilibrium ? "yes" : "no"), " an equilibrium")], ["forces", evidence(data.point.forces)]]) : null,
        ),
    );
    const names = [...new Set<string>((data.sets ?? []).flatMap((s: any) => Object.keys(s.extent ?? {})))];
    const wide = names.filter((n) => data.sets.some((s: any) => s.extent?.[n] && s.extent[n][1] > s.extent[n][0]));
    const [a, b] = [wide[0] ?? names[0], wide[1] ?? names.find((n) => n !== (wide[0] ?? names[0]))];
    if (a && b && rows.length)
        view.append(
            xyPlot({
                title: "Extents",
                x: a,
                y: b,
                layers: data.sets.slice(0, 12).map((s: any, k: number): Layer => {
                    const [x, y] = [s.extent[a] ?? [0, 0], s.extent[b] ?? [0, 0]];
                    return {
                        label: `set ${k + 1}: ${(s.contacts_closed ?? []).join(", ") || "free"}`,
                        kind: "polygon",
                        points: [[x[0], y[0]], [x[1], y[0]], [x[1], y[1]], [x[0], y[1]]],
                        hue: k,
                        width: 3,
                    };
                }),
            }),
        );
    return view;
}

/// The label image over the grid, with { V < ρ* } on it.
export function basinView(data: any): HTMLElement {
    const g = data.grid;
    const view = el("div", { class: "columns" });
    const labels: Record<string, any> = data.labels ?? {};
    const text = (k: number) => {
        const l = labels[String(k)];
        return typeof l === "string" ? l : (l?.text ?? l?.name ?? (l === undefined ? String(k) : JSON.stringify(l)));
    };
    const image: number[] = data.image ?? [];
    const [nx, ny] = g.n;
    if (g.n.length === 2 && image.length === nx * ny) {
        const x: Point = [g.from[0], g.to[0]];
        const y: Point = [g.from[1], g.to[1]];
        // Values at nodes from..to: a cell reaches half-way to its neighbours.
        const dx = nx > 1 ? (x[1] - x[0]) / (nx - 1) : x[1] - x[0];
        const dy = ny > 1 ? (y[1] - y[0]) / (ny - 1) : y[1] - y[0];
        const paint = (u: uPlot) => {
            const c = u.ctx;
            const w = Math.abs(u.valToPos(dx, "x", true) - u.valToPos(0, "x", true)) + 1;
            const h = Math.abs(u.valToPos(dy, "y", true) - u.valToPos(0, "y", true)) + 1;
            c.globalAlpha = 0.75;
            for (let j = 0; j < ny; ++j)
                for (let i = 0; i < nx; ++i) {
                    const label = image[j * nx + i];
                    c.fillStyle = label === 0 ? "#9aa3ad" : curveColor(label - 1);
                    c.fillRect(u.valToPos(x[0] + i * dx, "x", true) - w / 2, u.valToPos(y[0] + j * dy, "y", true) - h / 2, w, h);
                }
            c.globalAlpha = 1;
        };
        const at = (px: number, py: number) => {
            const [i, j] = [Math.round((px - x[0]) / dx), Math.round((py - y[0]) / dy)];
            if (i < 0 || j < 0 || i >= nx || j >= ny) return null;
            return `${g.coordinates[0]} ${num(x[0] + i * dx)}, ${g.coordinates[1]} ${num(y[0] + j * dy)}: ${text(image[j * nx + i])}`;
        };
        const layers: Layer[] = [{ label: "which set is reached", kind: "custom", paint, at, hue: 0 }];
        const V: (number | null)[] | undefined = data.level_set?.values ?? data.V;
        const rho = data.level_set?.rho;
        if (V && rho != null && V.length === nx * ny)
            layers.push({ label: `V = ρ* = ${num(rho)}`, kind: "path", points: contour({ x, y, nx, ny, values: V }, rho), hue: 7, width: 2.5 });
        view.append(
            xyPlot({
                title: "Which set each start reaches",
                x: g.coordinates[0],
                y: g.coordinates[1],
                layers,
                range: [
                    [x[0] - dx / 2, x[1] + dx / 2],
                    [y[0] - dy / 2, y[1] + dy / 2],
                ],
                height: 460,
            }),
        );
    }
    const rows = Object.keys(labels).map((k) => {
        const swatch = el("span", { class: "swatch", style: `background:${k === "0" ? "#9aa3ad" : curveColor(Number(k) - 1)}` });
        return [swatch, k, text(Number(k)), String(data.counts?.[k] ?? data.counts?.[text(Number(k))] ?? "")];
    });
    const level = data.level_set;
    view.append(
        section(
            "Basins",
            facts([
                ["grid", g.coordinates.map((c: string, k: number) => `${c} ${num(g.from[k])} … ${num(g.to[k])}, ${g.n[k]}`).join("; ")],
                ["{ V < ρ* }", level ? `ρ* ${num(level.rho)}, ${level.inside ?? "–"} starts inside, ${level.violations ?? "–"} of them leave` : null],
                ["speed", data.statistics?.trajectory_steps_per_second ? num(data.statistics.trajectory_steps_per_second, 3) + " trajectory steps a second" : null],
            ]),
            table([{ title: "" }, { title: "label" }, { title: "", left: true }, { title: "starts" }], rows),
        ),
    );
    return view;
}
