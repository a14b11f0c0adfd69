// SPDX-License-Identifier: Apache-2.0

/// A point or direction: x, y, z.
export type Vec = [number, number, number];

/// Maps points of the model to pixels of a canvas. Space is seen in parallel projection. Dragging turns space or moves a
/// plane, the wheel zooms, a double click resets.
export class Projection {
    private azimuth = -0.6; // direction of the eye in rad; svg_drawing.cpp uses the same first direction
    private height = 0.35;
    private zoom = 1;
    private shift: [number, number] = [0, 0]; // in pixels of the page
    private width = 1; // of the canvas in device pixels
    private tall = 1;
    private scale = 1; // device pixels per unit of the model
    private readonly centre: Vec;
    private readonly size: [number, number]; // what must fit into the canvas, in units of the model

    constructor(
        readonly canvas: HTMLCanvasElement,
        readonly space: boolean,
        low: Vec,
        high: Vec,
        redraw: () => void,
    ) {
        this.centre = [0, 1, 2].map((k) => (low[k] + high[k]) / 2) as Vec;
        const d = [0, 1, 2].map((k) => high[k] - low[k]);
        const ball = Math.hypot(d[0], d[1], d[2]);
        this.size = space ? [ball, ball * 0.6] : [d[0], d[1]];
        let drag: [number, number] | null = null;
        canvas.addEventListener("pointerdown", (e) => {
            drag = [e.clientX, e.clientY];
            canvas.setPointerCapture(e.pointerId);
        });
        canvas.addEventListener("pointerup", () => (drag = null));
        canvas.addEventListener("pointermove", (e) => {
            if (!drag) return;
            const [dx, dy] = [e.clientX - drag[0], e.clientY - drag[1]];
            drag = [e.clientX, e.clientY];
            if (space && !e.shiftKey) {
                this.azimuth += dx * 0.008;
                this.height = Math.min(1.5, Math.max(-1.5, this.height + dy * 0.008));
            } else {
                this.shift = [this.shift[0] + dx, this.shift[1] + dy];
            }
            redraw();
        });
        canvas.addEventListener(
            "wheel",
            (e) => {
                if (!e.ctrlKey && document.activeElement !== canvas) return;
                e.preventDefault();
                this.zoom *= e.deltaY < 0 ? 1.15 : 1 / 1.15;
                redraw();
            },
            { passive: false },
        );
        canvas.addEventListener("dblclick", () => {
            [this.azimuth, this.height, this.zoom, this.shift] = [-0.6, 0.35, 1, [0, 0]];
            redraw();
        });
        canvas.tabIndex = 0;
    }

    /// Adapts the canvas to its frame and clears it. To be called before each picture.
    begin(): CanvasRenderingContext2D {
        const { clientWidth, clientHeight } = this.canvas;
        const r = devicePixelRatio;
        this.width = Math.max(1, Math.round(clientWidth * r));
        this.tall = Math.max(1, Math.round(clientHeight * r));
        if (this.canvas.width !== this.width) this.canvas.width = this.width;
        if (this.canvas.height !== this.tall) this.canvas.height = this.tall;
        const fit = Math.min(this.width / (this.size[0] || 1), this.tall / (this.size[1] || 1));
        this.scale = fit * this.zoom * (this.space ? 1 : 0.94);
        const c = this.canvas.getContext("2d")!;
        c.clearRect(0, 0, this.width, this.tall);
        return c;
    }

    /// Device pixels right and down, and the distance from the eye.
    place(p: ArrayLike<number>): Vec {
        const x = p[0] - this.centre[0];
        const y = p[1] - this.centre[1];
        const z = (p[2] ?? 0) - this.centre[2];
        let [right, up, depth] = [x, y, 0];
        if (this.space) {
            const [ca, sa] = [Math.cos(this.azimuth), Math.sin(this.azimuth)];
            const [ch, sh] = [Math.cos(this.height), Math.sin(this.height)];
            right = x * ca - y * sa;
            const away = x * sa + y * ca;
            up = z * ch - -away * sh;
            depth = away * ch - z * sh;
        }
        return [
            this.width / 2 + right * this.scale + this.shift[0] * devicePixelRatio,
            this.tall / 2 - up * this.scale + this.shift[1] * devicePixelRatio,
            depth,
        ];
    }

    /// A length of the model in device pixels.
    length(x: number): number {
        return x * this.scale;
    }
}
