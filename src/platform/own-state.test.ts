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
    await openOwnState({ stateDirectory, uid, environment: {} });
    expect(statSync(stateDirectory).isDirectory()).toBe(true);
  });

  it.each([
    [
      {},
      "in the home folder (HOME): it is not a folder.",
      "Set HOME, or XDG_STATE_HOME for this folder alone, to a folder",
    ],
    [{ XDG_STATE_HOME: "state" }, "in the home folder (HOME): ", "Set HOME, or "],
    [{ XDG_STATE_HOME: "/s" }, "in the folder that XDG_STATE_HOME names: it is not a folder.", "Set it to a folder"],
  ])("says why it cannot be made with %j and what to set, and names no path", async (environment, why, remedy) => {
    writeFileSync(path.join(folder, "home"), "");
    const opening = openOwnState({ stateDirectory: path.join(folder, "home", "state"), uid, environment });
    const error = await opening.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      errorType: "PERMISSION_DENIED",
      message: expect.stringContaining(why) as string,
      suggestion: expect.stringContaining(remedy) as string,
    });
    expect(String(error)).not.toContain(folder);
  });
});
