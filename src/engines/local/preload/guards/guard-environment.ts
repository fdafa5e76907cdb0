import { GloveboxError } from "../../../../errors/glovebox-error.ts";

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
