import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import axe from "axe-core";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { PreviewRow } from "../../src/operations/previews-contract.ts";
import { openBrowser } from "../helpers/browser.ts";
import { openConsole, startProgram, startRun } from "../helpers/console-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";
import { until } from "../helpers/until.ts";

const projects = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-accessible-"));
let served: ServedGlovebox;
let browser: Browser | undefined;
useGlovebox("local");
beforeAll(async () => {
  served = await serveGlovebox({ GLOVEBOX_PROJECT_ROOTS: projects });
});
beforeEach(async (context) => {
  browser ??= await openBrowser(context);
});
afterAll(async () => {
  await browser?.close();
  await served?.[Symbol.asyncDispose]();
  rmSync(projects, { recursive: true, force: true });
});

/** A program that keeps running and has printed in colours, tests with one failure, and a preview with an error. */
interface Scene {
  readonly running: string;
  readonly failed: string;
  readonly tests: string;
  readonly preview: string;
}
let scene: Promise<Scene> | undefined;

async function openScene(): Promise<Scene> {
  const project = path.join(projects, "shop");
  mkdirSync(project);
  const tests = `const { test } = require("node:test"); test("adds", () => {}); test("sums", () => { throw new Error("no") });`;
  const server = `console.error(new TypeError("broken")); require("node:http").createServer((q, s) => s.setHeader("content-type", "text/html").end("<!doctype html><html lang=en><title>shop</title><h1>shop")).listen(process.env.PORT)`;
  writeFileSync(path.join(project, "a.test.js"), tests);
  writeFileSync(path.join(project, "server.js"), server);
  const colours = `print("".join(f"\\x1b[{c}mcolour {c}\\x1b[0m " for c in (*range(30, 38), *range(90, 98), 1, 2, 3, 4, 7)))`;
  const running = await startProgram(
    served,
    `import sys, time\n${colours}\nprint("wrong", file=sys.stderr, flush=True)\nprint("up", flush=True)\ntime.sleep(90)`,
    { labels: { job: "17" } },
  );
  const failed = await startProgram(served, "print('said')\nraise KeyError('price')", { name: "import-orders" });
  const testRun = { project_path: project, test_command: "node --test", reports: ["ctrf"] };
  const ofTests = await startRun(served, "/api/sandbox/test", testRun);
  const ask = { project_path: project, command: "node server.js", wait_seconds: 100 };
  const preview = (await served.call("POST", "/api/sandbox/preview", ask)).body as PreviewRow;
  for (const id of [failed, ofTests]) {
    await until(async () => (await served.call("GET", `/api/sandbox/${id}`)).body!["state" as never] === "ended");
  }
  return { running, failed, tests: ofTests, preview: preview.container_id };
}

/** What axe finds in the present page: serious and critical violations, each with its place. */
async function violationsIn(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
  const found: axe.AxeResults = await page.evaluate(
    `axe.run(document, { iframes: false, resultTypes: ["violations"] })`,
  );
  expect(found.passes.length).toBeGreaterThan(0);
  return found.violations
    .filter(({ impact }) => impact === "serious" || impact === "critical")
    .map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`).join("; ")}`,
    );
}

describe.each(["light", "dark"] as const)("the console in %s", (colorScheme) => {
  // The page's strict policy lets no script in, not even axe.
  const look = { colorScheme, reducedMotion: "reduce", bypassCSP: true } as const;

  it("asks for the token in a form that everyone can use", async () => {
    const { page } = await openConsole(browser!, served, { ...look, fragment: "" });
    expect(await violationsIn(page)).toEqual([]);
    await page.context().close();
  });

  it("has pages that everyone can use", async () => {
    const { running, failed, tests, preview } = await (scene ??= openScene());
    const { page } = await openConsole(browser!, served, look);
    const views: readonly (readonly [address: string, ready: string])[] = [
      ["#/running", ".row"],
      ["#/history", ".row"],
      ["#/alerts", "text=TypeError"],
      [`#/running/${running}/log`, ".log-row >> text=up"],
      [`#/running/${running}/metrics`, "role=img[name=/Memory over time: Memory now/]"],
      [`#/history/${failed}`, ".output pre >> text=KeyError"],
      [`#/history/${tests}/tests`, ".tree >> text=sums"],
      [`#/history/${tests}/result`, ".output pre"],
      [`#/running/${preview}/preview`, "iframe"],
    ];
    for (const [address, ready] of views) {
      await page.evaluate(`location.hash = ${JSON.stringify(address)}`);
      await page.locator(ready).first().waitFor();
      expect([address, await violationsIn(page)]).toEqual([address, []]);
    }
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    expect(await violationsIn(page)).toEqual([]);
    await page.context().close();
  });

  it("has an empty page that everyone can use", async () => {
    for (const viewport of [
      { width: 1_280, height: 800 },
      { width: 360, height: 740 },
    ]) {
      const { page } = await openConsole(browser!, served, { ...look, viewport });
      await page.route(/\/api\/sandbox(\?.*)?$/, (route) => route.fulfill({ json: { sandboxes: [] } }));
      await page.locator(".snippet:visible").first().waitFor();
      expect(await violationsIn(page)).toEqual([]);
      await page.context().close();
    }
  });
});
