import { expect, it, describe } from "vitest";
import { installLine, setupEnd, withSetupProcess } from "./host-tools.ts";

const systemWith =
  (...programs: readonly string[]) =>
  (program: string) =>
    programs.includes(program);

it.each([
  [["apt-get", "sudo"], "`sudo apt-get install bubblewrap`"],
  [["apt-get"], "`apt-get install bubblewrap`"],
  [["dnf", "sudo"], "`sudo dnf install bubblewrap`"],
  [["apk"], "`apk add bubblewrap`"],
  [["zypper", "sudo"], "`sudo zypper install bubblewrap`"],
  [["pacman", "sudo"], "`sudo pacman -S bubblewrap`"],
  [["sudo"], "Install the package bubblewrap."],
])("on a system with %j, %s", (programs, line) => {
  expect(installLine("bubblewrap", systemWith(...programs))).toBe(line);
});

it("names several packages in one line", () => {
  expect(installLine("bubblewrap util-linux", systemWith("apt-get", "sudo"))).toBe(
    "`sudo apt-get install bubblewrap util-linux`",
  );
  expect(installLine("bubblewrap util-linux", systemWith())).toBe("Install the packages bubblewrap util-linux.");
});

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
