// SPDX-License-Identifier: Apache-2.0
// The page of `saltus studio`: it follows the model file, moves with its sliders, and asks the six questions.
import { forgetDrawn } from "./drawn_registry";
import { knownOf } from "./known";
import { el, section } from "./dom";
import { type Curves, type LiveMotionView, liveMotionView } from "./motion_view";
import { copyable } from "./studio_copy";
import { QuestionTab, type Asked } from "./studio_question";
import { Slider } from "./studio_slider";
import { commandLine, type Form, get, type Option, post, pythonLine, type StudioError, type StudioModel, type StudioMotion } from "./studio_requests";
import { forgetDetached, toggleTheme } from "./theme";
import type { Motion, Report } from "./report_document";

const settle_ms = 150; // after the last change of a slider, then the motion is computed in full
const quick_seconds = 0.25; // computing time of a motion while a slider moves
const full_seconds = 10;

export function startStudio(page: HTMLElement, report: Report): void {
    page.classList.add("wide");
    new Studio(page, report.title).start();
}

class Studio {
    private source: StudioModel | null = null; // the last answer about the file
    private readonly changes = new Map<string, string>(); // parameters and initial values that differ from the file
    private sliders: Slider[] = [];
    private motion: Motion | null = null;
    private view: LiveMotionView | null = null;
    private readonly curves: Curves = { stems: new Set(), work: new Set() }; // that were drawn once
    private motionError: StudioError | null = null;
    private busy = false; // a motion is being computed
    private wanted: "no" | "quick" | "full" = "no";
    private number = 0;
    private settleTimer = 0;
    private readonly id = Math.random().toString(36).slice(2);
    private readonly times: number[] = []; // of the last redraws, in ms
    private tabs: QuestionTab[] = [];

    private readonly state = el("span", { class: "state", role: "status" });
    private readonly problem = el("div", { class: "problem", role: "alert" });
    private readonly controls = el("div", { class: "controls" });
    private readonly text = el("ol", { class: "source-text" });
    private readonly body = el("div", { class: "motion-body" });
    private readonly tabBar = el("nav", { class: "tabs", role: "tablist" });
    private readonly panes = el("div", {});
    private readonly commands = el("div", { class: "commands" });
    private readonly rate = el("span", { class: "source", title: "redraws in the last second" });
    private readonly tEnd = el("input", { type: "number", step: "any", min: "0", "aria-label": "end time" });
    private readonly method = el("select", { "aria-label": "method" }, ...["event", "moreau", "penalty"].map((m) => el("option", { value: m }, m)));
    private readonly project = el("input", { type: "checkbox" });

    constructor(
        page: HTMLElement,
        private readonly file: string,
    ) {
        const theme = el("button", { class: "theme", type: "button", "aria-label": "light or dark" }, "◐");
        theme.onclick = toggleTheme;
        const save = el("button", { type: "button", class: "save" }, "Save as report");
        save.onclick = () => void this.saveReport();
        const reset = el("button", { type: "button", class: "reset" }, "Values of the file");
        reset.onclick = () => this.reset();
        const settings = el("div", { class: "settings" }, el("label", {}, "until t = ", this.tEnd), el("label", {}, "method ", this.method), el("label", { title: "repair an initial state that penetrates or violates a constraint" }, this.project, " repair the start"));
        for (const input of [this.tEnd, this.method, this.project]) input.onchange = () => this.changed(true);
        page.append(
            el("header", {}, el("h1", {}, file), this.state, save, theme),
            this.problem,
            el(
                "div",
                { class: "studio" },
                el("aside", {}, section("Values", settings, this.controls, reset), el("details", { class: "panel" }, el("summary", {}, "Model file"), this.text)),
                el("div", {}, this.tabBar, this.panes),
            ),
            el("footer", {}, "Saltus studio. The page is served by this computer for this computer."),
        );
        (window as any).saltusStudio = { redraws: () => this.count, rate: () => this.perSecond(), motion: () => this.motion, revision: () => this.shownRevision };
    }
    private count = 0; // redraws since the start
    private rateTimer = 0;
    private drawn = ""; // what the phase planes show of the results of questions
    private shownRevision = 0; // of the motion that is shown

    start(): void {
        this.readAddress();
        this.listen();
    }

    // ---- the program pushes the number of a new version of the file

    private listen(): void {
        const events = new EventSource("events");
        const retry = 1000; // ms
        events.addEventListener("model", () => void this.load());
        events.addEventListener("question", (e) => this.tabs.forEach((t) => t.ended(Number((e as MessageEvent).data))));
        events.onopen = () => this.tell("", "");
        events.onerror = () => {
            events.close();
            void this.explainSilence();
            setTimeout(() => this.listen(), retry);
        };
    }

    private async explainSilence(): Promise<void> {
        try {
            await get("model");
        } catch (e) {
            const anew = (e as Error).message === "refused";
            this.tell("lost", anew ? "The studio was started anew: open the address that it printed." : `The studio has ended. To go on: SALTUS_STUDIO_TOKEN=${location.pathname.split("/")[1]} saltus studio ${this.file} --port ${location.port}`);
        }
    }

    private tell(kind: string, text: string): void {
        this.state.className = "state " + kind;
        this.state.textContent = text;
    }

    private async load(): Promise<void> {
        const before = this.source?.model;
        try {
            this.source = await get<StudioModel>("model");
        } catch {
            return; // the connection ended: listen() tries again
        }
        const model = this.source.model;
        if (model && model.revision !== before?.revision) {
            // A value that was changed in the file replaces the slider's.
            const old = before ? this.fileValues(before) : null;
            for (const [name, value] of this.fileValues(model)) if (old && old.get(name) !== value) this.changes.delete(name);
            const names = new Set(this.fileValues(model).keys());
            for (const name of [...this.changes.keys()]) if (!names.has(name)) this.changes.delete(name);
            if (!before || old === null) this.firstSettings();
            this.motionError = null;
            this.makeTabs();
            this.makeSliders();
            this.changed(true);
        }
        this.showProblem();
        this.showText();
    }

    private firstSettings(): void {
        const model = this.source!.model!;
        const otherwise = 10; // s, for models without t_end
        if (!this.tEnd.value) this.tEnd.value = String(model.t_end ?? otherwise);
        if (!this.methodGiven) this.method.value = model.method;
    }
    private methodGiven = false;

    private fileValues(model: NonNullable<StudioModel["model"]>): Map<string, number> {
        const values = new Map<string, number>();
        for (const p of model.parameters) values.set(p.name, p.value);
        model.coordinates.slice(0, max_coordinates).forEach((c, k) => values.set(c, model.q0[k]).set(c + "'", model.u0[k]));
        return values;
    }

    // ---- values

    private makeSliders(): void {
        const model = this.source!.model!;
        const slider = (name: string, value: number, range: [number, number]) => {
            const s = new Slider(name, value, range, (text, final) => {
                this.changes.set(name, text);
                this.changed(final);
            });
            if (this.changes.has(name)) s.show(Number(this.changes.get(name)), true);
            return s;
        };
        const parameters = model.parameters.map((p) => slider(p.name, p.value, around(p.value)));
        const initial = model.coordinates.slice(0, max_coordinates).flatMap((c, k) => [slider(c, model.q0[k], around(model.q0[k], true)), slider(c + "'", model.u0[k], around(model.u0[k], true))]);
        this.sliders = [...parameters, ...initial];
        this.controls.replaceChildren(
            el("h3", {}, "Parameters"), ...parameters.map((s) => s.row),
            el("h3", {}, "Initial values"), ...initial.map((s) => s.row),
        );
    }

    private reset(): void {
        this.changes.clear();
        this.tEnd.value = "";
        this.project.checked = false;
        this.methodGiven = false;
        this.firstSettings();
        this.makeSliders();
        this.changed(true);
    }

    /// A value has changed; `final` if it stays.
    private changed(final: boolean): void {
        if (this.method.value !== this.source?.model?.method) this.methodGiven = true;
        this.wanted = final ? "full" : this.wanted === "full" ? "full" : "quick";
        if (!final) {
            this.wanted = "quick";
            clearTimeout(this.settleTimer);
            this.settleTimer = window.setTimeout(() => this.changed(true), settle_ms);
        }
        if (final) {
            this.writeAddress(); // browsers allow only a few changes of the address a second
            this.showCommands();
        }
        void this.compute();
    }

    /// The values as a form, for motions, questions and reports.
    private assignments(): Option[] {
        return [...this.changes];
    }
    private form(): Form {
        const form: Form = this.assignments().map(([n, v]) => ["set", `${n}=${v}`]);
        if (this.project.checked) form.push(["project", "1"]);
        return form;
    }
    private motionForm(): Form {
        const form = this.form();
        if (this.tEnd.value) form.push(["t_end", this.tEnd.value]);
        if (this.methodGiven) form.push(["method", this.method.value]);
        return form;
    }
    /// Options of the command line that the settings stand for.
    private motionOptions(): Option[] {
        const options: Option[] = [];
        if (this.tEnd.value && Number(this.tEnd.value) !== this.source?.model?.t_end) options.push(["--t-end", this.tEnd.value]);
        if (this.methodGiven) options.push(["--method", this.method.value]);
        if (this.project.checked) options.push(["--project-initial", ""]);
        return options;
    }

    /// The values in the address, so that they survive when the page is loaded again.
    private writeAddress(): void {
        const state = new URLSearchParams(this.assignments());
        if (this.tEnd.value && Number(this.tEnd.value) !== this.source?.model?.t_end) state.set("until", this.tEnd.value);
        history.replaceState(null, "", "#" + state);
    }
    private readAddress(): void {
        for (const [name, value] of new URLSearchParams(location.hash.slice(1))) {
            if (name === "until") this.tEnd.value = value;
            else if (Number.isFinite(Number(value))) this.changes.set(name, value);
        }
    }

    // ---- the motion

    /// Asks for the motion unless one is being computed; then once that one is here.
    private async compute(): Promise<void> {
        if (this.busy || this.wanted === "no" || !this.source?.model) return;
        this.busy = true;
        const quick = this.wanted === "quick";
        this.wanted = "no";
        const form: Form = [...this.motionForm(), ["page", this.id], ["number", String(++this.number)], ["seconds", String(quick ? quick_seconds : full_seconds)]];
        if (!quick) form.push(["planes", "1"]);
        let answer: StudioMotion | null = null;
        try {
            answer = await post<StudioMotion>("simulate", form);
        } catch {
            this.wanted = "no"; // no connection: listen() says so
        }
        this.busy = false;
        void this.compute(); // the program computes the next motion while this one is drawn
        if (!answer) return;
        this.motionError = answer.error ?? null;
        if (!answer.error) {
            this.shownRevision = answer.revision;
            this.show(answer);
        }
        this.showProblem();
    }

    private show(answer: StudioMotion): void {
        this.motion = answer.motion;
        // Equilibrium sets and certified levels are drawn only if they are about these values.
        const said = this.tabs.flatMap((t) => t.parts());
        const drawn = said.map((p) => p.kind + JSON.stringify(p.data.sets ?? p.data.rho ?? "")).join();
        if (drawn !== this.drawn || !this.view?.update(answer.motion)) {
            this.drawn = drawn;
            this.view = liveMotionView(answer.motion, { ...knownOf(said), live: this.curves, onPick: (start) => this.startAt(start) });
            this.body.replaceChildren(this.view.element);
            forgetDrawn();
            forgetDetached();
        }
        const values = new Map<string, number>(answer.parameters.map((p) => [p.name, p.value]));
        answer.motion.coordinates.forEach((c, k) => values.set(c, answer.q0[k]).set(c + "'", answer.u0[k]));
        for (const s of this.sliders) {
            const value = values.get(s.name);
            if (value !== undefined) s.show(value, this.changes.has(s.name));
        }
        answer.motion.q.forEach((c, k) => {
            this.sliders.find((s) => s.name === c.name)?.suggest(spanOf(c.values));
            this.sliders.find((s) => s.name === c.name + "'")?.suggest(spanOf(answer.motion.u[k].values));
        });
        ++this.count;
        this.times.push(performance.now());
        this.showRate();
    }

    /// Shows the redraws a second, at most twice a second: a changed text makes the browser compute its layout.
    private showRate(): void {
        const now = performance.now();
        const [between, after] = [500, 2000]; // ms: between two changes, and after the last redraw
        if (now - this.rateShown < between) return;
        this.rateShown = now;
        this.rate.textContent = this.perSecond() > 3 ? `${this.perSecond()} redraws a second` : "";
        clearTimeout(this.rateTimer);
        this.rateTimer = window.setTimeout(() => (this.rate.textContent = ""), after);
    }
    private rateShown = 0;

    private perSecond(): number {
        const now = performance.now();
        while (this.times.length && now - this.times[0] > 1000) this.times.shift();
        return this.times.length;
    }

    /// The user clicked on a start in a phase plane or a basin. Other coordinates stay as they are, so that the start is
    /// repaired if a body would penetrate another.
    private startAt(start: Record<string, number>): void {
        const digits = 6;
        for (const [name, value] of Object.entries(start)) this.changes.set(name, String(Number(value.toPrecision(digits))));
        this.project.checked = true;
        this.selectTab(0);
        this.changed(true);
    }

    // ---- what is wrong, and the file

    private showProblem(): void {
        const error = this.source?.error ?? this.motionError;
        this.problem.replaceChildren();
        this.problem.hidden = !error;
        if (!error) return;
        const place = error.line > 0 ? `line ${error.line}${error.column > 0 ? `, column ${error.column}` : ""}: ` : error.file && error.file !== this.file ? `${error.file}: ` : "";
        this.problem.append(el("strong", {}, place + error.message), error.remedy ? el("span", {}, " – " + error.remedy) : "");
        if (error.line > 0) {
            const line = (this.source?.text ?? "").split("\n")[error.line - 1] ?? "";
            this.problem.append(el("pre", {}, `${error.line} | ${line}\n${" ".repeat(String(error.line).length + 2 + error.column)}^`));
        }
        if (this.motion) this.problem.append(el("p", { class: "source" }, "The last motion without errors stays visible."));
    }

    /// The file, with the error below its line. Only the column beside the plots is scrolled to it: the page stays where it
    /// is, with the error on top.
    private showText(): void {
        const error = this.source?.error;
        const rows = (this.source?.text ?? "").replace(/\n$/, "").split("\n").map((line, k) => {
            if (error?.line !== k + 1) return el("li", {}, line || " ");
            return el("li", { class: "wrong" }, line || " ", el("div", { class: "reason" }, error.message));
        });
        this.text.replaceChildren(...rows);
        const file = this.text.parentElement as HTMLDetailsElement;
        if (!error) {
            if (this.openedForError) file.open = this.openedForError = false; // the sliders come back
            return;
        }
        if (!file.open) file.open = this.openedForError = true;
        const [column, wrong] = [this.text.closest("aside"), this.text.querySelector(".wrong")];
        if (!column || !wrong) return;
        const [around, line] = [column.getBoundingClientRect(), wrong.getBoundingClientRect()];
        const top = Math.max(around.top, 0), bottom = Math.min(around.bottom, innerHeight);
        if (line.top < top || line.bottom > bottom) column.scrollTop += (line.top + line.bottom) / 2 - (top + bottom) / 2;
    }
    private openedForError = false;

    // ---- tabs

    private makeTabs(): void {
        const asked = (): Asked => ({ file: this.file, model: this.source!.model!, set: this.assignments(), project: this.project.checked, tEnd: this.tEnd.value, form: this.form(), motion: this.motion });
        if (this.tabs.length) {
            this.tabs.forEach((t) => t.showCommands());
            return;
        }
        // What a question says about the model is drawn in the phase planes of the next motion.
        const answered = () => this.changed(true);
        this.tabs = QuestionTab.all(asked, (start) => this.startAt(start), answered);
        const titles = ["How does it move?", ...this.tabs.map((t) => t.title)];
        const motionPane = el("div", { class: "pane", role: "tabpanel" }, this.commands, this.body);
        this.panes.append(motionPane, ...this.tabs.map((t) => t.pane));
        titles.forEach((title, k) => {
            const button = el("button", { type: "button", role: "tab" }, title);
            button.onclick = () => this.selectTab(k);
            this.tabBar.append(button);
        });
        this.selectTab(0);
    }

    private selectTab(chosen: number): void {
        [...this.tabBar.children].forEach((b, k) => b.setAttribute("aria-selected", String(k === chosen)));
        [...this.panes.children].forEach((p, k) => ((p as HTMLElement).hidden = k !== chosen));
    }

    private showCommands(): void {
        const [set, options] = [this.assignments(), this.motionOptions()];
        this.commands.replaceChildren(copyable("command line", commandLine("simulate", this.file, set, options)), copyable("Python", pythonLine("simulate", this.file, set, options)), this.rate);
        this.tabs.forEach((t) => t.showCommands());
    }

    private async saveReport(): Promise<void> {
        const form = this.motionForm();
        for (const t of this.tabs) for (const number of t.results()) form.push(["question", String(number)]);
        const response = await fetch("report", { method: "POST", body: new URLSearchParams(form) });
        if (!response.ok) {
            this.motionError = (await response.json()).error;
            return this.showProblem();
        }
        const link = el("a", { href: URL.createObjectURL(await response.blob()), download: this.file.replace(/^.*\//, "").replace(/\.toml$/, "") + "-report.html" });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    }
}

const max_coordinates = 12; // with sliders; models with more have sliders for the first ones

/// The first range of a slider.
function around(value: number, signed = false): [number, number] {
    if (!Number.isFinite(value) || value === 0) return signed ? [-1, 1] : [0, 1];
    const size = Math.abs(value);
    if (signed) return [-2 * size, 2 * size];
    return value > 0 ? [0, 2 * value] : [2 * value, 0];
}

/// The range of a curve, twice as wide.
function spanOf(values: (number | null)[]): [number, number] {
    let [lo, hi] = [Infinity, -Infinity];
    for (const v of values) if (v != null) [lo, hi] = [Math.min(lo, v), Math.max(hi, v)];
    const more = (hi - lo) / 2;
    return [lo - more, hi + more];
}

