// SPDX-License-Identifier: Apache-2.0
// What is drawn, for whoever wants to look at the numbers behind a picture: tests, and the browser's console.

export interface DrawnSeries {
    label: string;
    min: number;
    max: number;
    jumps: number;
    visible: boolean;
}

export interface DrawnPlot {
    title: string;
    series: () => DrawnSeries[];
}

export interface DrawnAnimation {
    title: string;
    time: () => number;
    playing: () => boolean;
}

export const drawn: { plots: DrawnPlot[]; animations: DrawnAnimation[] } = { plots: [], animations: [] };
(window as any).saltus = drawn;
