import { expect, test } from "vitest";
import { openBrowser } from "../helpers/browser.ts";
import { serveGlovebox } from "../helpers/served-glovebox.ts";

test("the page about the API shows every route in a browser and runs nothing", async (context) => {
  await using browser = await openBrowser(context);
  await using server = await serveGlovebox();
  const page = await browser.newPage();
  const problems: string[] = [];
  page.on("console", (message) => problems.push(message.text()));
  page.on("pageerror", (error) => problems.push(error.message));
  await page.goto(`${server.url}/docs`);
  await expect.poll(() => page.title()).toContain("Glovebox");
  const text = await page.locator("body").innerText();
  expect(text).toContain("/api/sandbox/execute");
  expect(await page.locator("script").count()).toBe(0);
  // The browser itself asks for the icon.
  expect(problems.filter((problem) => !problem.includes("404"))).toEqual([]);
}, 120_000);
