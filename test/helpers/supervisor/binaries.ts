import { spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "../project-folder.ts";
import { systemLinks } from "./supervised.ts";

const flags = [
  "-D_GNU_SOURCE",
  "-std=c17",
  "-Wall",
  "-Wextra",
  "-Werror",
  "-Wno-address-of-packed-member",
  "-O1",
  "-g",
];

/** Why supervisors cannot be started here, for a visible skip; undefined if they can. */
export function whyNoSupervisor(): string | undefined {
  if (process.platform !== "linux") return "the supervisor runs on Linux";
  if (spawnSync("gcc", ["--version"]).status !== 0) return "there is no gcc";
  // Not all of "/": what engines mount and unmount beneath it is in the way.
  const namespaces = ["--unshare-pid", "--unshare-net", "--ro-bind", "/usr", "/usr", ...systemLinks, "--proc", "/proc"];
  const probe = spawnSync("bwrap", [...namespaces, "true"]);
  return probe.status === 0
    ? undefined
    : `bubblewrap cannot make namespaces: ${probe.stderr?.toString() ?? "not found"}`;
}

/** The supervisor with both sanitizers, built once for each state of its sources. */
export function sanitizedSupervisor(): string {
  return build("supervisor", supervisorSources(), ["-DTEST_SWITCHES", ...sanitizers]);
}

/** A program that gives the supervisor many inputs, with both sanitizers: test/fixtures/supervisor/fuzz.c. */
export function fuzzedSupervisor(): string {
  const sources = [...supervisorSources(), "test/fixtures/supervisor/fuzz.c"];
  return build("fuzz", sources, ["-DTEST_SWITCHES", ...sanitizers], "-Dmain=supervisor_main");
}

const sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

function supervisorSources(): readonly string[] {
  return globSync("supervisor/*.{c,h}", { cwd: projectFolder }).toSorted();
}

/** The program with the ways of getting away. */
export function hostileProgram(): string {
  return build("hostile", ["test/fixtures/supervisor/hostile.c"], ["-static", "-pthread", "-Wno-error"]);
}

const cache = join(projectFolder, "node_modules/.cache/supervisor");

/** Builds a program, unless these very sources were built before. One process does it, the others wait for it. */
function build(name: string, sources: readonly string[], options: readonly string[], first = ""): string {
  const headers = sources.filter((source) => source.endsWith(".h"));
  const objects = sources
    .filter((source) => source.endsWith(".c"))
    .map((source) => {
      // The option that renames main is for one file.
      const own = [...flags, ...options, ...(source.endsWith("/main.c") && first !== "" ? [first] : [])];
      return { source, own, object: join(cache, `${hashOf(own, [source, ...headers])}.o`) };
    });
  const key = createHash("sha256").update([name, ...options, ...objects.map(({ object }) => object)].join("\n"));
  const binary = join(cache, key.digest("hex").slice(0, 16), name);
  if (existsSync(binary)) return binary;
  mkdirSync(join(binary, ".."), { recursive: true });
  using lock = new BuildLock();
  if (existsSync(binary)) return binary;
  for (const { source, own, object } of objects) {
    lock.touch();
    if (!existsSync(object)) make(object, [...own, "-c", source]);
  }
  make(binary, [...options, ...objects.map(({ object }) => object)]);
  return binary;
}

function make(target: string, options: readonly string[]): void {
  const made = `${target}-${randomUUID()}`;
  const run = spawnSync("gcc", ["-o", made, ...options], { cwd: projectFolder, encoding: "utf8" });
  if (run.status !== 0) throw new Error(`gcc failed: ${run.stderr}`);
  renameSync(made, target);
}

function hashOf(options: readonly string[], files: readonly string[]): string {
  const hash = createHash("sha256").update(options.join(" "));
  for (const file of files) hash.update(readFileSync(join(projectFolder, file)));
  return hash.digest("hex").slice(0, 16);
}

/** One builder at a time: the machine has little enough. One that has not moved for a minute is gone. */
class BuildLock implements Disposable {
  readonly #folder = join(cache, "building");

  constructor() {
    for (;;) {
      try {
        mkdirSync(this.#folder);
        return;
      } catch {
        const age = Date.now() - (statSync(this.#folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now());
        if (age > 60_000) rmSync(this.#folder, { recursive: true, force: true });
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
      }
    }
  }

  touch(): void {
    const now = new Date();
    utimesSync(this.#folder, now, now);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
