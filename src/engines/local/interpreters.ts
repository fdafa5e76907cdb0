import { execFile } from "node:child_process";
import { realpathSync } from "node:fs";
import { promisify } from "node:util";
import { isSystemPath } from "./bubblewrap/host-root.ts";
import { basename, dirname } from "node:path";
import type { BunSource } from "./host-bun.ts";

/** Where a host's Python lies; all paths are real ones. */
interface PythonInstallation {
  readonly executable: string;
  /** Folders of the standard library: one, or two where native modules are apart; none of a Python of the system's. */
  readonly libraries: readonly string[];
  /** The shared library that the executable needs, unless it is part of the host's system. */
  readonly sharedLibrary: string | null;
}

interface FindPythonOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly pythonPath?: string | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

const systemPython = "/usr/bin/python3";

/** Asks the interpreter itself, because what the PATH has may be a shim or a virtual environment. */
const pythonQuestion = `
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

/** The host's Python, or null when it has none that answers. */
export async function findPython(options: FindPythonOptions): Promise<PythonInstallation | null> {
  const { pythonPath } = options;
  if (pythonPath === null) return null;
  const own = pythonPath === undefined ? systemExecutable() : null;
  // All of it lies in /usr: there is nothing to ask, which would take longer than a run.
  if (own !== null) return { executable: own, libraries: [], sharedLibrary: null };
  // Windows knows Python by the second name.
  for (const program of pythonPath === undefined ? ["python3", "python"] : [pythonPath]) {
    const found = await askPython(program, options);
    if (found !== null) return found;
  }
  return null;
}

/** Interpreters that are not part of the host's system, as they appear under /opt/glovebox, and how to use them. */
export interface Interpreters {
  /** Host paths, each with where it appears. */
  readonly binds: readonly { readonly source: string; readonly target: string }[];
  /** Symbolic links, each with its target as seen inside. */
  readonly links: readonly { readonly name: string; readonly target: string }[];
  /** Variables that they need. */
  readonly environment: Readonly<Record<string, string>>;
}

const nothing: Interpreters = { binds: [], links: [], environment: {} };

/** Where a Bun that may not be there yet appears under /opt/glovebox: its folder. */
const bunFolder = "bun";

/** The host's interpreters that sandboxes see; null for those it does not have. */
interface FoundInterpreters {
  readonly bun: BunSource | null;
  /** Real path of Node's executable. */
  readonly node: string | null;
  readonly python: PythonInstallation | null;
}

/**
 * Shows Bun as `bun`, Node as `node` and Python as `python3` and `python`, at neutral paths: no home folder can be seen
 * inside. Of a Python that is not the system's only its standard library (with its site-packages) and its executable appear.
 */
export function arrangeInterpreters({ bun, node, python }: FoundInterpreters): Interpreters {
  const parts = [arrangeBun(bun), arrangeNode(node), arrangePython(python)];
  return {
    binds: parts.flatMap(({ binds }) => binds),
    links: parts.flatMap(({ links }) => links),
    environment: Object.assign({}, ...parts.map(({ environment }) => environment)) as Interpreters["environment"],
  };
}

/** The host's Node. */
export interface NodeInstallation {
  readonly executable: string;
  /** `24.21.0`. */
  readonly version: string;
  /** Further options of this version that close a gap. */
  readonly options: readonly string[];
}

interface FindNodeOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly nodePath?: string | null | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Its databases open files by SQL, and its inspector listens when it is sent a signal. */
const wantedOptions = ["--no-experimental-sqlite", "--disable-sigusr1"];

/** Asks the interpreter itself, because what the PATH has may be a shim, another program of that name, or too old. */
const nodeQuestion = `
const has = (option) => process.allowedNodeEnvironmentFlags.has(option);
const isNode = process.versions.bun === undefined && has("--permission");
console.log(JSON.stringify(isNode ? { executable: process.execPath, version: process.versions.node, options: ${JSON.stringify(wantedOptions)}.filter(has) } : null));
`;

const answerWithinMs = 10_000;

/**
 * Executable of the Node that runs Glovebox, by its real path; where something else runs Glovebox, the one on the PATH.
 * Null when there is none. Asked only if its name does not already tell, because asking takes longer than many a
 * program.
 */
export async function findOwnNode(options: FindNodeOptions): Promise<string | null> {
  const { nodePath } = options;
  if (typeof nodePath === "string" && /^node(js)?$/.test(basename(nodePath))) {
    try {
      return realpathSync(nodePath);
    } catch {
      // It disappeared after it was started: another one may have taken its place.
    }
  }
  const found = await findNode(options);
  return found === null ? null : realpathSync(found.executable);
}

/** The host's Node with a permission model, or null when it has none that answers. */
export async function findNode(options: FindNodeOptions): Promise<NodeInstallation | null> {
  const { nodePath } = options;
  if (nodePath === null) return null;
  for (const program of new Set([nodePath ?? "node", "node"])) {
    const found = await askNode(program, options);
    if (found !== null) return found;
  }
  return null;
}

async function askNode(program: string, { environment, signal }: FindNodeOptions): Promise<NodeInstallation | null> {
  const { NODE_OPTIONS: _, ...rest } = environment;
  try {
    const { stdout } = await promisify(execFile)(program, ["-e", nodeQuestion], {
      // Windows looks for a program there first.
      cwd: "/",
      env: rest,
      timeout: answerWithinMs,
      ...(signal !== undefined && { signal }),
    });
    return JSON.parse(stdout) as NodeInstallation | null;
  } catch {
    // Missing, broken or something else: then there is none for us.
    return null;
  }
}

async function askPython(
  program: string,
  { environment, signal }: FindPythonOptions,
): Promise<PythonInstallation | null> {
  try {
    const { stdout } = await promisify(execFile)(program, ["-I", "-c", pythonQuestion], {
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

function arrangePython(python: PythonInstallation | null): Interpreters {
  if (python === null) return nothing;
  if (isSystemPath(python.executable)) return { ...nothing, links: pythonLinks(python.executable) };
  const name = basename(python.executable);
  const shared = python.sharedLibrary;
  const isOurs = shared !== null && !isSystemPath(shared);
  return {
    binds: [
      { source: python.executable, target: `python/bin/${name}` },
      ...python.libraries.map((source) => ({ source, target: `python/${libraryFolder(source)}` })),
      ...(isOurs ? [{ source: shared, target: `python/lib/${basename(shared)}` }] : []),
    ],
    links: pythonLinks(`/opt/glovebox/python/bin/${name}`),
    environment: isOurs ? { LD_LIBRARY_PATH: "/opt/glovebox/python/lib" } : {},
  };
}

/** Only the executable: nothing beside it, npm included. */
function arrangeNode(executable: string | null): Interpreters {
  if (executable === null) return nothing;
  if (isSystemPath(executable)) return { ...nothing, links: [{ name: "bin/node", target: executable }] };
  return { ...nothing, binds: [{ source: executable, target: "bin/node" }] };
}

function arrangeBun(found: BunSource | null): Interpreters {
  if (found === null) return nothing;
  if ("file" in found) return { ...nothing, binds: [{ source: found.file, target: "bin/bun" }] };
  return {
    ...nothing,
    binds: [{ source: found.folder, target: bunFolder }],
    links: [{ name: "bin/bun", target: `/opt/glovebox/${bunFolder}/bun` }],
  };
}

function pythonLinks(target: string): Interpreters["links"] {
  return ["bin/python3", "bin/python"].map((name) => ({ name, target }));
}

/** `lib/python3.11` or `lib64/python3.11`: where Python looks, seen from its executable. */
function libraryFolder(source: string): string {
  return `${basename(dirname(source))}/${basename(source)}`;
}
