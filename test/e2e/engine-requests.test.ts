import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MeddlingProxy } from "../helpers/meddling-proxy.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { sessionImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";
import { useWarmGlovebox } from "../helpers/warm-glovebox.ts";
import type { ExecuteRequest, ExecuteResponse, Glovebox } from "../helpers/wire-glovebox.ts";
import { rareTagOnPodman } from "../lanes/lanes.ts";

const sockets = {
  docker: "/var/run/docker.sock",
  podman: process.env["GLOVEBOX_TEST_PODMAN_SOCKET"] ?? "/run/podman/podman.sock",
};
const variable = { docker: "DOCKER_HOST", podman: "CONTAINER_HOST" };
/** How long nothing is asked before a call counts: what the one before it left to do has been done. */
const quietMs = 700;
/** The pool looks at an image every few seconds, whatever is called: it cannot hit all. */
const tries = 3;

/** The container that a request is about; "" when it is about none. */
const containerOf = (line: string): string => /containers\/(\w{64})/.exec(line)?.[1] ?? "";

/** The lines without those that made new containers: each is created after one look at its image. */
function ofCall(lines: readonly string[], known: ReadonlySet<string>): readonly string[] {
  let looks = lines.filter((line) => line.includes("/containers/create")).length;
  return lines.filter((line) => {
    if (line.includes("/images/")) return looks-- <= 0;
    return !line.includes("/containers/create") && known.has(containerOf(line));
  });
}

/** The first lines of all requests to an engine, in the order in which it gets them. */
class EngineRequests {
  readonly #lines: string[] = [];
  #proxy: MeddlingProxy | undefined;
  #before: string | undefined;

  /** What is opened after this, in this `describe`, reaches its engine through it. */
  constructor(engine: "docker" | "podman") {
    beforeAll(async () => {
      const before = (line: string): void => void this.#lines.push(line);
      const at = /^[A-Z]+ \S+ HTTP\/1\.1$/;
      this.#proxy = await MeddlingProxy.start(sockets[engine], { at, before, after: () => undefined });
      this.#before = process.env[variable[engine]];
      process.env[variable[engine]] = `unix://${this.#proxy.socketPath}`;
    });
    afterAll(async () => {
      if (this.#before === undefined) delete process.env[variable[engine]];
      else process.env[variable[engine]] = this.#before;
      await this.#proxy?.[Symbol.asyncDispose]();
    });
  }

  get count(): number {
    return this.#lines.length;
  }

  /**
   * What the engine is asked from the call to its answer, without what makes the next sandbox meanwhile; of several calls
   * the one that asks least.
   */
  async during(call: () => Promise<unknown>): Promise<readonly string[]> {
    const all: (readonly string[])[] = [];
    for (let tried = 0; tried < tries; tried++) {
      await this.#untilQuiet();
      const begun = this.count;
      const known = new Set(this.#lines.map(containerOf));
      await call();
      all.push(ofCall(this.#lines.slice(begun), known));
    }
    return all.toSorted((one, other) => one.length - other.length)[0] ?? [];
  }

  async #untilQuiet(): Promise<void> {
    for (let seen = -1; seen !== this.count; await sleep(quietMs)) seen = this.count;
  }
}

const python = (code: string): ExecuteRequest => ({ language: "python", code });
const runs: Readonly<Record<string, { readonly request: ExecuteRequest; readonly answer: Partial<ExecuteResponse> }>> =
  {
    "of Python": { request: python("print(1)"), answer: { outcome: "completed", stdout: "1\n" } },
    "of TypeScript": {
      request: { language: "typescript", code: "const one: number = 1; console.log(one)" },
      answer: { outcome: "completed", stdout: "1\n" },
    },
    "with input, files and artifacts": {
      request: {
        ...python("print(input(), open('in.txt').read()); open('out.txt', 'w').write('made')"),
        stdin: "typed\n",
        context_files: [{ path: "in.txt", content: "read" }],
        artifacts: ["out.txt"],
      },
      answer: {
        outcome: "completed",
        stdout: "typed read\n",
        artifacts: [expect.objectContaining({ path: "out.txt" })],
      },
    },
    "that fails": { request: python("raise SystemExit(3)"), answer: { outcome: "failed", exit_code: 3 } },
  };

describe.each(["docker", "podman"] as const)("what %s is asked", (engine) => {
  describe("before a run in a sandbox that waited is answered", rareTagOnPodman(engine), () => {
    const asked = new EngineRequests(engine);
    const warm = useWarmGlovebox({ engine, runtime: {} });

    it.each(Object.entries(runs))("is nothing for one %s", async (_, { request, answer }) => {
      await warm().run(request);
      expect(asked.count, "the sandbox itself was started through the same socket").toBeGreaterThan(0);
      const lines = await asked.during(async () => expect(await warm().run(request)).toMatchObject(answer));
      expect(lines).toEqual([]);
    });

    it("is only whether it has ended, for one that is out of time", async () => {
      const code = "import subprocess, time; subprocess.Popen(['sleep', '60']); print(1, flush=True); time.sleep(60)";
      const lines = await asked.during(async () => {
        const response = await warm().run({ ...python(code), timeout_seconds: 1 });
        expect(response).toMatchObject({ outcome: "timed_out", stdout: "1\n" });
      });
      // In its second the pool may look at the image too.
      const ofRun = lines.filter((line) => !line.includes("/images/"));
      const asks = ofRun.map((line) => line.replace(/^([A-Z]+) \/containers\/\w{64}(?:\/(\w+))?\??\S* .*/, "$1 $2"));
      // Its removal may have begun, and waits for nothing but the engine.
      const removed = asks.indexOf("DELETE ");
      expect(removed < 0 ? asks : asks.slice(0, removed)).toEqual(["POST wait", "GET json"]);
    });
  });

  describe("before a call of a session whose interpreter waits is answered", rareTagOnPodman(engine), () => {
    const asked = new EngineRequests(engine);
    const glovebox = useGlovebox(engine, { settings: { images: sessionImages } });
    const calls: Readonly<Record<string, (session: Glovebox) => Promise<unknown>>> = {
      Python: (session) => session.runCode({ language: "python", code: "print(1)", packages: [] }),
      TypeScript: (session) => session.runCode({ code: "console.log(1)", packages: [] }),
      "a file that is written": (session) => session.writeFile({ path: "in.txt", content: "kept" }),
      "a file that is read": (session) => session.readFile({ path: "in.txt" }),
      "the list of files": (session) => session.listFiles(),
    };

    it.each(Object.entries(calls))("is nothing for %s", async (_, call) => {
      await call(glovebox());
      expect(asked.count).toBeGreaterThan(0);
      expect(await asked.during(() => call(glovebox()))).toEqual([]);
    });
  });
});

describe.each(["docker"] as const)("what %s with runsc is asked", (engine) => {
  const asked = new EngineRequests(engine);
  const runtime = { oci_runtime: "runsc" } as const;
  const glovebox = useGlovebox(engine, { settings: { images: sessionImages } }, runtime);

  it("is not what a live sandbox uses, second after second", async () => {
    const { container_id: id } = await glovebox().runCode({ ...runtime, language: "python", code: "1", packages: [] });
    const seen = new Set<number>();
    const look = async (): Promise<void> => {
      const { sandboxes } = await glovebox().stats({});
      const sample = sandboxes.find(({ container_id: each }) => each === id)?.sample;
      if (typeof sample?.memory_mb === "number") seen.add(sample.uptime_seconds);
    };
    const untilSeen = (count: number): Promise<void> => until(async () => (await look(), seen.size >= count));
    await untilSeen(1);
    const begun = asked.count;
    await untilSeen(4);
    expect(asked.count - begun).toBe(0);
  });
});
