// A browser, a server and what every page must be: no request to anywhere else, no error, no sideways scrolling, no serious violation.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync } from "node:fs";
import path from "node:path";
import axe from "axe-core";
import { chromium } from "playwright-core";

const need = (name) => process.env[name] ?? assert.fail(`${name} is not set; run tools/test_browser.sh`);

export const program = need("PARTWISE");
export const runs = need("PARTWISE_RUNS").split(":");
export const report = need("PARTWISE_REPORT");
export const photo = need("PARTWISE_PHOTO");
export const shots = need("PARTWISE_SHOTS");
mkdirSync(shots, { recursive: true });

export const looks = [
  { name: "wide-light", width: 1280, colorScheme: "light" },
  { name: "wide-dark", width: 1280, colorScheme: "dark" },
  { name: "narrow-light", width: 360, colorScheme: "light" },
  { name: "narrow-dark", width: 360, colorScheme: "dark" },
];

export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
  });
}

// A page that notes what goes wrong on it; `may` are addresses it may ask.
export async function open(browser, { width = 1280, colorScheme = "light", may = () => false, offline = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme, offline, acceptDownloads: true });
  const page = await context.newPage();
  const wrong = [];
  page.on("request", (request) => {
    if (!/^(data|blob|file):/.test(request.url()) && !may(request.url())) wrong.push(`asked ${request.url()}`);
  });
  page.on("console", (message) => {
    if (message.type() === "error") wrong.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong.push(`page: ${error.message}`));
  return { context, page, wrong, close: () => context.close() };
}

export async function settled(page) {
  await page.waitForFunction(() => document.querySelector("h1") !== null && document.querySelector(".waiting") === null, null, { timeout: 60000 });
  // Lazy pictures come when they are scrolled to.
  await page.evaluate(async () => {
    for (let y = 0; y < document.documentElement.scrollHeight; y += 700) {
      scrollTo(0, y);
      await new Promise((done) => setTimeout(done, 40));
    }
    scrollTo(0, 0);
  });
  await page.waitForFunction(() => [...document.images].every((image) => image.complete), null, { timeout: 60000 });
}

export async function examine(page, name) {
  const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  assert.ok(beyond <= 0, `${name} scrolls sideways by ${beyond} pixels`);
  const broken = await page.evaluate(() => [...document.images].filter((image) => image.complete && image.naturalWidth === 0).map((image) => image.src.slice(0, 200)));
  assert.deepEqual(broken, [], `${name} has broken pictures`);
  await page.screenshot({ path: path.join(shots, `${name}.png`), fullPage: true });
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations
    .filter((one) => one.impact === "serious" || one.impact === "critical")
    .map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.target.join(" ")).join(", ")}`);
  assert.deepEqual(serious, [], name);
}

export async function serve(folders) {
  const child = spawn(program, ["serve", ...folders, "--port", "0"], { stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  child.stderr.on("data", (bytes) => (said += bytes));
  const address = await new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (bytes) => {
      text += bytes;
      const found = /http:\/\/\S+/.exec(text);
      if (found) resolve(found[0]);
    });
    child.on("exit", (code) => reject(new Error(`serve ended with ${code}: ${said}`)));
  });
  const stop = () =>
    new Promise((done) => {
      child.removeAllListeners("exit");
      child.on("exit", done);
      child.kill("SIGTERM");
    });
  const ask = async (where) => (await fetch(new URL(where, address))).json();
  for (let tries = 0; ; ++tries) {
    const { runs: shown } = await ask("/api/runs");
    if (shown.every((run) => run.ready && !run.learning)) break;
    const failed = shown.filter((run) => run.failure);
    if (failed.length > 0 || tries > 3000) {
      await stop();
      assert.fail(`runs do not open: ${JSON.stringify(failed)} ${said}`);
    }
    await new Promise((done) => setTimeout(done, 200));
  }
  return { address, ask, stop };
}
