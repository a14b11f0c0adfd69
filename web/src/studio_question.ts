// SPDX-License-Identifier: Apache-2.0
// The tabs of `saltus studio` for the questions that take a while: forms, progress, results.
import { el, num } from "./dom";
import { knownOf } from "./known";
import type { Known } from "./motion_view";
import type { Motion, Part } from "./report_document";
import { copyable } from "./studio_copy";
import { commandLine, type Form, get, type Job, type Option, post, pythonLine, type StudioModel } from "./studio_requests";
import { resultView } from "./views";

/// What the other parts of the page know when a question is asked.
export interface Asked {
    file: string;
    model: NonNullable<StudioModel["model"]>;
    set: Option[];
    project: boolean;
    tEnd: string;
    form: Form;
    motion: Motion | null;
}

/// Two answers to a question are about the same thing if these texts are equal. Rest and its attractivity do not depend
/// on initial values; motions do.
export function subject(a: Asked, withStart: boolean): string {
    const parameters = new Set(a.model.parameters.map((p) => p.name));
    return JSON.stringify([a.model.revision, a.set.filter(([name]) => withStart || parameters.has(name)), withStart && a.project]);
}
const aboutRest = ["equilibria", "certify", "basin"];

/// An option of a question with a field.
interface Field {
    label: string;
    option: string;
    value: (a: Asked) => string; // at first; an empty field leaves the option out
}

/// One command.
interface Command {
    command: string;
    label: string;
    fields: Field[];
    fixed?: Option[];
    refines?: boolean; // a basin: grids become finer while the user waits
}

const poll_ms = 200; // between looks at the progress of a question

const untilEnd: Field = { label: "until t =", option: "--t-end", value: (a) => (Number(a.tEnd) === a.model.t_end ? "" : a.tEnd) };

/// An axis of a basin: the coordinate that moves fastest, or its velocity, with the range of its motion.
function gridOf(a: Asked, velocity: boolean): string {
    const size = (values: (number | null)[]) => values.reduce((s: number, v) => Math.max(s, Math.abs(v ?? 0)), 0);
    const speeds = a.motion?.u.map((c) => size(c.values)) ?? [];
    const k = Math.max(0, speeds.indexOf(Math.max(...speeds)));
    const name = a.motion?.q[k]?.name ?? a.model.coordinates[0];
    const most = (velocity ? speeds[k] : size(a.motion?.q[k]?.values ?? [])) || 1;
    const half = Number((1.5 * most).toPrecision(2));
    return `${name}${velocity ? "'" : ""}=${-half}:${half}`;
}

/// A range around the first parameter that is not computed from others, such as "w=2.2:3.4"; `more` stands behind it.
function rangeOf(a: Asked, more: string): string {
    const p = a.model.parameters.find((q) => !q.derived && q.value !== 0);
    if (!p) return "";
    const text = (factor: number) => String(Number((p.value * factor).toPrecision(2)));
    return `${p.name}=${text(0.8)}:${text(1.2)}${more}`;
}
const period: Field = { label: "period of the excitation", option: "--period", value: () => "" };
const section: Field = { label: "or where it begins", option: "--section", value: () => "" };
const settle: Field = { label: "after a motion of length", option: "--settle", value: () => "" };

const questions: { title: string; commands: Command[] }[] = [
    {
        title: "How sensitive is the motion?",
        commands: [
            {
                command: "sensitivity",
                label: "Derivatives of the motion and of its event times",
                fields: [{ label: "with respect to", option: "--wrt", value: (a) => a.model.parameters.filter((p) => !p.derived).slice(0, 4).map((p) => p.name).join(",") || a.model.coordinates[0] }, untilEnd],
            },
        ],
    },
    {
        title: "Do impacts create energy?",
        commands: [{ command: "impact", label: "One impact of the motion", fields: [{ label: "impact number", option: "--number", value: () => "1" }] }],
    },
    {
        title: "Is rest attractive?",
        commands: [
            { command: "equilibria", label: "Equilibrium sets", fields: [] },
            { command: "certify", label: "Certificate", fields: [] },
            {
                command: "basin",
                label: "Basin: which set each start reaches",
                fields: [
                    { label: "grid", option: "--grid", value: (a) => gridOf(a, false) },
                    { label: "", option: "--grid", value: (a) => gridOf(a, true) },
                    { label: "starts in each direction, up to", option: "finest", value: () => "65" },
                    { label: "longest motion", option: "--t-max", value: (a) => a.tEnd },
                ],
                refines: true,
            },
        ],
    },
    {
        title: "Does the controller reach its goal?",
        commands: [{ command: "certify", label: "Conditions of regulation", fields: [], fixed: [["--theorem", "regulation"]] }],
    },
    {
        title: "What does it do in the long run?",
        commands: [
            {
                command: "orbit",
                label: "A periodic orbit and its multipliers",
                fields: [period, section, settle],
            },
            {
                command: "continue",
                label: "Orbits or equilibria over a parameter",
                fields: [{ label: "parameter and range", option: "--over", value: (a) => rangeOf(a, "") }, period, section, settle],
            },
            {
                command: "diagram",
                label: "Long motions for many values of a parameter",
                fields: [
                    { label: "parameter and values", option: "--over", value: (a) => rangeOf(a, ":40") },
                    period,
                    { ...section, label: "or where points are taken" },
                    { label: "points that are dropped", option: "--transient", value: () => "" },
                    { label: "points that are kept", option: "--keep", value: () => "" },
                ],
            },
        ],
    },
];

/// The tab of one question.
export class QuestionTab {
    readonly pane: HTMLElement;
    private readonly forms: CommandForm[];

    private constructor(
        readonly title: string,
        commands: Command[],
        asked: () => Asked,
        parts: () => Part[],
        onPick: Known["onPick"],
        answered: () => void,
    ) {
        this.forms = commands.map((c) => new CommandForm(c, asked, parts, onPick, answered));
        this.pane = el("div", { class: "pane", role: "tabpanel" }, ...this.forms.map((f) => f.frame));
    }

    /// `answered` is called after each result.
    static all(asked: () => Asked, onPick: Known["onPick"], answered: () => void): QuestionTab[] {
        const tabs: QuestionTab[] = [];
        const parts = () => tabs.flatMap((t) => t.parts());
        for (const q of questions) tabs.push(new QuestionTab(q.title, q.commands, asked, parts, onPick, answered));
        return tabs;
    }
    /// The results that are about the model with its present values.
    parts(): Part[] {
        return this.forms.filter((f) => f.isCurrent()).flatMap((f) => f.parts);
    }
    /// Numbers of the questions with such results, for reports.
    results(): number[] {
        return this.forms.filter((f) => f.isCurrent()).flatMap((f) => f.resultNumber ?? []);
    }
    ended(number: number): void {
        this.forms.forEach((f) => f.ended(number));
    }
    showCommands(): void {
        this.forms.forEach((f) => f.showCommands());
    }
}

/// The form of one command with its result.
class CommandForm {
    readonly frame: HTMLElement;
    parts: Part[] = [];
    resultNumber: number | null = null;
    private readonly inputs: HTMLInputElement[];
    private readonly go = el("button", { type: "button", class: "ask" }, "Compute");
    private readonly stop = el("button", { type: "button", class: "cancel" }, "Cancel");
    private readonly bar = el("progress", { max: "1" });
    private readonly note = el("span", { class: "source" });
    private readonly old = el("p", { class: "warning" }, "These results are about other values, or about an earlier version of the file.");
    private about = ""; // subject of the results
    private readonly result = el("div", { class: "result" });
    private readonly copies = el("div", { class: "commands" });
    private running: number | null = null;
    private wake: () => void = () => {};
    private cancelled = false;

    constructor(
        private readonly command: Command,
        private readonly asked: () => Asked,
        private readonly allParts: () => Part[],
        private readonly onPick: Known["onPick"],
        private readonly answered: () => void,
    ) {
        this.inputs = command.fields.map((f) => el("input", { type: "text", "aria-label": f.label || f.option }));
        for (const input of this.inputs) {
            input.oninput = () => {
                input.dataset.own = "1"; // the user wrote it
                this.showCommands();
            };
        }
        this.stop.hidden = this.bar.hidden = true;
        this.go.onclick = () => void this.ask();
        this.stop.onclick = () => {
            this.cancelled = true;
            if (this.running !== null) void post("cancel", [["number", String(this.running)]]);
        };
        const fields = command.fields.map((f, k) => el("label", {}, f.label ? f.label + " " : "", this.inputs[k]));
        this.frame = el("section", { class: "panel question", "data-command": command.command }, el("h3", {}, command.label), el("div", { class: "settings" }, ...fields, this.go, this.stop, this.bar, this.note), this.copies, this.old, this.result);
        this.showCommands();
    }

    /// Fields that the user has not touched follow the model.
    private refresh(): void {
        const a = this.asked();
        this.inputs.forEach((input, k) => {
            if (!input.dataset.own) input.value = this.command.fields[k].value(a);
        });
    }

    /// The options as they are in the form; `n` is the number of starts in each direction of a basin.
    private options(n = 0): Option[] {
        const finest = n || Number(this.inputs[this.command.fields.findIndex((f) => f.option === "finest")]?.value) || 0;
        const options: Option[] = [...(this.command.fixed ?? [])];
        this.command.fields.forEach((f, k) => {
            const value = this.inputs[k].value.trim();
            if (value === "" || f.option === "finest") return;
            options.push([f.option, f.option === "--grid" && value.includes(":") ? `${value}:${finest}` : value]);
        });
        return options;
    }

    showCommands(): void {
        this.refresh();
        this.old.hidden = !this.parts.length || this.isCurrent();
        const a = this.asked();
        const options = this.options();
        if (a.project) options.push(["--project-initial", ""]);
        this.copies.replaceChildren(copyable("command line", commandLine(this.command.command, a.file, a.set, options)), copyable("Python", pythonLine(this.command.command, a.file, a.set, options)));
    }

    private subject(): string {
        return subject(this.asked(), !aboutRest.includes(this.command.command));
    }
    /// Whether there are results, and they are about the model with its present values.
    isCurrent(): boolean {
        return this.parts.length > 0 && this.about === this.subject();
    }

    ended(number: number): void {
        if (number === this.running) this.wake();
    }

    private async ask(): Promise<void> {
        if (this.running !== null) return;
        this.cancelled = false;
        this.go.disabled = true;
        this.stop.hidden = this.bar.hidden = false;
        this.note.textContent = "";
        try {
            if (!this.command.refines) await this.one(this.options());
            else await this.refine();
        } catch {
            this.note.textContent = "There is no connection to the studio.";
        }
        this.running = null;
        this.go.disabled = false;
        this.stop.hidden = this.bar.hidden = true;
    }

    /// Grids with 9, 17, 33 … starts in each direction; each picture replaces the one before. The certified level set is
    /// computed with the last one.
    private async refine(): Promise<void> {
        const finest = Math.min(Math.max(Number(this.options().length && this.inputs[2].value) || 65, 3), 1025);
        for (let n = Math.min(9, finest); ; n = Math.min(2 * n - 1, finest)) {
            const last = n === finest;
            const job = await this.one([...this.options(n), ...(last ? [] : [["--no-certify", ""] as Option])], `${n} × ${n} starts`);
            if (last || job.status !== "done" || this.cancelled) return;
        }
    }

    /// Asks one question and waits for its end.
    private async one(options: Option[], what = ""): Promise<Job> {
        const form: Form = [["command", this.command.command], ...this.asked().form, ...options.map(([o, v]): [string, string] => ["option", v === "" ? o : `${o}=${v}`])];
        const about = this.subject();
        let job = await post<Job>("ask", form);
        if (job.error) {
            this.note.textContent = job.error.message + (job.error.remedy ? "; " + job.error.remedy : "");
            return { ...job, status: "refused" };
        }
        this.running = job.job;
        while (job.status === "running") {
            await new Promise<void>((done) => {
                const timer = setTimeout(done, poll_ms);
                this.wake = () => (clearTimeout(timer), done());
            });
            job = await get<Job>("question?number=" + job.job);
            if (job.share !== undefined) this.bar.value = job.share;
            else this.bar.removeAttribute("value");
            this.note.textContent = `${what ? what + ", " : ""}${num(job.seconds, 2)} s`;
        }
        const said = (job.message ?? "").trim().replace(/^saltus: /gm, "");
        this.note.textContent = [what, job.status === "done" ? `computed in ${num(job.seconds, 2)} s` : `${job.status} after ${num(job.seconds, 2)} s`, said].filter(Boolean).join("; ");
        if (job.report) {
            this.resultNumber = job.job;
            this.parts = job.report.parts;
            this.about = about;
            this.old.hidden = this.isCurrent();
            this.show();
            this.answered();
        }
        return job;
    }

    private show(): void {
        const known = { ...knownOf(this.allParts()), onPick: this.onPick };
        this.result.replaceChildren(...this.parts.map((p) => resultView(p, known)));
    }
}
