import { afterAll, beforeAll, beforeEach } from "vitest";
import { createId } from "../../src/base/id.ts";
import type { TestedPlace } from "./open-glovebox.ts";
import { skipOrFail } from "./require.ts";
import { testImages } from "./test-images.ts";
import { until } from "./until.ts";
import {
  createGlovebox,
  type GloveboxOptions,
  type ExecuteRequest,
  type ExecuteResponse,
  type Glovebox,
} from "./wire-glovebox.ts";

type Call = Parameters<Glovebox["execute"]>[1];

/** What the log says about waiting sandboxes, and about those that were taken. */
class WarmLog {
  readonly #waiting = new Map<string, string>();
  readonly warmRuns: Set<string> = new Set();

  readonly write = (fields: Readonly<Record<string, unknown>>, message: string): void => {
    const [sandbox, startedAs] = [String(fields["sandbox"]), String(fields["startedAs"])];
    if (message === "a warm sandbox waits") this.#waiting.set(sandbox, String(fields["kind"]));
    if (message === "sandbox removed") this.#waiting.delete(sandbox);
    if (message === "sandbox handed over" && this.#waiting.delete(startedAs)) this.warmRuns.add(sandbox);
  };

  get kinds(): readonly string[] {
    return [...this.#waiting.values()];
  }
}

/** A busy machine: the sandbox that waited did not answer its health check in time, so that the run got a new one. */
export class NotWarmError extends Error {
  constructor() {
    super("The run had a sandbox of its own.");
  }
}

/** Runs programs in sandboxes that waited for them. */
export interface WarmGlovebox {
  /** @throws NotWarmError when the sandbox had not waited */
  run(request: ExecuteRequest, call?: Call): Promise<ExecuteResponse>;
}

/** A Glovebox with warm sandboxes for the tests of a `describe`, closed after them. */
export function useWarmGlovebox(
  { engine, runtime }: Pick<TestedPlace, "engine" | "runtime">,
  more: NonNullable<GloveboxOptions["settings"]> = {},
): () => WarmGlovebox {
  let glovebox: Glovebox | undefined;
  let problem: string | null = null;
  const log = new WarmLog();
  /** The pool's name for each kind that was primed. */
  const keys = new Map<string, string>();
  const open = (): Glovebox => {
    if (glovebox === undefined) throw new Error("The Glovebox is open only while tests run.");
    return glovebox;
  };
  /** Asks for a kind until a sandbox of that kind is waiting. */
  const prime = async (request: ExecuteRequest): Promise<void> => {
    const kind = kindOf(request);
    const key = keys.get(JSON.stringify(kind));
    if (key !== undefined) return until(() => log.kinds.includes(key));
    const known = new Set(keys.values());
    const isNew = (each: string): boolean => !known.has(each);
    await open().execute(kind);
    // A kind with variables is only kept warm from its second request on.
    if (request.environment !== undefined) await open().execute(kind);
    await until(() => log.kinds.some(isNew));
    keys.set(JSON.stringify(kind), log.kinds.find(isNew) ?? "");
  };
  beforeAll(async () => {
    // Room for each kind of a scene: without it, a kind waits until another one has not been requested for a long time.
    const settings = { images: testImages, warm_pool: { mode: "on", max: 16 }, ...more };
    const { write } = log;
    glovebox = await createGlovebox({
      engine,
      settings,
      logger: { debug: write, info: write, warn: write, error: write },
    });
    const trial = await glovebox
      .execute({ language: "python", code: "pass", ...runtime })
      .catch((error: unknown) => error);
    problem = trial instanceof Error ? trial.message : null;
    if (problem === null) await prime({ language: "python", code: "pass", ...runtime });
  });
  beforeEach((context) => {
    if (problem !== null) skipOrFail(context, runtime.oci_runtime ?? engine, problem);
  });
  afterAll(async () => {
    await glovebox?.close();
  });
  return () => ({
    run: async (request, call) => {
      await prime(request);
      // An id that the caller chooses differs from the one that the sandbox was started with.
      const response = await open().execute(request, { ...call, sandboxId: createId("sbx") });
      if (!log.warmRuns.has(response.sandbox_id)) throw new NotWarmError();
      return response;
    },
  });
}

/** A program that does nothing, in a sandbox that would serve the request. */
function kindOf(request: ExecuteRequest): ExecuteRequest {
  const { language, filename, image, runtime, oci_runtime, environment, network, limits, packages } = request;
  const kind = { language, filename, image, runtime, oci_runtime, environment, network, limits, packages };
  return { ...kind, code: language === "python" ? "pass" : "0;" };
}
