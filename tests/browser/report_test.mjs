// The report from a disk without any network.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { examine, launch, looks, open, report } from "./fixture.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

for (const look of looks) {
  test(`the report, ${look.name}, asks for nothing and has no error`, async () => {
    const { page, wrong, close } = await open(browser, { ...look, offline: true });
    await page.goto(pathToFileURL(report).href, { waitUntil: "load" });
    await examine(page, `report-${look.name}`);
    assert.deepEqual(wrong, []);
    await close();
  });
}
