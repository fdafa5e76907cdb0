import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openBrowser } from "../helpers/browser.ts";
import { openConsole, startProgram } from "../helpers/console-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";
import { until } from "../helpers/until.ts";

let served: ServedGlovebox;
let browser: Browser | undefined;
useGlovebox("local");
beforeAll(async () => {
  served = await serveGlovebox();
});
beforeEach(async (context) => {
  browser ??= await openBrowser(context);
});
afterAll(async () => {
  await browser?.close();
  await served?.[Symbol.asyncDispose]();
});

const open = (options?: Parameters<typeof openConsole>[2]) => openConsole(browser!, served, options);
const phone = { width: 360, height: 740 } as const;
const rowOf = (page: Page, text: string) => page.locator(".list-pane .row", { hasText: text });
/** The tab that a run is open on, once its log or its result is there. */
async function openTab(page: Page, ready: string): Promise<string | null> {
  await page.locator(ready).first().waitFor();
  return page.getByRole("tab", { selected: true }).textContent();
}

async function ended(id: string): Promise<void> {
  await until(async () => (await served.call("GET", `/api/sandbox/${id}`)).body!["state" as never] === "ended");
}

/** What sticks out of the page, or out of the row that it is in. */
async function tooWide(page: Page): Promise<unknown> {
  return page.evaluate(`(() => {
    const edge = document.documentElement.clientWidth;
    const out = [...document.querySelectorAll(".list-pane .row *, .detail-head *, .result > *")].filter(
      (each) => each.getBoundingClientRect().right > edge + 1 && !each.closest(".work-line, .place, .row-title, .row-kind, .label"),
    );
    return [document.documentElement.scrollWidth - edge, ...out.map((each) => each.className)];
  })()`);
}

describe("rows", () => {
  it("say what runs: the name, the language and the first line, and of an ended run the same", async () => {
    const code = "# waits for a word\nword = input()\nprint(word)";
    const id = await startProgram(served, code, { name: "waiter", stdin: "", labels: { job: "1" } });
    await ended(id);
    const live = await startProgram(served, "import time\ntime.sleep(90)", { name: "sleeper" });
    const { page, problems } = await open();
    const row = rowOf(page, "sleeper");
    await row
      .filter({ hasText: "Python" })
      .filter({ hasText: "time.sleep(90)" })
      .filter({ hasText: "local" })
      .waitFor();
    await page.keyboard.press("2");
    const past = rowOf(page, "waiter").filter({ hasText: "Failed" });
    await past
      .filter({ hasText: "Python" })
      .filter({ hasText: "word = input()" })
      .filter({ hasText: "job=1" })
      .waitFor();
    await page.keyboard.press("/");
    await page.keyboard.type("python waiter");
    await past.waitFor();
    await page.keyboard.type(" javascript");
    await page.getByText("Nothing matches.").waitFor();
    await page.evaluate(`location.hash = "#/running/${live}"`);
    await page.locator(".detail-head", { hasText: "sleeper" }).filter({ hasText: "time.sleep(90)" }).waitFor();
    await served.call("DELETE", `/api/sandbox/${live}`);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it.each(["light", "dark"] as const)(
    "hold what a server says, whatever that is, on a phone in %s",
    async (colorScheme) => {
      const { page, problems } = await open({ colorScheme, viewport: phone });
      const evil = '<img src=x onerror="document.title=1">\u202egpj\u200b';
      const row = {
        ...{
          id: "sbx-evil",
          sandbox_id: "sbx-evil",
          operation: evil,
          state: "ended",
          elapsed_ms: 1,
          labels: { [evil]: evil },
        },
        ...{ name: `${evil}${"n".repeat(500)}`, work: `python: ${evil}${"w".repeat(5_000)}` },
        ...{ kind: "execute", engine: evil, image: `${evil}${"i".repeat(500)}` },
      };
      const stored = {
        run_id: "run-evil",
        outcome: "failed",
        exit_code: 3,
        duration_ms: 5,
        ended_at: new Date().toISOString(),
      };
      const list = { sandboxes: [{ ...row, stored }] };
      await page.route(/\/api\/sandbox(\?.*)?$/, (route) => route.fulfill({ json: list }));
      const error = { error_type: evil, message: `${evil}${"m".repeat(5_000)}`, suggestion: evil };
      const result = {
        outcome: "failed",
        exit_code: 3,
        stdout: `${evil}${"o".repeat(5_000)}`,
        warnings: [error.message],
      };
      const answer = { ...row, result: { ...result, error }, progress: evil, stdout_tail: "", stderr_tail: evil };
      await page.route("**/api/sandbox/sbx-evil", (route) => route.fulfill({ json: answer }));
      const alert = {
        container_id: "sbx-evil",
        timestamp: new Date().toISOString(),
        kind: "preview_error",
        state: "start",
      };
      const text = `${evil}${"a".repeat(5_000)}`;
      const alerts = { alerts: [{ ...alert, value: 1, threshold: 0, message: text, suggestion: text }] };
      await page.route(/\/api\/alerts/, (route) => route.fulfill({ json: alerts }));
      const shown = '<img src=x onerror="document.title=1">U+202EgpjU+200B';
      for (const section of ["running", "history", "alerts"]) {
        await page.evaluate(`location.hash = "#/${section}"`);
        await rowOf(page, shown).waitFor();
        expect([section, await tooWide(page)]).toEqual([section, [0]]);
        expect(await page.locator("#console").textContent()).not.toMatch(/[\u202e\u200b]/);
      }
      await page.evaluate('location.hash = "#/history/sbx-evil"');
      await page.locator(".detail-head", { hasText: shown }).waitFor();
      for (const part of [".failure", ".warnings", ".output"]) {
        await page.locator(`.result ${part}`, { hasText: shown }).first().waitFor();
      }
      expect(await tooWide(page)).toEqual([0]);
      expect(await page.locator("#console").textContent()).not.toMatch(/[\u202e\u200b]/);
      // An address may come from anywhere.
      await page.evaluate(`location.hash = "#/running/${encodeURIComponent(evil)}"`);
      await page.getByRole("alert").filter({ hasText: shown }).waitFor();
      expect(await page.locator("#console").textContent()).not.toMatch(/[\u202e\u200b]/);
      expect(await tooWide(page)).toEqual([0]);
      expect(await page.locator("#console img, #console script, #console a:not([href^='#/'])").count()).toBe(0);
      expect(await page.title()).toBe("Glovebox");
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );
});

describe("a run", () => {
  it("that failed opens on its result, with what it complained of first; one that went well on its log", async () => {
    const bad = await startProgram(served, "print('said')\nraise KeyError('price')", { name: "bad" });
    const late = await startProgram(served, "import time\ntime.sleep(60)", { name: "late", timeout_seconds: 1 });
    const good = await startProgram(served, "print('all well')", { name: "good" });
    for (const id of [bad, late, good]) await ended(id);
    const { page } = await open();
    await page.evaluate(`location.hash = "#/history/${bad}"`);
    expect(await openTab(page, ".output, .log-row")).toBe("Result");
    await page.locator(".output", { hasText: "KeyError: 'price'" }).waitFor();
    expect(await page.locator(".output h3").allTextContents()).toEqual(["stderr", "stdout"]);
    await page.evaluate(`location.hash = "#/history/${late}"`);
    await page.locator("h2", { hasText: "late" }).waitFor();
    expect(await openTab(page, ".result, .log-row")).toBe("Result");
    await page.locator(".result .failure", { hasText: "TIMEOUT" }).waitFor();
    await page.evaluate(`location.hash = "#/history/${good}"`);
    await page.locator("h2", { hasText: "good" }).waitFor();
    expect(await openTab(page, ".result, .log-row")).toBe("Log");
    await page.locator(".log-row", { hasText: "all well" }).waitFor();
    await page.context().close();
  });

  it("whose log is read stays on it when it fails", async () => {
    const code = `import os, time
print("up", flush=True)
while not os.path.exists("/tmp/go"): time.sleep(0.1)
raise SystemExit(3)`;
    const id = await startProgram(served, code);
    const { page } = await open();
    await page.evaluate(`location.hash = "#/running/${id}"`);
    await page.locator(".log-row", { hasText: "up" }).waitFor();
    const touched = await served.call("POST", `/api/sandbox/${id}/exec`, { command: ["touch", "/tmp/go"] });
    expect(touched.status).toBe(200);
    await page.locator(".detail-head .badge", { hasText: "Failed" }).waitFor();
    await page.getByRole("tab", { name: "Result" }).waitFor();
    expect(await openTab(page, ".result, .log-row")).toBe("Log");
    await page.context().close();
  });
});

describe("an alert", () => {
  it("stands once, with its cause first, and gets its end", async () => {
    const code = `import time, urllib.request
for n in range(3):
    try: urllib.request.urlopen("http://refused.test/")
    except Exception: print("refused", flush=True)
time.sleep(90)`;
    const id = await startProgram(served, code, { name: "crawler", network: ["allowed.test"] });
    const { page } = await open();
    await page.keyboard.press("3");
    const row = rowOf(page, id);
    await row.filter({ hasText: "goes on" }).waitFor();
    const first = row.locator("> *").first();
    expect(await first.textContent()).toBe("A connection to refused.test:80 was refused.");
    await row.filter({ hasText: 'Add "refused.test"' }).filter({ hasText: "crawler" }).waitFor();
    await page.getByRole("link", { name: "Alerts 1" }).waitFor();
    await until(
      async () =>
        JSON.stringify((await served.call("GET", `/api/sandbox/${id}/logs`)).body).split('"refused"').length > 3,
    );
    await served.call("DELETE", `/api/sandbox/${id}?forget=false`);
    await row.filter({ hasText: "over after" }).filter({ hasText: "3 in all" }).waitFor();
    expect(await row.count()).toBe(1);
    expect(await first.textContent()).toBe("A connection to refused.test:80 was refused.");
    await page.getByRole("link", { name: "Alerts", exact: true }).waitFor();
    await page.context().close();
  });
});
