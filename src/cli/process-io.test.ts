import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { buildProgram, runCommandLine } from "./process-io.ts";
import { commandTable } from "./command-table.ts";
import { commandNodes } from "./completion-command.ts";

const silent = new PassThrough();
const io = { stdin: silent, stdout: silent, stderr: silent, signal: new AbortController().signal, term: "" };
const program = await buildProgram(
  () => true,
  io,
  () => undefined,
);
const nodes = commandNodes(program);

/** All of a command's help, with what follows the lists. */
function helpOf(name: string): string {
  const command = name === "" ? program : program.commands.find((each) => each.name() === name);
  if (command === undefined) throw new Error(`No command ${name}.`);
  let text = "";
  command.configureOutput({ ...command.configureOutput(), writeOut: (more) => void (text += more) });
  command.outputHelp();
  return text;
}

describe("the program's help", () => {
  it("lists every command under a heading, and no other way", () => {
    const headings = [...helpOf("").matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual([
      "Options",
      "Run code in a sandbox",
      "Work with live sandboxes",
      "Serve agents and programs",
      "This machine",
      "Examples",
    ]);
    for (const { name } of commandTable) expect(helpOf("")).toMatch(new RegExp(`^  ${name} `, "m"));
    expect(helpOf("")).toMatch(/^Next: `glovebox doctor`/m);
  });
});

describe.each(commandTable)("the help of glovebox $name", ({ name, examples }) => {
  it("ends with examples and a next step", () => {
    expect(helpOf(name)).toMatch(/\n\nExamples?:\n(?: {2}.*\n)+\nNext: .*\.\n$/);
    expect(helpOf(name)).not.toContain("(default: [])");
  });

  it.each(examples)("has an example that exists: %s", (example) => {
    const words = example
      .replace(/^eval "\$\((.*)\)"$/, "$1")
      .replace(/ -- .*/, "")
      .split(" ")
      .slice(1);
    const named = nodes.findLast((node) => node.words.length > 0 && node.words.every((word, at) => words[at] === word));
    expect(named?.words[0]).toBe(name);
    const known = [...(named?.options ?? []), ...(named?.inherited ?? [])].flatMap(({ flags }) => flags.split(/[ ,]+/));
    for (const word of words.filter((each) => each.startsWith("-"))) expect(known).toContain(word);
  });
});

it("puts many options under headings, each once", () => {
  const text = helpOf("run");
  const headings = [...text.matchAll(/^(\S.*):$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(
    expect.arrayContaining(["Options", "Where it runs", "What it gets", "Limits", "What comes out"]),
  );
  for (const { long } of nodes.find(({ words }) => words.join() === "run")?.options ?? []) {
    expect([...text.matchAll(new RegExp(`^ {2}(?:-\\w, )?${long} `, "gm"))]).toHaveLength(1);
  }
});

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
