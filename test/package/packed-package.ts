import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { projectFolder } from "../helpers/project-folder.ts";

/** The part of package.json that is read here. */
interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
  readonly bin: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, unknown>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
}

const installed = (name: string): string => join(projectFolder, "node_modules", name);

/** Runs a program to its end. @throws Error with its output when it fails */
export function run(program: string, args: readonly string[], cwd: string = projectFolder): string {
  const shell = process.platform === "win32";
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: "utf8", shell });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}:\n${stdout}${stderr}`);
  return stdout;
}

/** What `npm pack` reports. */
interface PackReport {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Parts of the project's folder that no build needs. */
const notCopied: readonly string[] = [".git", "dist", "node_modules"];

/**
 * Makes npm's archive of the project in the folder. It is built in a copy: a build removes `dist`, and others may pack
 * at the same time.
 */
export function packInto(folder: string): PackReport {
  const copy = mkdtempSync(join(tmpdir(), "glovebox-built-"));
  try {
    const leftOut = new Set(notCopied.map((name) => join(projectFolder, name)));
    cpSync(projectFolder, copy, { recursive: true, filter: (path) => !leftOut.has(path) });
    symlinkSync(join(projectFolder, "node_modules"), join(copy, "node_modules"), "junction");
    return packCopy(copy, folder);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function packCopy(copy: string, folder: string): PackReport {
  const output = run("npm", ["pack", "--json", "--pack-destination", folder], copy);
  // The build that npm runs first may print something too; the report starts on a new line.
  const [report] = JSON.parse(output.slice(output.search(/^\[/m))) as [PackReport];
  return report;
}

/** What npm would publish, and a fresh project in which it is installed with its own dependencies only. */
export class PackedPackage implements Disposable {
  readonly manifest: Manifest = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8")) as Manifest;
  /** The fresh project. */
  readonly consumer: string = mkdtempSync(join(tmpdir(), "glovebox-package-"));
  /** The package as installed there. */
  readonly folder: string = join(this.consumer, "node_modules", "glovebox");
  /** Paths of the published files. */
  readonly files: readonly string[];

  constructor() {
    try {
      this.files = this.#install();
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** Subpaths that users import. */
  get subpaths(): readonly string[] {
    return Object.keys(this.manifest.exports).filter((name) => !name.endsWith(".json"));
  }

  [Symbol.dispose](): void {
    rmSync(this.consumer, { recursive: true, force: true });
  }

  #install(): readonly string[] {
    const report = packInto(this.consumer);
    writeFileSync(join(this.consumer, "package.json"), JSON.stringify({ private: true, type: "module" }));
    mkdirSync(this.folder, { recursive: true });
    run("tar", ["-xzf", join(this.consumer, report.filename), "--strip-components=1", "-C", this.folder]);
    const { dependencies, optionalDependencies } = this.manifest;
    // Of the packages for each platform, npm has installed the one for this machine.
    const optional = Object.keys(optionalDependencies).filter((name) => existsSync(installed(name)));
    for (const name of [...Object.keys(dependencies), ...optional]) this.#link(name);
    return report.files.map((file) => file.path);
  }

  #link(name: string): void {
    const link = join(this.consumer, "node_modules", name);
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(installed(name), link, "junction");
  }
}
