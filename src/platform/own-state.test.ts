import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openOwnState } from "./own-state.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe("openOwnState", () => {
  const uid = process.getuid?.() ?? null;

  it("makes the folder for this user alone", async () => {
    const stateDirectory = path.join(folder, "a", "glovebox");
    await openOwnState({ stateDirectory, uid });
    expect(statSync(stateDirectory).isDirectory()).toBe(true);
  });

  it("says what to set where it cannot be made, and names no path", async () => {
    writeFileSync(path.join(folder, "home"), "");
    const opening = openOwnState({ stateDirectory: path.join(folder, "home", "state"), uid });
    await expect(opening).rejects.toMatchObject({
      errorType: "PERMISSION_DENIED",
      message: expect.not.stringContaining(folder) as string,
      suggestion: "Set XDG_STATE_HOME to a folder that this user can write to.",
    });
  });
});
