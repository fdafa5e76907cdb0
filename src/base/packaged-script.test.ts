import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { readPackagedScript, unixLines } from "./packaged-script.ts";

it("reads a script that was checked out on Windows as Linux needs it", async () => {
  const folder = mkdtempSync(path.join(tmpdir(), "glovebox-script-"));
  try {
    const file = path.join(folder, "entry point.sh");
    writeFileSync(file, "#!/bin/sh\r\nset -e\r\nexec true\r\n");
    expect(await readPackagedScript(pathToFileURL(file))).toBe("#!/bin/sh\nset -e\nexec true\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

it("leaves every other byte alone", () => {
  expect(unixLines("a\rb\n\tc\\r\\n\n")).toBe("a\rb\n\tc\\r\\n\n");
});
