// SPDX-License-Identifier: Apache-2.0
// Pages as a person sees them: node pages.mjs SALTUS BROWSER FOLDER MODELS
import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch, near, Page } from "./page.mjs";

const [, , saltus, executable, folder, models] = process.argv;
const model = (name) => join(models, name + ".toml");
const file = (name) => join(folder, name);
const run = (...words) => execFileSync(saltus, words, { stdio: ["ignore", "pipe", "inherit"] });

if (!readFileSync(saltus).includes('id="saltus-report"')) {
    console.log("skipped: this Saltus was built without the interactive page");
    process.exit(77);
}
rmSync(folder, { recursive: true, force: true });
const browser = await launch(executable);
let failures = 0;
async function test(name, body) {
    const start = Date.now();
    try {
        await body();
        console.log(`ok    ${name} (${Date.now() - start} ms)`);
    } catch (e) {
        ++failures;
        console.log(`FAIL  ${name}: ${e.message}`);
    }
}

run("simulate", model("bouncing-ball"), "--t-end", "2", "--quiet", "--out", file("ball"), "--report");
const ball = file("ball/report.html");

await test("a page is small and has one motion", async () => {
    assert(statSync(ball).size < 2e6);
    const p = await Page.open(browser, ball);
    assert.equal(await p.page.title(), "bouncing ball – Saltus");
    assert.equal(await p.page.locator(".animation").count(), 1);
    await p.close();
});

await test("curves have the extremes and jumps of the motion", async () => {
    const p = await Page.open(browser, ball);
    const v = Math.sqrt(2 * 9.81);
    const y = await p.series("Coordinates", "y");
    near(y.max, 1, 1e-12, "height");
    near(y.min, 0, 1e-9, "floor");
    assert.equal(y.jumps, 0);
    const u = await p.series("Velocities", "y′");
    near(u.min, -v, 1e-4, "fastest fall");
    near(u.max, 0.8 * v, 1e-4, "fastest rise");
    assert.equal(u.jumps, 3);
    const stem = await p.series("Contact forces", "ΛN floor");
    near(stem.max, 1.8 * v, 1e-3, "largest impulse");
    assert.equal(stem.jumps, 3);
    const energy = await p.series("Energy", "total");
    assert.equal(energy.jumps, 3);
    near(energy.max, 9.81, 1e-4, "energy at the start");
    const rest = await p.series("Work balance", "unexplained");
    assert(Math.max(rest.max, -rest.min) < 1e-3, "works explain the energy");
    assert.equal(await p.page.locator(".events tbody tr").count(), 3);
    await p.close();
});

await test("the animation moves, scrubs, and marks the plots", async () => {
    const p = await Page.open(browser, ball);
    const time = () => p.page.evaluate(() => window.saltus.animations[0].time());
    const before = await p.picture(".scene");
    assert(before.ink > 500, "something is drawn");
    assert.equal(await time(), 0);
    await p.page.click(".play");
    const stopped = () => {
        const a = window.saltus.animations[0];
        if (a.time() <= 0.15 || !a.playing()) return false;
        document.querySelector(".play").click();
        return true;
    };
    await p.page.waitForFunction(stopped, null, { timeout: 20000 });
    const paused = await time();
    assert.notEqual((await p.picture(".scene")).hash, before.hash);
    await p.page.waitForTimeout(80);
    assert.equal(await time(), paused, "it stands still when paused");
    const plot = await p.picture(".plot canvas");
    await p.page.locator(".clock input").fill("500");
    near(await time(), 1, 1e-9, "the middle of the slider");
    assert.notEqual((await p.picture(".plot canvas")).hash, plot.hash, "the mark in the plots moves");
    await p.page.locator(".events button").nth(1).click();
    near(await time(), Math.sqrt(2 / 9.81) * (1 + 2 * 0.8), 1e-9, "the second event"); // t1 (1 + 2e)
    await p.close();
});

await test("curves are hidden and shown, zoom is shared", async () => {
    const p = await Page.open(browser, ball);
    const before = await p.picture(".plot canvas");
    const legend = p.page.locator(".plot").first().locator(".u-legend .u-series").nth(1).locator("th");
    await legend.click();
    assert.equal((await p.series("Coordinates", "y")).visible, false);
    assert.notEqual((await p.picture(".plot canvas")).hash, before.hash);
    await legend.click();
    assert.equal((await p.series("Coordinates", "y")).visible, true);
    const second = await p.picture(".plot canvas", 1);
    const over = p.page.locator(".plot .u-over").first();
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    await p.page.mouse.move(box.x + box.width * 0.2, box.y + 40);
    await p.page.mouse.down();
    await p.page.mouse.move(box.x + box.width * 0.5, box.y + 60, { steps: 4 });
    await p.page.mouse.up();
    await p.page.waitForTimeout(100);
    assert.notEqual((await p.picture(".plot canvas", 1)).hash, second.hash, "the velocities are zoomed too");
    await p.close();
});

await test("the button switches between light and dark", async () => {
    const p = await Page.open(browser, ball, { colorScheme: "dark" });
    const ground = () => p.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(await ground(), "rgb(18, 22, 28)");
    const dark = await p.picture(".plot canvas");
    await p.page.click(".theme");
    assert.equal(await ground(), "rgb(246, 247, 249)");
    await p.page.waitForTimeout(50);
    assert.notEqual((await p.picture(".plot canvas")).hash, dark.hash, "axes change their colour");
    await p.close();
});

await test("mass points in space turn under the pointer", async () => {
    run("simulate", model("hydrostatic-skeleton"), "--t-end", "0.05", "--quiet", "--report", file("points.html"));
    const p = await Page.open(browser, file("points.html"));
    const before = await p.picture(".scene");
    assert(before.ink > 2000);
    const box = await p.page.locator(".scene").boundingBox();
    await p.page.mouse.move(box.x + 100, box.y + 100);
    await p.page.mouse.down();
    await p.page.mouse.move(box.x + 180, box.y + 120, { steps: 3 });
    await p.page.mouse.up();
    assert.notEqual((await p.picture(".scene")).hash, before.hash);
    await p.close();
});

await test("impact shows the consistency set with balls and corner points", async () => {
    run("impact", model("forklift"), "--u-plus", "y=1.9,phi=0.2", "--quiet", "--report", file("impact.html"));
    const p = await Page.open(browser, file("impact.html"));
    const title = "Velocities after the impact";
    near((await p.series(title, "consistent u⁺")).max, 1.441043867918396, 1e-6, "top of the set"); // glocker_forklift_A, I_vertices
    near((await p.series(title, "corner points")).max, 1.625, 1e-9, "corner point");
    assert((await p.series(title, "ball around left, fork")).max > 4.6);
    assert.equal((await p.series(title, "u⁺")).max, 0.2);
    assert.match(await p.page.locator(".facts").first().innerText(), /−1\.1575 to 3\.62/);
    await p.close();
});

await test("compare, sensitivity and solve show their plots", async () => {
    run("compare", model("bouncing-ball"), "--t-end", "0.6", "--h", "0.01", "--refinements", "2", "--quiet", "--report", file("compare.html"));
    let p = await Page.open(browser, file("compare.html"));
    const errors = await p.series("Moreau's time-stepping", "sup |Δq|");
    assert(errors.max > errors.min && errors.min > 0);
    await p.close();
    run("sensitivity", model("bouncing-ball"), "--t-end", "1", "--wrt", "y,e", "--quiet", "--report", file("sensitivity.html"));
    p = await Page.open(browser, file("sensitivity.html"));
    near((await p.series("Derivatives of event times", "y")).max, 1 / Math.sqrt(2 * 9.81), 1e-7, "dt/dy"); // t1 = sqrt(2y/g)
    await p.close();
    const rows = [1, 2, 3].map((k) => ({ file: `p${k}.dat`, kind: "fc", contacts: k, method: "newton", status: "converged", residual: 1e-12, iterations: k, seconds: 0.01 * k }));
    writeFileSync(file("solve.json"), JSON.stringify(rows));
    run("report", file("solve.json"), "-o", file("solve.html"), "--quiet");
    p = await Page.open(browser, file("solve.html"));
    assert.equal((await p.series("3 of 3 problems solved", "solved")).max, 1);
    await p.close();
});

await test("basin, certify and equilibria show their plots", async () => {
    run("basin", model("rocking-bar"), "--grid", "phi=-0.1:0.1:5", "--grid", "phi'=-1:1:5", "--t-max", "1", "--quiet", "--report", file("basin.html"));
    let p = await Page.open(browser, file("basin.html"));
    assert((await p.picture(".xy canvas")).ink > 20000, "the image covers its plane");
    await p.close();
    writeFileSync(file("certify.json"), JSON.stringify({
        theorem: "Theorem 1", verdict: "attractive", grade: "proved", rho: 0.8175, rho_parts: { velocity: 0.8175 },
        conditions: [{ id: "1", text: "T is quadratic", verdict: "proved", evidence: "exact", witness: null }, { id: "9", text: "limit sets", verdict: "assumed", evidence: "", witness: null }],
        equilibrium: { q: { x: 0 }, forces: {} },
    }));
    writeFileSync(file("equilibria.json"), JSON.stringify({ sets: [{ contacts_closed: ["left", "right"], extent: { x: [-0.3, 0.3], y: [0, 0] }, contains_frictionless: true, exact: true }] }));
    run("report", file("certify.json"), file("equilibria.json"), "-o", file("stability.html"), "--quiet");
    p = await Page.open(browser, file("stability.html"));
    assert.equal(await p.page.locator(".conditions").first().locator("tbody tr").count(), 2);
    assert.match(await p.page.locator(".verdict").first().innerText(), /attractive/);
    await p.close();
});

await test("the gallery leads to its pages and documents", async () => {
    run("gallery", "-o", file("gallery"), "--quick", "--only", "moving-wall", "--quiet");
    const page = await browser.newPage();
    const troubles = [];
    page.on("pageerror", (e) => troubles.push(e.message));
    page.on("request", (r) => !/^(file|data):/.test(r.url()) && troubles.push(r.url()));
    await page.goto("file://" + file("gallery/index.html"));
    assert.equal(await page.locator(".card").count(), 1);
    assert.match(await page.locator(".card table").innerText(), /= 3\s+3/);
    await page.click(".card h3 a");
    await page.waitForSelector(".numbers");
    await page.goBack();
    await page.click('.docs a[href="docs/notation.html"]');
    await page.waitForSelector(".document table");
    assert.deepEqual(troubles, []);
    await page.close();
});

await test("static pages contain no script", async () => {
    run("report", file("ball"), "-o", file("static.html"), "--static", "--quiet");
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto("file://" + file("static.html"));
    assert((await page.locator("svg.plot").count()) >= 6);
    await page.close();
});

await browser.close();
process.exit(failures ? 1 : 0);
