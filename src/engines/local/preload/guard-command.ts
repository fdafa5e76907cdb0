import { readPackagedScript } from "../../../base/packaged-script.ts";
import { GloveboxError } from "../../../errors/glovebox-error.ts";
import { runnerOption } from "../../runner-option.ts";
import { join } from "node:path";
import { createId } from "../../../base/id.ts";
import type { HostProgram, ProgramRequest, ArrangeProgram } from "./host-program.ts";
import type { NodeInstallation } from "../interpreters.ts";
import { mebibyte } from "../../../base/bytes.ts";

/** Where each guard stands in a container's guard folder, and the parts of its text in this package's `images/preloads`. */
const guardFiles = {
  python: {
    folder: "python",
    name: "guard.py",
    parts: ["refusals.py", "paths.py", "files.py", "descriptors.py", "events.py", "unaudited.py", "start.py"],
  },
  node: { folder: "node", name: "preload.cjs", parts: ["preload.cjs"] },
} as const;

/**
 * Python finds it by its name; it gives the guard a name of its own, which tracebacks of refusals show in place of a
 * path. Python would report an error of it and go on without a guard.
 */
const pythonStarter: GuardText = {
  folder: guardFiles.python.folder,
  name: "sitecustomize.py",
  text: `try:
    with open(__file__.rpartition("sitecustomize")[0] + "${guardFiles.python.name}", encoding="utf-8") as _guard:
        _guard = compile(_guard.read(), "<glovebox>", "exec")
except BaseException as _error:
    import os
    os.write(2, ("glovebox preload: %r\\n" % _error).encode("utf-8", "replace"))
    os._exit(125)
exec(_guard)
`,
};

/** A guard's text and its place below the guard folder. */
export interface GuardText {
  readonly folder: string;
  readonly name: string;
  readonly text: string;
}

/** The guards' texts. */
export async function readGuards(): Promise<readonly GuardText[]> {
  const guards = Object.values(guardFiles).map(async ({ folder, name, parts }) => {
    const source = new URL(`../../../../images/preloads/${folder}/`, import.meta.url);
    const texts = await Promise.all(parts.map((part) => readPackagedScript(new URL(part, source))));
    return { folder, name, text: texts.join("\n") };
  });
  return [pythonStarter, ...(await Promise.all(guards))];
}

/** Which options of an interpreter leave its guard in place. */
interface GuardedOptions {
  readonly interpreter: string;
  /** Options without a value. */
  readonly plain: ReadonlySet<string>;
  /** Options after which nothing is an option of the interpreter any more: the program, or its name, follows. */
  readonly last: ReadonlySet<string>;
}

/** A command, apart from the text of the runner that it may begin with. */
interface CommandWithRunner {
  /** Empty for none. */
  readonly runner: string;
  /** What stands after the interpreter's name. */
  readonly rest: readonly string[];
}

/**
 * Takes the runner out of an interpreter's arguments.
 * @hostileText Exported for the test that feeds it.
 */
export function splitRunner(values: readonly string[]): CommandWithRunner {
  const [first = ""] = values;
  if (!first.startsWith(runnerOption)) return { runner: "", rest: values };
  return { runner: first.slice(runnerOption.length), rest: values.slice(1) };
}

const pythonOptions: GuardedOptions = {
  interpreter: "python3",
  plain: new Set(["-u", "-B", "-O", "-OO", "-q", "-b", "-bb", "-d", "-v"]),
  last: new Set(["-c", "-m"]),
};

/** Interpreters of the host that can be guarded; null for one that it has not. */
export interface GuardedInterpreters {
  /** Python's executable. */
  readonly python: string | null;
  readonly node: NodeInstallation | null;
}

/** Only programs that start with a guard run at all: every other program would have the whole host. */
export function guardCommand({ python, node }: GuardedInterpreters): ArrangeProgram {
  return (request) => {
    const [name = ""] = request.command;
    checkGuardEnvironment(request.environment);
    switch (name) {
      case "python":
      case "python3":
        if (python === null) throw missing("Python 3", "Install Python 3");
        return guardPython(python, request);
      case "node":
        if (node === null) throw missing("Node with a permission model", "Install Node 22.18 or newer");
        return guardNode(node, request);
      default:
        throw new GloveboxError(
          "UNSUPPORTED",
          `Isolation level preload runs Python and Node programs only, not ${JSON.stringify(name)}.`,
          {
            suggestion: "Write the program in Python, JavaScript or TypeScript, or use Docker or Podman.",
            context: { engine: "local", missing: "programs" },
          },
        );
    }
  };
}

/**
 * Variables that only change how an interpreter behaves. All its other variables would load code before the guard, or
 * write files behind its back.
 */
const harmless: ReadonlySet<string> = new Set([
  "PYTHONASYNCIODEBUG",
  "PYTHONBREAKPOINT",
  "PYTHONDEVMODE",
  "PYTHONDONTWRITEBYTECODE",
  "PYTHONFAULTHANDLER",
  "PYTHONHASHSEED",
  "PYTHONINTMAXSTRDIGITS",
  "PYTHONIOENCODING",
  "PYTHONNODEBUGRANGES",
  "PYTHONNOUSERSITE",
  "PYTHONOPTIMIZE",
  // Passed on by the guard once it is in place.
  "PYTHONPATH",
  "PYTHONSAFEPATH",
  "PYTHONTRACEMALLOC",
  "PYTHONUNBUFFERED",
  "PYTHONUTF8",
  "NODE_DEBUG",
  "NODE_DISABLE_COLORS",
  "NODE_ENV",
  "NODE_NO_WARNINGS",
  "NODE_PATH",
  "NODE_PENDING_DEPRECATION",
]);

/** Variables that interpreters, the dynamic linker or a library of theirs reads, whatever the case on Windows. */
const governing =
  /^(PYTHON|NODE_|LD_|DYLD_|GLIBC_TUNABLES$|GCONV_PATH$|OPENSSL_|SSLKEYLOGFILE$|__PYVENV_LAUNCHER__$|GLOVEBOX_PRELOAD$)/;

/** @throws UNSUPPORTED naming a variable by which the program could bypass its guard */
export function checkGuardEnvironment(environment: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(environment)) {
    const upper = name.toUpperCase();
    if (!governing.test(upper) || harmless.has(upper)) continue;
    throw new GloveboxError(
      "UNSUPPORTED",
      `environment.${name} is not accepted at isolation level preload: it governs the interpreter.`,
      {
        suggestion: "Leave the variable out, or use an engine with containers.",
        context: { engine: "local", field: `environment.${name}` },
      },
    );
  }
}

const nodeOptions: GuardedOptions = {
  interpreter: "node",
  plain: new Set(["--enable-source-maps", "--no-warnings", "--no-deprecation"]),
  last: new Set(["-e", "--eval", "-p", "--print"]),
};

/** V8's heap is less than all that Node uses; below this it does not start. */
const minHeapMib = 16;

/**
 * Starts Node with its permission model, which refuses files, processes, workers and native code by itself, and with our
 * guard for the rest.
 * @throws UNSUPPORTED for options that would leave the guard out
 */
function guardNode(node: NodeInstallation, request: ProgramRequest): HostProgram {
  const { runner, rest } = splitRunner(request.command.slice(1));
  checkOptions(rest, nodeOptions);
  const { writable, readable, guardFolder, memoryBytes, environment } = request;
  // Node looks for package.json beside what it loads, and looking there must be allowed.
  const ownFolder = join(guardFolder, guardFiles.node.folder);
  const heapMib = Math.max(minHeapMib, Math.floor(memoryBytes / mebibyte));
  return {
    file: node.executable,
    arguments: [
      "--permission",
      `--allow-fs-read=${ownFolder}`,
      ...readable.map((folder) => `--allow-fs-read=${folder}`),
      ...writable.flatMap((folder) => [`--allow-fs-read=${folder}`, `--allow-fs-write=${folder}`]),
      ...node.options,
      `--max-old-space-size=${heapMib}`,
      "--require",
      join(ownFolder, guardFiles.node.name),
      ...rest,
    ],
    environment: { ...environment, GLOVEBOX_PRELOAD: JSON.stringify({ runner }) },
    boundsData: false,
  };
}

/** @throws UNSUPPORTED for an option that could take the guard out */
function checkOptions(values: readonly string[], { interpreter, plain, last }: GuardedOptions): void {
  for (const value of values) {
    if (!value.startsWith("-") || value === "-" || last.has(value)) return;
    if (plain.has(value)) continue;
    throw new GloveboxError(
      "UNSUPPORTED",
      `Option ${value} of ${interpreter} is not accepted at isolation level preload.`,
      {
        suggestion: "Leave the option out, or use an engine with containers.",
        context: { engine: "local", missing: "programs" },
      },
    );
  }
}

/**
 * Starts Python with its guard: a `sitecustomize` that is all of PYTHONPATH, and no folder of the user's own, because
 * code in there would run before.
 * @throws UNSUPPORTED for options that would leave the guard out
 */
function guardPython(executable: string, request: ProgramRequest): HostProgram {
  const { runner, rest } = splitRunner(request.command.slice(1));
  checkOptions(rest, pythonOptions);
  const { PYTHONPATH: ownPath = "", ...environment } = request.environment;
  const settings = {
    write: request.writable,
    read: request.readable,
    threads: request.threads,
    runner,
    // There is no such folder, nor can an earlier program have made one: the runner removes the place that it was read from.
    runner_folder: join(request.temporaryFolder, `.glovebox-${createId("run")}`),
    python_path: ownPath,
    arguments: rest,
  };
  return {
    file: executable,
    arguments: ["-s", ...rest],
    environment: {
      ...environment,
      PYTHONPATH: join(request.guardFolder, guardFiles.python.folder),
      GLOVEBOX_PRELOAD: JSON.stringify(settings),
    },
    boundsData: true,
  };
}

function missing(what: string, fix: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `The program needs ${what}, which this host does not have.`, {
    suggestion: `${fix}, or use Docker or Podman.`,
    context: { engine: "local", missing: "interpreter" },
  });
}
