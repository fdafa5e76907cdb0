import { type RuntimeName, runtimeOf } from "../../../src/languages/language-table.ts";
import { spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runnerCommand, readRunner, encodeJob, type RunnerFile } from "../../../src/workloads/program/runner-job.ts";
import type { Program } from "./program.ts";

/** An interpreter on this machine and what it should run. */
export interface Setting {
  readonly toolchain: RuntimeName;
  /** Path of the interpreter. */
  readonly interpreter: string;
  readonly mainFile: string;
}

export interface Run {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `use` with a new folder that has an empty working folder `w`, and removes it. */
export async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), "glovebox-runners-"));
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The result when the bare interpreter runs the program's files in the folder's `w`. */
export async function runNatively(folder: string, setting: Setting, program: Program): Promise<Run> {
  const work = await emptyWorkFolder(folder);
  for (const [path, text] of Object.entries({ [setting.mainFile]: program.code, ...program.files })) {
    const target = join(work, path);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
    await chmod(target, 0o444);
  }
  const options = setting.toolchain === "bun" ? ["--no-install"] : [];
  const command = [setting.interpreter, ...options, join(work, setting.mainFile), ...(program.arguments ?? [])];
  return run(command, { cwd: work, input: [Buffer.from(program.stdin ?? "")], setting, program });
}

/** The result for the same files, sent to the runner over its standard input, in the same folder. */
export async function runByRunner(
  folder: string,
  setting: Setting,
  program: Program,
  compiled: Readonly<Record<string, string>> = {},
): Promise<Run> {
  const work = await emptyWorkFolder(folder);
  const command = runnerCommand({
    ...setting,
    source: await readRunner(setting.toolchain),
    folder: work,
    runnerFolder: join(folder, "runner"),
  });
  const files = Object.entries({ [setting.mainFile]: program.code, ...program.files }).map(
    ([path, text]): RunnerFile => ({
      path,
      content: Buffer.from(text),
      ...(compiled[path] === undefined ? {} : { compiled: Buffer.from(compiled[path]) }),
    }),
  );
  const job = encodeJob({ main: setting.mainFile, arguments: program.arguments ?? [], files, folder: work });
  return run(command, { cwd: work, input: [...job, Buffer.from(program.stdin ?? "")], setting, program });
}

/** Sends raw bytes to a runner. */
export async function sendToRunner(folder: string, setting: Setting, input: readonly Uint8Array[]): Promise<Run> {
  const work = await emptyWorkFolder(folder);
  const command = runnerCommand({
    ...setting,
    source: await readRunner(setting.toolchain),
    folder: work,
    runnerFolder: join(folder, "runner"),
  });
  return run(command, { cwd: work, input, setting, program: { code: "" } });
}

async function emptyWorkFolder(folder: string): Promise<string> {
  for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true, force: true });
  const work = join(folder, "w");
  await mkdir(work);
  return work;
}

interface Start {
  readonly cwd: string;
  readonly input: readonly Uint8Array[];
  readonly setting: Setting;
  readonly program: Program;
}

async function run(command: readonly string[], { cwd, input, setting, program }: Start): Promise<Run> {
  const [file = "", ...rest] = command;
  const child = spawn(file, rest, {
    cwd,
    env: { PATH: "/usr/bin:/bin", HOME: cwd, ...runtimeOf(setting.toolchain).environment, ...program.environment },
    timeout: 60_000,
    killSignal: "SIGKILL",
  });
  child.stdin.on("error", () => {
    // A program may end before it has read its whole input.
  });
  for (const piece of input) child.stdin.write(piece);
  child.stdin.end();
  const text = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text.stdout += chunk));
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => (text.stderr += chunk));
  const { promise, resolve, reject } = Promise.withResolvers<Run>();
  child.once("error", reject);
  child.once("close", (exitCode, signal) => {
    resolve({ exitCode, signal, stdout: withoutAddresses(text.stdout), stderr: withoutAddresses(text.stderr) });
  });
  return promise;
}

/** Addresses of objects and threads differ from run to run. */
function withoutAddresses(text: string): string {
  return text.replaceAll(/0x[0-9a-f]{6,}/g, "0x");
}
