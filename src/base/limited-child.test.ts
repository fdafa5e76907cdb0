import { describe, expect, it } from "vitest";
import { mebibyte } from "./bytes.ts";
import { limitedCommand, runLimitedChild, type LimitedChild } from "./limited-child.ts";

const child = (script: string, more: Partial<LimitedChild> = {}): LimitedChild => ({
  name: "The test",
  command: ["/bin/sh", "-c", script],
  environment: { PATH: "/usr/bin:/bin", GIVEN: "yes" },
  platform: process.platform,
  input: "",
  timeLimitMs: 20_000,
  memoryLimitBytes: 1024 * mebibyte,
  maxOutputBytes: 100,
  ...more,
});

describe("limitedCommand", () => {
  const limits = { command: ["/opt/esbuild", "--x=a b"], memoryLimitBytes: 2 * mebibyte, timeLimitMs: 1500 } as const;

  it.each(["linux", "darwin"] as const)("has a shell set the limits on %s", (platform) => {
    const [file, ...words] = limitedCommand({ ...limits, platform });
    expect([file, words[0], ...words.slice(2)]).toEqual([
      "/bin/sh",
      "-c",
      "sh",
      "2048",
      "2",
      "/opt/esbuild",
      "--x=a b",
    ]);
  });

  it("starts the program itself on Windows, which has no such limits", () => {
    const command = ["C:\\Program Files\\esbuild.exe", "--x=a b"] as const;
    expect(limitedCommand({ ...limits, command, platform: "win32" })).toEqual(command);
  });
});

describe.skipIf(process.platform === "win32")("runLimitedChild", () => {
  it("gives input, takes output, and hands on its environment only", async () => {
    const result = await runLimitedChild(child('cat; echo "$GIVEN$HOME" >&2; exit 3', { input: "text" }));
    expect(result).toMatchObject({ exitCode: 3, timedOut: false, stderr: "yes\n" });
    expect(Buffer.from(result.stdout).toString()).toBe("text");
  });

  it("sets its limits", async () => {
    const { stdout } = await runLimitedChild(child("ulimit -c; ulimit -t"));
    expect(Buffer.from(stdout).toString()).toBe("0\n20\n");
  });

  it.runIf(process.platform === "linux")("limits its memory", async () => {
    const { stdout } = await runLimitedChild(child("ulimit -v"));
    expect(Buffer.from(stdout).toString()).toBe("1048576\n");
  });

  it("ends it when it says too much, or its time has run out", async () => {
    const flood = await runLimitedChild(child("while :; do echo flood; done"));
    expect(flood).toMatchObject({ exitCode: null, timedOut: false });
    expect(flood.stdout).toHaveLength(100);
    expect(await runLimitedChild(child("exec sleep 60", { timeLimitMs: 50 }))).toMatchObject({ timedOut: true });
  });

  it("ends it when its caller gives up", async () => {
    const running = runLimitedChild(child("exec sleep 60"), AbortSignal.timeout(50));
    await expect(running).rejects.toMatchObject({ errorType: "CANCELLED" });
  });

  it("says when it cannot be started", async () => {
    const missing = child("", { command: ["/does/not/exist"] });
    expect(await runLimitedChild(missing)).toMatchObject({ exitCode: 127 });
    await expect(runLimitedChild({ ...missing, platform: "win32" })).rejects.toMatchObject({ errorType: "INTERNAL" });
  });
});
