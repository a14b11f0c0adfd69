// SPDX-License-Identifier: Apache-2.0
// The JSON document that a page shows, as docs/report.md describes it. The library writes it: io/page/report_page.cpp the
// document, io/page/motion_json.cpp its motions, io/report/*_report.cpp the results of the other commands. `null` stands
// for a number that is not finite.

/// The document of a page.
export interface Report {
    format: string;
    title: string;
    version?: string;
    back?: { href: string; text: string }; // a link at the top
    text?: string;
    notes?: string[]; // what could not be shown, and why
    numbers?: StatedNumber[];
    parts: Part[];
    units?: ModelUnits;
}

/// Units of the model; absent if it gives none.
export interface ModelUnits {
    time: string;
    length: string;
    force: string;
    energy: string;
    q: Record<string, string>; // by coordinate; "" if unknown
}

/// A number that a paper states, beside the number that was computed.
export interface StatedNumber {
    what: string;
    where: string;
    stated: string;
    ours: string;
    note: string;
}

/// One result.
export interface Part {
    kind: string; // "motion", "document", or the name of a command; views.ts has a view for each
    source: string; // path of the result file
    command?: string; // command line that computed it
    name?: string; // of the run
    data: any; // its layout depends on the kind
}

/// A curve: a value for each entry of Motion.t.
export interface Curve {
    name: string;
    values: (number | null)[];
}

/// The force of an element over time.
export interface Force {
    name: string;
    kind: string; // contact, constraint, slider or clutch
    modes?: string; // a letter for each arc: o open, c closed, s stick, l slip, p pressed
    N: (number | null)[];
    T: (number | null)[][];
}

export interface MotionEvent {
    t: number;
    kind: string;
    contacts: string[];
    jump: number; // largest |u⁺ − u⁻|
    work?: number; // of the contacts
    energy?: [number, number]; // T + U before and after
    impulses?: { name: string; N: number; T: number[] }[];
    created?: number; // energy that the impact created
    impacts?: number; // of an accumulation: impacts that were resolved before it
    note?: string;
}

/// T + U over one coordinate and its velocity, on a grid of nq × nu nodes; the coordinate is the faster index.
export interface Plane {
    coordinate: number;
    q: [number, number];
    u: [number, number];
    least?: boolean; // the other coordinates and velocities have their least energy; otherwise they are as at the end
    nq: number;
    nu: number;
    values: number[];
}

/// A shape of a drawing. `values` are indices into Drawing.values: points, of a circle also radius and angle.
export interface Shape {
    kind: "segment" | "spring" | "circle" | "polygon" | "trace";
    style: "body" | "ground" | "line";
    values: number[];
}

/// How a model looks. All numbers of it are in `values`, each a constant or a list over Motion.t; shapes and marks refer to
/// them by index.
export interface Drawing {
    dimension: number; // 2 or 3
    view?: [number, number, number, number]; // xmin, ymin, xmax, ymax
    values: (number | number[])[];
    shapes: Shape[];
    contacts: { name: string; at: number[]; normal: number[]; tangent: number[] }[];
    frames?: number[]; // times at which mass points are stored
    points?: number[][]; // for each frame x, y, z of all mass points
    lines?: [number, number][]; // pairs of mass points
    planes?: { name: string; normal: [number, number, number]; offset: number }[];
}

/// A motion: a trajectory sampled for a page.
export interface Motion {
    model: string;
    method: string;
    options: string;
    version: string;
    stepped: boolean; // by time-stepping, which does not resolve events
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
    t: number[]; // times of the samples
    breaks: number[]; // k: samples k and k + 1 are the left and the right limit at one time
    arcs: number[]; // times at which arcs begin, without the first one
    decimated: boolean; // only extremes are kept
    q: Curve[];
    u: Curve[];
    gaps: Curve[];
    outputs?: Curve[]; // derived quantities; a unit stands in brackets at the end of the name
    forces: Force[];
    energy: Curve[];
    work: Curve[]; // since the start, by cause
    planes: Plane[];
    event_count: number; // all events; the list may be shorter
    event_kinds: Record<string, number>; // how many of each kind, over all events
    energy_created: number; // by all impacts
    events: MotionEvent[];
    drawing?: Drawing;
    units?: Units;
}

/// Units for the axes; absent if the model gives none.
export interface Units {
    time: string;
    length: string;
    force: string;
    energy: string;
    q: string[]; // of each coordinate; "" if unknown
}
