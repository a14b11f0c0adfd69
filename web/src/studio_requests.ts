// SPDX-License-Identifier: Apache-2.0
// What the page of `saltus studio` and the program say to each other (docs/studio.md). The program writes the answers in
// src/saltus/io/page/studio_documents.cpp.
import type { Motion, Report } from "./report_document";

export interface StudioError {
    message: string;
    file: string;
    line: number; // from 1; 0: unknown
    column: number;
    remedy: string;
}

export interface Parameter {
    name: string;
    value: number;
    derived: boolean; // computed from others
}

/// The model file, and the last version of it that is a model.
export interface StudioModel {
    revision: number;
    text: string;
    error?: StudioError;
    model?: {
        revision: number;
        name: string;
        coordinates: string[];
        parameters: Parameter[];
        q0: number[];
        u0: number[];
        contacts: number;
        controlled: boolean;
        t_end?: number;
        method: string;
        warnings: string[];
    };
}

/// A motion with the values it was computed with, or why there is none.
export interface StudioMotion {
    revision: number;
    error?: StudioError;
    parameters: Parameter[];
    q0: number[];
    u0: number[];
    motion: Motion;
}

/// A question that is computed, or its result.
export interface Job {
    job: number;
    command: string;
    status: "running" | "done" | "failed" | "refused" | "cancelled";
    seconds: number;
    share?: number; // of the work that is done; absent: unknown
    message?: string;
    report?: Report;
    error?: StudioError;
}

/// Values as a form: names with one or several texts.
export type Form = [string, string][];

async function answer<T>(response: Response): Promise<T> {
    if (response.status === 403) throw new Error("refused");
    return response.json();
}

export const get = async <T>(path: string): Promise<T> => answer<T>(await fetch(path));
export const post = async <T>(path: string, form: Form): Promise<T> => answer<T>(await fetch(path, { method: "POST", body: new URLSearchParams(form) }));

/// A word of a command line, quoted for a shell if it needs that.
export function shellWord(word: string): string {
    return /^[\w./:=,+-]+$/.test(word) ? word : '"' + word.replace(/(["\\$`])/g, "\\$1") + '"';
}

/// An assignment of --set, or an option with its value ("" for a flag).
export type Option = [string, string];

export function commandLine(command: string, file: string, set: Option[], options: Option[]): string {
    const words = ["saltus", command, shellWord(file)];
    for (const [name, value] of set) words.push("--set", shellWord(`${name}=${value}`));
    for (const [name, value] of options) words.push(name, ...(value === "" ? [] : [shellWord(value)]));
    return words.join(" ");
}

const isNumber = (text: string) => text.trim() !== "" && Number.isFinite(Number(text));
const pythonValue = (text: string) => (isNumber(text) ? text : JSON.stringify(text));

/// Keyword arguments; names that are no identifiers, such as x', in a dictionary.
function keywords(list: Option[]): string[] {
    const plain = list.filter(([n]) => /^[A-Za-z_]\w*$/.test(n)).map(([n, v]) => `${n}=${v}`);
    const others = list.filter(([n]) => !/^[A-Za-z_]\w*$/.test(n)).map(([n, v]) => `${JSON.stringify(n)}: ${v}`);
    return others.length ? [...plain, `**{${others.join(", ")}}`] : plain;
}

export function pythonLine(command: string, file: string, set: Option[], options: Option[]): string {
    const grid: string[] = [];
    const given: Option[] = [];
    for (const [option, value] of options) {
        const name = option.slice(2).replace(/-/g, "_");
        if (option === "--grid") {
            const [coordinate, range] = value.split("=");
            grid.push(`${JSON.stringify(coordinate)}: (${range.split(":").join(", ")})`);
        } else if (option !== "--project-initial") given.push([name, value === "" ? "True" : pythonValue(value)]);
    }
    if (grid.length) given.unshift(["grid", `{${grid.join(", ")}}`]);
    const load = [JSON.stringify(file), ...keywords(set.map(([n, v]): Option => [n, pythonValue(v)]))];
    if (options.some(([option]) => option === "--project-initial")) load.push("project_initial=True"); // the start may penetrate
    const method = command === "continue" ? "continue_" : command; // a word of the language
    return `saltus.load(${load.join(", ")}).${method}(${keywords(given).join(", ")})`;
}
