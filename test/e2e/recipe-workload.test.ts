import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Checkout } from "../helpers/checkout.ts";

/** What lasts: one sandbox, in which one command after another runs. */
const bench = `
import { BoundedOutput } from "../../base/streams/collected-bytes.ts";
import { Redaction } from "../../policy/redaction.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import type { Interruption } from "../../sandbox/outcome.ts";
import { Place, type PlaceParts } from "../place/place.ts";
import { watchProcess } from "../run/watch-process.ts";

export interface BenchCommand {
  readonly command: readonly string[];
  readonly workingDirectory: string;
  readonly timeoutMs: number;
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal | undefined;
  readonly monotonicMs: () => number;
}

export interface BenchResult {
  readonly sandboxId: string;
  readonly exitCode: number | null;
  readonly interruption: Interruption;
  readonly stdout: string;
}

export class Bench {
  readonly #place: Place;
  readonly #sandbox: Sandbox;

  constructor(parts: Omit<PlaceParts, "noun">, sandbox: Sandbox) {
    this.#place = new Place({ ...parts, noun: "bench" });
    this.#sandbox = sandbox;
  }

  run({ command, workingDirectory, maxOutputBytes, ...limits }: BenchCommand): Promise<BenchResult> {
    const sandbox = this.#sandbox;
    const signal = this.#place.signalOf(limits.signal);
    return this.#place.whileActive(async () => {
      const process = await sandbox.exec({ command, workingDirectory }, { signal });
      process.stdin.end();
      const keep = (): BoundedOutput => new BoundedOutput(maxOutputBytes);
      const watched = watchProcess({ process, sandbox, redaction: new Redaction([]), keep });
      const end = (): Promise<void> => sandbox.endProcess(process);
      const { exitCode, interruption, stdout } = await watched.untilEnd({ ...limits, drainMs: 1_000, signal, end });
      return { sandboxId: sandbox.id, exitCode, interruption, stdout: stdout.text() };
    });
  }

  end(): Promise<void> {
    return this.#place.end(async (stopped) => {
      await stopped;
      await this.#sandbox.remove();
    });
  }
}
`;

/** Its registry. */
const benches = `
import type { Logger } from "../../base/logger.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { PlaceRegistry } from "../place/place-registry.ts";
import { Bench } from "./bench.ts";

interface BenchesOptions {
  readonly idleMs: number;
  readonly logger: Logger;
  readonly now: () => number;
}

export class Benches {
  readonly #options: BenchesOptions;
  readonly #places: PlaceRegistry<Bench>;

  constructor(options: BenchesOptions) {
    this.#options = options;
    this.#places = new PlaceRegistry({ ...options, noun: "bench", end: (bench) => bench.end() });
  }

  find(id: string, principal: string): Bench | undefined {
    return this.#places.find(id, principal)?.content;
  }

  enter(id: string, principal: string, sandbox: Sandbox): Bench {
    const onActivity = (isBusy: boolean): void => this.#places.setBusy(entry, isBusy);
    const bench = new Bench({ id, principal, now: this.#options.now, onActivity }, sandbox);
    const entry = this.#places.enter(id, principal, bench);
    return bench;
  }

  endAll(principal: string): Promise<void> {
    return this.#places.endAll(principal);
  }

  close(): Promise<void> {
    return this.#places.close();
  }
}
`;

/** Its plan, and what is done with it. */
const runOnBench = `
import type { Engine } from "../../engines/engine.ts";
import type { ImageOrigin } from "../../policy/image-reference.ts";
import { executeProfile } from "../../policy/profile.ts";
import type { Caller, Sandboxes } from "../../sandbox/sandboxes.ts";
import { checkEngine } from "../program/check-engine.ts";
import { planOf } from "../program/plan-of.ts";
import type { Settings } from "../run/settings.ts";
import type { Bench, BenchResult } from "./bench.ts";
import type { Benches } from "./benches.ts";

export interface BenchSpec extends Settings {
  readonly id: string;
  readonly image: string;
  readonly command: readonly string[];
}

export interface BenchDependencies {
  readonly engine: Engine;
  readonly provideImage: (image: string, origin: ImageOrigin) => Promise<void>;
  readonly sandboxes: Sandboxes;
  readonly benches: Benches;
  readonly maxOutputBytes: number;
  readonly monotonicMs: () => number;
}

const lifetimeMs = 3_600_000;
const workingDirectory = "/work";

export async function runOnBench(spec: BenchSpec, dependencies: BenchDependencies, caller: Caller): Promise<BenchResult> {
  const bench = dependencies.benches.find(spec.id, caller.principal) ?? (await openBench(spec, dependencies, caller));
  const { timeoutMs } = spec.limits;
  return bench.run({ ...dependencies, command: spec.command, workingDirectory, timeoutMs, signal: caller.signal });
}

async function openBench(spec: BenchSpec, dependencies: BenchDependencies, caller: Caller): Promise<Bench> {
  const { engine, sandboxes, benches } = dependencies;
  const { capabilities } = await checkEngine({ ...spec, engine }, spec, caller);
  await dependencies.provideImage(spec.image, "configured");
  const profile = executeProfile({ ...spec, scratchStorage: capabilities.scratch });
  const plan = { ...planOf(profile, lifetimeMs), kind: "bench" };
  return benches.enter(spec.id, caller.principal, await sandboxes.open(engine, plan, caller));
}
`;

const contract = `
import { z } from "zod";
import { defineOperation } from "./contract/operation-contract.ts";
import { listOf } from "./contract/request-schemas.ts";

export const runOnBenchContract = defineOperation({
  name: "run_on_bench",
  audience: "everyone",
  description: "Runs a command on a bench, which is made for the first one.",
  request: z.strictObject({
    bench_id: z.string().describe("Which."),
    command: listOf(z.string(), 10).describe("Program and arguments."),
    engine: z.string().optional().describe("Its engine."),
  }),
  response: z.object({
    sandbox_id: z.string(),
    exit_code: z.number().nullable(),
    interruption: z.string().nullable(),
    stdout: z.string(),
  }),
  routes: [{ method: "POST", path: "/api/benches/{bench_id}/run" }],
});
`;

const handler = `
import { runOnBench, type BenchDependencies } from "../workloads/bench/run-on-bench.ts";
import { runOnBenchContract } from "./bench-contract.ts";
import { handle } from "./handler.ts";
import { settle, type RunNeeds, type StartNeeds } from "./settle.ts";
import { imageProvider } from "./to-wire.ts";

export type BenchNeeds = StartNeeds & RunNeeds<BenchDependencies>;

export const runOnBenchHandler = handle(runOnBenchContract, async (platform: BenchNeeds, request, call) => {
  const { images, maxOutputBytes } = platform.config;
  const settings = settle("execute", {}, platform, call);
  const { minIsolation } = settings;
  const { engine } = await platform.chooseEngine(request.engine, { minIsolation, signal: call.signal });
  const spec = { ...settings, id: request.bench_id, image: images["python"] ?? "", command: request.command };
  const provideImage = imageProvider(platform, engine, call);
  const result = await runOnBench(spec, { ...platform, engine, provideImage, maxOutputBytes }, call);
  const { sandboxId, exitCode, interruption, stdout } = result;
  return { sandbox_id: sandboxId, exit_code: exitCode, interruption, stdout };
});
`;

const calls = `
import { loadHostConfig } from "./src/config/load-config.ts";
import { parseRequest } from "./src/operations/contract/parse-request.ts";
import { operationTable } from "./src/operations/table.ts";
import { createPlatform } from "./src/platform/platform.ts";
const platform = await createPlatform({ ...(await loadHostConfig({})), door: "server" });
const call = (name, request, principal) => {
  const contract = operationTable.find((each) => each.name === name);
  return platform.call(contract, parseRequest(contract, request), { principal });
};
const run = (principal, ...command) =>
  call("run_on_bench", { bench_id: "first", command, engine: "local" }, principal);
const made = await run("ada", "sh", "-c", "echo 42 > kept; pwd");
const later = await run("ada", "cat", "kept");
const others = await run("bob", "cat", "kept");
const listed = async () => {
  const { sandboxes } = await call("list_sandboxes", {}, "ada");
  const found = [made, others].map(({ sandbox_id: id }) => sandboxes.find((each) => each.sandbox_id === id));
  return found.map((sandbox) => sandbox?.kind ?? null);
};
const before = await listed();
await platform.endPrincipal("bob");
const after = await listed();
const waiting = run("ada", "sh", "-c", "touch begun; exec sleep 60");
while ((await run("ada", "test", "-e", "begun")).exit_code !== 0);
const left = await platform.close();
const ended = await waiting;
console.log(JSON.stringify({
  made: made.stdout,
  later: [later.stdout, later.sandbox_id === made.sandbox_id],
  others: [others.exit_code, others.sandbox_id === made.sandbox_id],
  before,
  after,
  ended: ended.interruption,
  left,
}));
`;

describe("the recipe of a workload, followed in a copy of the sources, on engine local", () => {
  const checkout = new Checkout();
  afterAll(() => checkout.remove());

  beforeAll(() => {
    checkout.add("src/workloads/bench/bench.ts", bench);
    checkout.add("src/workloads/bench/benches.ts", benches);
    checkout.add("src/workloads/bench/run-on-bench.ts", runOnBench);
    addPlace(checkout);
    addToPlatform(checkout);
    addOperation(checkout);
  });

  it("makes one that runs commands, lasts, belongs to its principal and is closed with the platform", async () => {
    expect(JSON.parse(await checkout.print(calls))).toEqual({
      made: "/work\n",
      later: ["42\n", true],
      others: [1, false],
      before: ["bench", "bench"],
      after: ["bench", null],
      ended: "cancel",
      left: [],
    });
  });
});

/** What lasts has a noun, and a field of requests that names it. */
function addPlace(checkout: Checkout): void {
  checkout.addRow("src/workloads/place/place.ts", {
    after: 'export type PlaceNoun = "environment"',
    row: '  | "bench"',
  });
  checkout.addRow("src/workloads/place/place-registry.ts", {
    after: "const idFields: Readonly<Record<PlaceNoun, string>> = {",
    row: '  bench: "bench_id",',
  });
}

/** `open-sandboxes.ts` makes it; `platform.ts` passes it on, ends it with its principal, and closes it. */
function addToPlatform(checkout: Checkout): void {
  const imports = 'import type { Benches } from "../workloads/bench/benches.ts";\n';
  const places = "src/platform/open-sandboxes.ts";
  checkout.addRow(places, {
    after: "interface OpenedPlaces {",
    row: "  readonly benches: Benches;",
    imports: imports.replace("type ", ""),
  });
  checkout.addRow(places, {
    after: "\n    previewGateway,",
    row: "    benches: new Benches({ idleMs, logger: kit.logger, now: kit.now }),",
  });
  const rows = {
    "const { sessions, environments, previews, previewGateway, agentTurns": ", benches",
    "const open = {": "benches,",
    "[sessions, environments, previews": ", parts.benches",
    "interface ClosingParts extends Kit {": 'readonly benches: Pick<Benches, "close">;',
    "Promise.allSettled([environments.close(),": "parts.benches.close(),",
  };
  for (const [after, row] of Object.entries(rows)) checkout.addRow("src/platform/platform.ts", { after, row });
  checkout.addRow("src/platform/platform.ts", { after: 'import path from "node:path";', row: imports });
}

/** The operation that reaches it, as its own recipe says. */
function addOperation(checkout: Checkout): void {
  checkout.add("src/operations/bench-contract.ts", contract);
  checkout.add("src/operations/bench-handler.ts", handler);
  checkout.addRow("src/operations/table.ts", {
    after: "export const operationTable: readonly OperationContract[] = [",
    row: "  runOnBenchContract,",
    imports: 'import { runOnBenchContract } from "./bench-contract.ts";\n',
  });
  checkout.addRow("src/operations/handlers.ts", {
    after: "export const handlers: HandlerTable<HandlerNeeds> = new Map<string, LoadHandler<HandlerNeeds>>([",
    row: '  ["run_on_bench", async () => (await import("./bench-handler.ts")).runOnBenchHandler],',
    imports: 'import type { BenchNeeds } from "./bench-handler.ts";\n',
  });
  checkout.addRow("src/operations/handlers.ts", { after: "export type HandlerNeeds =", row: "  BenchNeeds &" });
}
