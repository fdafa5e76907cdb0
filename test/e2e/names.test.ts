import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startKeyServer, type KeyServer, type TestKey } from "../helpers/key-server.ts";
import { connectMcp, type McpConnection } from "../helpers/mcp-client.ts";
import { useOwnSandboxes } from "../helpers/own-sandboxes.ts";
import { useGlovebox } from "../helpers/open-glovebox.ts";
import { runCommand, type CommandResult } from "../helpers/run-command.ts";

type Row = Readonly<Record<string, unknown>> & { readonly id: string; readonly sandbox_id: string };

const bodyOf = async (answer: Promise<Response>): Promise<Record<string, unknown>> =>
  (await (await answer).json()) as Record<string, unknown>;

describe("names on a server with keys", () => {
  useGlovebox("local");
  let server: KeyServer;
  let ann: TestKey;
  let bob: TestKey;
  const sandboxesOf = async (key: TestKey): Promise<readonly Row[]> =>
    (await bodyOf(key.ask("GET /api/sandbox")))["sandboxes"] as readonly Row[];
  const openSession = async (key: TestKey, name: string): Promise<Row> => {
    const session = await bodyOf(key.ask("POST /api/sessions", { name }));
    expect(session).toMatchObject({ name });
    const code = "# what it is for\nprint('hello')";
    const run = await key.ask(`POST /api/sessions/${String(session["session_id"])}/runs`, { language: "python", code });
    expect(await run.json()).toMatchObject({ outcome: "completed", stdout: "hello\n" });
    const row = (await sandboxesOf(key)).find((each) => each["name"] === name);
    if (row === undefined) throw new Error(`No sandbox is named ${name}.`);
    return row;
  };
  beforeAll(async () => {
    server = await startKeyServer();
    [ann, bob] = [await server.addKey("ann"), await server.addKey("bob")];
  });
  afterAll(() => server[Symbol.asyncDispose]());

  it("find the caller's own sandboxes and sessions, beside what runs in them", async () => {
    const row = await openSession(ann, "web");
    expect(row).toMatchObject({ name: "web", work: "python: print('hello')", kind: "session", state: "running" });
    for (const word of ["web", row.id.slice(0, 8), row.id.slice(4, 12)]) {
      expect(await bodyOf(ann.ask(`GET /api/sandbox/${word}`))).toMatchObject({ id: row.id, name: "web" });
      expect(await bodyOf(ann.ask(`GET /api/sandbox/${word}/logs`))).toMatchObject({ container_id: row.id });
      expect(await bodyOf(ann.ask(`GET /api/sandbox/${word}/metrics`))).toMatchObject({ container_id: row.id });
    }
    const again = { language: "python", code: "print('again')" };
    expect(await bodyOf(ann.ask("POST /api/sessions/web/runs", again))).toMatchObject({ stdout: "again\n" });
    expect(await bodyOf(ann.ask("GET /api/sessions/web"))).toMatchObject({ name: "web", sandbox_id: row.id });
    const renamed = await ann.ask("POST /api/sessions/web/runs", { ...again, name: "other" });
    expect(await renamed.json()).toMatchObject({ error_type: "INVALID_REQUEST", context: { field: "name" } });
  });

  it("are never found by another key, whether it has such a name or not", async () => {
    const row = await openSession(ann, "secret-plan");
    for (const word of ["secret-plan", row.id, row.id.slice(0, 10), row.id.slice(4, 14)]) {
      for (const route of [
        `GET /api/sandbox/${word}`,
        `DELETE /api/sandbox/${word}`,
        `GET /api/sandbox/${word}/logs`,
      ]) {
        expect(await bodyOf(bob.ask(route)), route).toMatchObject({ error_type: "NOT_FOUND" });
      }
      const run = { language: "python", code: "print(1)" };
      expect(await bodyOf(bob.ask(`POST /api/sessions/${word}/runs`, run))).toMatchObject({ error_type: "NOT_FOUND" });
      expect(await bodyOf(bob.ask(`GET /api/sandbox/${word}/metrics`))).toMatchObject({ error_type: "NOT_FOUND" });
    }
    const own = await openSession(bob, "secret-plan");
    expect(await bodyOf(bob.ask("GET /api/sandbox/secret-plan"))).toMatchObject({ id: own.id });
    expect(await bodyOf(bob.ask("DELETE /api/sandbox/secret-plan"))).toEqual({ id: own.id, removed: true });
    expect(await bodyOf(bob.ask("DELETE /api/sandbox/secret-plan"))).toMatchObject({ error_type: "NOT_FOUND" });
    expect(await bodyOf(ann.ask("GET /api/sandbox/secret-plan"))).toMatchObject({ id: row.id });
  });

  it("that mean several are an error that lists the candidates", async () => {
    const twins = [await openSession(ann, "twin"), await openSession(ann, "twin")];
    const rows = (await sandboxesOf(ann)).filter(({ name }) => name === "twin");
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2);
    const refused = await bodyOf(ann.ask("DELETE /api/sandbox/twin"));
    expect(refused).toMatchObject({ error_type: "INVALID_REQUEST", context: { field: "id" } });
    for (const { id } of rows) expect(refused["message"]).toContain(`${id} (twin)`);
    expect(twins).toHaveLength(2);
  });

  it("are kept with the runs, and refused where they are no names", async () => {
    const asked = { language: "python", code: "print(6 * 7)", name: "nightly-1" };
    const events = await ann.ask("POST /api/sandbox/execute", asked, { accept: "application/x-ndjson" });
    const [first] = (await events.text()).split("\n");
    expect(JSON.parse(first ?? "")).toEqual({
      event: "sandbox",
      sandbox_id: expect.stringMatching(/^sbx-/),
      name: "nightly-1",
    });
    const ended = (await bodyOf(ann.ask("GET /api/sandbox?state=ended")))["sandboxes"] as readonly Row[];
    expect(ended.find(({ name }) => name === "nightly-1")).toMatchObject({
      work: "python: print(6 * 7)",
      state: "ended",
    });
    for (const name of ["two words", "sbx-4fz3k2m9q0r5t7w8x1y2", "\u001B[2J"]) {
      const refused = await bodyOf(ann.ask("POST /api/sandbox/execute", { ...asked, name }));
      expect(refused).toMatchObject({ error_type: "INVALID_REQUEST", context: { field: "name" } });
    }
  });
});

describe("names on the command line", () => {
  const own = useOwnSandboxes();
  let connection: McpConnection;
  let folder: string;
  const glovebox = (...argv: readonly string[]): Promise<CommandResult> =>
    runCommand(argv, { environment: own.environment() });
  const rows = async (): Promise<readonly Row[]> =>
    (JSON.parse((await glovebox("ps", "--engine", "local", "--json")).stdout) as { sandboxes: readonly Row[] })
      .sandboxes;
  beforeAll(async () => {
    folder = mkdtempSync(path.join(os.tmpdir(), "glovebox-test-"));
    connection = await connectMcp({ mode: "legacy" }, ["--engine", "local"], own.environment());
    const code = "print('ready')";
    await connection.call("run_code", { language: "python", code, packages: [], name: "desk" });
  });
  afterAll(async () => {
    await connection.client.close();
    rmSync(folder, { recursive: true });
  });

  it("find the sandbox of another process of the user", async () => {
    const [row] = await rows();
    expect(row).toMatchObject({ name: "desk", work: "python: print('ready')", kind: "session", engine: "local" });
    const id = row?.sandbox_id ?? "";
    for (const word of ["desk", id, id.slice(0, 9), id.slice(4, 9)]) {
      expect(await glovebox("exec", word, "echo", "here")).toMatchObject({ exitCode: 0, stdout: "here\n" });
    }
    expect((await glovebox("logs", "desk")).stdout).toBe("ready\n");
    expect(await glovebox("ps", "--names")).toMatchObject({ exitCode: 0, stdout: `desk\n${id}\n` });
    expect(JSON.parse((await glovebox("stats", "--once", "--json", "desk")).stdout)).toMatchObject({
      sandboxes: [{ container_id: id, name: "desk" }],
    });
    const file = path.join(folder, "note.txt");
    writeFileSync(file, "carried\n");
    expect(await glovebox("cp", file, "desk:/work/")).toMatchObject({ exitCode: 0, stderr: "" });
    expect(await glovebox("cp", `${id.slice(0, 9)}:/work/note.txt`, path.join(folder, "back.txt"))).toMatchObject({
      exitCode: 0,
    });
    expect(readFileSync(path.join(folder, "back.txt"), "utf8")).toBe("carried\n");
  });

  it("are given with --name, and refused where they are no names", async () => {
    const ran = await glovebox("run", "--engine", "local", "--name", "job-7", "-c", "print(7)");
    expect(ran).toMatchObject({ exitCode: 0, stdout: "7\n" });
    const refused = await glovebox("run", "--engine", "local", "--name", "two words", "-c", "print(7)");
    expect(refused).toMatchObject({ exitCode: 2, stdout: "" });
    expect(refused.stderr).toContain("INVALID_REQUEST: --name: expected 1 to 64 letters");
  });

  it("remove what they mean, and nothing that only begins like them", async () => {
    expect(await glovebox("rm", "des")).toMatchObject({ exitCode: 125, stdout: "" });
    const [row] = await rows();
    expect(await glovebox("rm", "desk", "desk")).toMatchObject({ exitCode: 0, stdout: `${row?.sandbox_id}\n` });
    expect(await rows()).toEqual([]);
  });
});
