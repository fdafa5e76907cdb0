import { describe, expect, it } from "vitest";
import { setupEnd, withSetupProcess } from "./setup-process.ts";

describe.skipIf(process.platform === "win32")("a set-up process", () => {
  it("has done its work when its id is taken, and ends by itself then", async () => {
    const taken = await withSetupProcess({ file: "/bin/sh", args: ["-c", setupEnd] }, (processId) => {
      expect(() => process.kill(processId, 0)).not.toThrow();
      return processId;
    });
    expect(() => process.kill(taken, 0)).toThrow(/ESRCH/);
  });

  it("takes along what it started when it is given up", async () => {
    const stop = new AbortController();
    // The second process holds the streams, as one of bubblewrap's does that still waits for its parent.
    const script = "sleep 600 & wait";
    const given = withSetupProcess({ file: "/bin/sh", args: ["-c", script], signal: stop.signal }, () => null);
    setTimeout(() => stop.abort(), 200);
    await expect(given).rejects.toMatchObject({ errorType: "CANCELLED" });
  });

  it("fails with what it wrote", async () => {
    const args = ["-c", "echo no room >&2; exit 3"];
    await expect(withSetupProcess({ file: "/bin/sh", args }, () => null)).rejects.toThrow("no room");
  });
});
