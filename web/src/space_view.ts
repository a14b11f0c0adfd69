// SPDX-License-Identifier: Apache-2.0
// A picture in space that can be turned: polygons, meshes, lines and marks.
import { cross } from "./halfspaces";
import { el } from "./dom";
import { drawn } from "./drawn_registry";
import { Projection, type Vec } from "./projection";
import { color, curveColor, onTheme } from "./theme";

/// A layer; it can be switched off in the legend.
export interface SpaceLayer {
    label: string;
    hue: number;
    polygons?: number[][][]; // transparent faces
    opacity?: number;
    mesh?: { points: number[][]; triangles: number[][] }; // a closed surface, triangles counter-clockwise from outside
    lines?: number[][][];
    marks?: { at: number[]; name: string }[];
    dash?: number[];
    hidden?: boolean;
}

export interface Space {
    title: string;
    axes: string[];
    scale: number[]; // length on the screen of one unit of each axis
    low: number[];
    high: number[];
    layers: SpaceLayer[];
}

export function spaceView(space: Space): HTMLElement {
    const canvas = el("canvas", { class: "scene tall", role: "img", "aria-label": space.title });
    const legend = el("div", { class: "legend" });
    const visible = space.layers.map((l) => !l.hidden);
    const scaled = (p: number[]): Vec => [0, 1, 2].map((k) => p[k] * space.scale[k]) as Vec;
    let projection: Projection;
    const paint = () => {
        const c = projection.begin();
        const r = devicePixelRatio;
        c.font = `${12 * r}px system-ui, sans-serif`;
        c.lineJoin = "round";
        c.textAlign = "left";
        c.textBaseline = "alphabetic";
        const place = (p: number[]) => projection.place(scaled(p));
        axes(c, space, place, r);
        const shape = (points: Vec[], close: boolean) => {
            c.beginPath();
            points.forEach(([x, y], k) => (k ? c.lineTo(x, y) : c.moveTo(x, y)));
            if (close) c.closePath();
        };
        // Faces from the back to the front, then lines, then marks.
        const facets: { depth: number; draw: () => void }[] = [];
        space.layers.forEach((l, k) => {
            if (!visible[k]) return;
            const hue = curveColor(l.hue);
            for (const polygon of l.polygons ?? []) {
                const points = polygon.map(place);
                const depth = points.reduce((s, p) => s + p[2], 0) / points.length;
                facets.push({
                    depth,
                    draw: () => {
                        shape(points, true);
                        c.fillStyle = c.strokeStyle = hue;
                        c.globalAlpha = l.opacity ?? 0.1;
                        c.fill();
                        c.globalAlpha = 0.8;
                        c.lineWidth = 1.1 * r;
                        c.setLineDash((l.dash ?? []).map((d) => d * r));
                        c.stroke();
                        c.setLineDash([]);
                        c.globalAlpha = 1;
                    },
                });
            }
            if (l.mesh) facets.push(...surface(c, l.mesh, scaled, place, hue, shape));
        });
        facets.sort((a, b) => b.depth - a.depth);
        for (const f of facets) f.draw();
        space.layers.forEach((l, k) => {
            if (!visible[k]) return;
            c.strokeStyle = c.fillStyle = curveColor(l.hue);
            c.lineWidth = 1.4 * r;
            c.setLineDash((l.dash ?? []).map((d) => d * r));
            if (!l.polygons)
                for (const line of l.lines ?? []) {
                    shape(line.map(place), false);
                    c.stroke();
                }
            c.setLineDash([]);
            for (const m of l.marks ?? []) {
                const [x, y] = place(m.at);
                c.beginPath();
                c.arc(x, y, 4.5 * r, 0, 7);
                c.fill();
                c.lineWidth = 3 * r;
                c.strokeStyle = color("panel");
                c.strokeText(m.name, x + 8 * r, y - 6 * r);
                c.fillText(m.name, x + 8 * r, y - 6 * r);
            }
        });
    };
    space.layers.forEach((l, k) => {
        const box = el("input", { type: "checkbox" });
        box.checked = visible[k];
        box.onchange = () => {
            visible[k] = box.checked;
            paint();
        };
        const swatch = el("span", { class: "swatch", style: `background:${curveColor(l.hue)}` });
        onTheme(() => (swatch.style.background = curveColor(l.hue)));
        legend.append(el("label", {}, box, swatch, " " + l.label));
    });
    projection = new Projection(canvas, true, scaled(space.low), scaled(space.high), paint);
    new ResizeObserver(paint).observe(canvas);
    onTheme(paint);
    drawn.plots.push({
        title: space.title,
        series: () =>
            space.layers.map((l, k) => {
                const points = [...(l.polygons ?? []).flat(), ...(l.mesh?.points ?? []), ...(l.lines ?? []).flat(), ...(l.marks ?? []).map((m) => m.at)];
                const last = points.map((p) => p[2]);
                return { label: l.label, min: Math.min(...last), max: Math.max(...last), jumps: 0, visible: visible[k], points };
            }),
    });
    return el("section", { class: "panel plot space" }, el("h3", {}, space.title), canvas, legend, el("div", { class: "hint" }, "drag to turn, shift-drag to move, Ctrl-wheel to zoom"));
}

/// The three axes along the edges of the box, with their ends as numbers.
function axes(c: CanvasRenderingContext2D, s: Space, place: (p: number[]) => Vec, r: number): void {
    c.strokeStyle = color("ground");
    c.fillStyle = color("muted");
    c.lineWidth = r;
    for (let k = 0; k < 3; ++k) {
        const end = s.low.map((x, i) => (i === k ? s.high[k] + 0.12 * (s.high[k] - x) : x));
        const [a, b] = [place(s.low), place(end)];
        c.beginPath();
        c.moveTo(a[0], a[1]);
        c.lineTo(b[0], b[1]);
        c.stroke();
        c.fillText(s.axes[k], b[0] + 4 * r, b[1]);
        for (const v of ticks(s.low[k], s.high[k])) {
            const t = place(s.low.map((x, i) => (i === k ? v : x)));
            c.beginPath();
            c.arc(t[0], t[1], 1.6 * r, 0, 7);
            c.fill();
            c.fillText(String(Number(v.toPrecision(4))), t[0] + 3 * r, t[1] + 12 * r);
        }
    }
}

/// About three multiples of 1, 2 or 5 times a power of ten.
function ticks(from: number, to: number): number[] {
    const rough = (to - from) / 3;
    if (!(rough > 0)) return [];
    const unit = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((f) => f * unit).find((x) => x >= 0.7 * rough)!;
    const out: number[] = [];
    for (let k = Math.ceil(from / step); k * step <= to; ++k) out.push(k * step);
    return out;
}

/// The triangles of a mesh that face the eye, shaded by their direction.
function surface(
    c: CanvasRenderingContext2D,
    mesh: { points: number[][]; triangles: number[][] },
    scaled: (p: number[]) => Vec,
    place: (p: number[]) => Vec,
    hue: string,
    shape: (points: Vec[], close: boolean) => void,
): { depth: number; draw: () => void }[] {
    const at = mesh.points.map(place);
    const real = mesh.points.map(scaled);
    const light = [0.4, -0.75, 0.53];
    return mesh.triangles.flatMap(([i, j, k]) => {
        const points = [at[i], at[j], at[k]];
        // Seen from the front a triangle goes counter-clockwise; the vertical axis of a canvas points down.
        const turn = (at[j][0] - at[i][0]) * (at[k][1] - at[i][1]) - (at[j][1] - at[i][1]) * (at[k][0] - at[i][0]);
        if (turn >= 0) return [];
        const edge = (a: number, b: number) => real[b].map((x, m) => x - real[a][m]);
        const n = cross(edge(i, j), edge(i, k));
        const length = Math.hypot(...n) || 1;
        const shade = 0.5 + 0.5 * ((n[0] * light[0] + n[1] * light[1] + n[2] * light[2]) / length);
        return [
            {
                depth: (points[0][2] + points[1][2] + points[2][2]) / 3,
                draw: () => {
                    shape(points, true);
                    c.fillStyle = `color-mix(in srgb, ${hue} ${Math.round(35 + 65 * (1 - shade))}%, white)`;
                    c.strokeStyle = c.fillStyle;
                    c.lineWidth = 0.7;
                    c.fill();
                    c.stroke();
                },
            },
        ];
    });
}
