import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

/** A copy of the sources to which the recipes of docs/architecture.md are applied: what they add, and where a row goes. */
export class Checkout {
  readonly folder = mkdtempSync(path.join(tmpdir(), "glovebox-recipe-"));

  constructor() {
    for (const name of ["src", "images", "package.json"])
      cpSync(name, path.join(this.folder, name), { recursive: true });
    for (const name of ["node_modules", "supervisor"]) {
      symlinkSync(path.resolve(name), path.join(this.folder, name));
    }
  }

  add(file: string, text: string, mode = 0o644): void {
    const at = path.join(this.folder, file);
    mkdirSync(path.dirname(at), { recursive: true });
    writeFileSync(at, text, { mode });
  }

  /** Puts a row before the first one of a table, and its import at the top. */
  addRow(file: string, { after, row, imports = "" }: { after: string; row: string; imports?: string }): void {
    const at = path.join(this.folder, file);
    const text = readFileSync(at, "utf8");
    if (text.split(after).length !== 2) throw new Error(`${file} does not have its table as the recipe says.`);
    writeFileSync(at, `${imports}${text.replace(after, () => `${after}\n${row}`)}`);
  }

  /** Runs `glovebox` with these arguments and that input. */
  run(argv: readonly string[], input = ""): Promise<string> {
    return this.#node([path.join(this.folder, "src/cli/main.ts"), ...argv], input);
  }

  /** What a module prints that imports from these sources. */
  print(module: string): Promise<string> {
    return this.#node(["--input-type=module"], module);
  }

  async #node(argv: readonly string[], input: string): Promise<string> {
    const env = { PATH: process.env["PATH"], HOME: this.folder, NODE_NO_WARNINGS: "1" };
    const running = promisify(execFile)(process.execPath, argv, { cwd: this.folder, env, timeout: 60_000 });
    running.child.stdin?.end(input);
    return (await running).stdout;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
