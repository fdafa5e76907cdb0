import { describe, expect, it } from "vitest";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { sleepersFor, uniqueSeconds } from "../helpers/processes.ts";
import { RawMcp, type RawMessage } from "../helpers/raw-mcp.ts";
import { sessionImages } from "../helpers/test-images.ts";
import { until } from "../helpers/until.ts";

interface Line {
  readonly msg: string;
  readonly [field: string]: unknown;
}

const sandboxes = useOwnSandboxes();

/** A server whose log is read line by line. */
class LoggingServer extends RawMcp {
  readonly #log: string[] = [];

  constructor(engine: string, more: Readonly<Record<string, string>> = {}) {
    const settings = { ...more, GLOVEBOX_LOG_LEVEL: "info", GLOVEBOX_IMAGE_SESSION: sessionImages.session };
    super(["--engine", engine], { ...sandboxes.environment(), ...settings });
    this.child.stderr.on("data", (text: Buffer) => void this.#log.push(text.toString()));
  }

  call(id: string, name: string, args: object): Promise<RawMessage> {
    return this.request(id, "tools/call", { name, arguments: args });
  }

  /** The closing lines so far, without pino's own fields. */
  get endings(): readonly Line[] {
    const lines = this.#log.join("").split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Line).filter(({ msg }) => msg === "run ended");
  }

  async end(): Promise<void> {
    this.child.stdin.end();
    await this.ended;
  }
}

describe.each(["docker", "local"] as const)("the log of a server on %s", (engine) => {
  useGlovebox(engine);

  it("closes each run, also one that never began", async () => {
    const server = new LoggingServer(engine, { MAX_CONTAINERS: "1", GLOVEBOX_QUEUE_LIMIT: "0" });
    await server.initialize();
    const seconds = uniqueSeconds();
    const program = (code: string) => ({ language: "python", packages: [], code });
    const running = server.call("running", "execute_code", program(`import os; os.system('sleep ${seconds}')`));
    await until(() => sleepersFor(seconds).length > 0);
    await server.call("refused", "run_code", program("print(1)"));
    await server.call("refused too", "execute_code", program("print(1)"));
    server.child.stdin.end();
    await running;
    await server.ended;
    expect(server.endings).toMatchObject([
      { principal: "local", outcome: "failed", exitCode: null, errorType: "CAPACITY" },
      { principal: "local", outcome: "failed", exitCode: null, errorType: "CAPACITY" },
      { principal: "local", outcome: "cancelled" },
    ]);
    expect(server.endings.map((line) => [line["session"], line["sandbox"]])).toEqual([
      [expect.stringMatching(/^ses-/), undefined],
      [undefined, undefined],
      [undefined, expect.stringMatching(/^sbx-/)],
    ]);
  });
});

describe("the log of a server on docker", () => {
  useGlovebox("docker");

  it("closes a run that could not be started, and each command of an environment", async () => {
    const server = new LoggingServer("docker");
    await server.initialize();
    const missing = { language: "python", code: "1", image: "127.0.0.1:1/no-such-image:1" };
    await server.call("missing", "execute_code", missing);
    await server.call("create", "create_environment", { env_id: "env", image: sessionImages.python });
    await server.call("run", "run_command", { env_id: "env", command: ["sh", "-c", "exit 3"] });
    await server.end();
    expect(server.endings).toMatchObject([
      { principal: "local", outcome: "failed", errorType: "IMAGE_UNAVAILABLE", exitCode: null },
      { principal: "local", environment: "env", outcome: "failed", exitCode: 3 },
    ]);
    expect(server.endings[1]?.["sandbox"]).toMatch(/^sbx-/);
  });
});
