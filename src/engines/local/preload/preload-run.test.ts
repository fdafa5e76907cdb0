import { describe, expect, it } from "vitest";
import { apartOn, PreloadRun } from "./preload-run.ts";

describe("a guarded program", () => {
  it.each(["linux", "darwin"] as const)("leads a group and a session of its own on %s", (platform) => {
    expect(apartOn(platform)).toEqual({ detached: true, windowsHide: true });
  });

  it("has no window on Windows, and no console of its own", () => {
    expect(apartOn("win32")).toEqual({ detached: false, windowsHide: true });
  });

  it.each(["linux", "darwin", "win32"] as const)("that is missing ends as shells say it, on %s", async (platform) => {
    const run = new PreloadRun({
      platform,
      command: ["/nowhere/glovebox-absent"],
      environment: {},
      workingDirectory: "/",
      streams: null,
    });
    expect(await run.ended).toEqual({ exitCode: 127 });
  });
});
