// SPDX-License-Identifier: Apache-2.0
// Pages as a person sees them: node pages.mjs SALTUS BROWSER FOLDER MODELS
import { strict as assert } from "node:assert";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { areaOf, launch, near, Page, samePoints } from "./page.mjs";

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

const velocities = "Velocities after the impact";
const impactPage = async (name, text, ...options) => {
    writeFileSync(file(name + ".toml"), text);
    run("impact", file(name + ".toml"), ...options, "--quiet", "--report", file(name + ".html"));
    return Page.open(browser, file(name + ".html"));
};
const points = async (page, label) => (await page.series(velocities, label)).points;

await test("the consistency set is the same in exchanged coordinates", async () => {
    const text = readFileSync(model("forklift"), "utf8");
    const exchanged = text.replace('q = ["y", "phi"]', 'q = ["phi", "y"]');
    assert.notEqual(text, exchanged);
    const p = await impactPage("plain", text, "--u-plus", "y=1.9,phi=0.2", "--laws");
    const q = await impactPage("exchanged", exchanged, "--u-plus", "y=1.9,phi=0.2", "--laws");
    for (const label of ["consistent u⁺", "P⁺, admissible u⁺", "P⁻, approaching u⁻", "u⁻ plus impulses", "newton, e = 0 … 1"]) {
        const [a, b] = [await points(p, label), await points(q, label)];
        assert(samePoints(a, b.map(([x, y]) => [y, x]), 1e-6), label);
    }
    // The corner points of P⁺ are (edot, ±edot/a); the area is that of the reference glocker_forklift_A.
    for (const corner of [[1.3, 1.625], [1.3, -1.625]]) assert((await points(p, "P⁺, admissible u⁺")).some((x) => samePoints([x], [corner], 1e-9)), "corner of P⁺");
    const area = Number(/area ([\d.]+)/.exec((await p.plot(velocities)).title)[1]);
    near(areaOf(await points(p, "consistent u⁺")), area, 1e-3 * area, "area of the outline");
    // Balls go through u⁻ = 0 and are circles in the metric of M = diag(2, 0.5).
    for (const [x, y] of await points(p, "ball around left, fork")) near(2 * (x - 1.3) ** 2 + 0.5 * (y - 1.625) ** 2, 2 * 1.3 ** 2 + 0.5 * 1.625 ** 2, 1e-9, "radius");
    assert.deepEqual((await p.plot(velocities)).axes, { x: "y′ in m/s", y: "phi′ in rad/s" });
    await p.close();
    await q.close();
});

const mass = (gaps) => `[system]\nq = ["x", "y"]\nT = "x'^2/2 + y'^2/2"\n` + gaps.map((g, k) => `[[contact]]\nname = "c${k}"\ngN = "${g}"\n`).join("") + "[initial]\nq = { x = 0, y = 0 }\n";

await test("P⁺ between four walls has four corners, each with its ball", async () => {
    const p = await impactPage("walls", mass(["x + t", "t - x", "y + 2*t", "2*t - y"]), "--u-plus", "x=0.5,y=0.5", "--alpha", "20");
    const corners = [[-1, -2], [1, -2], [1, 2], [-1, 2]];
    assert(samePoints(await points(p, "P⁺, admissible u⁺"), corners, 1e-9));
    assert(samePoints(await points(p, "corner points"), corners, 1e-9));
    near(areaOf(await points(p, "consistent u⁺")), 8, 1e-9, "the set is bounded by segments alone");
    assert.equal((await p.plot(velocities)).series.filter((s) => s.label.startsWith("ball")).length, 4);
    await p.close();
});

await test("one velocity is drawn on a line, and an empty P⁺ says so", async () => {
    run("impact", model("mass-and-lift"), "--u-plus", "y=2", "--quiet", "--report", file("line.html"));
    let p = await Page.open(browser, file("line.html"));
    const set = await points(p, "consistent u⁺");
    assert.deepEqual(set.map((q) => q[0]), [2, 4]); // the mass leaves with v to 2v
    await p.close();
    run("impact", model("vise"), "--set", "v=1", "--u-plus", "x=0", "--quiet", "--report", file("vise.html"));
    p = await Page.open(browser, file("vise.html"));
    assert((await p.plot(velocities)).series.some((s) => s.label === "P⁺: empty"));
    await p.close();
});

await test("a chain of three balls is drawn without its common motion", async () => {
    const text = `[system]\nq = ["a", "b", "c"]\nT = "(a'^2 + b'^2 + c'^2)/2"\n[[contact]]\nname = "first"\ngN = "b - a"\n[[contact]]\nname = "second"\ngN = "c - b"\n[initial]\nq = { a = 0, b = 0, c = 0 }\nu = { a = 3 }\n`;
    const p = await impactPage("chain", text, "--u-plus", "a=0,b=0,c=3");
    assert.deepEqual((await p.plot(velocities)).axes, { x: "γN first", y: "γN second" });
    assert(samePoints(await points(p, "u⁻"), [[-3, 0]], 1e-12));
    assert(samePoints(await points(p, "u⁺"), [[0, 3]], 1e-12));
    assert(samePoints(await points(p, "corner points"), [[0, 0]], 1e-12));
    // ‖γ‖² = (2γ₁² + 2γ₁γ₂ + 2γ₂²)/3; the ball around b = 0 goes through u⁻, where it is 6.
    for (const [x, y] of await points(p, "ball around first, second")) near((2 * x * x + 2 * x * y + 2 * y * y) / 3, 6, 1e-9, "radius");
    await p.close();
});

await test("three velocities are drawn in space, which turns, with the volume of the set", async () => {
    run("impact", model("forklift-in-space"), "--u-plus", "y=1.9,phi=0.2,psi=0.1", "--quiet", "--report", file("space.html"));
    const p = await Page.open(browser, file("space.html"));
    assert.match((await p.plot(velocities)).title, /volume 6\.1[78]\d* ± 0\.00[1-3]/);
    const corners = await points(p, "corner points");
    assert(samePoints(corners, [[1.3, 1.625, 0], [1.3, -1.625, 0], [1.3, 0, 2.6], [1.3, 0, -2.6]], 1e-9));
    for (const corner of corners) assert((await points(p, "P⁺, admissible u⁺")).some((q) => samePoints([q], [corner], 1e-9)), "a corner of the faces of P⁺");
    const before = await p.picture(".space canvas");
    const box = await p.page.locator(".space canvas").boundingBox();
    await p.page.mouse.move(box.x + 100, box.y + 100);
    await p.page.mouse.down();
    await p.page.mouse.move(box.x + 180, box.y + 120, { steps: 3 });
    await p.page.mouse.up();
    const turned = await p.picture(".space canvas");
    assert.notEqual(turned.hash, before.hash);
    await p.page.locator(".legend input").nth(3).click();
    assert.notEqual((await p.picture(".space canvas")).hash, turned.hash, "the set is switched off");
    await p.close();
});

await test("axes have names and units, and forces and impulses one zero line", async () => {
    const p = await Page.open(browser, ball);
    assert.deepEqual((await p.plot("Coordinates in m")).axes, { t: "t in s", y: "y in m", stem: "" });
    assert.deepEqual((await p.plot("Velocities in m/s")).axes, { t: "t in s", y: "y′ in m/s", stem: "" });
    const forces = await p.plot("Contact forces");
    assert.deepEqual(forces.axes, { t: "t in s", y: "force λ in N", stem: "impulse Λ in N s" });
    const { y, stem } = forces.scales;
    near(y[0] / y[1], stem[0] / stem[1], 1e-9, "the zero lines");
    assert(y[0] <= 0 && y[1] > 0 && stem[1] >= (await p.series("Contact forces", "ΛN floor")).max, "everything fits");
    assert.match(await p.page.locator(".command").innerText(), /^saltus simulate \S*bouncing-ball\.toml --t-end 2$/);
    await p.close();
});

await test("coordinates of different units have their own axes", async () => {
    run("simulate", model("rocking-bar"), "--t-end", "0.2", "--quiet", "--report", file("bar.html"));
    const p = await Page.open(browser, file("bar.html"));
    assert.deepEqual((await p.plot("Coordinates in m")).series.map((s) => s.label), ["x", "y"]);
    assert.deepEqual((await p.plot("Coordinates in rad")).series.map((s) => s.label), ["phi"]);
    assert.deepEqual((await p.plot("Phase plane of phi")).axes, { x: "phi in rad", y: "phi′ in rad/s" });
    // With phi and phi' given the least energy is m g a |sin phi| + ½ JS phi'²; its level lines are not horizontal.
    const lines = (await p.series("Phase plane of phi", "least T + U")).points.filter((q) => q);
    const V = ([phi, u]) => 9.81 * 0.5 * Math.abs(Math.sin(phi)) + (0.25 / 6) * u * u;
    const start = (await p.series("Phase plane of phi", "T + U of the start")).points.filter((q) => q);
    assert(start.length > 10 && lines.length > 50);
    for (const q of start) near(V(q), 0.7886, 0.01, "energy of the start");
    await p.close();
});

await test("several runs are named by their options and drawn over each other", async () => {
    run("simulate", model("bouncing-ball"), "--t-end", "1", "--quiet", "--out", file("first"));
    run("simulate", model("bouncing-ball"), "--t-end", "1", "--set", "e=0.5", "--quiet", "--out", file("second"));
    run("report", file("first"), file("second"), "-o", file("runs.html"), "--quiet");
    const p = await Page.open(browser, file("runs.html"));
    assert.deepEqual(await p.page.locator("nav a").allInnerTexts(), ["runs compared", "simulate: first", "simulate: second (e = 0.5)"]);
    const plot = await p.plot("y of all runs");
    assert.deepEqual(plot.series.map((s) => s.label), ["first", "second (e = 0.5)"]);
    assert.deepEqual(plot.axes, { x: "t in s", y: "y in m" });
    const v = Math.sqrt(2 * 9.81);
    near((await p.series("y′ of all runs", "second (e = 0.5)")).max, 0.5 * v, 1e-4, "velocity after the impact");
    await p.close();
});

await test("every coordinate of several runs can be shown", async () => {
    const n = 10;
    const names = Array.from({ length: n }, (_, k) => `x${k}`);
    const text = `[system]\nname = "ten"\nq = [${names.map((x) => `"${x}"`)}]\nT = "(${names.map((x) => `${x}'^2`).join(" + ")})/2"\nf = { ${names.map((x) => `${x} = "a"`)} }\n[parameters]\na = 1.0\n[simulate]\nt_end = 1.0\n`;
    writeFileSync(file("ten.toml"), text);
    run("simulate", file("ten.toml"), "--quiet", "--out", file("ten-first"));
    run("simulate", file("ten.toml"), "--set", "a=2", "--quiet", "--out", file("ten-second"));
    run("report", file("ten-first"), file("ten-second"), "-o", file("ten.html"), "--quiet");
    const p = await Page.open(browser, file("ten.html"));
    near((await p.series("x7 of all runs", "ten-second (a = 2)")).max, 1, 1e-9, "the last coordinate that is open");
    await p.page.locator("#runs select").selectOption("all");
    near((await p.series("x9 of all runs", "ten-second (a = 2)")).max, 1, 1e-9, "a t²/2");
    assert.equal(await p.page.locator("#runs select").count(), 0, "nothing is left to choose");
    await p.close();
});

await test("places along the normal of a moving obstacle are drawn with the obstacle", async () => {
    // A point flies towards the plane x = 1 + a cos(b t) and stays on it while the plane does not leave it.
    const text = `[system]\nname = "plane"\n[parameters]\na = 0.01\nb = 40.0\n[points]\npositions = [[2.0, 0.0, 0.0]]\nmass = [1.0]\nvelocity = [-1.0, 0.0, 0.0]\ngravity = [-9.81, 0.0, 0.0]\n[[obstacle]]\nname = "wall"\nnormal = [1.0, 0.0, 0.0]\noffset = "1 + a*cos(b*t)"\neN = 0\n[simulate]\nt_end = 1.0\n`;
    writeFileSync(file("plane.toml"), text);
    run("simulate", file("plane.toml"), "--quiet", "--out", file("moving"));
    run("simulate", file("plane.toml"), "--set", "a=0", "--quiet", "--out", file("fixed"));
    run("report", file("moving"), file("fixed"), "-o", file("plane.html"), "--quiet");
    const p = await Page.open(browser, file("plane.html"));
    const wall = await p.series("Places along the normal of wall", "obstacle wall");
    near(wall.max, 1.01, 1e-5, "highest place of the obstacle");
    near(wall.min, 0.99, 1e-4, "lowest place of the obstacle");
    const labels = (await p.plot("Place of wall.p0 along the normal")).series.map((s) => s.label);
    for (const label of ["moving", "fixed (a = 0)", "wall: moving", "wall: fixed (a = 0)"]) assert(labels.includes(label), `${label} in ${labels}`);
    const fixed = await p.series("Place of wall.p0 along the normal", "fixed (a = 0)");
    near(Math.min(...fixed.points.filter((q) => q).map((q) => q[1])), 1, 1e-9, "the point stays on the plane");
    await p.close();
});

await test("event times are drawn over products of two parameters, with fits", async () => {
    // The obstacle accelerates the point by a b²: it leaves when a b² cos(b t) = g at the latest.
    run("sensitivity", file("plane.toml"), "--vary", "a=0.004:0.01:4", "--vary", "b=45:60:4", "--quiet", "--report", file("products.html"));
    const p = await Page.open(browser, file("products.html"));
    const titles = await p.page.evaluate(() => window.saltus.plots.map((q) => q.title));
    for (const name of ["a", "b"]) assert(titles.includes(`Event times over ${name}`), `${name} in ${titles}`);
    const product = titles.find((t) => /^Event times over a(\^2)? b/.test(t));
    assert(product, "a product of both in " + titles);
    assert((await p.plot(product)).series.some((s) => s.label.startsWith("fit, rms")), "fits");
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

await test("a perturbed pair is drawn around its critical interval", async () => {
    // The perturbed ball starts 1 cm higher.
    const text = readFileSync(model("bouncing-ball"), "utf8").replace(/\[perturbation\][^[]*/, "[perturbation]\ninitial = { q = { y = 1e-2 } }\n\n");
    writeFileSync(file("pair.toml"), text);
    run("sensitivity", file("pair.toml"), "--t-end", "0.6", "--wrt", "y", "--quiet", "--report", file("pair.html"));
    const p = await Page.open(browser, file("pair.html"));
    const interval = (await p.series("y of both motions", "critical interval")).points.map((q) => q[0]);
    near(Math.min(...interval), Math.sqrt(2 / 9.81), 1e-9, "impact of the nominal motion");
    near(Math.max(...interval), Math.sqrt(2.02 / 9.81), 1e-9, "impact of the perturbed motion");
    assert.equal((await p.series("y′ of both motions", "perturbed")).jumps, 1);
    await p.close();
    // The errors of the reactions and the other estimates, each with its constant.
    run("sensitivity", model("perturbed-bead"), "--wrt", "F", "--quiet", "--report", file("bead.html"));
    const q = await Page.open(browser, file("bead.html"));
    const labels = (await q.plot("Errors of the reactions and their bound")).series.map((s) => s.label);
    for (const label of ["error of λ", "error of ν", "bound (C = 1)"]) assert(labels.includes(label), `${label} in ${labels}`);
    const cells = await q.page.locator("section", { hasText: "Estimates of λ, ν and u⁺" }).locator("td").allInnerTexts();
    for (const equation of ["(42)", "(47)", "(64)", "(65)"]) assert(cells.includes(equation), equation);
    // Both critical intervals have one entry in the legend, and the time of the lift-off does not depend on F.
    const areas = (await q.plot("x of both motions")).series.filter((s) => s.label === "critical interval");
    assert.equal(areas.length, 1);
    assert.equal(areas[0].points.filter((point) => !point).length, 1, "two intervals");
    const times = q.page.locator("section", { hasText: "Derivatives of event times" }).first().locator("tbody tr");
    assert.deepEqual((await times.nth(1).locator("td").allInnerTexts()).slice(0, 4), ["0.9", "lift-off", "wall", "0"]);
    await q.close();
});

await test("basin, certify and equilibria show their plots", async () => {
    run("basin", model("rocking-bar"), "--grid", "phi=-0.1:0.1:5", "--grid", "phi'=-1:1:5", "--t-max", "1", "--quiet", "--report", file("basin.html"));
    let p = await Page.open(browser, file("basin.html"));
    assert((await p.picture(".xy canvas")).ink > 20000, "the image covers its plane");
    await p.close();
    // Figure 10 of Leine and van de Wouw, coarsely: one colour for each set, motions, sets and level set in one picture.
    run("basin", model("constrained-beam"), "--set", "theta0=0", "--grid", "theta=-3.1:6.2:16", "--grid", "theta'=-14:14:16", "--t-max", "12", "--paths", "8", "--quiet", "--report", file("fig10.html"));
    p = await Page.open(browser, file("fig10.html"));
    const labels = (await p.plot("Which set each start reaches")).series.map((s) => s.label);
    for (const label of ["E1", "E2", "motions", "motions from the tips of E2", "equilibrium sets"]) assert(labels.includes(label), `${label} in ${labels}`);
    assert(labels.some((l) => l.startsWith("V = ρ*")), "level set");
    const tip = Math.atan(0.6 / 0.91); // (142): arctan(2μ₂/(1 − μ₁μ₂))
    const sets = (await p.series("Which set each start reaches", "equilibrium sets")).points.filter((q) => q).map((q) => q[0]);
    for (const end of [-tip, tip, Math.PI - tip, Math.PI + tip]) assert(sets.some((x) => Math.abs(x - end) < 1e-5), "tip " + end);
    await p.close();
    // Figure 11: V = −T − (U − U_e) of Theorem 2 vanishes on θ'² = 2 m g l (1 + cos θ)/(m l² + J_S).
    run("certify", model("constrained-beam"), "--theorem", "instability", "--at", "theta=3.14159265358979,x=0,y=1", "--quiet", "--out", file("upper"));
    run("basin", model("constrained-beam"), "--set", "theta0=0", "--grid", "theta=1:5:81", "--grid", "theta'=-5:5:81", "--t-max", "0.1", "--no-certify", "--quiet", "--out", file("plane"));
    run("report", file("upper"), file("plane"), "-o", file("fig11.html"), "--quiet");
    p = await Page.open(browser, file("fig11.html"));
    const edge = (await p.series("Where V", "V = 0")).points.filter((q) => q);
    assert(edge.length > 100);
    for (const [theta, u] of edge) near((2 / 3) * u * u, 10 * (1 + Math.cos(theta)), 0.02, "V = 0 at theta " + theta);
    await p.close();
    // The equilibria of the beam lie on the arc y = −l cos θ.
    run("equilibria", model("constrained-beam"), "--quiet", "--report", file("arc.html"));
    p = await Page.open(browser, file("arc.html"));
    const arc = (await p.series("Equilibrium sets in theta and y", "E1")).points;
    assert(arc.length > 20);
    for (const [theta, y] of arc) near(y, -Math.cos(theta), 1e-6, "arc");
    assert.equal((await p.plot("Forces that hold E1")).series.length, 6);
    assert.deepEqual((await p.plot("Equilibrium sets in theta and y")).axes, { x: "theta in rad", y: "y in m" });
    assert.match(await p.page.locator("body").innerText(), /certificate file\s+none was written, so that nothing was checked independently/);
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
    assert.match(await p.page.locator("body").innerText(), /certificate file\s+none was written/);
    await p.close();
});

await test("pages without a motion have the units of the model, too", async () => {
    run("impact", model("forklift"), "--u-plus", "y=2.4,phi=0.6", "--quiet", "--report", file("fork.html"));
    let p = await Page.open(browser, file("fork.html"));
    assert.deepEqual((await p.plot("Velocities after the impact")).axes, { x: "y′ in m/s", y: "phi′ in rad/s" });
    assert.equal((await p.plot("Contact work of all impulses")).axes.x, "contact work in J");
    await p.close();
    // Results of models with different units have none.
    run("impact", model("forklift"), "--quiet", "--out", file("fork"));
    run("impact", model("moving-wall"), "--quiet", "--out", file("wall"));
    run("report", file("fork"), file("wall"), "-o", file("two.html"), "--quiet");
    p = await Page.open(browser, file("two.html"));
    assert.deepEqual((await p.plot("Velocities after the impact")).axes, { x: "y′", y: "phi′" });
    await p.close();
});

await test("an orbit is a closed curve in two quantities that are chosen", async () => {
    run("orbit", model("ball-on-moving-plane"), "--period", "2*pi/w", "--settle", "2", "--quiet", "--out", file("orbit"), "--report");
    const p = await Page.open(browser, file("orbit/report.html"));
    const curve = await p.series("Orbit as a curve", "orbit");
    const impact = await p.series("Orbit as a curve", "impact");
    assert.equal(impact.points.length, 1);
    const points = curve.points.filter((q) => q);
    near(points[0][1], points[points.length - 1][1], 1e-9, "the curve is closed");
    const jumps = await p.series("Orbit as a curve", "jumps");
    near(jumps.points[0][0], jumps.points[1][0], 1e-12, "positions do not jump");
    assert(jumps.points[0][1] < jumps.points[1][1]);
    await p.page.locator('select[aria-label="quantity upwards"]').first().selectOption("y");
    const plots = (await p.plots()).filter((q) => q.title.startsWith("Orbit as a curve"));
    const same = plots[plots.length - 1].series.find((q) => q.label === "orbit").points.filter((q) => q);
    assert(same.every(([a, b]) => a === b));
    await p.close();
});

await test("a click on a special point shows its orbit", async () => {
    run("continue", model("ball-on-moving-plane"), "--over", "Gamma=0.9:1.4", "--doublings", "0", "--period", "2*pi/w", "--settle", "2", "--quiet", "--out", file("branch"), "--report");
    const p = await Page.open(browser, file("branch/report.html"));
    await p.page.locator(".table tbody tr", { hasText: "fold" }).first().click();
    assert.match(await p.page.locator(".chosen h3").first().innerText(), /fold at Gamma = 1\.047/);
    const curve = await p.series("Orbit as a curve", "orbit");
    assert(curve.points.length > 200);
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
