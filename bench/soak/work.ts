import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { fixtureProgram } from "../../test/helpers/fixture-program.ts";
import type { Ledger } from "./ledger.ts";
import type { Scene, SoakServer } from "./scene.ts";

/**
 * A request that has no answer by then never gets one: after the queue, several deadlines of calls to an engine that hangs.
 * `fetch` itself waits for 300 s.
 */
const answerWithinMs = 290_000;
/** Of what a program left that ended as it should not have. */
const maxSaidChars = 300;
/** One in this many clients goes away before its answer. */
const leavesOneIn = 10;
const leavesWithinMs = 2_000;

/** Errors that a request may end with while engines and databases go away: each says so. Any other error is a problem. */
const honest = new Set([
  "SANDBOX_LOST",
  "ENGINE_UNAVAILABLE",
  "CAPACITY",
  "TIMEOUT",
  "CANCELLED",
  "IMAGE_UNAVAILABLE",
  "NOT_FOUND",
  "POLICY_DENIED",
]);

interface Answer {
  readonly how: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends requests to one server and records how each one ended. */
class Client {
  readonly #server: SoakServer;
  readonly #ledger: Ledger;
  readonly #kind: string;

  constructor(server: SoakServer, ledger: Ledger, kind: string) {
    this.#server = server;
    this.#ledger = ledger;
    this.#kind = kind;
  }

  /** `mayLeave`: whether the client may go away before the answer. Null if it did, or if there was no useful answer. */
  async ask(method: string, route: string, body?: object, mayLeave = false): Promise<Answer | null> {
    // The ids in it are of no interest.
    const request = `${method} ${route.replace(/\/[a-z]+-\w+|\?.*/g, "/ID")}`;
    const { end } = this.#ledger.begin(this.#kind, request);
    const leaves = mayLeave && randomInt(leavesOneIn) === 0;
    const patience = AbortSignal.timeout(leaves ? randomInt(leavesWithinMs) : answerWithinMs);
    const { served, kills, isKilled } = this.#server;
    try {
      const answer = await fetch(`${served.url}${route}`, {
        ...{ method, signal: patience },
        headers: { authorization: `Bearer ${served.token}`, "content-type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const parsed = JSON.parse((await answer.text()) || "{}") as Readonly<Record<string, unknown>>;
      const how = this.#judge(answer.status, parsed);
      end(how);
      return answer.status < 300 ? { how, body: parsed } : null;
    } catch (error) {
      if (isKilled || kills !== this.#server.kills) {
        end("server killed");
        return null;
      }
      if (!patience.aborted) this.#ledger.note(`${this.#kind}: a connection broke: ${String(error)}`);
      else if (!leaves) this.#ledger.note(`${this.#kind}: no answer in ${answerWithinMs / 1_000} s.`);
      end(patience.aborted && leaves ? "client left" : "no answer");
      return null;
    }
  }

  /** Records a problem. */
  expect(holds: boolean, what: string): void {
    if (!holds) this.#ledger.note(`${this.#kind}: ${what}`);
  }

  #judge(status: number, body: Readonly<Record<string, unknown>>): string {
    if (status < 300) return typeof body["outcome"] === "string" ? body["outcome"] : "done";
    const type = typeof body["error_type"] === "string" ? body["error_type"] : `status ${status}`;
    if (!honest.has(type)) this.#ledger.note(`${this.#kind}: ${type}: ${String(body["message"])}`);
    return type;
  }
}

type Work = (client: Client, engine: string, scene: Scene) => Promise<void>;

const execute: Work = async (client, engine) => {
  const word = randomUUID();
  const request = { language: "python", code: `print("${word}")`, engine, packages: [] };
  const answer = await client.ask("POST", "/api/sandbox/execute", request, true);
  if (answer?.how !== "completed") return;
  client.expect(answer.body["stdout"] === `${word}\n`, `a run printed ${JSON.stringify(answer.body["stdout"])}`);
};

const endings: Work = async (client, engine) => {
  const ends = [
    { code: "raise SystemExit(3)", wanted: "failed" },
    { code: "while True: pass", wanted: "timed_out" },
    { code: "x = 'a' * 10**9", wanted: "oom_killed" },
    { code: "while True: print('flood' * 20)", wanted: "timed_out" },
  ];
  const { code, wanted } = ends[randomInt(ends.length)] ?? { code: "", wanted: "" };
  const request = { language: "python", code, engine, packages: [], limits: { timeout_seconds: 1, memory_mb: 64 } };
  const answer = await client.ask("POST", "/api/sandbox/execute", request, true);
  if (answer === null) return;
  client.expect([wanted, "sandbox_lost", "failed", "timed_out"].includes(answer.how), `${code}: ${answer.how}`);
};

const typescript: Work = async (client, engine) => {
  const request = { language: "typescript", code: "const n: number = 6;\nconsole.log(n * 7);", engine, packages: [] };
  const answer = await client.ask("POST", "/api/sandbox/execute", request, true);
  if (answer?.how === "completed") client.expect(answer.body["stdout"] === "42\n", "TypeScript printed something else");
};

const hostile: Work = async (client, engine) => {
  const programs = [
    fixtureProgram("stops-everything.py", "SIGSTOP"),
    fixtureProgram("stops-everything.py", "SIGKILL"),
    fixtureProgram("floods-what-it-finds.py"),
  ];
  const command = programs[randomInt(programs.length)] ?? [];
  const request = { language: "python", code: command[2] ?? "", args: command.slice(3), engine, packages: [] };
  const answer = await client.ask("POST", "/api/sandbox/execute", { ...request, timeout_seconds: 2 });
  if (answer === null) return;
  const { exit_code: exitCode, stdout, stderr } = answer.body;
  const said = JSON.stringify({ exitCode, stdout, stderr }).slice(0, maxSaidChars);
  client.expect(["timed_out", "sandbox_lost"].includes(answer.how), `a hostile program: ${answer.how}, ${said}`);
};

const session: Work = async (client, engine) => {
  const opened = await client.ask("POST", "/api/sessions", { engine });
  if (opened === null) return;
  const route = `/api/sessions/${String(opened.body["session_id"])}`;
  const word = randomUUID();
  const run = (code: string) => client.ask("POST", `${route}/runs`, { language: "python", code, packages: [] });
  const wrote = await run(`open("kept", "w").write("${word}")`);
  const read = await run("print(open('kept').read())");
  const isWhole = wrote?.how === "completed" && read?.how === "completed" && read.body["restarted"] !== true;
  if (isWhole) client.expect(read.body["stdout"] === `${word}\n`, `a session's file had ${JSON.stringify(read.body)}`);
  if (randomInt(3) === 0) {
    const command = [...fixtureProgram("stops-everything.py", "SIGKILL")];
    await client.ask("POST", `${route}/processes`, { command });
    await run("print('beside')");
  }
  await client.ask("GET", `${route}/files`);
  await client.ask("DELETE", route);
};

const environment: Work = async (client, engine) => {
  const { GLOVEBOX_TEST_IMAGE_PYTHON: image = "python:3.12-slim" } = process.env;
  const isFixed = engine === "kubernetes";
  const opened = await client.ask("POST", "/api/environments", { engine, image, read_only_root: isFixed });
  if (opened === null) return;
  const route = `/api/environments/${String(opened.body["env_id"])}`;
  const words = [randomUUID(), randomUUID()];
  await Promise.all(
    words.map(async (word) => {
      const answer = await client.ask("POST", `${route}/commands`, { command: ["echo", word] }, true);
      if (answer?.how === "completed") client.expect(answer.body["stdout_tail"] === `${word}\n`, "a command's output");
    }),
  );
  await client.ask("DELETE", route);
};

const tests: Work = async (client, engine, { project }) => {
  const { GLOVEBOX_TEST_IMAGE_PYTHON: image = "python:3.12-slim" } = process.env;
  const request = { project_path: project, test_command: "python3 -m unittest", engine };
  const answer = await client.ask("POST", "/api/sandbox/test", engine === "local" ? request : { ...request, image });
  if (answer?.how !== "completed") return;
  const { verdict, reason, exit_code: exitCode, output, error } = answer.body;
  client.expect(
    verdict === "passed",
    `a project's tests: ${JSON.stringify({ verdict, reason, exitCode, output, error })}`,
  );
};

const preview: Work = async (client, engine, { project }) => {
  const { GLOVEBOX_TEST_IMAGE_PYTHON: image = "python:3.12-slim" } = process.env;
  const request = { project_path: project, command: "python3 page.py", engine, wait_seconds: 30 };
  const started = await client.ask(
    "POST",
    "/api/sandbox/preview",
    engine === "local" ? request : { ...request, image },
  );
  if (started === null) return;
  const { direct_url: url, container_id: id } = started.body;
  // Its sandbox may be killed at any time.
  if (typeof url === "string")
    await fetch(url, { signal: AbortSignal.timeout(10_000) }).then(
      (page) => page.text(),
      () => "",
    );
  await client.ask("DELETE", `/api/sandbox/preview/${String(id)}`);
};

/** How often each kind of work is done relative to the others, and where it is possible. */
const kinds: readonly {
  readonly name: string;
  readonly weight: number;
  readonly work: Work;
  readonly images?: true;
}[] = [
  { name: "execute", weight: 8, work: execute },
  { name: "execute, other ends", weight: 3, work: endings },
  { name: "execute TypeScript", weight: 2, work: typescript },
  { name: "execute, hostile", weight: 2, work: hostile },
  { name: "session", weight: 3, work: session },
  { name: "environment", weight: 2, work: environment, images: true },
  { name: "tests", weight: 1, work: tests },
  { name: "preview", weight: 1, work: preview },
];

const drawn = kinds.flatMap((kind) => Array.from({ length: kind.weight }, () => kind));
const pauseMs = 400;

/** A program that only the end of its server ends. */
export async function runUntilKilled(server: SoakServer, engine: string, ledger: Ledger): Promise<void> {
  const client = new Client(server, ledger, `execute, lasting on ${engine}`);
  const request = { language: "python", code: "import time\ntime.sleep(250)", engine, packages: [] };
  const answer = await client.ask("POST", "/api/sandbox/execute", { ...request, timeout_seconds: 280 });
  client.expect(answer === null, `it ended before its server: ${answer?.how}`);
}

/** One client: does random work on random engines of random servers until it is told to stop. */
export async function workUntil(stop: AbortSignal, scene: Scene, ledger: Ledger): Promise<void> {
  const { servers, engines } = scene;
  while (!stop.aborted) {
    const kind = drawn[randomInt(drawn.length)];
    const engine = engines[randomInt(engines.length)];
    const server: SoakServer | undefined = servers[randomInt(servers.length)];
    if (kind === undefined || engine === undefined || server === undefined)
      throw new Error("There is nothing to work on.");
    if (kind.images === true && engine === "local") continue;
    await kind.work(new Client(server, ledger, `${kind.name} on ${engine}`), engine, scene);
    await sleep(randomInt(pauseMs));
  }
}
