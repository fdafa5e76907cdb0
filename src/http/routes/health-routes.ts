import type { FastifyInstance } from "fastify";
import type { Platform } from "../../platform/platform.ts";
import { jsonType } from "../server/wire-answer.ts";
import type { RouteContext } from "./route-context.ts";

/** One dependency of the server: its name, and a check that fails if it does not answer. */
export interface ReadinessCheck {
  readonly name: string;
  /** Aborted by the signal after some seconds. */
  readonly check: (signal: AbortSignal) => Promise<void>;
}

/** How long a result is cached, as everyone may ask. */
const staleAfterMs = 2_000;
const checkWithinMs = 5_000;

/** `/healthz`: the process answers; `/readyz`: its dependencies answer too, and it accepts new work. */
export function addHealthRoutes(
  app: FastifyInstance,
  { platform, isDraining }: RouteContext,
  checks: readonly ReadinessCheck[],
): void {
  const open = { config: { isOpen: true } };
  app.get("/healthz", open, (_, reply) => reply.type(jsonType).send('{"status":"ok"}'));
  let asked: { readonly atMs: number; readonly answer: Promise<Record<string, string>> } | undefined;
  const ask = async (): Promise<Record<string, string>> =>
    Object.fromEntries(await Promise.all(checks.map(async (check) => [check.name, await stateOf(check)] as const)));
  app.get("/readyz", open, async (_, reply) => {
    const atMs = platform.monotonicMs();
    if (asked === undefined || atMs - asked.atMs > staleAfterMs) asked = { atMs, answer: ask() };
    const parts = await asked.answer;
    const isReady = !isDraining() && Object.values(parts).every((state) => state === "ok");
    const status = isDraining() ? "draining" : isReady ? "ready" : "not_ready";
    return reply
      .code(isReady ? 200 : 503)
      .type(jsonType)
      .send(JSON.stringify({ status, checks: parts }));
  });
}

/** The engine for requests that name none. */
export function engineAnswers({ chooseEngine }: Pick<Platform, "chooseEngine">): ReadinessCheck {
  return { name: "engine", check: async (signal) => void (await chooseEngine(undefined, { signal })) };
}

/** The store, if there is one. */
export function storeAnswers({ store }: Pick<Platform, "store">): readonly ReadinessCheck[] {
  if (store === null) return [];
  const check = async (): Promise<void> => {
    if (!(await store.answers())) throw new Error("The store does not answer.");
  };
  return [{ name: "store", check }];
}

async function stateOf({ check }: ReadinessCheck): Promise<"ok" | "failed"> {
  try {
    await check(AbortSignal.timeout(checkWithinMs));
    return "ok";
  } catch {
    return "failed";
  }
}
