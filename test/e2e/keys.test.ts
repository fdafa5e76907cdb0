import { randomBytes } from "node:crypto";
import { chmodSync, mkdtempSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeKey } from "../../src/keys/key-record.ts";
import { ask, startKeyServer, type KeyServer, type TestKey } from "../helpers/key-server.ts";
import { revisions } from "../helpers/mcp-client.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { runCommand } from "../helpers/run-command.ts";
import { until } from "../helpers/until.ts";

type Answer = Record<string, unknown> & { readonly sandbox_id: string; readonly session_id: string };

const execute = "POST /api/sandbox/execute";
const program = (code: string, more: object = {}): object => ({ language: "python", code, ...more });
const answerOf = async (response: Promise<Response>): Promise<Answer & { readonly status: number }> => {
  const received = await response;
  return { ...((await received.json()) as Answer), status: received.status };
};

describe("API keys on local", () => {
  useGlovebox("local");
  let server: KeyServer;
  let ann: TestKey;
  let bob: TestKey;
  const folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-keys-"));
  beforeAll(async () => {
    for (const name of ["mine", "others"]) {
      mkdirSync(path.join(folder, name));
      writeFileSync(path.join(folder, name, "data.py"), "word = 'read'\n");
    }
    server = await startKeyServer([], {
      GLOVEBOX_PROJECT_ROOTS: folder,
      GLOVEBOX_SECRETS: "ANNS_SECRET,BOBS_SECRET",
      ANNS_SECRET: "anns-value-1234",
      BOBS_SECRET: "bobs-value-1234",
    });
    const rights = ["--max-memory-mb", "128", "--max-timeout", "100s", "--engines", "local", "--network", "none"];
    ann = await server.addKey("ann", ...rights, "--secrets", "ANNS_SECRET", "--mount-roots", path.join(folder, "mine"));
    bob = await server.addKey("bob", "--images", "python:3.13,registry.example:5000/*");
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  it("do what they may, and their refusals name the rule, the value and what would allow it", async () => {
    const allowed = program("import os; print(len(os.environ['ANNS_SECRET']))", {
      context_files: [path.join(folder, "mine/data.py")],
      secrets: ["ANNS_SECRET"],
      engine: "local",
      limits: { memory_mb: 128 },
    });
    const ran = await answerOf(ann.ask(execute, allowed));
    expect(ran).toMatchObject({ status: 200, outcome: "completed", stdout: "15\n" });
    const refusals: readonly (readonly [object, number, string, RegExp])[] = [
      [
        { limits: { memory_mb: 129 } },
        400,
        "INVALID_REQUEST",
        /limits\.memory_mb.*got 129.*your API key's ceiling of 128/,
      ],
      [{ timeout_seconds: 101 }, 400, "INVALID_REQUEST", /timeout_seconds.*got 101.*your API key's ceiling of 100/],
      [{ limits: { cpus: 5 } }, 400, "INVALID_REQUEST", /this deployment's ceiling of 4/],
      [{ network: ["example.com"] }, 403, "POLICY_DENIED", /"example\.com" is refused by the rule network/],
      [{ network: "registries" }, 403, "POLICY_DENIED", /"registries" is refused by the rule network/],
      [{ image: "evil.example/x:1" }, 403, "POLICY_DENIED", /"evil\.example\/x:1" is refused by the rule images/],
      [{ image: "5" }, 403, "POLICY_DENIED", /"5" is refused by the rule images/],
      [{ engine: "docker" }, 403, "POLICY_DENIED", /"docker" is refused by the rule engines/],
      [{ secrets: ["BOBS_SECRET"] }, 400, "INVALID_REQUEST", /there is no secret BOBS_SECRET for you/],
      [{ context_files: [path.join(folder, "others/data.py")] }, 400, "INVALID_REQUEST", /outside-roots.*this API key/],
      [
        { context_files: [path.join(folder, "others/missing.py")] },
        400,
        "INVALID_REQUEST",
        /outside-roots.*this API key/,
      ],
      [{ context_files: ["/etc/hostname"] }, 400, "INVALID_REQUEST", /outside-roots/],
    ];
    for (const [more, status, type, message] of refusals) {
      const answer = await answerOf(ann.ask(execute, program("print(1)", more)));
      expect(answer, JSON.stringify(more)).toMatchObject({ status, error_type: type });
      expect(answer["message"]).toMatch(message);
    }
    // A key does not have what it was not given: secrets and folders.
    for (const more of [{ secrets: ["BOBS_SECRET"] }, { context_files: [path.join(folder, "mine/data.py")] }]) {
      expect(await answerOf(bob.ask(execute, program("print(1)", more)))).toMatchObject({ status: 400 });
    }
    const ofDeployment = program("print(1)", { limits: { memory_mb: 129 } });
    expect(await answerOf(bob.ask(execute, ofDeployment))).toMatchObject({ outcome: "completed" });
  });

  it("have their rights over MCP, too, and see nothing of each other there", async () => {
    for (const { mode } of revisions) {
      const connect = async ({ text }: TestKey): Promise<Client> => {
        const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
        const headers = { authorization: `Bearer ${text}` };
        await client.connect(
          new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }),
        );
        return client;
      };
      const [anns, bobs] = [await connect(ann), await connect(bob)];
      const call = (client: Client, name: string, args: Record<string, unknown>): ReturnType<Client["callTool"]> =>
        client.callTool({ name, arguments: args });
      const denied = await call(anns, "execute_code", { ...program("1"), packages: [], network: "registries" });
      expect(denied.isError).toBe(true);
      expect(JSON.stringify(denied)).toContain("rule network of your API key");
      const made = await call(anns, "run_code", { language: "python", code: "print(1)", packages: [] });
      const { session_id: id } = made.structuredContent as { session_id: string };
      const foreign = await call(bobs, "run_code", { ...program("print(1)"), packages: [], session_id: id });
      expect(foreign.isError).toBe(true);
      expect(JSON.stringify(foreign)).toContain("NOT_FOUND");
      await call(anns, "end_session", { session_id: id });
      await Promise.all([anns.close(), bobs.close()]);
    }
  });

  it("never see what is another's: 404, and lists without it", async () => {
    const useless = await answerOf(bob.ask("POST /api/sessions", { image: "python:3.13" }));
    expect(useless, "of an image that its engine would ignore").toMatchObject({ error_type: "UNSUPPORTED" });
    expect(await answerOf(bob.ask("GET /api/sessions"))).toMatchObject({ sessions: [] });
    const session = await answerOf(ann.ask("POST /api/sessions", {}));
    const place = `/api/sessions/${session.session_id}`;
    await answerOf(
      ann.ask(`POST ${place}/runs`, { language: "python", code: "open('f', 'w').write('x')", packages: [] }),
    );
    const started = await answerOf(ann.ask(`POST ${place}/processes`, { command: ["sleep", "1000"] }));
    const process = `${place}/processes/${String(started["process_id"])}`;
    const later = { prefer: "respond-async" };
    const run = await answerOf(
      ann.ask(execute, program("import time; time.sleep(50)", { timeout_seconds: 60 }), later),
    );
    const routes: readonly (readonly [string, unknown?])[] = [
      [`GET ${place}`],
      [`GET ${place}/files`],
      [`GET ${place}/files/f`],
      [`PUT ${place}/files`, { path: "g", content: "x" }],
      [`POST ${place}/runs`, { language: "python", code: "print(1)", packages: [] }],
      [`GET ${place}/processes`],
      [`POST ${place}/processes`, { command: ["true"] }],
      [`GET ${process}`],
      [`POST ${process}`, { text: "x" }],
      [`DELETE ${process}`],
      [`DELETE ${place}`],
      [`GET ${String(run["status_url"])}`],
      [`DELETE ${String(run["status_url"])}`],
      [`POST /api/environments/${session.session_id}/commands`, { command: ["true"] }],
      [`DELETE /api/environments/${session.session_id}`],
    ];
    for (const [route, body] of routes) {
      expect((await answerOf(bob.ask(route, body))).status, route).toBe(404);
    }
    for (const route of ["GET /api/sessions", "GET /api/environments", "GET /api/sandbox"]) {
      const text = await (await bob.ask(route)).text();
      expect(text).not.toContain(run["id"]);
      expect(text).not.toContain(session.session_id);
      expect(text).not.toContain(ann.id);
    }
    expect((await answerOf(ann.ask(`GET ${process}`))).status).toBe(200);
    expect(await (await ann.ask("GET /api/sandbox")).text()).toContain(run["id"]);
    await ann.ask(`DELETE ${place}`);
  });

  it("are not found by trying: each wrong key gets the same answer", async () => {
    const answers = new Set<string>();
    const tries = [
      ...Array.from({ length: 50 }, () => makeKey(randomBytes).text),
      ...Array.from({ length: 50 }, () => `gbx_${ann.id}_${randomBytes(32).toString("base64url")}`),
      ...[
        "gbx_",
        ann.id,
        `key:${ann.id}`,
        `${ann.text}x`,
        ann.text.slice(0, -1),
        server.userToken.slice(1),
        "x".repeat(4000),
      ],
    ];
    for (const text of tries) {
      const response = await ask(server.url, text, "GET /api/sessions");
      answers.add(`${response.status} ${await response.text()} ${response.headers.get("www-authenticate")}`);
    }
    expect(answers.size).toBe(1);
    expect([...answers][0]).toMatch(/^401 .*PERMISSION_DENIED/);
    const kept = readFileSync(server.keysFile, "utf8");
    expect(kept).not.toContain(ann.text);
    expect(kept).not.toContain(ann.text.slice(-43));
    expect(statSync(server.keysFile).mode & 0o777).toBe(0o600);
  });

  it("may make a limited number of requests a minute, of any kind, and are told when to retry", async () => {
    const slow = await server.addKey("slow", "--requests-per-minute", "3");
    const answers = [];
    for (let number = 0; number < 4; number += 1) answers.push(await slow.ask("GET /api/sessions"));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThanOrEqual(1);
    for (const response of refused) {
      expect(Number(response.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
      expect(await response.json()).toMatchObject({ error_type: "CAPACITY", context: { requests_per_minute: 3 } });
    }
    expect((await bob.ask("GET /api/sessions")).status).toBe(200);
  });

  it("end in mid-stream when they are revoked, with everything of theirs; others continue", async () => {
    const eve = await server.addKey("eve");
    const stream = { accept: "application/x-ndjson" };
    const endless = program("import time\nwhile True: print('on', flush=True); time.sleep(0.2)", {
      timeout_seconds: 100,
    });
    const [anns, eves] = await Promise.all([ann, eve].map((key) => key.ask(execute, endless, stream)));
    const session = await answerOf(eve.ask("POST /api/sessions", {}));
    const place = `/api/sessions/${session.session_id}`;
    await answerOf(eve.ask(`POST ${place}/processes`, { command: ["sleep", "1000"] }));
    const waiting = eve.ask(execute, program("import time; time.sleep(90)", { timeout_seconds: 100 }));
    const reader = anns?.body?.getReader();
    await server.revoke(eve);
    const text = await eves?.text();
    expect(text).toContain("cancelled");
    expect(await answerOf(waiting)).toMatchObject({ outcome: "cancelled" });
    expect((await eve.ask("GET /api/sessions")).status).toBe(401);
    expect((await reader?.read())?.done).toBe(false);
    await reader?.cancel();
    const asUser = await ask(server.url, server.userToken, "GET /api/sessions");
    expect(asUser.status).toBe(200);
    await until(async () => !(await sandboxPrincipals()).includes(`key:${eve.id}`));
  });

  /** The live sandboxes, as the user of this machine sees them. */
  async function sandboxPrincipals(): Promise<readonly string[]> {
    const { stdout } = await runCommand(["ps", "--engine", "local", "--json"]);
    const { sandboxes } = JSON.parse(stdout) as { sandboxes: readonly { principal: string }[] };
    return sandboxes.map(({ principal }) => principal);
  }
});

describe("a server's keys file", () => {
  const configHome = mkdtempSync(path.join(os.tmpdir(), "glovebox-keys-"));
  const file = path.join(configHome, "glovebox/keys.json");
  const environment = { XDG_CONFIG_HOME: configHome };
  beforeAll(() => mkdirSync(path.dirname(file)));
  afterAll(() => rmSync(configHome, { recursive: true }));
  const failure = async (more: Readonly<Record<string, string>> = {}, ...argv: readonly string[]): Promise<string> => {
    const command = ["serve", "--port", "0", "--engine", "local", ...argv];
    const { exitCode, stderr } = await runCommand(command, { environment: { ...environment, ...more } });
    expect(exitCode).not.toBe(0);
    return stderr;
  };

  it("must hold a key before the server is reached from other machines", async () => {
    expect(await failure({}, "--host", "0.0.0.0")).toMatch(/Without API keys.*\n.*glovebox keys add/);
    await using server = await startKeyServer(["--host", "0.0.0.0"], await withOneKey());
    const { port } = new URL(server.url);
    expect(server.userToken).toBe("");
    expect((await ask(`http://127.0.0.1:${port}`, "", "GET /api/sessions")).status).toBe(401);
  });

  /** A deployment's key file, which the server only reads. */
  async function withOneKey(): Promise<Record<string, string>> {
    const { stdout } = await runCommand(["keys", "add", "deployed", "--print"], { environment });
    const { entry } = JSON.parse(stdout) as { entry: object };
    const deployed = path.join(configHome, "deployed.json");
    writeFileSync(deployed, JSON.stringify({ keys: [entry] }));
    return { GLOVEBOX_KEYS_FILE: deployed };
  }

  it("is refused with bad JSON, wrong modes and as a link, and the error says what to do", async () => {
    writeFileSync(file, '{"keys": [', { mode: 0o600 });
    expect(await failure()).toMatch(/keys file is not valid: it is not JSON/);
    writeFileSync(file, '{"keys": []}');
    chmodSync(file, 0o644);
    expect(await failure()).toMatch(/other users may read or write it[^]*chmod 600/);
    rmSync(file);
    writeFileSync(`${file}.other`, '{"keys": []}', { mode: 0o600 });
    symlinkSync(`${file}.other`, file);
    expect(await failure()).toMatch(/it is a symbolic link/);
    rmSync(file);
    expect(await failure({ GLOVEBOX_KEYS_FILE: `${file}.missing` })).toMatch(/it does not exist/);
  });

  it("of a deployment is not written by the command", async () => {
    const deployed = { environment: { ...environment, ...(await withOneKey()) } };
    const added = await runCommand(["keys", "add", "more"], deployed);
    expect(added.exitCode).not.toBe(0);
    expect(added.stderr).toContain("--print");
    const { stdout } = await runCommand(["keys", "list"], deployed);
    expect(stdout).toContain("deployed");
  });
});
