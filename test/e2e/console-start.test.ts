import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openBrowser } from "../helpers/browser.ts";
import { openConsole } from "../helpers/console-scene.ts";
import { startKeyServer } from "../helpers/key-server.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { serveGlovebox, type ServedGlovebox } from "../helpers/served-glovebox.ts";

const run = promisify(execFile);
const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-start-"));
let served: ServedGlovebox;
let browser: Browser | undefined;
useGlovebox("local");
beforeAll(async () => {
  served = await serveGlovebox();
  // Stands in for an agent's program: it writes down what it is told.
  writeFileSync(path.join(folder, "claude"), `#!/bin/sh\nprintf '%s\\n' "$@" >"$TOLD"\n`, { mode: 0o755 });
});
beforeEach(async (context) => {
  browser ??= await openBrowser(context);
});
afterAll(async () => {
  await browser?.close();
  await served?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** What a button of the page puts on the clipboard. */
async function copied(page: Page, label: string): Promise<string> {
  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  const button = page.getByRole("button", { name: label });
  await button.focus();
  await page.keyboard.press("Enter");
  await page.getByRole("status").filter({ hasText: "Copied" }).first().waitFor();
  return page.evaluate("navigator.clipboard.readText()");
}

/** Runs a line as a shell that somebody pasted it into. */
async function paste(line: string, variables: Readonly<Record<string, string>>): Promise<string> {
  const PATH = `${folder}:${process.env["PATH"] ?? ""}`;
  return (await run("sh", ["-c", line], { env: { PATH, HOME: folder, ...variables } })).stdout;
}

/** The names of the tools of a server as a client finds it that was told of it by such a line. */
async function toolsAfter(line: string, variables: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const TOLD = path.join(folder, "told");
  await paste(line, { ...variables, TOLD });
  const words = readFileSync(TOLD, "utf8").trim().split("\n");
  expect(words.slice(0, 5)).toEqual(["mcp", "add", "--transport", "http", "glovebox"]);
  expect(words[6]).toBe("--header");
  const [, name = "", value = ""] = /^([^:]+): (.*)$/.exec(words[7] ?? "") ?? [];
  const client = new Client({ name: "test", version: "1" });
  const requestInit = { headers: { [name]: value } };
  await client.connect(new StreamableHTTPClientTransport(new URL(words[5] ?? ""), { requestInit }));
  const { tools } = await client.listTools();
  await client.close();
  return tools.map((tool) => tool.name);
}

describe("an empty console", () => {
  it("has lines that work as they are pasted: with the user's token", async () => {
    const { page, problems } = await openConsole(browser!, served);
    const variables = { XDG_CONFIG_HOME: path.join(served.home, "config") };
    const curl = await copied(page, "Copy the curl line");
    expect(curl).toContain(served.url);
    expect(curl).not.toContain(served.token);
    expect(JSON.parse(await paste(curl, variables))).toMatchObject({ outcome: "completed", stdout: "42\n" });
    expect(await toolsAfter(await copied(page, "Copy the MCP line"), variables)).toContain("execute_code");
    await page.keyboard.press("2");
    await page.locator(".row", { hasText: "first-run" }).filter({ hasText: "print(6 * 7)" }).waitFor();
    expect(await page.getByRole("button", { name: "Copy the curl line" }).count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it("has lines for an API key where it was opened with one", async () => {
    await using server = await startKeyServer();
    const key = await server.addKey("ann");
    const place = { ...served, url: server.url };
    const { page } = await openConsole(browser!, place, { fragment: `#token=${key.text}` });
    await page.locator(".hint:visible", { hasText: "Put your API key into the variable GLOVEBOX_KEY" }).waitFor();
    const curl = await copied(page, "Copy the curl line");
    expect(curl).not.toContain(key.text);
    expect(JSON.parse(await paste(curl, { GLOVEBOX_KEY: key.text }))).toMatchObject({ stdout: "42\n" });
    const mcp = await copied(page, "Copy the MCP line");
    expect(await toolsAfter(mcp, { GLOVEBOX_KEY: key.text })).toContain("execute_code");
    await page.context().close();
  });

  it("copies without the newer clipboard, which pages of other machines do not have, and on a phone", async () => {
    const { page, problems } = await openConsole(browser!, served, { viewport: { width: 360, height: 740 } });
    await page.route(/\/api\/sandbox(\?.*)?$/, (route) => route.fulfill({ json: { sandboxes: [] } }));
    await page.evaluate("navigator.clipboard.writeText = undefined");
    const curl = await copied(page, "Copy the curl line");
    expect(curl).toMatch(/^curl -sS http:\S+\/api\/sandbox\/execute \\\n/);
    // The button keeps the focus, and the page its width.
    await page.getByRole("button", { name: "Copy the curl line" }).and(page.locator(":focus")).waitFor();
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(360);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
