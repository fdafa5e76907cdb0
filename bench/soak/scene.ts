import { execFile, execFileSync } from "node:child_process";
import { globSync, mkdirSync, mkdtempSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { OwnEngine } from "../../test/helpers/own-engine.ts";
import { PostgresServer, postgresProblem } from "../../test/helpers/postgres-server.ts";
import { RedisServer, redisProblem } from "../../test/helpers/redis-server.ts";
import { serveGlovebox, type ServedGlovebox } from "../../test/helpers/served-glovebox.ts";
import { firstLine } from "../parts/in-turn.ts";
import { memoryMb } from "../parts/process-memory.ts";
import type { BenchPlan } from "../parts/report.ts";
import { SoakCluster } from "./soak-cluster.ts";
import type { Resources } from "./soak-report.ts";

const run = promisify(execFile);

/** Size of the file system that holds the store's file and gets filled up. */
const storeBytes = 64 * 2 ** 20;

/** Characters. */
const maxLastWords = 20_000;

/** A server, which may be killed and started again where it was. */
export class SoakServer implements AsyncDisposable {
  readonly name: string;
  readonly #variables: Readonly<Record<string, string>>;
  readonly #engine: string;
  #served: ServedGlovebox;
  #text = "";
  #kills = 0;
  #isKilled = false;

  private constructor(
    name: string,
    { variables, engine }: { readonly variables: Readonly<Record<string, string>>; readonly engine: string },
    served: ServedGlovebox,
  ) {
    this.name = name;
    this.#variables = variables;
    this.#engine = engine;
    this.#served = served;
    this.#listen();
  }

  static async start(name: string, variables: Readonly<Record<string, string>>, engine: string): Promise<SoakServer> {
    return new SoakServer(name, { variables, engine }, await serveGlovebox(variables, undefined, engine));
  }

  get served(): ServedGlovebox {
    return this.#served;
  }

  /** How often it was killed. */
  get kills(): number {
    return this.#kills;
  }

  /** Whether it was killed, and has not been started again. */
  get isKilled(): boolean {
    return this.#isKilled;
  }

  /** Whether it has ended, on its own or by a signal. */
  get hasEnded(): boolean {
    const { exitCode, signalCode } = this.#served.child;
    return exitCode !== null || signalCode !== null;
  }

  /** The end of what it has written to standard error. */
  get lastWords(): string {
    return this.#text;
  }

  /** Kills it with -9. */
  async kill(): Promise<void> {
    this.#kills += 1;
    this.#isKilled = true;
    this.#served.child.kill("SIGKILL");
    await this.#served.ended;
  }

  async startAgain(): Promise<void> {
    this.#served = await serveGlovebox(this.#variables, this.#served.home, this.#engine);
    this.#isKilled = false;
    this.#listen();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#served[Symbol.asyncDispose]();
  }

  #listen(): void {
    const { stderr } = this.#served.child;
    stderr?.on("data", (chunk: Buffer) => void (this.#text = `${this.#text}${chunk.toString()}`.slice(-maxLastWords)));
  }
}

/** Everything that the soak works with: it started all of it, so it may damage all of it. */
export interface Scene extends AsyncDisposable {
  /** Names for requests, `local` among them. */
  readonly engines: readonly string[];
  /** Engines that can be killed and restarted, by name. */
  readonly ownEngines: ReadonlyMap<string, OwnEngine>;
  readonly servers: readonly SoakServer[];
  readonly redis: RedisServer | null;
  readonly postgres: PostgresServer | null;
  /** The small file system that holds the SQLite store; null if none could be mounted. */
  readonly storeFolder: string | null;
  /** Says by how much the servers' clocks are off, such as `+6h`; null without libfaketime. */
  readonly clockFile: string | null;
  /** Null unless engine `kubernetes` is worked with. */
  readonly cluster: SoakCluster | null;
  /** A project with a test and a page, which requests may name. */
  readonly project: string;
  readonly leftOut: Record<string, string>;
}

/** Starts engines, databases and two servers: one with PostgreSQL and Redis, one with SQLite. */
export async function openScene(plan: BenchPlan): Promise<Scene> {
  const stack = new AsyncDisposableStack();
  try {
    const leftOut: Record<string, string> = {};
    const folder = mkdtempSync(join(tmpdir(), "glovebox-soak-"));
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    const project = makeProject(folder);
    const ownEngines = await startEngines(plan, stack, leftOut);
    const redis = redisProblem() === null ? stack.use(await RedisServer.start()) : null;
    const postgres = postgresProblem() === null ? stack.use(await PostgresServer.start()) : null;
    if (redis === null) leftOut["Redis restarts"] = redisProblem() ?? "";
    if (postgres === null) leftOut["PostgreSQL restarts"] = postgresProblem() ?? "";
    const storeFolder = await mountStore(folder, stack, leftOut);
    const clock = clockVariables(folder, leftOut);
    const cluster = await openCluster(plan, stack, leftOut);
    const common = {
      ...engineVariables(ownEngines),
      ...imageVariables(plan),
      ...clock,
      ...cluster?.variables,
      GLOVEBOX_PROJECT_ROOTS: project,
      // It is off by default when tests start a server. When idle, there are as many before as after: none.
      GLOVEBOX_WARM_POOL: "auto",
      GLOVEBOX_WARM_POOL_MIN: "0",
      GLOVEBOX_WARM_POOL_IDLE_TIMEOUT: "3s",
    };
    const databases = {
      ...(redis === null ? {} : { GLOVEBOX_REDIS_URL: redis.url }),
      ...(postgres === null ? {} : { GLOVEBOX_STORE: "postgres", GLOVEBOX_STORE_URL: postgres.url }),
    };
    const file = storeFolder === null ? {} : { GLOVEBOX_STORE_FILE: join(storeFolder, "store.db") };
    // One looks at its own engine when it starts, and removes what it finds there of an earlier one.
    const engine = cluster === null ? "local" : "kubernetes";
    const start = async (name: string, own: Readonly<Record<string, string>>): Promise<SoakServer> =>
      stack.use(await SoakServer.start(name, { ...common, ...own }, engine));
    const servers = [
      await start("server with PostgreSQL and Redis", databases),
      await start("server with SQLite", file),
    ];
    return {
      ...{ ownEngines, servers, redis, postgres, storeFolder, project, leftOut, cluster },
      engines: [
        ...ownEngines.keys(),
        ...(plan.engines.includes("local") ? ["local"] : []),
        ...(cluster === null ? [] : ["kubernetes"]),
      ],
      clockFile: clock["FAKETIME_TIMESTAMP_FILE"] ?? null,
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

async function openCluster(
  { engines }: BenchPlan,
  stack: AsyncDisposableStack,
  leftOut: Record<string, string>,
): Promise<SoakCluster | null> {
  if (!engines.includes("kubernetes")) return null;
  try {
    return stack.use(await SoakCluster.open());
  } catch (error) {
    leftOut["everything on kubernetes"] = firstLine(error);
    return null;
  }
}

/** The resources that a server uses now; zero when it has ended. */
export function resourcesOf(server: SoakServer): Resources {
  if (server.hasEnded) return { residentMb: 0, descriptors: 0 };
  const { pid } = server.served.child;
  const open = `/proc/${pid}/fd`;
  const descriptors = readdirSync(open).filter((name) => !readyPipe.test(targetOf(join(open, name)))).length;
  return { residentMb: Math.round(memoryMb(pid)), descriptors };
}

/** A pipe on a nameless file system that the embedded engine keeps for a later program: there are none to a batch of them. */
const readyPipe = /^\/\d+$/;

/** The target of a descriptor; empty once it is closed. */
function targetOf(descriptor: string): string {
  try {
    return readlinkSync(descriptor);
  } catch {
    return "";
  }
}

async function startEngines(
  { engines, images }: BenchPlan,
  stack: AsyncDisposableStack,
  leftOut: Record<string, string>,
): Promise<ReadonlyMap<string, OwnEngine>> {
  const started = new Map<string, OwnEngine>();
  for (const kind of ["docker", "podman"] as const) {
    if (!engines.includes(kind)) continue;
    try {
      const [first = "", ...others] = new Set(Object.values(images));
      const engine = stack.use(await OwnEngine.start(kind, first));
      for (const image of others) await engine.load(image);
      started.set(kind, engine);
    } catch (error) {
      leftOut[`everything on ${kind}`] = `no engine of the soak's own: ${firstLine(error)}`;
    }
  }
  return started;
}

function engineVariables(engines: ReadonlyMap<string, OwnEngine>): Record<string, string> {
  const variables = { docker: "DOCKER_HOST", podman: "CONTAINER_HOST" } as Readonly<Record<string, string>>;
  return Object.fromEntries(
    [...engines].map(([kind, { socketPath }]) => [variables[kind] ?? "", `unix://${socketPath}`]),
  );
}

function imageVariables({ images }: BenchPlan): Record<string, string> {
  return Object.fromEntries(
    Object.entries(images).map(([name, image]) => [`GLOVEBOX_IMAGE_${name.toUpperCase()}`, image]),
  );
}

/** libfaketime shifts the wall clock of the processes that load it by what a file says; their timers are not affected. */
function clockVariables(folder: string, leftOut: Record<string, string>): Record<string, string> {
  const [library] = globSync("/usr/lib/*/faketime/libfaketime.so.1");
  if (library === undefined) {
    leftOut["clock jumps"] = "Debian's package libfaketime is not installed";
    return {};
  }
  const file = join(folder, "clock");
  writeFileSync(file, "+0\n");
  return {
    LD_PRELOAD: library,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    FAKETIME_DISABLE_SHM: "1",
  };
}

async function mountStore(
  folder: string,
  stack: AsyncDisposableStack,
  leftOut: Record<string, string>,
): Promise<string | null> {
  const target = join(folder, "store");
  mkdirSync(target);
  try {
    await run("mount", ["-t", "tmpfs", "-o", `size=${storeBytes}`, "soak", target]);
  } catch (error) {
    leftOut["disk full"] = `no small file system for the store: ${firstLine(error)}`;
    return null;
  }
  stack.defer(async () => {
    // What the server held open is released a moment after it ends.
    await sleep(200);
    execFileSync("umount", ["--lazy", target]);
  });
  return target;
}

function makeProject(folder: string): string {
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(
    join(project, "test_sum.py"),
    "import unittest\n\nclass Sum(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(1 + 1, 2)\n",
  );
  writeFileSync(
    join(project, "page.py"),
    "import http.server, os\nhttp.server.HTTPServer(('', int(os.environ['PORT'])), http.server.SimpleHTTPRequestHandler).serve_forever()\n",
  );
  return project;
}
