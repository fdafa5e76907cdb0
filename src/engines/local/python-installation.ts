import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { promisify } from "node:util";
import { isSystemPath } from "./bubblewrap/host-root.ts";

/** Where a host's Python lies; all paths are real ones. */
export interface PythonInstallation {
  readonly executable: string;
  /** Folders of the standard library: one, or two where native modules are apart; none of a Python of the system's. */
  readonly libraries: readonly string[];
  /** The shared library that the executable needs, unless it is part of the host's system. */
  readonly sharedLibrary: string | null;
}

export interface FindPythonOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly pythonPath?: string | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

const systemPython = "/usr/bin/python3";

/** Asks the interpreter itself, because what the PATH has may be a shim or a virtual environment. */
const question = `
import json, os, sys, sysconfig
places = {"base": sys.base_prefix, "installed_base": sys.base_prefix,
          "platbase": sys.base_exec_prefix, "installed_platbase": sys.base_exec_prefix}
value = sysconfig.get_config_var
shared = os.path.join(value("LIBDIR") or "", value("INSTSONAME") or "") if value("Py_ENABLE_SHARED") else ""
print(json.dumps({
  "executable": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
  "libraries": sorted({os.path.realpath(sysconfig.get_path(name, vars=places)) for name in ("stdlib", "platstdlib")}),
  "sharedLibrary": os.path.realpath(shared) if os.path.isfile(shared) else None,
}))
`;

const answerWithinMs = 10_000;

/** The host's Python, or null when it has none that answers. */
export async function findPython(options: FindPythonOptions): Promise<PythonInstallation | null> {
  const { pythonPath } = options;
  if (pythonPath === null) return null;
  const own = pythonPath === undefined ? systemExecutable() : null;
  // All of it lies in /usr: there is nothing to ask, which would take longer than a run.
  if (own !== null) return { executable: own, libraries: [], sharedLibrary: null };
  // Windows knows Python by the second name.
  for (const program of pythonPath === undefined ? ["python3", "python"] : [pythonPath]) {
    const found = await ask(program, options);
    if (found !== null) return found;
  }
  return null;
}

async function ask(program: string, { environment, signal }: FindPythonOptions): Promise<PythonInstallation | null> {
  try {
    const { stdout } = await promisify(execFile)(program, ["-I", "-c", question], {
      // Windows looks for a program there first.
      cwd: "/",
      env: { ...environment },
      timeout: answerWithinMs,
      ...(signal !== undefined && { signal }),
    });
    return JSON.parse(stdout) as PythonInstallation;
  } catch {
    // Missing, broken or older than Python 3: then there is none for us.
    return null;
  }
}

/** The Python that is part of the host's system, or null. */
function systemExecutable(): string | null {
  try {
    const path = realpathSync(systemPython);
    return isSystemPath(path) ? path : null;
  } catch {
    return null;
  }
}
