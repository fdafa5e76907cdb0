import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { runCommandLine } from "./command-line.ts";

/** What a command line says on stderr, and its exit code. */
async function said(...argv: readonly string[]): Promise<{ readonly exitCode: number; readonly stderr: string }> {
  let stderr = "";
  const sink = (take: (text: string) => void): PassThrough => {
    const stream = new PassThrough();
    stream.on("data", (bytes) => take(String(bytes)));
    return stream;
  };
  const io = {
    stdin: new PassThrough(),
    stdout: sink(() => undefined),
    stderr: sink((text) => (stderr += text)),
    signal: new AbortController().signal,
    term: "",
  };
  const exitCode = await runCommandLine(argv, io);
  await new Promise(setImmediate);
  return { exitCode, stderr };
}

describe("a command line that does not fit", () => {
  it.each([
    [["run", "--bad", "x"], "--bad: unknown option.", "`glovebox run --help` lists what it takes."],
    [["run", "--langage", "py"], "--langage: unknown option (did you mean --language?).", "`glovebox run --help`"],
    [["walk"], "walk: unknown command.", "`glovebox --help` lists the commands."],
    [["rum"], "rum: unknown command (did you mean rm, run?).", "`glovebox --help` lists the commands."],
    [["mcp", "instal"], "instal: expected 0 arguments, got 1.", "`glovebox mcp --help` lists the commands."],
    [["exec"], "ID: expected an argument, got nothing.", "`glovebox exec --help`"],
    [["run", "--engine"], "--engine: expected a value, got nothing.", "`glovebox run --help`"],
    [["logs", "--stream", "x"], '--stream: expected one of stdout, stderr, system, got "x".', "`glovebox logs --help`"],
    [["ps", "a", "b"], "a b: expected 0 arguments, got 2.", "`glovebox ps --help`"],
    [["completion", "tcsh"], 'SHELL: expected one of bash, zsh, fish, got "tcsh".', "`glovebox completion --help`"],
    [["run", "--memory", "much", "-c", "1"], "--memory: expected ", "`glovebox run --help` lists what it takes."],
    [["run"], 'FILE: expected a file, "-" for standard input, or -c CODE, got nothing.', "`glovebox run --help`"],
  ])("is told in the one style: %j", async (argv, what, advice) => {
    const { exitCode, stderr } = await said(...argv);
    expect(exitCode).toBe(2);
    const [first = "", second = "", ...more] = stderr.split("\n");
    expect(first).toContain(`glovebox: INVALID_REQUEST: ${what}`);
    expect(second).toContain(`  ${advice}`);
    expect(more).toEqual([""]);
  });
});
