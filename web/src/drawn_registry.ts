// SPDX-License-Identifier: Apache-2.0
// A list of everything that the page draws, with its numbers. Tests and the console of the browser read it as
// `window.saltus`.

export interface DrawnSeries {
    label: string;
    min: number;
    max: number;
    jumps: number; // interruptions of the curve
    visible: boolean;
    points?: (number[] | null)[]; // of plots of one quantity over another
}

export interface DrawnPlot {
    title: string;
    element?: HTMLElement;
    axes?: () => Record<string, string>; // labels of the axes
    scales?: () => Record<string, number[]>; // ranges of the axes
    series: () => DrawnSeries[];
}

export interface DrawnAnimation {
    title: string;
    element?: HTMLElement;
    time: () => number;
    playing: () => boolean;
}

export const drawn: { plots: DrawnPlot[]; animations: DrawnAnimation[] } = { plots: [], animations: [] };
(window as any).saltus = drawn;

/// Forgets what is no longer part of the page.
export function forgetDrawn(): void {
    const shown = (d: { element?: HTMLElement }) => !d.element || d.element.isConnected;
    drawn.plots = drawn.plots.filter(shown);
    drawn.animations = drawn.animations.filter(shown);
}
