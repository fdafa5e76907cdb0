import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createGlovebox, type Settings } from "../../src/index.ts";
import { connectMcp } from "../../test/helpers/mcp-client.ts";
import { serveGlovebox, type ServedGlovebox } from "../../test/helpers/served-glovebox.ts";
import type { BenchLanguage } from "./baselines.ts";
import type { BenchPlan } from "./report.ts";
import { warmthSettings, type Warmth } from "./warmth.ts";

/** Runs a program by one of the ways in and throws unless it completed. */
export type RunProgram = (language: BenchLanguage, code: string, engine: string) => Promise<void>;

export const doors = ["library", "http", "mcp"] as const;
export type Door = (typeof doors)[number];

/**
 * Variables that choose settings, through a file in a folder that is removed with the stack. Warm sandboxes have a variable
 * too: where tests start a server, it switches them off.
 */
function configurationOf(settings: Settings, stack: AsyncDisposableStack): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), "glovebox-bench-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "config.json");
  writeFileSync(file, JSON.stringify(settings));
  return { GLOVEBOX_CONFIG: file, GLOVEBOX_WARM_POOL: settings.warm_pool?.mode ?? "auto" };
}

/** Variables that give these images to the processes that tests start. */
export function imageVariables({ images }: BenchPlan): Record<string, string> {
  return Object.fromEntries(
    Object.entries(images).map(([name, image]) => [`GLOVEBOX_IMAGE_${name.toUpperCase()}`, image]),
  );
}

/** `glovebox serve` with these settings; it ends with the stack. */
export async function serveWith(
  plan: BenchPlan,
  settings: Settings,
  stack: AsyncDisposableStack,
): Promise<ServedGlovebox> {
  return stack.use(await serveGlovebox({ ...configurationOf(settings, stack), ...imageVariables(plan) }));
}

/** The answer over HTTP. @throws Error for any status other than 200 and 201 */
export async function ask(served: ServedGlovebox, method: string, route: string, body?: unknown): Promise<unknown> {
  const { status, body: answer } = await served.call(method, route, body);
  if (status > 201) throw new Error(`${method} ${route} was answered with ${status}: ${JSON.stringify(answer)}`);
  return answer;
}

export function assertCompleted(answer: unknown): void {
  const { outcome } = answer as { readonly outcome?: string };
  if (outcome !== "completed") throw new Error(`The run ended as ${outcome}: ${JSON.stringify(answer)}`);
}

/** Opens a way in; everything that belongs to it ends with the stack. */
export async function openDoor(
  door: Door,
  warmth: Warmth,
  plan: BenchPlan,
  stack: AsyncDisposableStack,
): Promise<RunProgram> {
  const settings = warmthSettings[warmth];
  if (door === "library") {
    const glovebox = stack.use(await createGlovebox({ settings: { ...settings, images: plan.images } }));
    return async (language, code, engine) =>
      assertCompleted(await glovebox.execute({ language, code, engine, packages: [] }));
  }
  if (door === "http") {
    const served = await serveWith(plan, settings, stack);
    return async (language, code, engine) =>
      assertCompleted(await ask(served, "POST", "/api/sandbox/execute", { language, code, engine, packages: [] }));
  }
  const variables = { ...configurationOf(settings, stack), ...imageVariables(plan) };
  const connection = await connectMcp({ mode: { pin: "2026-07-28" } }, [], variables);
  stack.defer(() => connection.client.close());
  return async (language, code, engine) => {
    const { structuredContent, isError } = await connection.call("execute_code", {
      language,
      code,
      engine,
      packages: [],
    });
    if (isError === true) throw new Error(`The run failed: ${JSON.stringify(structuredContent)}`);
    assertCompleted(structuredContent);
  };
}
