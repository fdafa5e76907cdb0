import { accessSync, constants } from "node:fs";
import path from "node:path";
import { chromium, type Browser } from "playwright-core";
import type { TestContext } from "vitest";
import { skipOrFail } from "./require.ts";

/** The names that distributions give to Chromium's program. */
const names = ["chromium", "chromium-browser", "google-chrome"];

/** A headless Chromium for one test; ends the test if there is none. Close it with `await using`. */
export function openBrowser(context: TestContext): Promise<Browser> {
  const executablePath = names.map(findProgram).find((file) => file !== undefined);
  if (executablePath === undefined) skipOrFail(context, "chromium", `none of ${names.join(", ")} is on the PATH`);
  // Chromium's own sandbox refuses to run as root. The pages come from the tests.
  const args = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"];
  return chromium.launch({ executablePath, args, timeout: 60_000 });
}

function findProgram(name: string): string | undefined {
  for (const folder of (process.env["PATH"] ?? "").split(path.delimiter)) {
    const file = path.join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}
