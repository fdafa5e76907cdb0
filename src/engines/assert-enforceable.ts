import { GloveboxError } from "../errors/glovebox-error.ts";
import { isAtLeast, type Isolation } from "../policy/isolation.ts";
import type { Capabilities } from "./capabilities.ts";
import type { EngineName } from "./engine.ts";
import { engineCaveats } from "../policy/engine-caveats.ts";

/** How people accept level `preload` by name, for one command and for all (SPEC RT5). */
const preloadByName = "--min-isolation preload (for every run: GLOVEBOX_MIN_ISOLATION=preload)";

/** The last resort. */
export const withoutWalls: string = `To run without a security boundary anyway, accept it by name: ${preloadByName}`;

/**
 * The refusal of an engine that isolates less than is demanded: what would isolate more and, for level `preload`, how
 * it is accepted.
 */
export function isolationRefusal(
  { isolation, isolationAdvice }: Capabilities,
  { engine, minIsolation }: { readonly engine: EngineName; readonly minIsolation: Isolation },
): GloveboxError {
  const isNoWall = isolation === "preload";
  const what = `Engine ${engine} reaches isolation "${isolation}" here; "${minIsolation}" is required.`;
  return new GloveboxError("UNSUPPORTED", isNoWall ? `${what} Level preload does not stop hostile code.` : what, {
    suggestion: [
      ...(isolationAdvice === undefined ? [] : [isolationAdvice]),
      `Use an engine that reaches "${minIsolation}" (\`glovebox doctor\` lists them).`,
      ...(isNoWall ? [withoutWalls] : []),
    ].join(" "),
    context: { engine, isolation, min_isolation: minIsolation },
  });
}

/** What every sandbox demands of its engine. */
export type Demand =
  | "seccomp"
  | "noNewPrivileges"
  | "readOnlyRoot"
  | "noNetwork"
  | "memoryLimit"
  | "cpuLimit"
  | "pidsLimit";

/** Every demand. */
const allDemands: readonly Demand[] = [
  "seccomp",
  "noNewPrivileges",
  "readOnlyRoot",
  "noNetwork",
  "memoryLimit",
  "cpuLimit",
  "pidsLimit",
];

/** The demands that control groups meet. */
const limitDemands: ReadonlySet<Demand> = new Set(["memoryLimit", "cpuLimit", "pidsLimit"]);

/** The demands as messages call them. */
const demands: Readonly<Record<Demand, string>> = {
  seccomp: "a seccomp filter",
  noNewPrivileges: "no-new-privileges",
  readOnlyRoot: "a read-only root",
  noNetwork: "network isolation",
  memoryLimit: "a memory limit",
  cpuLimit: "a CPU limit",
  pidsLimit: "a process limit",
};

/**
 * The demands that may be dropped with a warning: on the embedded engine those that were not made explicitly, because
 * its default policy demands only what the host lets it enforce (SPEC RT5); on container engines none.
 */
export function optionalDemands({ images }: Capabilities, explicit: readonly Demand[]): readonly Demand[] {
  return images ? [] : allDemands.filter((demand) => !explicit.includes(demand));
}

/**
 * Checks that the engine can limit a program's network to the egress proxy.
 * @throws UNSUPPORTED naming the engine
 */
export function assertNetworkPossible(capabilities: Capabilities, engine: EngineName): void {
  if (capabilities.execNetwork !== "none") return;
  throw new GloveboxError("UNSUPPORTED", `Engine ${engine} cannot limit a program's network to a list here.`, {
    suggestion: "Leave network out, or choose an engine with a higher isolation (`glovebox doctor` lists them).",
    context: { engine, missing: "execNetwork", isolation: capabilities.isolation },
  });
}

/** Result of a check that passed: the substitutes, one sentence each. */
interface EnforceableResult {
  readonly warnings: readonly string[];
}

interface EnforceableOptions {
  readonly engine: EngineName;
  readonly minIsolation: Isolation;
  /** Demands that may be dropped with a warning if the engine cannot meet them: those of the local default policy. */
  readonly optional?: readonly Demand[];
}

/**
 * Checks, before anything is created, that the engine can enforce the policy (SPEC RT6).
 * @throws UNSUPPORTED naming the engine, what is missing and the alternative
 */
export function assertEnforceable(capabilities: Capabilities, options: EnforceableOptions): EnforceableResult {
  const { engine, minIsolation, optional = [] } = options;
  if (!isAtLeast(capabilities.isolation, minIsolation)) {
    throw isolationRefusal(capabilities, { engine, minIsolation });
  }
  const warnings: string[] = [...(capabilities.notes ?? [])];
  const missing: Demand[] = [];
  for (const demand of allDemands) {
    const words = demands[demand];
    const enforcement = capabilities[demand];
    if (enforcement === "yes") continue;
    if (enforcement !== "no") {
      warnings.push(engineCaveats.replaced(engine, words, enforcement.substitute));
    } else if (optional.includes(demand)) {
      warnings.push(engineCaveats.missing(engine, words));
    } else {
      missing.push(demand);
    }
  }
  if (missing.length > 0) throw unenforceableError(capabilities, engine, missing);
  return { warnings };
}

/** Names every demand, so that one error shows everything that has to change. */
function unenforceableError(
  { limitsAdvice }: Capabilities,
  engine: EngineName,
  missing: readonly Demand[],
): GloveboxError {
  const words = missing.map((demand) => demands[demand]);
  const all = [words.slice(0, -1).join(", "), words.at(-1)].filter((part) => part !== "").join(" and ");
  const advice = limitsAdvice !== undefined && missing.some((demand) => limitDemands.has(demand));
  return new GloveboxError("UNSUPPORTED", `Engine ${engine} cannot enforce ${all} here.`, {
    suggestion: advice
      ? `${limitsAdvice} Or choose an engine that can (see \`glovebox doctor\`).`
      : `Choose an engine that enforces ${all} (\`glovebox doctor\` lists them).`,
    context: { engine, missing: missing.join(", ") },
  });
}
