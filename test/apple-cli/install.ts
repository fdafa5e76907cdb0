import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { DockerApi } from "./docker/docker-api.ts";
import { scopeFilter } from "./docker/marks.ts";
import { writeFault, type Fault } from "./state/faults.ts";
import { settingsFile, type Settings } from "./state/settings.ts";

export interface InstallOptions {
  /** Version whose behaviour it imitates; default `1.2.2`. */
  readonly version?: string;
  /** Docker underneath; default: `DOCKER_HOST`, else Docker's usual socket. */
  readonly dockerHost?: string;
}

/** A call that was made. */
export interface RecordedCall {
  readonly pid: number;
  /** The arguments after `container`. */
  readonly words: readonly string[];
}

/** How a call ended. */
export interface CallResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A stand-in for Apple's `container` command that remembers what a daemon would. */
export interface AppleCli extends AsyncDisposable {
  /** The executable. */
  readonly command: string;
  /** Folder of the executable; put it first on PATH. */
  readonly binFolder: string;
  /** Marks what it makes on Docker. */
  readonly scope: string;
  /** Imitates another version from the next call on. */
  become(version: string): Promise<void>;
  /** Switches a fault on, or with undefined switches the current one off. */
  fail(fault: Fault | undefined): void;
  /** Calls so far, oldest first. */
  calls(): Promise<readonly RecordedCall[]>;
  /** Makes a call, with empty input unless `input` is given. */
  call(words: readonly string[], input?: string): Promise<CallResult>;
  /** Removes everything that it has made on Docker, and its folder. */
  remove(): Promise<void>;
}

/** More output fails a call of `AppleCli.call`. */
const maxOutputBytes = 256 * 1024 ** 2;

const defaultDockerHost = "unix:///var/run/docker.sock";

/** Installs a stand-in into a new folder: one file that Node runs, so that each call starts quickly. */
export async function installAppleCli(options: InstallOptions = {}): Promise<AppleCli> {
  const folder = await mkdtemp(path.join(tmpdir(), "apple-cli-"));
  const binFolder = path.join(folder, "bin");
  const command = path.join(binFolder, "container");
  const settings: Settings = {
    version: options.version ?? "1.2.2",
    scope: randomBytes(4).toString("hex"),
    dockerHost: options.dockerHost ?? process.env["DOCKER_HOST"] ?? defaultDockerHost,
  };
  const write = (changed: Settings): Promise<void> =>
    writeFile(path.join(folder, settingsFile), JSON.stringify(changed));
  await mkdir(binFolder);
  await write(settings);
  await writeExecutable(command);
  const remove = async (): Promise<void> => {
    await removeAll(new DockerApi(settings.dockerHost), settings.scope);
    await rm(folder, { recursive: true, force: true });
  };
  return {
    command,
    binFolder,
    scope: settings.scope,
    become: (version) => write({ ...settings, version }),
    fail: (fault) => writeFault(folder, fault),
    calls: () => readCalls(folder),
    call: (words, input) => call(command, words, input),
    remove,
    [Symbol.asyncDispose]: remove,
  };
}

async function writeExecutable(file: string): Promise<void> {
  await build({
    entryPoints: [path.join(import.meta.dirname, "main.ts")],
    bundle: true,
    platform: "node",
    // As a module it would make Node load `fetch` with `node:http`, which takes half the time of a call.
    format: "cjs",
    target: "node24",
    banner: { js: `#!${process.execPath}` },
    outfile: file,
    logLevel: "error",
  });
  await chmod(file, 0o755);
}

async function readCalls(folder: string): Promise<readonly RecordedCall[]> {
  const text = await readFile(path.join(folder, "calls.jsonl"), "utf8").catch(() => "");
  const lines = text.split("\n").filter(Boolean);
  return lines.map((line) => JSON.parse(line) as RecordedCall);
}

async function call(command: string, words: readonly string[], input = ""): Promise<CallResult> {
  const running = promisify(execFile)(command, [...words], { maxBuffer: maxOutputBytes });
  running.child.stdin?.on("error", () => {
    // It ended without reading.
  });
  running.child.stdin?.end(input);
  try {
    return { exitCode: 0, ...(await running) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { exitCode: code, stdout, stderr };
  }
}

async function removeAll(api: DockerApi, scope: string): Promise<void> {
  const filters = scopeFilter(scope);
  const containers = await api.json<readonly { Id: string }[]>("GET", `/containers/json?all=1&filters=${filters}`);
  for (const { Id } of containers) await ignoreMissing(api.json("DELETE", `/containers/${Id}?force=true`));
  const volumes = await api.json<{ Volumes: readonly { Name: string }[] | null }>("GET", `/volumes?filters=${filters}`);
  for (const { Name } of volumes.Volumes ?? []) await ignoreMissing(api.json("DELETE", `/volumes/${Name}`));
  const networks = await api.json<readonly { Id: string }[]>("GET", `/networks?filters=${filters}`);
  for (const { Id } of networks) await ignoreMissing(api.json("DELETE", `/networks/${Id}`));
  const images = await api.json<readonly { RepoTags: readonly string[] | null }[]>("GET", "/images/json");
  const tags = images.flatMap(({ RepoTags }) => RepoTags ?? []).filter((tag) => tag.startsWith(`apple-cli-${scope}/`));
  for (const tag of tags) await ignoreMissing(api.json("DELETE", `/images/${encodeURIComponent(tag)}`));
}

async function ignoreMissing(work: Promise<unknown>): Promise<void> {
  await work.catch(() => undefined);
}
