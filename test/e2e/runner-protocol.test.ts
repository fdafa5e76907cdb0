import type { RuntimeName } from "../../src/languages/language-table.ts";
import { spawn, spawnSync } from "node:child_process";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it, type TestContext } from "vitest";
import { textBytes } from "../../src/base/streams/chunks.ts";
import {
  runnerCommand,
  readRunner,
  encodeJob,
  runnerFailedExitCode,
  runnerInput,
} from "../../src/workloads/program/runner-job.ts";
import { bunInterpreter, nodeInterpreter, pythonInterpreters, type Interpreter } from "./runners/interpreters.ts";
import { inFolder, runByRunner, sendToRunner, type Setting } from "./runners/run-program.ts";

const python: Interpreter = pythonInterpreters()[0] ?? { name: "Python", path: null };
const subjects: readonly (readonly [RuntimeName, Interpreter, string])[] = [
  ["python", python, "main.py"],
  ["node", nodeInterpreter(), "main.js"],
  ["bun", bunInterpreter(), "main.js"],
];
const hello: Readonly<Record<RuntimeName, string>> = {
  python: 'print("hello")',
  node: 'console.log("hello")',
  bun: 'console.log("hello")',
};

const copyInput = 'require("fs").writeSync(1, require("fs").readFileSync(0))';
const echo: Readonly<Record<RuntimeName, string>> = {
  python: "import sys; sys.stdout.write(sys.stdin.read())",
  node: copyInput,
  bun: copyInput,
};

describe.each(subjects)("the %s runner", (toolchain, { name, path }, mainFile) => {
  const settingOf = (context: TestContext): Setting =>
    path === null ? context.skip(`no ${name} on this machine`) : { toolchain, mainFile, interpreter: path };
  const jobWith = (folder: string, path: string): readonly Uint8Array[] =>
    encodeJob({
      main: mainFile,
      arguments: [],
      folder: join(folder, "w"),
      files: [mainFile, path].map((name) => ({ path: name, content: Buffer.from(hello[toolchain]) })),
    });

  it("ends quietly when no job comes", async (context) => {
    const setting = settingOf(context);
    expect(await inFolder((folder) => sendToRunner(folder, setting, []))).toEqual({
      exitCode: 0,
      signal: null,
      stdout: "",
      stderr: "",
    });
  });

  for (const [kind, text] of [
    ["no number", "hello\n"],
    ["an endless number", "1".repeat(50)],
    ["a header that is cut off", '50\n{"version":1,'],
    ["another version", '13\n{"version":2}'],
    ["no header", "5\nnever"],
    ["only a number", "5"],
  ] as const) {
    it(`refuses ${kind}`, async (context) => {
      const setting = settingOf(context);
      const run = await inFolder((folder) => sendToRunner(folder, setting, [Buffer.from(text)]));
      expect(run).toMatchObject({ exitCode: runnerFailedExitCode, stdout: "" });
      expect(run.stderr).toMatch(/^glovebox runner: [^\n]+\n$/);
    });
  }

  for (const odd of ["../escaped", "/tmp/glovebox-escaped", "a/../../escaped", "a//b", "./a", "a/", ""]) {
    it(`refuses the path ${JSON.stringify(odd)}`, async (context) => {
      const setting = settingOf(context);
      await inFolder(async (folder) => {
        const run = await sendToRunner(folder, setting, jobWith(folder, odd));
        expect(run).toMatchObject({ exitCode: runnerFailedExitCode, stdout: "" });
        expect(await readdir(join(folder, "w"))).toEqual([mainFile]);
        expect(await readdir(folder)).not.toContain("escaped");
      });
    });
  }

  it("refuses a path that comes twice", async (context) => {
    const setting = settingOf(context);
    await inFolder(async (folder) => {
      const run = await sendToRunner(folder, setting, jobWith(folder, mainFile));
      expect(run).toMatchObject({ exitCode: runnerFailedExitCode, stdout: "" });
    });
  });

  it("refuses a file that is cut off", async (context) => {
    const setting = settingOf(context);
    await inFolder(async (folder) => {
      const job = Buffer.concat(jobWith(folder, "other"));
      const run = await sendToRunner(folder, setting, [job.subarray(0, -1)]);
      expect(run).toMatchObject({ exitCode: runnerFailedExitCode, stdout: "" });
    });
  });

  it("places many and large files byte for byte", async (context) => {
    const setting = settingOf(context);
    await inFolder(async (folder) => {
      const text = "ü€\0\r\n".repeat(1_000_000);
      const files = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`d/${index}/f`, String(index)]));
      const run = await runByRunner(folder, setting, {
        code: hello[toolchain],
        files: { ...files, "big ü.txt": text, empty: "" },
      });
      expect(run).toMatchObject({ exitCode: 0, stdout: "hello\n", stderr: "" });
      expect(await readFile(join(folder, "w/big ü.txt"), "utf8")).toBe(text);
      expect(await readFile(join(folder, "w/d/99/f"), "utf8")).toBe("99");
      expect(await readFile(join(folder, "w/empty"), "utf8")).toBe("");
    });
  });

  it("places data that follows the files in many pieces, and leaves what comes after it to the program", async (context) => {
    const setting = settingOf(context);
    await inFolder(async (folder) => {
      const bytes = Buffer.alloc(2_500_001, "0123456789");
      const read = async function* (): AsyncGenerator<Uint8Array> {
        for (let at = 0; at < bytes.length; at += 700_000) yield bytes.subarray(at, at + 700_000);
      };
      const job = {
        main: mainFile,
        arguments: [],
        folder: join(folder, "w"),
        files: [{ path: mainFile, content: Buffer.from(echo[toolchain]) }],
        data: [
          { path: "d/large", sizeBytes: bytes.length, read },
          { path: "d/empty", sizeBytes: 0, read: () => textBytes("") },
        ],
      };
      const run = await sendToRunner(folder, setting, [await buffer(runnerInput(job, textBytes("input")))]);
      expect(run).toMatchObject({ exitCode: 0, stdout: "input", stderr: "" });
      expect(bytes.equals(await readFile(join(folder, "w/d/large")))).toBe(true);
      expect(await readFile(join(folder, "w/d/empty"), "utf8")).toBe("");
      const escaping = { ...job, data: [{ path: "../escaped", sizeBytes: 4, read: () => textBytes("data") }] };
      const refused = await sendToRunner(folder, setting, [await buffer(runnerInput(escaping, textBytes("")))]);
      expect(refused).toMatchObject({ exitCode: runnerFailedExitCode, stdout: "" });
      expect(await readdir(folder)).not.toContain("escaped");
    });
  });

  it("leaves nothing behind, except what Node's workers need", async (context) => {
    const setting = settingOf(context);
    await inFolder(async (folder) => {
      await runByRunner(folder, setting, { code: hello[toolchain] });
      expect((await readdir(folder, { recursive: true })).toSorted()).toEqual(
        [...(toolchain === "node" ? ["runner", "runner/runner.cjs"] : []), "w", `w/${mainFile}`].toSorted(),
      );
    });
  });

  it("waits for a job that comes in pieces over a pipe that does not block", async (context) => {
    const setting = settingOf(context);
    await inFolder(async (folder) => {
      const work = join(folder, "w");
      await mkdir(work);
      const pipe = join(folder, "pipe");
      expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
      const input = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
      const source = await readRunner(toolchain);
      const [program = "", ...rest] = runnerCommand({
        ...setting,
        source,
        folder: work,
        runnerFolder: join(folder, "runner"),
      });
      const child = spawn(program, rest, { cwd: work, stdio: [input, "pipe", "inherit"], timeout: 30_000 });
      let stdout = "";
      child.stdout?.setEncoding("utf8").on("data", (text: string) => (stdout += text));
      const { promise: exit, resolve } = Promise.withResolvers<number | null>();
      child.once("close", resolve);
      const job = Buffer.concat(jobWith(folder, "other"));
      let start = 0;
      for (const end of [1, 3, 40, job.length - 5, job.length]) {
        await wait(50);
        start += writeSync(input, job.subarray(start, end));
      }
      expect(await exit).toBe(0);
      expect(stdout).toBe("hello\n");
      closeSync(input);
      await rm(pipe);
    });
  });
});
