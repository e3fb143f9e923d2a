#!/usr/bin/env node
// How long the explorer's pages take and what its server keeps: bench/RESULTS.md's table.
//   node bench/explorer.mjs PARTWISE RUN PHOTO [REQUESTS]      (first: npm ci --prefix tests/browser)
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { performance } from "node:perf_hooks";

const { chromium } = createRequire(new URL("../tests/browser/", import.meta.url))("playwright-core");

const [program, run, photo, requests = "10000"] = process.argv.slice(2);
if (!photo) {
  console.error("usage: node bench/explorer.mjs PARTWISE RUN PHOTO [REQUESTS]");
  process.exit(2);
}

const REPEATS = 5;
const spread = (values) => {
  const sorted = values.toSorted((a, b) => a - b);
  const ms = (value) => (value < 1000 ? `${value.toFixed(0)} ms` : `${(value / 1000).toFixed(2)} s`);
  return `${ms(sorted[sorted.length >> 1])} (${ms(sorted[0])} to ${ms(sorted.at(-1))})`;
};
const row = (what, value) => console.log(`| ${what} | ${value} |`);
const memory = (pid) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))[1]) / 1024;

const began = performance.now();
const child = spawn(program, ["serve", run, "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
const address = await new Promise((resolve) => child.stdout.on("data", (bytes) => resolve(/http:\/\/\S+/.exec(bytes)[0])));
const asked = async (path, options) => {
  const response = await fetch(new URL(path, address), options);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
};
let shown;
do {
  await new Promise((done) => setTimeout(done, 100));
  [shown] = (await (await asked("/api/runs")).json()).runs;
} while (!shown.ready);
console.log("| | |\n|---|---|");
row(`the run is open: ${shown.layers.map((layer) => `${layer.name} ${layer.filters} filters`).join(", ")}`, spread([performance.now() - began]));
const layer = shown.layers.at(-1);
const filters = `/api/runs/${encodeURIComponent(shown.id)}/layers/${encodeURIComponent(layer.name)}/filters`;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"] });
// Until the selector is there and, where asked for, every picture that is on the screen.
async function times(route, selector, pictures) {
  const paints = [], ready = [], whole = [];
  for (let k = 0; k < REPEATS; ++k) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    const start = performance.now();
    await page.goto(new URL(route(k), address).href);
    await page.waitForSelector(selector, { timeout: 120000 });
    ready.push(performance.now() - start);
    if (pictures) {
      await page.waitForFunction(() => [...document.images].filter((image) => {
        const box = image.getBoundingClientRect();
        return box.top < innerHeight && box.bottom > 0;
      }).every((image) => image.complete && image.naturalWidth > 0), null, { timeout: 120000 });
      whole.push(performance.now() - start);
    }
    paints.push(await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN));
    await context.close();
  }
  return { paints, ready, whole };
}
const id = encodeURIComponent(shown.id);
const start = await times(() => "/", "h1", false);
row("first contentful paint", spread(start.paints));
const atlas = await times(() => `/#/${id}/${layer.name}`, "main a img", true);
row(`atlas of ${layer.filters} filters: tiles in place`, spread(atlas.ready));
row("– every picture on the screen", spread(atlas.whole));
const filter = await times((k) => `/#/${id}/${layer.name}/${(37 * k + 5) % layer.filters}`, "aside, .numbers, h2", true);
row("filter page, another filter each time: headings in place", spread(filter.ready));
row("– every picture on the screen", spread(filter.whole));
const answers = [];
for (let k = 0; k < REPEATS; ++k) {
  const from = performance.now();
  await (await asked(`${filters}/${(53 * k + 11) % layer.filters}`)).arrayBuffer();
  answers.push(performance.now() - from);
}
row("a filter's numbers with intervals and controls, the first time", spread(answers));
const explained = [];
for (let k = 0; k < REPEATS; ++k) {
  const from = performance.now();
  await (await asked(`/api/runs/${id}/explain`, { method: "POST", body: readFileSync(photo), headers: { "X-Partwise": "1" } })).arrayBuffer();
  explained.push(performance.now() - from);
}
row("a photograph explained", spread(explained));
await browser.close();

const before = memory(child.pid);
const paths = (k) => ["/api/runs", filters, `${filters}/${k % layer.filters}`, `${filters}/${k % layer.filters}/tile.png`, "/", "/app.js", "/api/no"][k % 7];
for (let k = 0; k < Number(requests); k += 8) {
  await Promise.all(Array.from({ length: 8 }, async (_, i) => (await fetch(new URL(paths(k + i), address))).arrayBuffer()));
  if (k === 1000 - (1000 % 8)) row("memory after 1,000 requests", `${memory(child.pid).toFixed(0)} MiB (before: ${before.toFixed(0)})`);
}
row(`memory after ${Number(requests).toLocaleString("en")} requests`, `${memory(child.pid).toFixed(0)} MiB`);
child.kill();
process.exit(0);
