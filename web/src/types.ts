// SPDX-License-Identifier: Apache-2.0
// The document that a page shows, as docs/report.md describes it.

export interface Report {
    format: string;
    title: string;
    version?: string;
    back?: { href: string; text: string };
    text?: string;
    notes?: string[];
    numbers?: StatedNumber[];
    parts: Part[];
}

/// A number that a paper states beside ours.
export interface StatedNumber {
    what: string;
    where: string;
    stated: string;
    ours: string;
    note: string;
}

export interface Part {
    kind: string;
    source: string;
    command?: string;
    // Each kind has its own layout; the views read what they know.
    data: any;
}

export interface Curve {
    name: string;
    values: (number | null)[];
}

export interface Force {
    name: string;
    kind: string;
    modes?: string;
    N: (number | null)[];
    T: (number | null)[][];
}

export interface MotionEvent {
    t: number;
    kind: string;
    contacts: string[];
    jump: number;
    work?: number;
    energy?: [number, number];
    impulses?: { name: string; N: number; T: number[] }[];
    created?: number;
    impacts?: number;
    note?: string;
}

export interface Plane {
    coordinate: number;
    q: [number, number];
    u: [number, number];
    nq: number;
    nu: number;
    values: number[];
}

export interface Shape {
    kind: "segment" | "spring" | "circle" | "polygon" | "trace";
    style: "body" | "ground" | "line";
    values: number[];
}

export interface Drawing {
    dimension: number;
    view?: [number, number, number, number];
    values: (number | number[])[];
    shapes: Shape[];
    contacts: { name: string; at: number[]; normal: number[]; tangent: number[] }[];
    frames?: number[];
    points?: number[][];
    lines?: [number, number][];
    planes?: { name: string; normal: [number, number, number]; offset: number }[];
}

export interface Motion {
    model: string;
    method: string;
    options: string;
    version: string;
    stepped: boolean;
    status: string;
    reason: string;
    t_begin: number;
    t_end: number;
    coordinates: string[];
    warnings: string[];
    balance: { initial: number; final: number; work: number; error: number };
    violation: { gap: number; constraint: number };
    steps: number;
    end: { q: number[]; u: number[] };
    t: number[];
    breaks: number[];
    arcs: number[];
    decimated: boolean;
    q: Curve[];
    u: Curve[];
    gaps: Curve[];
    forces: Force[];
    energy: Curve[];
    work: Curve[];
    planes: Plane[];
    event_count: number;
    events: MotionEvent[];
    drawing?: Drawing;
}
