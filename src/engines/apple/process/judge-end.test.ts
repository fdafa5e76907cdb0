import { describe, expect, it } from "vitest";
import { judgeEnd, type EndOf } from "./judge-end.ts";

const of = (alive: boolean, endedByUs = false): EndOf => ({
  command: ["prog", "argument"],
  isEndedByUs: () => endedByUs,
  isAlive: async () => alive,
});
const notRunning = "container sb-1 is not running";
const interrupted = 'interrupted: "XPC connection error: Connection interrupted"';
const missing = 'failed to start process 1 in container sb-1 (cause: "failed to find target executable prog")';

describe("judgeEnd", () => {
  it.each([0, 1, 3, 64, 126, 127, 143])("exit code %d is the program's own", async (exitCode) => {
    expect(await judgeEnd({ exitCode, words: null }, of(false))).toEqual({ exitCode });
  });

  it.each([
    [missing, 127, "prog: not found"],
    ['failed to start process 1 in container sb-1 (cause: "permission denied")', 126, "prog: permission denied"],
    ["failed to start process 1 in container sb-1 (cause: \"path '/Users/me' ...\")", 126, "prog: cannot be started"],
  ])("a program that was never started: %s", async (words, exitCode, failure) => {
    expect(await judgeEnd({ exitCode: 1, words }, of(true))).toEqual({ exitCode, failure });
  });

  it.each([
    [137, null],
    [255, null],
    [null, null],
    [1, notRunning],
    [1, interrupted],
  ])("exit code %s with the words %s of a container that is gone is a loss", async (exitCode, words) => {
    await expect(judgeEnd({ exitCode, words }, of(false))).rejects.toMatchObject({ errorType: "SANDBOX_LOST" });
    expect(await judgeEnd({ exitCode, words }, of(false, true))).toEqual({ exitCode: 137 });
  });

  it.each([
    [137, null],
    [255, null],
    [1, notRunning],
    [1, interrupted],
    [3, missing],
  ])(
    "exit code %s with the words %s, which a program wrote in a live container, is its own",
    async (exitCode, words) => {
      expect(await judgeEnd({ exitCode, words }, of(true))).toEqual({ exitCode });
    },
  );

  it("says so when nobody knows how a program ended", async () => {
    const lost = { errorType: "SANDBOX_LOST", message: expect.stringContaining("lost the end") };
    await expect(judgeEnd({ exitCode: null, words: null }, of(true))).rejects.toMatchObject(lost);
    const words = "failed to exec process CancellationError()";
    await expect(judgeEnd({ exitCode: 1, words }, of(true))).rejects.toMatchObject(lost);
    expect(await judgeEnd({ exitCode: 1, words }, { ...of(true), isKilled: () => true })).toEqual({ exitCode: 137 });
  });
});
