import { beforeAll, beforeEach, afterAll } from "vitest";
import { createGlovebox, type Glovebox, type GloveboxOptions } from "./wire-glovebox.ts";
import { testImages } from "./test-images.ts";
import { skipOrFail, type Requirement } from "./require.ts";

/** Engines that workloads are tested on. */
export const engines = ["docker", "podman", "local"] as const satisfies readonly Requirement[];
export type TestedEngine = (typeof engines)[number];

/** An engine, with the OCI runtime if it is not its default one. */
export interface TestedPlace {
  readonly name: string;
  readonly engine: TestedEngine;
  readonly runtime: { readonly oci_runtime?: "runsc" };
}

/** Every engine, and gVisor on one that has it: a different kernel with its own network stack. */
export const places: readonly TestedPlace[] = [
  ...engines.map((engine) => ({ name: engine, engine, runtime: {} })),
  { name: "docker with runsc", engine: "docker", runtime: { oci_runtime: "runsc" } },
];

/**
 * A Glovebox for the tests of a `describe`, closed after them. If the engine cannot be used, each test is a failure or a
 * visible skip.
 */
export function useGlovebox(
  engine: TestedEngine | "apple",
  options: GloveboxOptions = {},
  runtime: TestedPlace["runtime"] = {},
): () => Glovebox {
  let glovebox: Glovebox | undefined;
  let problem: string | null = null;
  beforeAll(async () => {
    glovebox = await createGlovebox({ engine, settings: { images: testImages }, ...options });
    const trial = { language: "python", code: "pass", ...runtime } as const;
    const response = await glovebox.execute(trial).catch((error: unknown) => error);
    problem = response instanceof Error ? response.message : null;
  });
  beforeEach((context) => {
    // The stand-in for Apple's command runs on Docker.
    const required = engine === "apple" ? "docker" : engine;
    if (problem !== null) skipOrFail(context, runtime.oci_runtime ?? required, problem);
  });
  afterAll(async () => {
    await glovebox?.close();
  });
  return () => {
    if (glovebox === undefined) throw new Error("The Glovebox is open only while tests run.");
    return glovebox;
  };
}
