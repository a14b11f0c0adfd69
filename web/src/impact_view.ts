// SPDX-License-Identifier: Apache-2.0
// The view of `saltus impact`: verdict and, for one or two velocities, the consistent velocities after the impact.
import { el, facts, num, section, table, verdict } from "./dom";
import { type Layer, type Point, xyPlot } from "./xyplot";

/// "left 1 | 0.5": normal and tangential impulses of each contact.
function reactions(of: Record<string, { N: number | null; T: number[] }> | undefined): string {
    if (!of) return "–";
    return Object.entries(of)
        .map(([name, r]) => `${name} ${num(r.N)}` + (r.T?.length ? ` | ${r.T.map((x) => num(x)).join(", ")}` : ""))
        .join("; ");
}

/// Points on a piece of the boundary of the consistency set: the first end of a segment, 60 points of an elliptic arc.
function arcPoints(piece: any): Point[] {
    if (piece.kind !== "arc") return [piece.from];
    const [a, b] = piece.phi;
    return Array.from({ length: 60 }, (_, k) => {
        const phi = a + ((b - a) * k) / 60;
        return [0, 1].map((c) => piece.centre[c] + Math.cos(phi) * piece.first[c] + Math.sin(phi) * piece.second[c]) as Point;
    });
}

/// The balls ‖u − b‖²_M = r² around corner points b, which are ellipses in these coordinates. The semi-axes (conjugate
/// diameters) of one of them are given by an arc of the boundary of the set; the others are scaled copies.
function ellipses(data: any): Layer[] {
    const arc = data.set?.pieces?.find((p: any) => p.kind === "arc");
    const centre = arc && data.balls?.[arc.corner_point];
    if (!centre || !(centre.radius_squared > 0)) return [];
    const unit = Math.sqrt(centre.radius_squared);
    return data.balls.map((ball: any, k: number): Layer => {
        const r = Math.sqrt(Math.max(0, ball.radius_squared)) / unit;
        const points = Array.from({ length: 121 }, (_, i) => {
            const phi = (2 * Math.PI * i) / 120;
            return [0, 1].map(
                (c) => ball.centre[c] + r * (Math.cos(phi) * arc.first[c] + Math.sin(phi) * arc.second[c]),
            ) as Point;
        });
        return { label: `ball around ${ball.contacts?.join(", ") ?? k + 1}`, kind: "path", points, hue: 2 + k, dash: [5, 4] };
    });
}

/// The boundary of P⁺, the velocities with γ ≥ 0 at all closed contacts, up to the distance `reach`.
function admissible(data: any, reach: number): Layer[] {
    const P = data.P_plus;
    if (!P?.corner_points?.length || !P.rays?.length) return [];
    const points: (Point | null)[] = [];
    for (const corner of P.corner_points)
        for (const ray of P.rays) {
            const end: Point = [corner[0] + reach * ray[0], corner[1] + reach * ray[1]];
            // An edge of P⁺: the ray from the corner that keeps all contacts open.
            if (P.corner_points.length === 1 || Math.sign(ray[1]) === Math.sign(corner[1] - mean(P.corner_points)))
                points.push(corner, end, null);
        }
    if (P.corner_points.length === 2) points.push(P.corner_points[0], P.corner_points[1], null);
    return [{ label: "boundary of P⁺", kind: "path", points, hue: 7, width: 1 }];
}

/// The mean of the second components.
function mean(points: Point[]): number {
    return points.reduce((s, p) => s + p[1], 0) / points.length;
}

/// One collision.
export function impactView(data: any): HTMLElement {
    const names = Object.keys(data.u_minus);
    const rows = names.map((n) => [n + "′", num(data.u_minus[n], 10), num(data.u_plus[n], 10)]);
    const work = data.work ?? {};
    const view = el("div", {});
    const top = el("div", { class: "columns" });
    top.append(
        section(
            "Verdict",
            el("p", {}, data.text ?? ""),
            facts([
                ["u⁺", data.u_plus_from],
                ["kinematic", el("span", {}, verdict(data.kinematic?.holds ? "holds" : "fails"), ` slack ${num(data.kinematic?.slack)}`)],
                ["kinetic", el("span", {}, verdict(data.kinetic?.holds ? "holds" : "fails"), ` distance ${num(data.kinetic?.distance)}`)],
                ["contact work", `${num(work.min, 10)} to ${num(work.max, 10)}`],
                ["energy", `changes by ${num(data.energy_change, 10)}`],
                ["consistent", verdict(String(data.consistent))],
                ["Λ at the least work", reactions(work.Lambda_min)],
                ["Λ at the greatest", reactions(work.Lambda_max)],
                ["b₀", work.b0 ? Object.entries(work.b0).map(([k, v]) => `${k}′ ${num(v)}`).join(", ") : null],
            ]),
            table([{ title: "", left: true }, { title: "u⁻" }, { title: "u⁺" }], rows),
            ...(data.remarks ?? []).map((r: any) => el("p", { class: "hint" }, r.text)),
        ),
    );
    if (names.length === 2) top.append(plane(data, names));
    else if (names.length === 1) top.append(line(data, names[0]));
    view.append(top);
    return view;
}

/// The plane of two velocities: consistency set, balls, P⁺, u⁻ and u⁺.
function plane(data: any, names: string[]): HTMLElement {
    const at = (u: any): Point => [u[names[0]], u[names[1]]];
    const layers: Layer[] = [];
    const outline: Point[] = (data.set?.pieces ?? []).flatMap(arcPoints);
    if (outline.length) layers.push({ label: "consistent u⁺", kind: "polygon", points: outline, hue: 0 });
    layers.push(...ellipses(data));
    const reach = Math.max(1, ...[...outline, at(data.u_plus), at(data.u_minus)].flat().map(Math.abs));
    layers.push(...admissible(data, reach));
    const corners: Point[] = data.corner_points ?? [];
    if (corners.length)
        layers.push({ label: "corner points", kind: "points", points: corners, hue: 4, names: corners.map((_, k) => `b${k + 1}`) });
    layers.push({ label: "u⁻", kind: "points", points: [at(data.u_minus)], names: ["u⁻"], hue: 7, size: 5 });
    layers.push({ label: "u⁺", kind: "points", points: [at(data.u_plus)], names: ["u⁺"], hue: 1, size: 5 });
    return xyPlot({
        title: "Velocities after the impact that supply no energy" + (data.set?.area != null ? `, area ${num(data.set.area)}` : ""),
        x: names[0] + "′",
        y: names[1] + "′",
        layers,
        height: 430,
    });
}

/// The line of a single velocity.
function line(data: any, name: string): HTMLElement {
    const layers: Layer[] = [
        { label: "u⁻", kind: "points", points: [[data.u_minus[name], 0]], names: ["u⁻"], hue: 7 },
        { label: "u⁺", kind: "points", points: [[data.u_plus[name], 0]], names: ["u⁺"], hue: 1 },
    ];
    const corners: Point[] = (data.corner_points ?? []).map((c: number[]) => [c[0], 0]);
    if (corners.length) layers.push({ label: "corner points", kind: "points", points: corners, hue: 4 });
    return xyPlot({ title: "Velocities", x: name + "′", y: "", layers, height: 180 });
}
