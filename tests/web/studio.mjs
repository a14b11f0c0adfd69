// SPDX-License-Identifier: Apache-2.0
// `saltus studio` as a person sees it: node studio.mjs SALTUS BROWSER FOLDER MODELS
import { strict as assert } from "node:assert";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { launch, near } from "./page.mjs";

const [, , saltus, executable, folder, models] = process.argv;
const token = "0123456789abcdef0123456789abcdef";
const refused = spawnSync(saltus, ["studio", "/dev/null"], { encoding: "utf8" });
if (refused.stderr.includes("built without")) {
    console.log("skipped: " + refused.stderr.trim());
    process.exit(77);
}
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

/// Starts a studio and returns its process and address.
function start(model, port = 0) {
    const child = spawn(saltus, ["studio", model, "--port", String(port)], { cwd: folder, env: { ...process.env, SALTUS_STUDIO_TOKEN: token } });
    return new Promise((done, fail) => {
        let text = "";
        child.stdout.on("data", (d) => {
            text += d;
            const found = /http:\/\/\S+/.exec(text);
            if (found) done({ child, address: found[0], port: Number(/:(\d+)\//.exec(found[0])[1]) });
        });
        child.on("exit", () => fail(new Error("the studio ended: " + text)));
    });
}
const ended = (child) => new Promise((done) => (child.exitCode !== null || child.signalCode ? done() : child.once("exit", done)));

const browser = await launch(executable);
let failures = 0;
async function test(name, body) {
    const begin = Date.now();
    try {
        await body();
        console.log(`ok    ${name} (${Date.now() - begin} ms)`);
    } catch (e) {
        ++failures;
        console.log(`FAIL  ${name}: ${e.stack}`);
    }
}

/// Opens the page; errors and requests to other places are kept.
async function open(address, context) {
    const page = await (context ?? browser).newPage({ viewport: { width: 1400, height: 950 } });
    page.troubles = [];
    page.on("pageerror", (e) => page.troubles.push("error: " + e.message));
    page.on("request", (r) => !r.url().startsWith(new URL(address).origin) && !/^(data|blob):/.test(r.url()) && page.troubles.push("request: " + r.url()));
    await page.goto(address);
    await page.waitForFunction(() => window.saltusStudio?.motion(), null, { timeout: 30000 });
    return page;
}
const motion = (page) => page.evaluate(() => window.saltusStudio.motion());
const shows = (page, condition, argument) => page.waitForFunction(condition, argument, { timeout: 30000 });

const file = join(folder, "ball.toml");
const ball = (g, rest = "") => `[system]
name = "ball"
q = ["y"]
T = "m/2*y'^2"
U = "m*g*y${rest}"
[parameters]
m = 1.0
g = ${g}
e = 0.5
[[contact]]
name = "floor"
gN = "y"
eN = "e"
[initial]
q = { y = 5.0 }
[simulate]
t_end = 1.5
[draw]
segments = [{ from = [-1, 0], to = [1, 0], style = "ground" }]
circles = [{ at = [0, "y + 0.2"], radius = 0.2 }]
`;
writeFileSync(file, ball("10.0"));
let studio = await start("ball.toml");
let page = await open(studio.address);

await test("the page shows the motion of the file", async () => {
    near((await motion(page)).events[0].t, 1, 1e-9, "impact");
    assert.equal(await page.locator(".slider").count(), 5);
    assert.equal(await page.locator(".tabs button").count(), 6);
});

await test("a saved file is shown at once", async () => {
    const begin = Date.now();
    writeFileSync(file, ball("40.0"));
    await shows(page, () => Math.abs(window.saltusStudio.motion().events[0].t - 0.5) < 1e-9);
    console.log(`      ${Date.now() - begin} ms from save to motion`);
});

await test("an error is shown at its line, and the last motion stays", async () => {
    writeFileSync(file, ball("40.0", " + nonsense"));
    await page.locator(".problem strong").waitFor();
    assert.match(await page.locator(".problem").innerText(), /line 5.*nonsense/s);
    assert.match(await page.locator(".source-text .wrong").innerText(), /nonsense/);
    near((await motion(page)).events[0].t, 0.5, 1e-9, "impact of the last motion");
    assert(await page.locator(".plot").first().isVisible());
    // Both stand in the window, in a long file and in a page that was scrolled.
    await page.evaluate(() => scrollTo(0, 400));
    writeFileSync(file, "# more\n".repeat(80) + ball("40.0", " + more_nonsense"));
    await page.locator(".problem strong", { hasText: "line 85" }).waitFor();
    assert.match(await page.locator(".source-text .wrong .reason").innerText(), /undefined name 'more_nonsense'/);
    for (const part of [".problem strong", ".source-text .wrong"]) {
        const seen = await page.locator(part).evaluate((e) => [e.getBoundingClientRect().top, e.getBoundingClientRect().bottom, innerHeight]);
        assert(seen[0] >= 0 && seen[1] <= seen[2], `${part} is at ${seen}`);
    }
    await page.evaluate(() => scrollTo(0, 0));
    writeFileSync(file, ball("10.0"));
    await shows(page, () => Math.abs(window.saltusStudio.motion().events[0].t - 1) < 1e-9);
    assert.equal(await page.locator(".problem").isVisible(), false);
    assert.equal(await page.locator(".source-text").isVisible(), false); // the sliders are back
});

await test("sliders move the motion", async () => {
    const slider = page.locator('.slider[data-name="g"] input[type=range]');
    await slider.fill("20");
    await shows(page, () => Math.abs(window.saltusStudio.motion().events[0].t - Math.sqrt(0.5)) < 1e-6);
    assert.match(await page.locator(".command").first().innerText(), /saltus simulate ball.toml --set g=20/);
    await page.locator('.slider[data-name="y"] input[type=number]').fill("10");
    await page.keyboard.press("Tab");
    await shows(page, () => Math.abs(window.saltusStudio.motion().events[0].t - 1) < 1e-6);
    await page.click(".reset");
    await shows(page, () => Math.abs(window.saltusStudio.motion().q[0].values[0] - 5) < 1e-9 && Math.abs(window.saltusStudio.motion().events[0].t - 1) < 1e-9);
});

await test("a slider that moves redraws the motion many times a second", async () => {
    // The page measures itself: a value a frame, for two seconds. Speed is reported, not asserted.
    const count = await page.evaluate(async () => {
        const slider = document.querySelector('.slider[data-name="g"] input[type=range]');
        const first = window.saltusStudio.redraws();
        const begin = performance.now();
        let k = 0;
        await new Promise((done) => {
            const step = () => {
                slider.value = String(8 + 4 * Math.sin(0.1 * ++k));
                slider.dispatchEvent(new Event("input", { bubbles: true }));
                if (performance.now() - begin < 2000) requestAnimationFrame(step);
                else done();
            };
            requestAnimationFrame(step);
        });
        slider.dispatchEvent(new Event("change", { bubbles: true }));
        return (window.saltusStudio.redraws() - first) / ((performance.now() - begin) / 1000);
    });
    console.log(`      ${count.toFixed(1)} redraws a second`);
    assert(count > 0, "the motion follows the slider"); // no number: the machine may be busy
});

await test("a click in the phase plane starts a motion there", async () => {
    await page.click(".reset");
    await shows(page, () => Math.abs(window.saltusStudio.motion().q[0].values[0] - 5) < 1e-9);
    const plane = page.locator(".plot.xy .u-over").first();
    await plane.scrollIntoViewIfNeeded();
    const box = await plane.boundingBox();
    await plane.click({ position: { x: 0.75 * box.width, y: 0.3 * box.height } });
    await shows(page, () => Math.abs(window.saltusStudio.motion().q[0].values[0] - 5) > 0.01);
    const m = await motion(page);
    const line = await page.locator(".command").first().innerText();
    const y = Number(/--set y=([-\d.e]+)/.exec(line)[1]);
    near(m.q[0].values[0], y, 1e-3, "start");
    assert(m.u[0].values[0] !== 0, "and its velocity");
});

await test("the copied command line gives the motion that is shown", async () => {
    const line = await page.locator(".command").first().innerText();
    const told = JSON.parse(execFileSync("sh", ["-c", line.replace("saltus", `'${saltus}'`) + " --json"], { cwd: folder, encoding: "utf8" }));
    const m = await motion(page);
    assert.equal(told.events.length, m.event_count);
    near(told.final.q.y, m.end.q[0], 1e-9, "height at the end");
    near(told.final.u.y, m.end.u[0], 1e-9, "velocity at the end");
    assert.match(await page.locator(".command").nth(1).innerText(), /^saltus\.load\("ball\.toml", y=.*"y'": .*, project_initial=True\)\.simulate\(.*\)$/);
});

await test("questions are computed, with their result", async () => {
    await page.click(".reset");
    await page.click('.tabs button:has-text("How sensitive")');
    await page.click('.question[data-command="sensitivity"] .ask');
    await page.locator('.question[data-command="sensitivity"] .result .panel').first().waitFor({ timeout: 60000 });
    await page.click('.tabs button:has-text("Do impacts create energy")');
    await page.click('.question[data-command="impact"] .ask');
    await page.locator('.question[data-command="impact"] .result .panel').first().waitFor({ timeout: 60000 });
    await page.click('.tabs button:has-text("Does the controller")');
    const control = page.locator('.question[data-command="certify"]').nth(1);
    await control.locator(".ask").click();
    await control.locator(".source:has-text('after')").waitFor({ timeout: 60000 });
});

await test("the long run: an orbit's motion, a branch and a diagram, and a cancelled question", async () => {
    const bounce = join(folder, "bounce.toml");
    const plane = readFileSync(join(models, "ball-on-moving-plane.toml"), "utf8");
    writeFileSync(bounce, plane);
    const other = await start("bounce.toml");
    const long = await open(other.address);
    await long.click('.tabs button:has-text("in the long run")');
    const form = (command) => long.locator(`.question[data-command="${command}"]`);
    for (const command of ["orbit", "continue", "diagram"]) await form(command).locator('input[aria-label="period of the excitation"]').fill("2*pi/w");
    for (const command of ["orbit", "continue"]) await form(command).locator('input[aria-label^="after a motion"]').fill("2");
    await form("continue").locator('input[aria-label^="parameter"]').fill("Gamma=1:1.2");
    await form("diagram").locator('input[aria-label^="parameter"]').fill("Gamma=1:1.2:3");
    assert.match(await form("continue").locator(".command").nth(1).innerText(), /\.continue_\(over="Gamma=1:1.2", period="2\*pi\/w", settle=2\)$/);
    for (const command of ["orbit", "continue", "diagram"]) {
        await form(command).locator(".ask").click();
        await form(command).locator(".result .panel").first().waitFor({ timeout: 60000 });
    }
    assert.equal(await long.locator(".result .raw").count(), 0, "every result has a view");
    await form("diagram").locator('input[aria-label^="parameter"]').fill("Gamma=1:1.2:100000");
    await form("diagram").locator(".ask").click();
    await form("diagram").locator(".cancel").click();
    await form("diagram").locator(".source:has-text('cancelled')").first().waitFor({ timeout: 60000 });
    assert.doesNotMatch(await form("diagram").locator(".settings .source").innerText(), /saltus-studio/);
    assert.deepEqual(long.troubles, []);
    await long.close();
    other.child.kill("SIGINT");
    await ended(other.child);
});

await test("a result without derivatives says why", async () => {
    writeFileSync(join(folder, "sampled.toml"), readFileSync(join(models, "sampled-arm.toml")));
    const other = await start("sampled.toml");
    const arm = await open(other.address);
    await arm.click('.tabs button:has-text("How sensitive")');
    await arm.click('.question[data-command="sensitivity"] .ask');
    await arm.locator('.result .warning:has-text("sampled control")').waitFor({ timeout: 60000 });
    await arm.close();
    other.child.kill("SIGINT");
    await ended(other.child);
});

await test("results about other values are marked as such", async () => {
    const stale = page.locator('.question[data-command="sensitivity"] .warning').first();
    await page.click('.tabs button:has-text("How sensitive")');
    assert.equal(await stale.isVisible(), false);
    await page.locator('.slider[data-name="g"] input[type=range]').fill("12");
    await stale.waitFor({ state: "visible", timeout: 10000 });
    await page.click(".reset");
    await stale.waitFor({ state: "hidden", timeout: 10000 });
});

await test("a saved report is a page with the motion and the results", async () => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.click(".save")]);
    assert.equal(download.suggestedFilename(), "ball-report.html");
    const path = join(folder, "saved.html");
    await download.saveAs(path);
    const report = await browser.newPage();
    await report.goto("file://" + path);
    await report.waitForSelector("footer");
    assert.equal(await report.locator("article").count(), 3);
    await report.close();
});

await test("two browsers see the same file and have their own sliders", async () => {
    const context = await browser.newContext();
    const other = await open(studio.address, context);
    await other.locator('.slider[data-name="g"] input[type=range]').fill("20");
    await shows(other, () => Math.abs(window.saltusStudio.motion().events[0].t - Math.sqrt(0.5)) < 1e-6);
    near((await motion(page)).events[0].t, 1, 1e-9, "impact of the first page");
    writeFileSync(file, ball("10.0").replace("y = 5.0", "y = 20.0").replace("t_end = 1.5", "t_end = 2.5"));
    await shows(page, () => Math.abs(window.saltusStudio.motion().q[0].values[0] - 20) < 1e-9);
    await shows(other, () => Math.abs(window.saltusStudio.motion().q[0].values[0] - 20) < 1e-9);
    assert.deepEqual(other.troubles, []);
    await context.close();
});

await test("the page survives a studio that is killed and started again", async () => {
    studio.child.kill("SIGKILL");
    await ended(studio.child);
    await page.locator(".state.lost").waitFor({ timeout: 20000 });
    assert.match(await page.locator(".state").innerText(), /has ended/);
    const again = await start("ball.toml", studio.port);
    studio = again;
    await page.waitForFunction(() => document.querySelector(".state").textContent === "", null, { timeout: 20000 });
    writeFileSync(file, ball("10.0"));
    await shows(page, () => Math.abs(window.saltusStudio.motion().q[0].values[0] - 5) < 1e-9 && Math.abs(window.saltusStudio.motion().events[0].t - 1) < 1e-9);
    page.troubles = page.troubles.filter((t) => !t.includes("fetch"));
    assert.deepEqual(page.troubles, []);
});
studio.child.kill("SIGINT");
await ended(studio.child);
await page.close();

await test("a basin refines while the user waits, and a click in it starts a motion", async () => {
    writeFileSync(join(folder, "bar.toml"), readFileSync(join(models, "rocking-bar.toml")));
    studio = await start("bar.toml");
    page = await open(studio.address);
    await page.click('.tabs button:has-text("Is rest attractive")');
    const basin = page.locator('.question[data-command="basin"]');
    await basin.locator('input[aria-label="grid"]').fill("phi=-1.2:1.2");
    await basin.locator('input[aria-label="--grid"]').fill("phi'=-4:4");
    await basin.locator('input[aria-label^="starts"]').fill("17");
    await basin.locator('input[aria-label="longest motion"]').fill("5");
    await basin.locator(".ask").click();
    await basin.locator(".result .plot").first().waitFor({ timeout: 120000 });
    const first = await basin.locator(".source").first().innerText();
    await basin.locator(".source:has-text('17 × 17 starts; computed')").waitFor({ timeout: 200000 });
    console.log(`      first picture with ${first}`);
    const picture = basin.locator(".result .plot.xy .u-over").first();
    const box = await picture.boundingBox();
    await picture.click({ position: { x: 0.6 * box.width, y: 0.5 * box.height } });
    await page.locator('.tabs button[aria-selected="true"]:has-text("How does it move")').waitFor();
    await shows(page, () => /--set phi=/.test(document.querySelector(".command").textContent));
    assert.deepEqual(page.troubles, []);
});
if (studio.child.exitCode === null) studio.child.kill("SIGINT");
await ended(studio.child);
await browser.close();
process.exit(failures ? 1 : 0);
