import { spawnSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { projectFolder } from "../helpers/project-folder.ts";

/** What the gates read, and their configuration. */
const copied = ["src", "test", "scripts", "package.json", "*.config.ts", "tsconfig*.json", "knip.json", ".ox*rc.json"];

/** How a tool ended. */
export interface ToolRun {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A copy of the project with additional files, to see whether a gate finds them. */
export class PlantedProject implements Disposable {
  readonly folder: string = mkdtempSync(join(tmpdir(), "glovebox-gates-"));

  constructor(planted: Readonly<Record<string, string>>) {
    for (const name of globSync(copied, { cwd: projectFolder })) {
      cpSync(join(projectFolder, name), join(this.folder, name), { recursive: true });
    }
    symlinkSync(join(projectFolder, "node_modules"), join(this.folder, "node_modules"), "junction");
    for (const [path, text] of Object.entries(planted)) {
      mkdirSync(dirname(join(this.folder, path)), { recursive: true });
      writeFileSync(join(this.folder, path), text);
    }
  }

  run(command: string, args: readonly string[]): ToolRun {
    return runTool(this.folder, command, args);
  }

  [Symbol.dispose](): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Runs a tool of the development dependencies in a folder. */
export function runTool(folder: string, command: string, args: readonly string[]): ToolRun {
  const path = `${join(projectFolder, "node_modules", ".bin")}${delimiter}${process.env["PATH"] ?? ""}`;
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: folder,
    env: { ...process.env, PATH: path, NO_COLOR: "1" },
    encoding: "utf8",
    maxBuffer: 16 * 1024 * 1024,
    timeout: 280_000,
  });
  return { exitCode: status, stdout, stderr };
}
