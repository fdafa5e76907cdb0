import { GloveboxError } from "../../../errors/glovebox-error.ts";
import type { NodeInstallation } from "../find-node.ts";
import { guardPython } from "./guard-python.ts";
import type { ArrangeProgram, HostProgram, ProgramRequest } from "./host-program.ts";
import { join } from "node:path";
import { mebibyte } from "../../../base/bytes.ts";
import { guardFiles } from "./guard-files.ts";
import { checkOptions, type GuardedOptions } from "./guard-options.ts";
import { splitRunner } from "./split-runner.ts";

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

function missing(what: string, fix: string): GloveboxError {
  return new GloveboxError("UNSUPPORTED", `The program needs ${what}, which this host does not have.`, {
    suggestion: `${fix}, or use Docker or Podman.`,
    context: { engine: "local", missing: "interpreter" },
  });
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

const options: GuardedOptions = {
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
  checkOptions(rest, options);
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
