// SPDX-License-Identifier: Apache-2.0
import { el } from "./dom";

/// A value with a slider and a field. The range grows if a value outside of it is shown.
export class Slider {
    readonly row: HTMLElement;
    private readonly slider: HTMLInputElement;
    private readonly field: HTMLInputElement;
    private suggested = false;
    private shown = NaN; // value in slider and field; NaN: that of the user
    private held = false; // the user drags it: do not move it

    /// `changed` gets the new value as text; `final` if the slider was released or a number was typed.
    constructor(
        readonly name: string,
        value: number,
        private range: [number, number],
        changed: (text: string, final: boolean) => void,
    ) {
        this.slider = el("input", { type: "range", "aria-label": name, step: "any" });
        this.field = el("input", { type: "number", step: "any", "aria-label": name + " as a number" });
        this.row = el("div", { class: "slider", "data-name": name }, el("label", {}, name.replace(/'$/, "′")), this.slider, this.field);
        const digits = 5; // of a value from a slider
        const text = () => String(Number(Number(this.slider.value).toPrecision(digits)));
        this.slider.oninput = () => {
            this.held = true;
            this.shown = NaN;
            this.field.value = text();
            changed(text(), false);
        };
        this.slider.onchange = () => {
            this.held = false;
            changed(text(), true);
        };
        this.field.onchange = () => {
            this.shown = NaN;
            if (Number.isFinite(this.field.valueAsNumber)) changed(this.field.value, true);
        };
        this.limits(range);
        this.show(value, false);
    }

    private limits(range: [number, number]): void {
        this.range = range;
        [this.slider.min, this.slider.max] = range.map(String);
    }

    /// Shows a value; `changed` if it is not that of the file.
    show(value: number, changed: boolean): void {
        this.row.classList.toggle("changed", changed);
        if (this.held || document.activeElement === this.field) return;
        if (value === this.shown) return; // setting a field makes the browser compute its layout
        this.shown = value;
        if (value < this.range[0] || value > this.range[1]) this.limits([Math.min(value, this.range[0]), Math.max(value, this.range[1])]);
        this.slider.value = String(value);
        this.field.value = String(Number(value.toPrecision(7)));
    }

    /// A better range, from the first motion.
    suggest(range: [number, number]): void {
        if (this.suggested || this.held || !(range[1] > range[0])) return;
        this.suggested = true;
        const value = Number(this.slider.value);
        this.limits([Math.min(range[0], value), Math.max(range[1], value)]);
        this.slider.value = String(value);
    }
}
