// SPDX-License-Identifier: Apache-2.0
// A page in the browser, and what tests ask of it.
import { strict as assert } from "node:assert";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const quiet = [
    "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--disable-gpu",
];

export function launch(executablePath) {
    return chromium.launch({ executablePath, args: quiet });
}

const contexts = new Map(); // by options: a window of the browser costs as much as several pages in it

async function contextOf(browser, options) {
    const key = JSON.stringify(options);
    if (!contexts.has(key)) contexts.set(key, await browser.newContext(options));
    return contexts.get(key);
}

export class Page {
    /// Opens a file; errors, warnings of the console and requests beyond the file itself are kept.
    static async open(browser, file, options = {}) {
        const page = await (await contextOf(browser, { viewport: { width: 1200, height: 900 }, ...options })).newPage();
        const self = new Page();
        self.page = page;
        self.troubles = [];
        page.on("pageerror", (e) => self.troubles.push("error: " + e.message));
        // Tests read pictures back, which the browser remarks on.
        const remark = (m) => !["error", "warning"].includes(m.type()) || m.text().includes("willReadFrequently");
        page.on("console", (m) => remark(m) || self.troubles.push(m.type() + ": " + m.text()));
        page.on("request", (r) => !/^(file|data|blob):/.test(r.url()) && self.troubles.push("request: " + r.url()));
        await page.goto(pathToFileURL(file).href);
        await page.waitForFunction(() => document.querySelector("footer"));
        return self;
    }

    async close() {
        assert.deepEqual(this.troubles, [], "the page has troubles");
        await this.page.close();
    }

    plots() {
        return this.page.evaluate(() => window.saltus.plots.map((p) => ({ title: p.title, axes: p.axes?.(), scales: p.scales?.(), series: p.series() })));
    }

    async plot(title) {
        const plot = (await this.plots()).find((p) => p.title.startsWith(title));
        assert(plot, "there is a plot " + title);
        return plot;
    }

    async series(title, label) {
        const plot = await this.plot(title);
        const series = plot.series.find((s) => s.label === label);
        assert(series, `there is a curve ${label} in ${title}: ${plot.series.map((s) => s.label)}`);
        return series;
    }

    /// A number for what a canvas shows.
    picture(selector, index = 0) {
        return this.page.evaluate(
            ([s, k]) => {
                const c = document.querySelectorAll(s)[k];
                const d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data;
                let hash = 0;
                let ink = 0;
                for (let i = 0; i < d.length; i += 4) {
                    hash = (hash * 31 + d[i] + 7 * d[i + 1] + 13 * d[i + 2] + 17 * d[i + 3]) | 0;
                    if (d[i + 3] > 0) ++ink;
                }
                return { hash, ink };
            },
            [selector, index],
        );
    }
}

/// The area inside a polygon.
export function areaOf(points) {
    return Math.abs(points.reduce((s, p, k) => {
        const q = points[(k + 1) % points.length];
        return s + (p[0] * q[1] - p[1] * q[0]) / 2;
    }, 0));
}

/// Whether both lists have the same points, in any order.
export function samePoints(a, b, tolerance) {
    const near = (p, q) => p.every((x, k) => Math.abs(x - q[k]) <= tolerance);
    return a.length === b.length && a.every((p) => b.some((q) => near(p, q)));
}

export function near(actual, expected, tolerance, what) {
    assert(Math.abs(actual - expected) <= tolerance, `${what}: ${actual} is not ${expected} ± ${tolerance}`);
}
