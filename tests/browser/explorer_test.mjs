// What people do with `partwise serve`, in a real browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { examine, launch, looks, open, photo, runs, serve, settled, shots } from "./fixture.mjs";

let browser;
let server;
let known; // what /api/runs says
let run; // the run most tests look at
let other;
let layer; // its top layer

const at = (hash) => new URL(hash, server.address).href;
const to = (...segments) => `#/${segments.map(encodeURIComponent).join("/")}`;
const begin = (options = {}) => open(browser, { may: (address) => address.startsWith(server.address), ...options });

async function visit(page, hash) {
  await page.goto("about:blank");
  await page.goto(at(hash));
  await settled(page);
}

// The pictures are as large as one wants; what is pasted is one of the data.
async function drop(page, bytes, name, type) {
  await page.locator(".drop").evaluate(
    (zone, [base64, fileName, mime]) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], fileName, { type: mime }));
      zone.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
    },
    [bytes.toString("base64"), name, type],
  );
}

before(async () => {
  browser = await launch();
  server = await serve(runs);
  known = await server.ask("/api/runs");
  run = known.runs[known.runs.length - 1];
  other = known.runs[0];
  layer = run.layers[run.layers.length - 1].name;
});
after(async () => {
  await browser?.close();
  await server?.stop();
});

test("every page, wide and narrow, light and dark", async (t) => {
  const { classes, confusion } = await server.ask(`/api/runs/${encodeURIComponent(run.id)}/errors`);
  const cells = confusion.flatMap((row, i) => row.map((n, j) => ({ n, i, j }))).filter(({ i, j }) => i !== j);
  const most = cells.sort((a, b) => b.n - a.n)[0];
  const pages = {
    start: "#/",
    evidence: to(run.id),
    atlas: to(run.id, layer),
    "atlas-sorted": `${to(run.id, layer)}?sort=part_interpretability&group=none`,
    filter: to(run.id, layer, 5),
    photograph: `${to(run.id, "@photograph")}?row=0`,
    compare: `#/@compare?first=${encodeURIComponent(other.id)}&second=${encodeURIComponent(run.id)}`,
    errors: most.n > 0 ? to(run.id, "@errors", classes[most.i], classes[most.j]) : to(run.id, "@errors"),
    naming: to(run.id, "@naming"),
    sheet: `${to(run.id, "@naming")}?rater=nobody`,
    training: "#/@training",
    nowhere: to(run.id, "no such layer"),
  };
  for (const look of looks) {
    const { page, wrong, close } = await begin(look);
    for (const [name, hash] of Object.entries(pages)) {
      await t.test(`${name}, ${look.name}`, async () => {
        await visit(page, hash);
        await examine(page, `${name}-${look.name}`);
        assert.deepEqual(wrong.splice(0), []);
      });
    }
    await close();
  }
});

test("search and sorting live in the address", async () => {
  const { page, wrong, close } = await begin();
  await visit(page, to(run.id, layer));
  const all = await page.locator(".tile").count();
  assert.equal(all, run.layers[run.layers.length - 1].filters);
  await page.keyboard.press("/");
  await page.keyboard.type("17");
  await page.waitForFunction(() => location.hash.includes("q=17"));
  const found = await page.locator(".tile").count();
  assert.ok(found >= 1 && found < all);
  await page.reload();
  await settled(page);
  assert.equal(await page.locator(".tile").count(), found);
  assert.equal(await page.locator("input[type=search]").inputValue(), "17");
  await page.getByRole("link", { name: "Start over" }).click();
  await page.getByRole("combobox", { name: "Sort by", exact: true }).selectOption("peak");
  await page.getByRole("combobox", { name: "Group", exact: true }).selectOption("none");
  const values = (await page.locator(".tile .tile-words span:last-child").allTextContents()).map((text) => parseFloat(text.replace("−", "-")));
  const numbers = values.filter(Number.isFinite);
  assert.ok(numbers.length > 1);
  assert.deepEqual(numbers, [...numbers].sort((a, b) => b - a));
  await page.getByRole("combobox", { name: "Category", exact: true }).selectOption(run.categories[0]);
  await page.getByLabel("Filter by a measure").selectOption("peak");
  await page.getByLabel(/at least/).fill("0.0001");
  assert.match(await page.evaluate(() => decodeURIComponent(location.hash)), /range=peak:0\.0001:/);
  assert.deepEqual(wrong, []);
  await close();
});

test("a filter’s page is walked by keys and shows each view", async () => {
  const { page, wrong, close } = await begin();
  await visit(page, `${to(run.id, layer, 3)}?group=none`);
  await page.getByRole("link", { name: "next" }).waitFor();
  await page.keyboard.press("j");
  await page.waitForFunction(() => /\/4\?/.test(location.hash));
  await page.keyboard.press("k");
  await page.waitForFunction(() => /\/3\?/.test(location.hash));
  // Keys count before the page that they lead to is drawn.
  await page.evaluate(() => [..."jjk"].forEach((key) => dispatchEvent(new KeyboardEvent("keydown", { key, cancelable: true }))));
  await page.waitForFunction(() => /\/4\?/.test(location.hash));
  await page.keyboard.press("k");
  await page.waitForFunction(() => /\/3\?/.test(location.hash));
  await settled(page);
  for (const view of await page.locator(".views label").allTextContents()) {
    await page.getByLabel(view, { exact: true }).check();
    await settled(page);
    await examine(page, `filter-view-${view.toLowerCase().replace(" ", "-")}`);
  }
  assert.deepEqual(wrong, []);
  await close();
});

test("a name survives a restart", async () => {
  const name = `“snout” <b>&amp;</b> <script>alert(1)</script> ✓`;
  let { page, wrong, close } = await begin();
  await visit(page, to(run.id, layer, 2));
  await page.keyboard.press("n");
  await page.keyboard.type(name);
  await page.getByLabel("Note").fill("fires on grass, too");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { level: 1, name }).waitFor();
  assert.deepEqual(wrong, []);
  await close();
  await server.stop();
  server = await serve(runs);
  ({ page, wrong, close } = await begin());
  await visit(page, to(run.id, layer, 2));
  await page.getByRole("heading", { level: 1, name }).waitFor();
  await page.getByText("fires on grass, too").first().waitFor();
  await examine(page, "filter-renamed");
  await visit(page, `${to(run.id, layer)}?q=snout`);
  assert.equal(await page.locator(".tile").count(), 1);
  assert.deepEqual(wrong, []);
  await close();
});

test("two people who name at once see each other’s words", async () => {
  const [anna, bo] = [await begin(), await begin()];
  for (const { page } of [anna, bo]) await visit(page, to(run.id, layer, 6));
  await anna.page.getByLabel("Name", { exact: true }).fill("ear");
  await bo.page.getByLabel("Name", { exact: true }).fill("horn");
  await anna.page.getByRole("button", { name: "Save" }).click();
  await anna.page.getByRole("heading", { level: 1, name: "ear" }).waitFor();
  await bo.page.getByRole("button", { name: "Save" }).click();
  await bo.page.getByRole("alert").filter({ hasText: "ear" }).waitFor();
  await examine(bo.page, "filter-conflict");
  await bo.page.getByRole("button", { name: "Write mine over it" }).click();
  await bo.page.getByRole("heading", { level: 1, name: "horn" }).waitFor();
  assert.deepEqual(anna.wrong, []);
  assert.deepEqual(bo.wrong.filter((one) => !one.includes("409")), []);
  await anna.close();
  await bo.close();
});

test("a photograph is dropped and a part switched off", async () => {
  const { page, wrong, close } = await begin();
  await visit(page, to(run.id, "@photograph"));
  await drop(page, readFileSync(photo), path.basename(photo), "image/png");
  await page.locator(".decision").waitFor();
  const boxes = page.locator(".parts input[type=checkbox]");
  assert.ok((await boxes.count()) > 0);
  await boxes.first().uncheck();
  await page.locator(".effect").waitFor();
  assert.match(await page.locator(".effect").innerText(), /changes by [+−]?\d/);
  assert.match(await page.locator(".effect").innerText(), /actual/);
  assert.match(await page.evaluate(() => location.hash), /off=/);
  await page.locator(".parts .plain").first().click();
  await page.locator(".parts .opened .tile").first().waitFor();
  await settled(page);
  await examine(page, "photograph-part-off");
  await page.getByRole("button", { name: "All on" }).click();
  await page.locator(".effect").waitFor({ state: "detached" });
  const { x, y, width, height } = await page.locator(".overlay").boundingBox();
  await page.mouse.move(x + width * 0.1, y + height * 0.1);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.9, y + height * 0.8, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => /box=\d+%2C\d+%2C\d+%2C\d+/.test(location.hash));
  await page.locator(".overlay .box").waitFor();
  await settled(page);
  await examine(page, "photograph-box");
  await page.getByRole("button", { name: "Whole image" }).click();
  await page.locator(".overlay .box").waitFor({ state: "detached" });
  await page.getByRole("combobox", { name: "Why not", exact: true }).selectOption({ index: 1 });
  await page.locator(".decision").waitFor();
  assert.deepEqual(wrong, []);
  await drop(page, Buffer.from("no image at all"), "notes.txt", "text/plain");
  await page.getByRole("alert").waitFor();
  await examine(page, "photograph-refused");
  await close();
});

test("two runs are compared", async () => {
  const { page, wrong, close } = await begin();
  await visit(page, `#/@compare?first=${encodeURIComponent(other.id)}&second=${encodeURIComponent(run.id)}`);
  assert.ok((await page.locator(".differences tbody tr").count()) > 0);
  assert.ok((await page.locator(".match").count()) > 0);
  const words = await page.locator(".match p b").allTextContents();
  const correlations = words.map((text) => parseFloat(text.replace("−", "-"))).filter(Number.isFinite);
  assert.deepEqual(correlations, [...correlations].sort((a, b) => b - a));
  await page.getByRole("combobox", { name: "Sort by", exact: true }).selectOption("change");
  assert.match(await page.evaluate(() => location.hash), /sort=change/);
  assert.deepEqual(wrong, []);
  await close();
});

test("five filters are named by keyboard alone, by two raters", async () => {
  const { page, wrong, close } = await begin();
  for (const rater of ["anna", "bo"]) {
    await visit(page, to(run.id, "@naming"));
    await page.getByLabel("Who names?").focus();
    await page.keyboard.type(rater);
    await page.keyboard.press("Enter");
    await page.getByRole("combobox", { name: "Which part is it?" }).waitFor();
    const given = ["ear", "torso", "ear", "", rater === "anna" ? "tail" : "leg"];
    for (const [k, name] of given.entries()) {
      await page.waitForFunction((n) => new URLSearchParams(location.hash.split("?")[1]).get("at") === String(n), k);
      await page.waitForFunction(() => document.activeElement?.getAttribute("role") === "combobox");
      if (k === 2) {
        // the suggestion rather than the whole word
        await page.keyboard.type("ea");
        await page.keyboard.press("ArrowDown");
      } else {
        await page.keyboard.type(name);
      }
      if (k === 3) {
        await page.keyboard.press("Tab");
        await page.waitForFunction(() => location.hash.includes("at=2"));
        assert.equal(await page.getByRole("combobox", { name: "Which part is it?" }).inputValue(), "ear");
        await page.keyboard.press("Enter");
        await page.waitForFunction(() => location.hash.includes("at=3"));
      }
      await page.keyboard.press("Enter");
    }
    await page.getByText(`5 of`).waitFor();
    await settled(page);
    await examine(page, `sheet-${rater}`);
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "The table of semantics" }).waitFor();
  }
  // Orders differ from rater to rater: both are given some filters in common.
  for (const [k, rater] of ["anna", "bo"].entries()) {
    for (let filter = 0; filter < 12; ++filter) {
      const answer = await fetch(new URL(`/api/runs/${encodeURIComponent(run.id)}/sheet/${rater}`, server.address), {
        method: "PUT",
        headers: { "X-Partwise": "1", "Content-Type": "application/json" },
        body: JSON.stringify({ layer, filter, name: filter % 3 === 0 && k === 1 ? "leg" : filter % 2 === 0 ? "ear" : "torso" }),
      });
      assert.equal(answer.status, 200);
    }
  }
  await visit(page, to(run.id, "@naming"));
  await page.getByText(/kappa/).first().waitFor();
  await examine(page, "semantics");
  assert.deepEqual(wrong, []);
  await close();
});

test("what is on screen is exported as one file that needs nothing", async () => {
  for (const [name, hash] of [
    ["filter", to(run.id, layer, 2)],
    ["atlas", `${to(run.id, layer)}?sort=peak`],
    ["photograph", `${to(run.id, "@photograph")}?row=1`],
  ]) {
    const { page, wrong, close } = await begin();
    await visit(page, hash);
    const waiting = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export this page" }).click();
    const file = path.join(shots, `export-${name}.html`);
    await (await waiting).saveAs(file);
    assert.deepEqual(wrong, []);
    await close();
    const html = readFileSync(file, "utf8");
    assert.ok(!/<script/i.test(html), "no script");
    assert.ok(!/(src|href)="(?!data:)/.test(html), "nothing to load");
    const read = await open(browser, { offline: true });
    await read.page.goto(pathToFileURL(file).href);
    assert.ok((await read.page.locator("img, image").count()) > 0);
    await read.page.getByText("From the run").waitFor();
    await examine(read.page, `export-${name}`);
    assert.deepEqual(read.wrong, []);
    await read.close();
  }
});

test("pages are printed without their controls", async () => {
  const { page, close } = await begin();
  await visit(page, to(run.id, layer, 2));
  await page.emulateMedia({ media: "print" });
  assert.equal(await page.locator(".name-form").isVisible(), false);
  assert.equal(await page.locator(".told").isVisible(), true);
  await page.pdf({ path: path.join(shots, "filter.pdf") });
  await close();
});
