import { createHash } from "node:crypto";
import { canonicalJson } from "../../base/canonical-json.ts";
import type { Engine } from "../../engines/engine.ts";
import type { ProvidedPackages } from "../../packages/provided-packages.ts";
import type { WarmKind } from "../../sandbox/pool/warm-sandbox.ts";
import type { SandboxPlan } from "../../sandbox/sandbox-plan.ts";
import type { ExecuteSpec } from "./execute-spec.ts";
import { runnerExec, type RunnerNeeds } from "./runner-exec.ts";

/** What a run needs, as for a cold start. */
export interface WarmNeeds extends RunnerNeeds {
  readonly engine: Engine;
  readonly plan: SandboxPlan;
  /** Mounted in it; null: none. */
  readonly packages: Pick<ProvidedPackages, "hold"> | null;
  /** Longest time limit that any run may request. */
  readonly maxTimeoutMs: number;
  readonly maxAgeMs: number;
}

/**
 * The kind of warm sandbox that can serve such a run. Its key contains everything that a cold start would get,
 * including the program's variables; only what comes with the job may differ: code, files, arguments, secrets, input.
 */
export function warmKindOf(spec: ExecuteSpec, needs: WarmNeeds): WarmKind {
  const { engine, plan: asked, profile, toolchain, mainFile, packages } = needs;
  const { id: _, labels: __, givenName: ___, programEnvironment: ____, lifetimeMs, limits, ...rest } = asked;
  const { cpus, memoryBytes, pids } = limits;
  const plan = { ...rest, limits: { cpus, memoryBytes, pids } };
  const { workingDirectory, environment } = profile;
  const facts = { engine: engine.name, plan, toolchain, mainFile, workingDirectory, environment };
  return {
    key: createHash("sha256").update(canonicalJson(facts)).digest("hex"),
    engine,
    plan: { ...plan, lifetimeMs: lifetimeMs - spec.limits.timeoutMs + needs.maxTimeoutMs + needs.maxAgeMs },
    ...(packages === null ? {} : { hold: () => packages.hold() }),
    // Variables may differ with each request.
    worthFrom: Object.keys(spec.environment).length === 0 ? 1 : 2,
    prepare: async (sandbox, options) =>
      sandbox.exec(await runnerExec({ toolchain, mainFile, profile }, sandbox), options),
  };
}
