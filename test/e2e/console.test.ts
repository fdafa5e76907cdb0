import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openBrowser } from "../helpers/browser.ts";
import { openConsole, startProgram, startRun } from "../helpers/console-scene.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";
import { until } from "../helpers/until.ts";

const projects = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-projects-"));
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

const open = (options?: Parameters<typeof openConsole>[2]) => openConsole(browser!, served, options);
const lines = (page: Page) => page.locator(".log-row");

/** Waits until a run has ended. */
async function ended(id: string): Promise<void> {
  await until(async () => (await served.call("GET", `/api/sandbox/${id}`)).body!["state" as never] === "ended");
}

/** Another server with the same store does not have the run's answer in memory, but has all its tests. */
async function showsFromStore(id: string): Promise<void> {
  const other = await serveGlovebox({}, served.home);
  try {
    const { page } = await openConsole(browser!, other);
    await page.evaluate(`location.hash = "#/history/${id}/tests"`);
    await page.locator(".test-counts", { hasText: "1 passed" }).filter({ hasText: "2 failed" }).waitFor();
    await page.getByLabel("Only failures").uncheck();
    await page.locator(".tree").getByText("adds up").waitFor();
    await page.context().close();
  } finally {
    other.child.kill("SIGTERM");
    await other.ended;
  }
}

describe("the way in", () => {
  it("is the fragment's token, which leaves the address, no request and no cookie holds, and a reload keeps", async () => {
    const { page, problems, asked } = await open();
    await page.locator("h1", { hasText: "Running" }).waitFor();
    expect(page.url()).toBe(`${served.url}/#/`);
    await page.reload();
    await page.locator(".connection.live").waitFor();
    expect(await page.context().cookies()).toEqual([]);
    expect(asked.length).toBeGreaterThan(3);
    expect(
      asked.filter((url) => url.slice(url.indexOf("://")).includes(served.token) && !url.includes("#token=")),
    ).toEqual([]);
    expect(await page.evaluate("JSON.stringify(localStorage)")).not.toContain(served.token);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it("is a field, which reports a wrong token and accepts the right one; signing out forgets it", async () => {
    const { page } = await open({ fragment: "" });
    const field = page.getByLabel("Token or API key");
    await field.fill("wrong");
    await page.keyboard.press("Enter");
    await page.getByRole("alert").filter({ hasText: "does not know" }).waitFor();
    await field.fill(served.token);
    await page.keyboard.press("Enter");
    await page.locator(".connection.live").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await field.waitFor();
    expect(await page.evaluate("JSON.stringify(sessionStorage)")).toBe("{}");
    await page.context().close();
  });
});

describe("what is served", () => {
  it("has a strict policy, and names that change with what is in a file", async () => {
    const answer = await fetch(`${served.url}/`);
    const policy = answer.headers.get("content-security-policy") ?? "";
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; /);
    expect(policy).toContain("frame-ancestors 'none'");
    expect(policy).not.toMatch(/unsafe|\*(?!\.)/);
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    const html = await answer.text();
    expect(html).not.toMatch(/<script(?![^>]*src=)|<style|\son\w+=/);
    const again = await fetch(`${served.url}/`, { headers: { "if-none-match": answer.headers.get("etag") ?? "" } });
    expect(again.status).toBe(304);
    const [, script = ""] = /src="([^"]+)"/.exec(html) ?? [];
    const file = await fetch(new URL(script, served.url));
    expect([file.status, file.headers.get("cache-control")]).toEqual([200, "public, max-age=31536000, immutable"]);
    expect((await fetch(`${served.url}/console/other.js`)).status).toBe(404);
    expect((await fetch(`${served.url}/healthz`)).headers.get("cache-control")).toBe("no-store");
  });

  it("is framed by no other page, which also cannot ask the API", async () => {
    const page = await browser!.newPage();
    const html = `<iframe src="${served.url}/#token=${served.token}"></iframe>`;
    const foreign = createServer((_, response) => response.setHeader("content-type", "text/html").end(html));
    await new Promise<void>((resolve) => void foreign.listen(0, "127.0.0.1", resolve));
    const { port } = foreign.address() as AddressInfo;
    await page.goto(`http://127.0.0.1:${port}/`);
    await until(() => page.frames().length === 2);
    await until(async () => (await page.frames()[1]?.locator("body").count()) !== undefined);
    expect(await page.frames()[1]!.locator(".console, .sign-in").count()).toBe(0);
    const status = await page.evaluate(
      `fetch("${served.url}/api/sandbox", { headers: { authorization: "Bearer ${served.token}" } }).then((answer) => answer.status, () => "refused")`,
    );
    expect(status).toBe("refused");
    await page.close();
    foreign.close();
  });

  it("writes nothing as HTML, even if its own script tries to", async () => {
    const { page } = await open();
    await page.locator(".connection.live").waitFor();
    const tried = await page.evaluate(`(() => {
      try { document.body.innerHTML = "<b>x</b>"; return "written"; } catch (error) { return error.name; }
    })()`);
    expect(tried).toBe("TypeError");
    await page.context().close();
  });
});

describe("a run", () => {
  it("is watched live, with its metrics, and ended, by the keyboard alone", async () => {
    const id = await startProgram(
      served,
      "import time\nfor n in range(100000):\n  print('step', n, flush=True)\n  time.sleep(0.1)",
      { labels: { job: "watched" } },
    );
    const { page, problems } = await open({ colorScheme: "dark" });
    await page.locator(".row", { hasText: "job=watched" }).waitFor();
    expect(await page.locator("html").getAttribute("data-theme")).toBe("dark");
    await page.keyboard.press("j");
    expect(await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")).toBe("solid");
    await page.keyboard.press("Enter");
    await lines(page).filter({ hasText: "step 0" }).first().waitFor();
    const seen = await lines(page).last().textContent();
    await until(async () => (await lines(page).last().textContent()) !== seen);
    await page.locator(".log-state.live").waitFor();
    await page.keyboard.press("m");
    await page.locator(".plot canvas").first().waitFor();
    await page.getByRole("img", { name: /Memory over time: Memory now \d/ }).waitFor();
    await page.keyboard.press("t");
    expect(await page.locator("html").getAttribute("data-theme")).toBe("light");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "End" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "End it" }).focus();
    await page.keyboard.press("Enter");
    await page.locator(".row", { hasText: "job=watched" }).waitFor({ state: "detached" });
    expect((await served.call("GET", `/api/sandbox/${id}`)).body).not.toMatchObject({ state: "running" });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it("stands in the history with its verdict, its result and its log", async () => {
    const id = await startProgram(served, "import sys\nprint('said')\nsys.exit(3)", { labels: { job: "failing" } });
    await ended(id);
    const { page, problems } = await open({ viewport: { width: 400, height: 800 } });
    await page.keyboard.press("2");
    const row = page.locator(".row", { hasText: "job=failing" });
    await row.filter({ hasText: "Failed" }).filter({ hasText: "exit 3" }).click();
    await page.locator(".fact-table", { hasText: "exit code" }).waitFor();
    await page.keyboard.press("l");
    await lines(page).filter({ hasText: "said" }).waitFor();
    await page.keyboard.press("r");
    await page.locator(".output", { hasText: "said" }).waitFor();
    // Nothing is wider than the screen.
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(400);
    await page.keyboard.press("Escape");
    await row.waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

describe("a sandbox that does not exist", () => {
  it("is said to be none, instead of waited for", async () => {
    const { page } = await open();
    await page.evaluate('location.hash = "#/running/sbx-nothere"');
    await page.locator(".log-state.missing", { hasText: "No such log" }).waitFor();
    await page.getByRole("alert").filter({ hasText: "There is no log of a sandbox sbx-nothere." }).waitFor();
    expect(await page.getByText("Waiting for the sandbox").count()).toBe(0);
    await page.context().close();
  });
});

describe("hostile programs", () => {
  it("have their lines and labels shown as text, in their colours, with nothing hidden", async () => {
    const id = await startProgram(
      served,
      String.raw`print('<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>')
print('\x1b[31mred\x1b[0m \x1b]0;owned\x07\x1b[2Jplain')
print('see \u202etxt.exe and a\u200bb, nul \x00, line\u2028end')
print('javascript:document.title="owned" <a href="javascript:1">x</a>')`,
      { labels: { job: "<b id=owned>\u202efdp</b>" } },
    );
    await ended(id);
    const { page, problems } = await open({ fragment: `#token=${served.token}` });
    await page.evaluate(`location.hash = "#/history/${id}/log"`);
    await lines(page).filter({ hasText: '<img src=x onerror="document.title=' }).waitFor();
    expect(await page.locator(".log-row .ansi-red").allTextContents()).toEqual(["red"]);
    await lines(page)
      .filter({ hasText: /red plain$/ })
      .waitFor();
    await lines(page).filter({ hasText: "see U+202Etxt.exe and aU+200Bb, nul \u2400, lineU+2028end" }).waitFor();
    await page.locator(".detail-head .label", { hasText: "job=<b id=owned>U+202Efdp</b>" }).waitFor();
    await page.keyboard.press("r");
    await page.locator(".output pre", { hasText: "<script>" }).waitFor();
    expect(await page.locator("#console img, #console script, #owned, #console a:not([href^='#/'])").count()).toBe(0);
    expect(await page.title()).toBe("Glovebox");
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it("may name tests and files as they like: their failures are read as a tree", async () => {
    const project = path.join(projects, "odd");
    mkdirSync(project);
    const name = '<img src=x onerror="document.title=1"> \u202egnp';
    const code = `import { test } from "node:test"; import assert from "node:assert";
test("adds up", () => {}); test("sums", () => assert.equal(2, 3));
test(${JSON.stringify(name)}, () => assert.fail('</pre><script>document.title="owned"</script>'));`;
    writeFileSync(path.join(project, "javascript:alert(1).test.js"), code);
    const request = { project_path: project, test_command: "node --test" };
    const id = await startRun(served, "/api/sandbox/test", request);
    await ended(id);
    const { page, problems } = await open();
    await page.keyboard.press("2");
    await page.locator(".row", { hasText: id }).filter({ hasText: "Test run" }).click();
    await page.locator(".test-counts", { hasText: "1 passed" }).filter({ hasText: "2 failed" }).waitFor();
    const tree = page.locator(".tree");
    await tree.getByText("javascript:alert(1).test.js").first().waitFor();
    await tree.getByText('<img src=x onerror="document.title=1"> U+202Egnp').waitFor();
    await tree.getByText('</pre><script>document.title="owned"</script>').first().waitFor();
    expect(await tree.getByText("adds up").count()).toBe(0);
    await page.getByLabel("Only failures").uncheck();
    await tree.getByText("adds up").waitFor();
    await showsFromStore(id);
    expect(await page.locator("#console img, #console script, #console a:not([href^='#/'])").count()).toBe(0);
    expect(await page.title()).toBe("Glovebox");
    expect(problems).toEqual([]);
    await page.context().close();
  });

  // This test is the last one: its lines keep the store busy.
  it("may print a million lines and one of ten megabytes: the page holds few of them", async () => {
    const id = await startProgram(
      served,
      "import sys\nsys.stdout.write('x' * 10_000_000 + '\\n')\nfor n in range(10): sys.stdout.write(''.join(f'line {n * 100000 + m}\\n' for m in range(100000)))",
    );
    const { page, problems } = await open();
    await page.evaluate(`location.hash = "#/running/${id}/log"`);
    await ended(id);
    await page.locator(".log-state.ended").waitFor();
    await lines(page)
      .filter({ hasText: `sandbox ${id} removed` })
      .waitFor();
    expect(await lines(page).count()).toBeLessThan(200);
    // A live reader may miss what was gone before it arrived; the end is in memory.
    await page.reload();
    await lines(page).filter({ hasText: "line 999999" }).waitFor();
    expect(await lines(page).count()).toBeLessThan(200);
    expect(Number((await page.locator(".log-count").textContent())?.replaceAll(/\D/g, ""))).toBeGreaterThan(1_000_000);
    // Scrolls up, page by page.
    await page.locator(".log-lines").hover();
    await until(async () => {
      await page.mouse.wheel(0, -10_000);
      const [, number = ""] = /line (\d+)$/.exec((await lines(page).first().textContent()) ?? "") ?? [];
      return number !== "" && Number(number) < 998_000;
    });
    expect(await lines(page).count()).toBeLessThan(200);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
