import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

/** An interpreter on this machine; the path is null if it is missing. */
export interface Interpreter {
  readonly name: string;
  readonly path: string | null;
}

/** The system's Python and those in GLOVEBOX_TEST_PYTHONS (comma-separated paths). */
export function pythonInterpreters(): readonly Interpreter[] {
  const more = (process.env["GLOVEBOX_TEST_PYTHONS"] ?? "").split(",").filter((path) => path !== "");
  return ["python3", ...more].map((command) => {
    // A version manager's shim is a shell script; the tests want what it starts.
    const asked = spawnSync(command, ["-c", "import sys; print(sys.executable, sys.version.split()[0])"], {
      encoding: "utf8",
    });
    const [path = "", version = command] = (asked.stdout ?? "").trim().split(" ");
    return { name: `Python ${version}`, path: asked.status === 0 ? path : null };
  });
}

/** The Node that runs the tests. */
export function nodeInterpreter(): Interpreter {
  return { name: `Node ${process.versions.node}`, path: process.execPath };
}

/** The Bun that comes with the package. */
export function bunInterpreter(): Interpreter {
  const path = join(dirname(createRequire(import.meta.url).resolve("bun/package.json")), "bin", "bun.exe");
  return { name: "Bun", path: existsSync(path) ? path : null };
}
