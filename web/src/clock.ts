// SPDX-License-Identifier: Apache-2.0
import { el, num } from "./dom";

/// The time that an animation shows, with a bar of controls: play, time, speed.
export class Clock {
    readonly bar: HTMLElement;
    private t: number;
    private running = false;
    private speed: number; // seconds of the motion per second
    private last = 0; // when the last frame was drawn, in ms
    private readonly button: HTMLButtonElement;
    private readonly slider: HTMLInputElement;
    private readonly readout: HTMLElement;
    private readonly followers: ((t: number) => void)[] = [];

    constructor(
        public begin: number,
        public end: number,
    ) {
        this.t = begin;
        // Real time if the motion takes 1.5 to 12 s. Otherwise it is shown in 8 s.
        const length = end - begin;
        const natural = length > 12 || length < 1.5 ? length / 8 : 1;
        this.speed = natural;
        this.button = el("button", { class: "play", type: "button", "aria-label": "play" }, "▶");
        this.slider = el("input", { type: "range", min: "0", max: "1000", value: "0", "aria-label": "time" });
        this.readout = el("span", { class: "time" });
        const choice = el("select", { "aria-label": "speed", class: "speed" });
        for (const f of [0.05, 0.1, 0.25, 0.5, 1, 2, 4])
            choice.append(el("option", { value: String(f * natural) }, `${num(f * natural, 2)}×`));
        choice.value = String(natural);
        this.button.onclick = () => (this.running ? this.pause() : this.play());
        this.slider.oninput = () => {
            this.pause();
            this.set(this.begin + ((this.end - this.begin) * Number(this.slider.value)) / 1000);
        };
        choice.onchange = () => (this.speed = Number(choice.value));
        this.bar = el("div", { class: "clock" }, this.button, this.slider, this.readout, choice);
        this.set(begin);
    }

    /// Another motion is shown; the time stays where it is, if the motion has it. Followers are not called.
    span(begin: number, end: number): void {
        [this.begin, this.end] = [begin, end];
        this.t = Math.min(Math.max(this.t, begin), end);
        this.slider.value = String((1000 * (this.t - begin)) / (end - begin || 1));
    }
    time(): number {
        return this.t;
    }
    playing(): boolean {
        return this.running;
    }
    /// Calls f now and whenever the time changes.
    follow(f: (t: number) => void): void {
        this.followers.push(f);
        f(this.t);
    }
    set(t: number): void {
        this.t = Math.min(Math.max(t, this.begin), this.end);
        this.slider.value = String((1000 * (this.t - this.begin)) / (this.end - this.begin || 1));
        this.readout.textContent = "t = " + num(this.t, 4);
        for (const f of this.followers) f(this.t);
    }
    pause(): void {
        this.running = false;
        this.button.textContent = "▶";
    }
    play(): void {
        if (this.t >= this.end) this.set(this.begin);
        this.running = true;
        this.button.textContent = "⏸";
        this.last = performance.now();
        const frame = (now: number) => {
            if (!this.running) return;
            // After a pause of the browser the motion continues; it advances by at most 100 ms in one frame.
            this.set(this.t + (this.speed * Math.min(Math.max(0, now - this.last), 100)) / 1000);
            this.last = now;
            if (this.t >= this.end) this.pause();
            else requestAnimationFrame(frame);
        };
        requestAnimationFrame(frame);
    }
}

/// Where t lies among ascending times: the index before it and the fraction of the way to the next one.
export function locate(times: number[], t: number): [number, number] {
    let lo = 0;
    let hi = times.length - 1;
    while (hi - lo > 1) {
        const mid = (lo + hi) >> 1;
        if (times[mid] <= t) lo = mid;
        else hi = mid;
    }
    const length = times[hi] - times[lo];
    return [lo, length > 0 ? Math.min(1, Math.max(0, (t - times[lo]) / length)) : 1];
}
